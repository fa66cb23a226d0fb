// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig/libgroupsig"
	"github.com/undersign/undersign/keyfile"
)

// Formats of signatures that group verify takes.
const (
	formatOwn         = "undersign"
	formatLibgroupsig = "libgroupsig"
)

// ownOnly are flags of group verify for what libgroupsig's groups don't have.
var ownOnly = []string{"context", "limit", "epoch", "announced", "min-announcement", "revoked", "min-number", "at"}

type importedVerdict struct {
	File      string `json:"file"`
	Status    string `json:"status"`
	Scope     string `json:"scope,omitempty"`
	Pseudonym string `json:"pseudonym,omitempty"`
	Reason    string `json:"reason,omitempty"`
}

type importedVerifyResult struct {
	Valid      bool              `json:"valid"`
	Group      string            `json:"group"`
	Scheme     string            `json:"scheme"`
	Flaws      []string          `json:"flaws"`
	Signatures []importedVerdict `json:"signatures"`
}

// groupVerifyImported verifies signatures of libgroupsig.
func (e *env) groupVerifyImported(c *cobra.Command, f groupVerifyFlags, files []string) error {
	ctx := c.Context()
	for _, name := range ownOnly {
		if c.Flags().Changed(name) {
			return usagef(c, "--%s: groups of libgroupsig have no such thing", name)
		}
	}
	if f.once {
		return usagef(c, "--once: pseudonyms of libgroupsig aren't bound to members, who can have several")
	}
	k, err := e.readImported(ctx, f.group)
	if err != nil {
		return err
	}
	scoped := c.Flags().Changed("scope")
	if scoped && !k.Scheme().HasScopes() {
		return usagef(c, "--scope: %s has no scopes", k.Scheme())
	}
	r := importedVerifyResult{Valid: true, Group: importedID(k), Scheme: k.Scheme().String(), Flaws: k.Scheme().Flaws()}
	bad := 0
	for i, file := range files {
		sigFile := ""
		if len(f.sigs) > 0 {
			sigFile = f.sigs[i]
		}
		msg, sig, err := e.readImportedSigned(ctx, file, sigFile)
		if err != nil {
			return err
		}
		v := importedVerdict{File: inputName(file), Status: "valid"}
		res, err := k.Verify(msg, sig)
		switch {
		case err != nil && !errors.Is(err, libgroupsig.ErrSignature):
			return err
		case err != nil:
			v.Status, v.Reason = "invalid", strings.TrimPrefix(err.Error(), "libgroupsig: ")
		case scoped && string(res.Scope) != f.scope.scope:
			v.Status, v.Reason = "invalid", fmt.Sprintf("it is for the scope %q", res.Scope)
		default:
			v.Scope, v.Pseudonym = string(res.Scope), hex.EncodeToString(res.Pseudonym)
		}
		if v.Status != "valid" {
			bad++
		}
		r.Signatures = append(r.Signatures, v)
	}
	r.Valid = bad == 0
	err = e.print(r, func(w io.Writer) {
		for _, v := range r.Signatures {
			line := v.Status
			switch {
			case v.Reason != "":
				line += ": " + v.Reason
			case v.Scope != "":
				line = fmt.Sprintf("valid %s signature of a member, scope %s, pseudonym %s", r.Scheme, v.Scope, v.Pseudonym[:16])
			default:
				line = fmt.Sprintf("valid %s signature of a member", r.Scheme)
			}
			fmt.Fprintf(w, "%s: %s\n", oneLine(v.File), oneLine(line))
		}
		if bad < len(files) {
			writeFlaws(w, r.Flaws)
		}
	})
	if err != nil || bad == 0 {
		return err
	}
	return failf(ExitInvalid, "", "%d of %d signatures are refused", bad, len(files))
}

// readImported reads a group key of libgroupsig: an export, its base64, or the file that
// import-libgroupsig made of it.
func (e *env) readImported(ctx context.Context, file string) (*libgroupsig.GroupKey, error) {
	data, err := e.readInput(ctx, file, maxObject)
	if err != nil {
		return nil, err
	}
	f, err := keyfile.ParseAs[*keyfile.GroupKey](data)
	if err != nil {
		k, err := libgroupsig.ParseGroupKey(data)
		return k, groupFileError(file, err)
	}
	k, err := parseImported(f.File())
	return k, groupFileError(file, err)
}

func parseImported(f *keyfile.GroupFile) (*libgroupsig.GroupKey, error) {
	name, ok := strings.CutPrefix(f.Scheme, importedPrefix)
	if !ok {
		return nil, withHint(fmt.Errorf("it is the key of a group of undersign, with %s", f.Scheme), "leave out --format")
	}
	if len(f.Parts) != 1 {
		return nil, fmt.Errorf("it has %d parts, and should have 1", len(f.Parts))
	}
	k, err := libgroupsig.ParseGroupKey(f.Parts[0])
	if err != nil {
		return nil, err
	}
	if k.Scheme().String() != name || k.ID() != f.Group {
		return nil, errors.New("it names another group than its key is of")
	}
	return k, nil
}

// readImportedSigned reads a file and its signature, which is beside it unless it has a
// name.
func (e *env) readImportedSigned(ctx context.Context, file, sigFile string) (msg, sig []byte, err error) {
	if msg, err = e.readInput(ctx, file, maxMessage); err != nil {
		return nil, nil, err
	}
	if sigFile == "" {
		if file == "-" {
			return nil, nil, failf(ExitUsage, "name it with --sig", "standard input has no signature beside it")
		}
		sigFile = file + groupSigSuffix
	}
	if sig, err = e.readInput(ctx, sigFile, maxObject); err != nil && errors.Is(err, fs.ErrNotExist) {
		err = withHint(err, "name the signature with --sig FILE")
	}
	return msg, sig, err
}
