// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
)

// linkAsLinker proves as the linker of a group that one member signed several files.
func (e *env) linkAsLinker(c *cobra.Command, f groupLinkFlags, files []string) error {
	ctx := c.Context()
	return useSecret(ctx, e, f.secret, f.linker, (*opener).openLinker, func(_ *opener, l *groupLinker) error {
		if err := f.name(e, beside(files[0], linkFiles.suffix)); err != nil {
			return err
		}
		set, err := e.readRekeyedSet(c, l.gk, files, f.sigs, f.revoked)
		if err != nil {
			return err
		}
		proof, err := l.key.ProveLink(l.gk, set, []byte(f.reason))
		if err != nil {
			return withHint(withCode(fileError(f.linker, err), ExitInvalid), "\"undersign group match\" shows which are of one member")
		}
		data, err := encodeGroup(linkFiles.empty(), l.gk, 0, proof)
		if err != nil {
			return err
		}
		return f.finish(e, data, publicFile, groupLinkResult{true, files, f.out}, nil)
	})
}

// readRekeyedSet reads signatures that were made under a list or any before it.
func (e *env) readRekeyedSet(c *cobra.Command, gk groupsig.GroupKey, files, sigs []string, revoked string) ([]groupsig.Signed, error) {
	list, err := e.readRekeyed(c, gk, revoked)
	if err != nil {
		return nil, err
	}
	set, err := e.readGroupSet(c.Context(), gk, files, sigs)
	for i := range set {
		set[i].Options.Revocation = list
	}
	return set, err
}

type groupMatchResult struct {
	Members [][]string `json:"members"`
}

func newGroupMatchCmd(e *env) *cobra.Command {
	var secret secretFlags
	var linker, revoked string
	var sigs []string
	c := &cobra.Command{
		Use:   "match FILE... --linker FILE -i FILE",
		Short: "See which signatures are of one member (linker)",
		Long: `Show which of several files one member has signed, as the linker of a group that
has one. Which member that is can't be seen. With link the linker proves it.`,
		Example: `  undersign group match a.txt b.txt c.txt --linker linker.age -i linker.key`,
		Args:    nargs(1, -1, "a file"),
		RunE: func(c *cobra.Command, args []string) error {
			return useSecret(c.Context(), e, secret, linker, (*opener).openLinker, func(_ *opener, l *groupLinker) error {
				set, err := e.readRekeyedSet(c, l.gk, args, sigs, revoked)
				if err != nil {
					return err
				}
				var r groupMatchResult
				index := map[string]int{}
				for i, s := range set {
					tag, err := l.key.Tag(l.gk, s)
					if err != nil {
						return withCode(groupFileError(args[i], err), ExitInvalid)
					}
					n, ok := index[string(tag)]
					if !ok {
						n = len(r.Members)
						index[string(tag)] = n
						r.Members = append(r.Members, nil)
					}
					r.Members[n] = append(r.Members[n], inputName(args[i]))
				}
				return e.print(r, func(w io.Writer) {
					for n, files := range r.Members {
						for _, f := range files {
							fmt.Fprintf(w, "member %d: %s\n", n+1, oneLine(f))
						}
					}
				})
			})
		},
	}
	fl := c.Flags()
	fl.StringVar(&linker, "linker", "", "the linker's `FILE`")
	c.MarkFlagRequired("linker")
	addSecretFlags(c, &secret)
	addRekeyedFlag(c, &revoked)
	fl.StringSliceVar(&sigs, "sig", nil, "the signatures, `FILE,...`, in the order of the files (default: FILE"+groupSigSuffix+")")
	describe(c, "members [[file]]: those of one member together", ExitInvalid)
	describeExit(c, ExitInvalid, "a signature is invalid")
	return c
}
