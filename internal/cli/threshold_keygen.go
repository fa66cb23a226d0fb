// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/thresholdrsa"
)

func newThresholdKeygenCmd(e *env) *cobra.Command {
	var f dealerFlags
	var bits int
	var dir, at string
	c := &cobra.Command{
		Use:   "keygen -k K {--to FILE,... | --node DIR...} -o DIR",
		Short: "Make a key and deal its shares",
		Long: `Make an RSA key of two safe primes, deal its shares to the holders, and forget
the key.

` + dealerFiles + `

With --node the holders are nodes whose folders are on this machine, and which
don't run yet: each gets its share into its folder, knows the others, and has a
rule that lets them ask for its part. Then run "undersign serve" in each.

How long it takes is a matter of luck: now and then several times as long as
expected. This process knows the key while it runs: do it on a machine that you
trust, and that hasn't swapped or hibernated.

With --at a node that is a dealer makes the key, in locked memory. It sends the
shares encrypted to their holders, a signed transcript, and what attests to its
machine if it has that: transcript.txt and attestation in DIR. The node that is
asked is in any case one that you trust with the key while it makes it.`,
		Example: `  undersign threshold keygen -k 3 --bits 3072 \
      --to alice.txt,bob.txt,carol.txt,dave.txt,erin.txt -o key
  undersign threshold keygen -k 2 --to a.txt,b.txt,c.txt --names alice,bob,carol -o key
  undersign threshold keygen -k 2 --node alice --node bob --node carol -o code
  undersign threshold keygen -k 2 --to a.txt,b.txt,c.txt --at dealer --dir ci -o key`,
		Args: noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if bits < thresholdrsa.MinBits || bits > thresholdrsa.MaxBits || bits%2 != 0 {
				return usagef(c, "--bits %d: want an even number from %d to %d", bits, thresholdrsa.MinBits, thresholdrsa.MaxBits)
			}
			if at != "" {
				return e.keygenAt(c, f, bits, dir, at)
			}
			d, err := e.newDealer(c, f)
			if err != nil {
				return err
			}
			defer d.cleanup()
			p := e.startProgress()
			start := time.Now()
			priv, err := thresholdrsa.GenerateKey(c.Context(), bits, func(g thresholdrsa.Progress) {
				p.update("%s", keygenLine(g, time.Since(start)))
			})
			p.done()
			if err != nil {
				return err
			}
			defer thresholdrsa.Erase(priv)
			dealing, shares, err := thresholdrsa.Deal(priv, f.k, len(d.holders), d.options())
			if err != nil {
				return err
			}
			return d.finish(c.Context(), dealing, shares)
		},
	}
	addDealerFlags(c, &f)
	c.Flags().IntVar(&bits, "bits", 3072, "size of the key, `N` bits")
	c.Flags().BoolVar(&f.plaintext, "insecure-plaintext", false, "don't encrypt the shares")
	c.Flags().StringVar(&at, "at", "", "have the dealer at `URL` make it, or the node with this name")
	c.Flags().StringVar(&dir, "dir", ".", "the folder `DIR` of the identity to ask with; goes with --at")
	describe(c, dealerJSON, ExitRefused)
	describeExit(c, ExitRefused, "no rule of the dealer at --at allows it")
	return c
}

// keygenLine says how far the search is. The search has no memory: what lies
// ahead is as much as at the start, however long it took until now.
func keygenLine(g thresholdrsa.Progress, elapsed time.Duration) string {
	s := fmt.Sprintf("Searching safe primes: %d of %d found, %d candidates tested, %d expected on average, %v",
		g.Found, g.Wanted, g.Candidates, g.Expected, elapsed.Round(time.Second))
	if g.Candidates > g.Expected {
		s += " (unlucky; it may end any moment)"
	}
	return s
}
