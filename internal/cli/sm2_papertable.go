// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/sm2paper"
)

// paperResult is what paper-table prints.
type paperResult struct {
	RandomizerBits int            `json:"randomizer_bits"` // 0 for none
	Rounds         int            `json:"rounds"`
	Rows           []sm2paper.Row `json:"rows"`
	PrintedSingle  float64        `json:"printed_single"`
	CountedSingle  float64        `json:"counted_single"`
	Randomizers    []paperLength  `json:"randomizers"`
}

// paperLength is what randomisers of one length cost and bring.
type paperLength struct {
	Bits          int     `json:"bits"`
	SemiScalar    float64 `json:"semi_scalar"` // for one signature
	Total         float64 `json:"total"`       // for a batch of paperItems
	SpeedUp       float64 `json:"speed_up"`
	SoundnessBits []int   `json:"soundness_bits"` // for 2 to 9 items
}

// paperItems is the size of the batches that lengths of randomisers are compared for:
// the paper's best one.
const paperItems = 7

// maxPaperRounds is some 20 seconds.
const maxPaperRounds = 1000

func newSM2PaperTableCmd(e *env) *cobra.Command {
	var bits, rounds int
	c := &cobra.Command{
		Use:   "paper-table",
		Short: "Count the multiplications of a published batch verification",
		Long: `Print the cost table of S. Li, Z. Bai, Y. Tu and Z. Zhang, batch verification of
SM2 signatures (Netinfo Security 22(5), 2022), beside what an implementation of
it counts on real batches of t signatures by different signers, t = 2 to 9.

A row of the table has four lines: what is printed there, what the formulas
give, what is counted, and how much more that is than the formulas. The unit is
a multiplication in the field; an inversion is 270 of them.

This is a reference to measure against, not how undersign verifies.`,
		Example: `  undersign sm2 paper-table
  undersign sm2 paper-table --randomizer 128 --rounds 100
  undersign sm2 paper-table --json`,
		Args: noArgs,
	}
	c.Flags().IntVar(&bits, "randomizer", sm2paper.PrintedRandomizerBits, "length of randomisers in `BITS`, 0 for none")
	c.Flags().IntVar(&rounds, "rounds", 25, "count the average of `N` batches of each size")
	c.RunE = func(c *cobra.Command, args []string) error {
		if bits < 0 || bits > sm2paper.MaxRandomizerBits {
			return usagef(c, "--randomizer is from 0 to %d, not %d", sm2paper.MaxRandomizerBits, bits)
		}
		if rounds < 1 || rounds > maxPaperRounds {
			return usagef(c, "--rounds is from 1 to %d, not %d", maxPaperRounds, rounds)
		}
		res, err := countPaper(c.Context(), bits, rounds)
		if err != nil {
			return err
		}
		return e.print(res, func(w io.Writer) { printPaper(w, res) })
	}
	return describe(c, "randomizer_bits, rounds, rows (items, tables, values, printed, formula, counted, lift_check, decision_small, soundness_bits, notes), printed_single, counted_single, randomizers (bits, semi_scalar, total, speed_up, soundness_bits)")
}

// countPaper counts the table, and then the lengths of randomisers.
func countPaper(ctx context.Context, bits, rounds int) (*paperResult, error) {
	options := func(bits int) *sm2paper.TableOptions {
		return &sm2paper.TableOptions{
			Verify: sm2paper.Options{RandomizerBits: bits, NoRandomizersUnsafe: bits == 0},
			Rounds: rounds,
			Rand:   randUntil{ctx},
		}
	}
	table, err := sm2paper.PaperTable(options(bits))
	if err != nil {
		return nil, err
	}
	res := &paperResult{
		RandomizerBits: bits,
		Rounds:         rounds,
		Rows:           table.Rows,
		PrintedSingle:  table.PrintedSingle,
		CountedSingle:  table.CountedSingle,
	}
	lengths := []int{0, sm2paper.PrintedRandomizerBits, 64, sm2paper.DefaultRandomizerBits, bits}
	slices.Sort(lengths)
	for _, bits := range slices.Compact(lengths) {
		counted, err := sm2paper.CountBits(paperItems, table.CountedSingle, options(bits))
		if err != nil {
			return nil, err
		}
		l := paperLength{Bits: bits, SemiScalar: counted.SemiScalar / paperItems, Total: counted.Total, SpeedUp: counted.SpeedUp}
		for t := sm2paper.MinItems; t <= sm2paper.MaxItems; t++ {
			l.SoundnessBits = append(l.SoundnessBits, sm2paper.SoundnessBits(t, bits))
		}
		res.Randomizers = append(res.Randomizers, l)
	}
	return res, nil
}

// randUntil is crypto/rand until the context ends, and so is what is made with it.
type randUntil struct{ ctx context.Context }

func (r randUntil) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return rand.Read(p)
}

func printPaper(w io.Writer, res *paperResult) {
	const format = "%-2s %-9s %12s %12s %10s %9s %7s %9s\n"
	fmt.Fprintf(w, format, "t", "", "accelerated", "semi-scalar", "inversion", "decision", "total", "speed-up")
	line := func(t, name string, c sm2paper.Columns) {
		whole := func(x float64) string { return fmt.Sprintf("%.0f", x) }
		fmt.Fprintf(w, format, t, name, whole(c.Accelerated), whole(c.SemiScalar), whole(c.Inversion),
			whole(c.Decision), whole(c.Total), fmt.Sprintf("%.3f", c.SpeedUp))
	}
	for _, r := range res.Rows {
		line(fmt.Sprint(r.Items), "printed", r.Printed)
		line("", "formula", r.Formula)
		line("", "counted", r.Counted)
		more := func(x, y float64) string { return fmt.Sprintf("%+.0f", x-y) }
		fmt.Fprintf(w, format, "", "more", more(r.Counted.Accelerated, r.Formula.Accelerated),
			more(r.Counted.SemiScalar, r.Formula.SemiScalar), more(r.Counted.Inversion, r.Formula.Inversion),
			more(r.Counted.Decision, r.Formula.Decision), more(r.Counted.Total, r.Formula.Total),
			fmt.Sprintf("%+.3f", r.Counted.SpeedUp-r.Formula.SpeedUp))
	}
	fmt.Fprintf(w, "single verification: printed %.0f, counted %.0f\n", res.PrintedSingle, res.CountedSingle)
	printPaperReasons(w, res)

	fmt.Fprintf(w, "\nA batch with an invalid signature is accepted with a probability of at most\n2^(t-BITS): randomisers have 2^BITS equally likely values, and the signs are\nchosen after them.\n\n")
	const lengths = "%-11s %13s %10s %9s %8s %8s %8s\n"
	fmt.Fprintf(w, lengths, "randomisers", "a signature", "total t=7", "speed-up", "t=2", "t=7", "t=9")
	for _, l := range res.Randomizers {
		name, bound := fmt.Sprintf("%d bits", l.Bits), func(t int) string {
			n := l.SoundnessBits[t-sm2paper.MinItems]
			if n == 0 {
				return "no bound"
			}
			return fmt.Sprintf("2^%d", n)
		}
		if l.Bits == 0 {
			name = "none"
		}
		fmt.Fprintf(w, lengths, name, fmt.Sprintf("%.0f", l.SemiScalar), fmt.Sprintf("%.0f", l.Total),
			fmt.Sprintf("%.3f", l.SpeedUp), bound(2), bound(7), bound(9))
	}
}

// printPaperReasons says where the lines of a row differ, and why.
func printPaperReasons(w io.Writer, res *paperResult) {
	fmt.Fprintf(w, "\nWhere the printed numbers aren't those of the formulas:\n")
	for _, r := range res.Rows {
		for _, note := range r.Notes {
			fmt.Fprintf(w, "  t=%d: %s\n", r.Items, note)
		}
	}
	fmt.Fprintf(w, `
Where what is counted differs, as the average of %d batches of each size:
  accelerated: by chance; and the formula has an addition less with two tables.
    A doubling is counted as 10, as published. With a = -3 it needs 8, which
    would save 510 a batch
  semi-scalar: the published 515 a signature fit randomisers of %d bits: 31
    doublings of 10, 16 additions of 11, and 29. There is no room for 52 bits: a
    doubling costs 10, as every signature has a curve constant of its own,
    a' = ac². Counted are %s
  decision: by Semaev's third summation polynomial, resultants, and Euclid's
    algorithm without inversions; L stays Jacobian. On top of it come
    multiplications by small constants:`, res.Rounds, sm2paper.PrintedRandomizerBits, countedLength(res.RandomizerBits))
	sep := "\n    "
	for _, r := range res.Rows {
		if r.DecisionSmall > 0 {
			fmt.Fprintf(w, "%s%.0f (t=%d)", sep, r.DecisionSmall, r.Items)
			sep = ", "
		}
	}
	r := res.Rows[paperItems-sm2paper.MinItems]
	fmt.Fprintf(w, `

Not in the table is the check that every r-e belongs to a point of the curve, %.0f
a signature. With it the speed-up for t=%d is %.3f. Without it there are invalid
batches, with points of order 7 on the twist of the curve, of which a third is
accepted, however long the randomisers are.
`, r.LiftCheck/paperItems, paperItems, paperItems*res.CountedSingle/(r.Counted.Total+r.LiftCheck))
}

// countedLength says which randomisers were counted.
func countedLength(bits int) string {
	if bits == 0 {
		return "none at all, and 7"
	}
	return fmt.Sprintf("random ones of %d bits, and 7", bits)
}
