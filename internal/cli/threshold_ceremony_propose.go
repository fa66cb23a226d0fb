// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

type proposeFlags struct {
	key       string
	by        []string
	threshold int
	out       string
	force     bool
}

func (k *ceremony) proposeCmd() *cobra.Command {
	var f proposeFlags
	c := &cobra.Command{
		Use:   "propose [CARD]...",
		Short: "Propose a ceremony",
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("threshold") && f.threshold < 2 {
				return usagef(c, "-k must be 2 or more")
			}
			return k.propose(c.Context(), f, args)
		},
	}
	const who = `
Anybody may propose; who contributes agrees by that. Contributors are given by
their indices or names. Those who must be there are the contributors, once; all
others come when they can.`
	if k.name == "refresh" {
		c.Args = nargs(0, -1, "cards")
		c.Long = `Propose new shares for the same holders.` + who + `

A holder without a card gets its share under the key that the public key file
announces, if there is one; then the next refresh needs its card.`
		c.Example = k.example("propose --key threshold.pub --by 1,2,3 alice.card bob.card carol.card",
			"propose --key threshold.pub --by alice,bob,carol -o refresh.txt")
	} else {
		c.Use = "propose CARD..."
		c.Args = nargs(1, -1, "the receivers' cards")
		c.Long = `Propose shares for the receivers whose cards are given; the order of the cards
gives the new indices.` + who + `

Who is no receiver has no share in the new epoch.`
		c.Example = k.example("propose --key threshold.pub --by 1,3,4 -k 2 alice.card dave.card erin.card")
		c.Flags().IntVarP(&f.threshold, "threshold", "k", 0, "new threshold `K` (default: the old one)")
	}
	addKeyFlag(c, &f.key)
	c.Flags().StringSliceVar(&f.by, "by", nil, "contributors `HOLDER,...`, by index or name")
	c.MarkFlagRequired("by")
	addOutFlag(c, &f.out, "proposal.txt")
	addForceFlag(c, &f.force)
	return describe(c, proposalFields)
}

func (k *ceremony) propose(ctx context.Context, f proposeFlags, args []string) error {
	e := k.e
	p, err := e.readPublicKey(ctx, f.key)
	if err != nil {
		return err
	}
	by, err := findHolders(p, f.by)
	if err != nil {
		return err
	}
	var cards []*thresholdrsa.Receiver
	for _, file := range args {
		card, err := readObject[*thresholdrsa.Receiver](ctx, e, file)
		if err != nil {
			return err
		}
		cards = append(cards, card)
	}
	var pr *thresholdrsa.Proposal
	if k.name == "refresh" {
		pr, err = thresholdrsa.ProposeRefresh(p, by, cards...)
	} else {
		threshold := f.threshold
		if threshold == 0 {
			threshold = p.Threshold()
		}
		pr, err = thresholdrsa.ProposeReshare(p, by, threshold, cards)
	}
	if ce := new(thresholdrsa.CeremonyError); errors.As(err, &ce) { // a card is missing
		return failf(ExitError, fmt.Sprintf("\"undersign threshold %s card\" makes it, at %s's", k.name, ce.Name), "%w", err)
	}
	if err != nil {
		return ceremonyError(err)
	}
	data, err := keyfile.Encode(pr)
	if err != nil {
		return err
	}
	out := f.out
	if out == "" {
		out = "proposal.txt"
	}
	if err := e.writeFile(out, data, publicFile, f.force); err != nil {
		return err
	}
	if k.name == "refresh" && pr.Kind() == thresholdrsa.Reshare {
		e.notef("this key was dealt, so its first refresh is a reshare to the same holders")
	}
	return e.printInfo(k.info(out, p, pr), out)
}

// printInfo prints the result of a command that wrote one file, unless that went
// to standard output.
func (e *env) printInfo(info proposalInfo, out string) error {
	if out == "-" {
		return nil
	}
	return e.print(info, info.write)
}

// findHolders returns the indices of holders who are given by index or name.
func findHolders(p *thresholdrsa.PublicKey, who []string) ([]int, error) {
	var out []int
	for _, s := range who {
		i, err := strconv.Atoi(s)
		if err != nil {
			i = 1 + slices.IndexFunc(p.Holders(), func(h thresholdrsa.Holder) bool { return h.Name == s })
		}
		switch {
		case i < 1 || i > p.NumHolders():
			return nil, failf(ExitUsage, "\"undersign inspect\" lists the holders of a public key", "%q isn't a holder of this key", s)
		case slices.Contains(out, i):
			return nil, failf(ExitUsage, "", "%s is given twice", holderLabel(p, i))
		}
		out = append(out, i)
	}
	return out, nil
}
