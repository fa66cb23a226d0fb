// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

// addGroupFlag gives a command its --group.
func addGroupFlag(c *cobra.Command, file *string) {
	c.Flags().StringVar(file, "group", "", "group key `FILE`")
}

// groupSigSuffix is what a signature's file is called after the signed one.
const groupSigSuffix = ".gsig"

// readGroupSigned reads a signature, and the file that it is for. The options are what
// the signature's own file says: whoever demands a scope compares.
func (e *env) readGroupSigned(ctx context.Context, gk groupsig.GroupKey, file, sigFile string) (groupsig.Signed, error) {
	msg, err := e.readInput(ctx, file, maxMessage)
	if err != nil {
		return groupsig.Signed{}, err
	}
	if sigFile == "" {
		if file == "-" {
			return groupsig.Signed{}, failf(ExitUsage, "name it with --sig", "standard input has no signature beside it")
		}
		sigFile = file + groupSigSuffix
	}
	data, err := e.readInput(ctx, sigFile, maxObject)
	if err != nil {
		if sigFile == file+groupSigSuffix && errors.Is(err, fs.ErrNotExist) {
			err = withHint(err, "name the signature with --sig FILE")
		}
		return groupsig.Signed{}, err
	}
	f, err := keyfile.ParseAs[*keyfile.GroupSignature](data)
	if err == nil {
		_, err = groupParts(gk, f.File(), 3)
	}
	if err != nil {
		return groupsig.Signed{}, withCode(wantedHint(f, groupFileError(sigFile, err)), ExitInvalid)
	}
	return groupsig.Signed{Message: msg, Signature: f.Parts[2], Options: anyEpoch(gk, groupsig.VerifyOptions{
		Scope: scopeOf(gk, f.Parts[0]), Context: nonEmpty(f.Parts[1]),
	})}, nil
}

// scopeOf returns a scope as options take it: none in groups without scopes.
func scopeOf(gk groupsig.GroupKey, scope []byte) []byte {
	if len(scope) == 0 && !gk.Features().Has(groupsig.Scope) {
		return nil
	}
	return scope
}

func nonEmpty(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// anyEpoch lets options accept all epochs.
func anyEpoch(gk groupsig.GroupKey, o groupsig.VerifyOptions) groupsig.VerifyOptions {
	if gk.Features().Has(groupsig.Epoch) {
		o.MinEpoch, o.MaxEpoch = 0, math.MaxUint64
	}
	return o
}

// epochFlags say which epoch is meant: by its number, or by what the issuer signed.
type epochFlags struct {
	epoch     uint64
	announced string
}

func (f *epochFlags) add(c *cobra.Command, epoch, announced string) {
	c.Flags().Uint64Var(&f.epoch, "epoch", 0, epoch)
	c.Flags().StringVar(&f.announced, "announced", "", announced)
	c.MarkFlagsMutuallyExclusive("epoch", "announced")
}

// check demands an epoch in groups that have epochs, and none in others.
func (f *epochFlags) check(c *cobra.Command, gk groupsig.GroupKey) error {
	given := c.Flags().Changed("epoch") || f.announced != ""
	switch has := gk.Features().Has(groupsig.Epoch); {
	case has && !given:
		return failf(ExitUsage, "give the issuer's announcement with --announced FILE, or --epoch N as the issuer has published it",
			"the group has epochs, and none is given")
	case !has && given:
		return usagef(c, "the group has no epochs")
	}
	return nil
}

// number returns the epoch that credentials are made for.
func (f *epochFlags) number(c *cobra.Command, e *env, gk groupsig.GroupKey) (uint64, error) {
	if err := f.check(c, gk); err != nil || f.announced == "" {
		return f.epoch, err
	}
	a, err := e.readAnnouncement(c.Context(), gk, f.announced)
	if err != nil {
		return 0, err
	}
	return a.Epoch(), inForce(f.announced, a, time.Now())
}

// checkMemberName refuses names that can't be part of a file name.
func checkMemberName(name string) error {
	if checkHolderName(name) != nil {
		return failf(ExitUsage, "names become names of files: letters, digits, dots and dashes do", "%q can't be a member's name", name)
	}
	return nil
}
