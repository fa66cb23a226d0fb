// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
)

type contributeFlags struct {
	secretFlags
	share string
	out   string
}

func (k *ceremony) contributeCmd() *cobra.Command {
	var f contributeFlags
	c := &cobra.Command{
		Use:   "contribute PROPOSAL",
		Short: "Make a holder's contribution",
		Long: `Make the contribution of a holder whom a proposal names: commitments for
everybody, and a part for each receiver that only that one can open. All of it
is signed.

To contribute is to agree that the receivers get shares of the key. They are
shown, and a question has to be answered with yes; compare the fingerprints of
their cards with what they told you.

A holder contributes once to a proposal: two contributions are evidence against
it. Where the file exists, none is made.`,
		Example: k.example("contribute proposal.txt --share alice.share -i alice.key",
			"contribute proposal.txt --share alice.share -i alice.key --yes -o to-all.txt"),
		Args: nargs(1, 1, "a proposal"),
		RunE: func(c *cobra.Command, args []string) error { return k.contribute(c.Context(), f, args[0]) },
	}
	c.Flags().StringVar(&f.share, "share", "", "the holder's share `FILE`")
	c.MarkFlagRequired("share")
	addSecretFlags(c, &f.secretFlags)
	addOutFlag(c, &f.out, "proposal.NAME.contribution")
	return describe(c, "contribution, contributor [index, name], proposal, epoch")
}

func (k *ceremony) contribute(ctx context.Context, f contributeFlags, proposal string) error {
	e := k.e
	if f.out == "-" {
		return failf(ExitUsage, "name a file", "a contribution is made once, and must be kept in a file")
	}
	o, err := e.newOpener(ctx, f.secretFlags)
	if err != nil {
		return err
	}
	defer o.wipe()
	share, _, err := o.openShare(f.share)
	if err != nil {
		return err
	}
	defer share.Wipe()
	parent := share.PublicKey()
	r, err := k.readRun(ctx, parent, []string{proposal})
	if err != nil {
		return err
	}
	who := party{share.Index(), share.Name()}
	out := f.out
	if out == "" {
		out = outName(proposal, who, ".contribution")
	}
	// Before the work and the question; the file set has the last word.
	if exists(out) {
		return failf(ExitError, "send that one; for a fresh start, make a new proposal", "%s exists already, and a holder contributes once", out)
	}
	info := k.info(proposal, parent, r.proposal)
	if !e.yes {
		e.clearProgress()
		info.write(e.stderr) // with -q too: the question is about it
		if err := e.confirm(ctx, fmt.Sprintf("Hand shares of this key to these %d receivers?", len(info.Receivers))); err != nil {
			return err
		}
	}
	contribution, err := share.Contribute(r.proposal)
	if err != nil {
		return ceremonyFileError(proposal, err)
	}
	data, err := keyfile.Encode(contribution)
	if err != nil {
		return err
	}
	if err := e.writeFile(out, data, publicFile, false); err != nil {
		return err
	}
	type result struct {
		Contribution string `json:"contribution"`
		Contributor  party  `json:"contributor"`
		Proposal     string `json:"proposal"`
		Epoch        uint64 `json:"epoch"`
	}
	return e.print(result{out, who, info.Fingerprint, info.Epoch}, func(w io.Writer) {
		fmt.Fprintf(w, "%s: the contribution of %s, for all receivers\n", out, printable(holderLabel(parent, who.Index)))
	})
}
