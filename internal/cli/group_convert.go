// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/hex"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/internal/wire"
	"github.com/undersign/undersign/keyfile"
)

// Limits of a query.
const (
	maxQuery     = 1 << 14
	maxQueryItem = 1 << 12
)

type groupConvertFlags struct {
	outFlags
	secret                      secretFlags
	group, to, blindingOut      string
	converter, blinding, answer string
	sigs                        []string
}

func newGroupConvertCmd(e *env) *cobra.Command {
	var f groupConvertFlags
	c := &cobra.Command{
		Use:   "convert FILE...",
		Short: "Compare signatures within a query (gl19)",
		Long: `Find out which of several signatures are of one member, with the converter's
help, in groups that have one. It takes three steps.

With --group, who has the signatures makes a query of them, and a key for it.
The converter (--converter) answers the query, without seeing what it is about.
With --blinding and --answer, who asked gets a pseudonym for each file: equal
ones are of one member. In another query they are others.

The converter can't tell whether a query comes from signatures: it has to trust
who asks, and to limit how much.`,
		Example: `  undersign group convert a.txt b.txt c.txt --group group.pub --to me.txt -o study.query
  undersign group convert study.query --converter converter.age -i converter.key
  undersign group convert a.txt b.txt c.txt --blinding study.query.key -i me.key \
      --answer study.query.answer`,
		Args: nargs(1, -1, "a file"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case f.converter != "":
				if len(args) != 1 {
					return usagef(c, "--converter answers one query")
				}
				return e.groupAnswer(c, f, args[0])
			case f.blinding != "":
				return e.groupUnblind(c, f, args)
			}
			return e.groupQuery(c, f, args)
		},
	}
	fl := c.Flags()
	addGroupFlag(c, &f.group)
	fl.StringVar(&f.to, "to", "", "encrypt the query's key to the age recipients `FILE`")
	fl.StringVar(&f.blindingOut, "blinding-out", "", "write the query's key to `FILE` (default: QUERY.key)")
	fl.StringSliceVar(&f.sigs, "sig", nil, "the signatures, `FILE,...`, in the order of the files (default: FILE"+groupSigSuffix+")")
	fl.StringVar(&f.converter, "converter", "", "answer with the converter's `FILE`")
	fl.StringVar(&f.blinding, "blinding", "", "read the answer with the query's key `FILE`")
	fl.StringVar(&f.answer, "answer", "", "the converter's answer, `FILE`")
	addSecretFlags(c, &f.secret)
	addOutFlags(c, &f.outFlags, "query; with --converter QUERY.answer")
	c.MarkFlagsOneRequired("group", "converter", "blinding")
	c.MarkFlagsMutuallyExclusive("group", "converter", "blinding")
	c.MarkFlagsRequiredTogether("blinding", "answer")
	c.MarkFlagsRequiredTogether("group", "to")
	return describe(c, "files; with --blinding: signatures [file, pseudonym]", ExitInvalid)
}

func encodeItems(items [][]byte) []byte {
	var e wire.Encoder
	for _, x := range items {
		e.Bytes(x)
	}
	return e.Data()
}

func decodeItems(data []byte) ([][]byte, error) {
	d := wire.NewDecoder(data)
	var out [][]byte
	for d.Remaining() > 0 {
		if len(out) == maxQuery {
			return nil, fmt.Errorf("more than %d pseudonyms", maxQuery)
		}
		out = append(out, d.Bytes("pseudonym", maxQueryItem))
	}
	return out, d.Finish()
}

type groupFilesResult struct {
	Files []string `json:"files"`
}

func (e *env) groupQuery(c *cobra.Command, f groupConvertFlags, files []string) error {
	ctx := c.Context()
	if len(files) > maxQuery {
		return usagef(c, "a query is of at most %d signatures", maxQuery)
	}
	gk, err := e.readGroup(ctx, f.group)
	if err != nil {
		return err
	}
	b, ok := groupsig.As[groupsig.Blinder](gk)
	if !ok {
		return usagef(c, "the group has no converter")
	}
	to, err := e.readRecipients(ctx, f.to)
	if err != nil {
		return err
	}
	set, err := e.readGroupSet(ctx, gk, files, f.sigs)
	if err != nil {
		return err
	}
	key, err := b.NewBlindingKey()
	if err != nil {
		return err
	}
	defer key.Wipe()
	var query [][]byte
	for i, s := range set {
		x, err := key.Blind(s.Message, s.Signature, s.Options)
		if err != nil {
			return withCode(groupFileError(files[i], err), ExitInvalid)
		}
		query = append(query, x)
	}
	if f.out == "" {
		f.out = "query"
	}
	if f.blindingOut == "" {
		if f.out == "-" {
			return usagef(c, "--blinding-out: the query has no name that its key could be called after")
		}
		f.blindingOut = f.out + ".key"
	}
	data, err := sealGroup(new(keyfile.GroupBlinding), to, gk, 0, gk, key)
	if err != nil {
		return err
	}
	public, err := encodeGroup(new(keyfile.GroupQuery), gk, 0, key.Public(), encodeItems(query))
	if err != nil {
		return err
	}
	out := e.newFileSet(f.force)
	defer out.abort()
	if err := out.add(f.blindingOut, data, secretFile); err != nil {
		return err
	}
	if err := out.add(f.out, public, publicFile); err != nil {
		return err
	}
	if err := out.commit(); err != nil || f.out == "-" {
		return err
	}
	return e.print(groupFilesResult{[]string{f.out, f.blindingOut}}, func(w io.Writer) {
		writeFields(w, []field{{f.out, "query, for the converter"}, {f.blindingOut, "keep it until the answer comes"}})
	})
}

func (e *env) groupAnswer(c *cobra.Command, f groupConvertFlags, file string) error {
	ctx := c.Context()
	return useSecret(ctx, e, f.secret, f.converter, (*opener).openConverter, func(_ *opener, cv *groupConverter) error {
		if err := f.name(e, beside(file, ".answer")); err != nil {
			return err
		}
		p, err := readGroupParts[*keyfile.GroupQuery](ctx, e, cv.gk, file, 2)
		if err != nil {
			return err
		}
		query, err := decodeItems(p[1])
		if err != nil {
			return fileError(file, err)
		}
		answer, err := cv.key.Convert(cv.gk, p[0], query)
		if err != nil {
			return withCode(groupFileError(file, err), ExitInvalid)
		}
		data, err := encodeGroup(new(keyfile.GroupAnswer), cv.gk, 0, encodeItems(answer))
		if err != nil {
			return err
		}
		return f.finish(e, data, publicFile, groupFilesResult{[]string{f.out}}, nil)
	})
}

type groupPseudonym struct {
	File      string `json:"file"`
	Pseudonym string `json:"pseudonym"`
}

func (e *env) groupUnblind(c *cobra.Command, f groupConvertFlags, files []string) error {
	ctx := c.Context()
	o, err := e.newOpener(ctx, f.secret)
	if err != nil {
		return err
	}
	defer o.wipe()
	bf, err := openGroupSecret[*keyfile.GroupBlinding](o, f.blinding, 2)
	if err != nil {
		return err
	}
	defer bf.file().Wipe()
	b, ok := groupsig.As[groupsig.Blinder](bf.gk)
	if !ok {
		return usagef(c, "the group has no converter")
	}
	key, err := b.ParseBlindingKey(bf.file().Parts[1])
	if err != nil {
		return groupFileError(f.blinding, err)
	}
	defer key.Wipe()
	p, err := readGroupParts[*keyfile.GroupAnswer](ctx, e, bf.gk, f.answer, 1)
	if err != nil {
		return err
	}
	items, err := decodeItems(p[0])
	if err != nil {
		return fileError(f.answer, err)
	}
	// The order is random: messages say which is whose. Of equal messages either may
	// be either.
	byMessage := map[string][]string{}
	for _, x := range items {
		nym, msg, err := key.Unblind(x)
		if err != nil {
			return withCode(groupFileError(f.answer, err), ExitInvalid)
		}
		byMessage[string(msg)] = append(byMessage[string(msg)], hex.EncodeToString(nym))
	}
	r := struct {
		Signatures []groupPseudonym `json:"signatures"`
	}{[]groupPseudonym{}}
	for _, file := range files {
		msg, err := e.readInput(ctx, file, maxMessage)
		if err != nil {
			return err
		}
		point := string(b.MessagePoint(msg))
		nyms := byMessage[point]
		if len(nyms) == 0 {
			return failf(ExitInvalid, "", "%s: %s isn't in it", inputName(f.answer), inputName(file))
		}
		byMessage[point] = nyms[1:]
		r.Signatures = append(r.Signatures, groupPseudonym{inputName(file), nyms[0]})
	}
	return e.print(r, func(w io.Writer) {
		for _, s := range r.Signatures {
			fmt.Fprintf(w, "%s: pseudonym %s\n", s.File, s.Pseudonym[:16])
		}
	})
}
