// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/thresholdrsa"
)

func (k *ceremony) judgeCmd() *cobra.Command {
	var key string
	c := &cobra.Command{
		Use:   "judge REFUSAL PROPOSAL CONTRIBUTION...",
		Short: "Say whether a refusal is justified",
		Long: `Say who is at fault when a receiver refuses, from what everybody has: the
proposal and the contribution that the refusal is about. All who look come to
the same verdict, or to none: where a receiver says that it can't open its part,
either may lie, and the ceremony is begun again without the two.

Two different contributions of one holder to one proposal are its fault,
whatever they hold.

The status is 0 whatever the verdict.`,
		Example: k.example("judge proposal.carol.refusal proposal.txt proposal.bob.contribution --key threshold.pub"),
		Args:    nargs(3, -1, "a refusal, a proposal and the contribution it is about"),
		RunE:    func(c *cobra.Command, args []string) error { return k.judge(c.Context(), key, args) },
	}
	addKeyFlag(c, &key)
	describe(c, "verdict (undecided, contributor, receiver), contributor [index, name],\n  receiver [index, name], reason", ExitInvalid)
	describeExit(c, ExitInvalid, "the refusal or the contribution isn't evidence: whose it is can't be told")
	return c
}

func (k *ceremony) judge(ctx context.Context, key string, args []string) error {
	e := k.e
	parent, err := e.readPublicKey(ctx, key)
	if err != nil {
		return err
	}
	refusal, err := readObject[*thresholdrsa.Refusal](ctx, e, args[0])
	if err != nil {
		return err
	}
	r, err := k.readRun(ctx, parent, args[1:], contributionType)
	if err != nil {
		return err
	}
	verdict, judged := thresholdrsa.Undecided, 0
	var first *thresholdrsa.Contribution
	for _, c := range r.contributions {
		if c.Index() != refusal.Contributor() {
			continue // *.contribution is the natural thing to give
		}
		v, err := refusal.Judge(parent, r.proposal, c)
		if err != nil {
			return judgeError(args[0], err)
		}
		if judged++; first == nil {
			first, verdict = c, v
		} else if !c.Equal(first) {
			verdict = thresholdrsa.ContributorAtFault // Judge has checked both signatures
		}
	}
	if judged == 0 {
		return failf(ExitError, "", "there is no contribution of %s, whom the refusal is about", holderLabel(parent, refusal.Contributor()))
	}
	type result struct {
		Verdict     string `json:"verdict"`
		Contributor party  `json:"contributor"`
		Receiver    party  `json:"receiver"`
		Reason      string `json:"reason"`
	}
	word := map[thresholdrsa.Verdict]string{
		thresholdrsa.Undecided: "undecided", thresholdrsa.ContributorAtFault: "contributor", thresholdrsa.ReceiverAtFault: "receiver",
	}[verdict]
	contributor := holdersAt(parent, []int{refusal.Contributor()})[0]
	receiver := party{refusal.Index(), r.proposal.Receivers()[refusal.Index()-1].Name()}
	return e.print(result{word, contributor, receiver, refusal.Reason()}, func(w io.Writer) {
		fmt.Fprintf(w, "receiver %s refuses the contribution of holder %s: %s\n",
			printable(receiver.String()), printable(contributor.String()), printable(refusal.Reason()))
		fmt.Fprintf(w, "%s\n", verdict)
	})
}

// judgeError: what isn't evidence isn't a fault of whoever it names.
func judgeError(refusal string, err error) error {
	err = ceremonyFileError(refusal, err)
	if exitCode(err) == ExitError {
		err = withCode(err, ExitInvalid)
	}
	return err
}
