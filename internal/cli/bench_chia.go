// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/chia"
)

// maxBenchBlocks is some hours.
const maxBenchBlocks = 100_000

// benchChiaResult is what bench chia prints of a synthetic chain.
type benchChiaResult struct {
	*chia.Result
	Published benchChiaPublished `json:"published"`
}

// benchChiaPublished is what the report says.
type benchChiaPublished struct {
	ClassicMean   float64   `json:"classic_mean_ms"`
	ClassicMax    float64   `json:"classic_max_ms"`
	DistilledMean float64   `json:"distilled_mean_ms"`
	DistilledMax  float64   `json:"distilled_max_ms"`
	IsolatedRatio float64   `json:"isolated_ratio"`
	Sync          chia.Sync `json:"sync"`
}

func newBenchChiaCmd(e *env) *cobra.Command {
	x := chia.Experiment{}
	var in string
	c := &cobra.Command{
		Use:   "chia",
		Short: "Compare Chia's blocks with distilled ones",
		Long: `Repeat the experiment of the report "SIGINT on Chia" (EPFL, 2023): measure how
long the signatures of Chia's blocks take to verify today, and how long if the
keys had signed a tree of all that a block asks for instead. The chain is
synthetic, with the report's statistics. The report's figures stand beside it.

Columns: A the report's method, where one key signs the root for all; B keys
that are known and proven; C keys that are decoded first; D keys without proofs,
weighted, as Chia's one-time keys need it; E keys that are late, and are in the
block by a signature of their own; F several blocks verified together. All times
are of one processor.

With --in, real blocks or spend bundles are verified as well. Their owners alone
could sign them anew. So what is measured beside them is re-keyed: the same
messages by as many synthetic keys.`,
		Example: `  undersign bench chia
  undersign bench chia --blocks 500 --seed 7 --json
  undersign bench chia --in mainnet-spend-bundles.json`,
		Args: noArgs,
	}
	f := c.Flags()
	f.StringVar(&in, "in", "", "verify the blocks or spend bundles of `FILE`")
	f.IntVar(&x.Blocks, "blocks", 96, "make `N` blocks")
	f.IntVar(&x.Largest, "largest", chia.MaxPairs, "make one more, of `N` pairs")
	f.IntVar(&x.Together, "together", 32, "verify `N` blocks together for column F")
	f.Uint64Var(&x.Seed, "seed", 1, "make the chain of seed `N`")
	c.RunE = func(c *cobra.Command, args []string) error {
		if in != "" {
			for _, name := range []string{"blocks", "largest", "together"} {
				if f.Changed(name) {
					return usagef(c, "--%s doesn't go with --in", name)
				}
			}
			return e.benchChiaFile(c.Context(), in, x.Seed)
		}
		for _, v := range []struct {
			name   string
			n, max int
		}{{"blocks", x.Blocks, maxBenchBlocks}, {"largest", x.Largest, chia.MaxKeys}, {"together", x.Together, 1 << 12}} {
			if v.n < 1 || v.n > v.max {
				return usagef(c, "--%s is from 1 to %d, not %d", v.name, v.max, v.n)
			}
		}
		return e.benchChia(c.Context(), &x)
	}
	describe(c, "blocks, pairs, mean_pairs, most_pairs, largest_pairs, blocks_together, seed, rows [column, method, keys_decoded, stragglers_percent, mean_ms, max_ms, ratio, largest_ms, largest_ratio], sync [signed_share, classic_hours, distilled_hours, one_time_hours, together_hours, ratio, bound], published; with --in: network, pairs, valid, invalid, unsigned, blocks [name, pairs, keys, signed, valid, problem, classic_ms, rekeyed_classic_ms, rekeyed_distilled_ms, rekeyed_weighted_ms, rekeyed_ratio], and the sums of these", ExitInvalid)
	describeExit(c, ExitInvalid, "a block of --in isn't valid")
	return c
}

func (e *env) benchChia(ctx context.Context, x *chia.Experiment) error {
	p := e.startProgress()
	x.Progress = func(done, total int, what string) { p.update("%s: %d of %d", what, done, total) }
	found, err := x.Run(ctx)
	p.done()
	if err != nil {
		return err
	}
	res := &benchChiaResult{found, benchChiaPublished{
		ClassicMean: 1000 * chia.ReportClassicMean, ClassicMax: 1000 * chia.ReportClassicMax,
		DistilledMean: 1000 * chia.ReportDistilledMean, DistilledMax: 1000 * chia.ReportDistilledMax,
		IsolatedRatio: chia.ReportIsolatedRatio, Sync: chia.ReportSync(),
	}}
	return e.print(res, func(w io.Writer) { printBenchChia(w, res) })
}

func printBenchChia(w io.Writer, res *benchChiaResult) {
	fmt.Fprintf(w, `%d signed blocks of a synthetic chain (seed %d), with %.1f pairs on average
and %d at most, and one more with %d. Milliseconds of one processor, and how
many times as fast as classic verification with keys that are as well known.

`, res.Blocks, res.Seed, res.MeanPairs, res.MostPairs, res.Largest)
	const format = "%-8s %-34s %-8s %8s %7s %8s %8s %7s\n"
	fmt.Fprintf(w, format, "column", "method", "keys", "mean", "ratio", "max", fmt.Sprint("k=", res.Largest), "ratio")
	times := func(r float64) string { return fmt.Sprintf("%.1fx", r) }
	for _, r := range res.Rows {
		keys, largest, ratio, method := "known", "", "", r.Method
		if r.Decoded {
			keys = "decoded"
		}
		if r.Column == chia.ColumnLate {
			method = fmt.Sprintf("%.0f %% %s", r.LatePercent, r.Method)
		}
		if r.Largest > 0 {
			largest, ratio = fmt.Sprintf("%.2f", r.Largest), times(r.LargestRatio)
		}
		row := fmt.Sprintf(format, r.Column, method, keys, fmt.Sprintf("%.2f", r.Mean), times(r.Ratio), fmt.Sprintf("%.2f", r.Max), largest, ratio)
		fmt.Fprintln(w, strings.TrimRight(row, " \n"))
	}
	p := res.Published
	fmt.Fprintf(w, `
The report (Chia 1.8.1): %.0f ms on average and %.0f at most, distilled %.0f and %.0f,
which is %.0f times on average. That compares a time inside a loaded node with one
taken by itself. Like for like, its own measurements outside the node give %.1f
times at %d pairs.

Synchronisation of %d blocks, in hours: %.2f for all other work, as the
report's times have it, and the verification of the signed blocks.

`, p.ClassicMean, p.ClassicMax, p.DistilledMean, p.DistilledMax, p.ClassicMean/p.DistilledMean, p.IsolatedRatio, chia.ReportIsolatedPairs,
		chia.ReportBlocks, chia.ReportOtherHours)
	const sync = "%-24s %8s %8s %9s %9s %9s %7s %7s\n"
	fmt.Fprintf(w, sync, "", "signed", "classic", "distilled", "one-time", "together", "ratio", "bound")
	line := func(name string, s chia.Sync) {
		hours := func(h float64) string {
			if h == 0 {
				return ""
			}
			return fmt.Sprintf("%.2f", h)
		}
		row := fmt.Sprintf(sync, name, fmt.Sprintf("%.1f %%", 100*s.Share), hours(s.Classic), hours(s.Distilled), hours(s.OneTime), hours(s.Together),
			fmt.Sprintf("%.2fx", s.Ratio), fmt.Sprintf("%.2fx", s.Bound))
		fmt.Fprint(w, row)
	}
	line("published", p.Sync)
	for _, s := range res.Sync {
		line("measured here", s)
	}
	fmt.Fprintf(w, `
The bound is Amdahl's: what a verification that takes no time would bring. Classic
and one-time have their keys decoded. The published times fit a share of %.1f %%
signed blocks, at the published times for each.
`, 100*p.Sync.Share)
}

func (e *env) benchChiaFile(ctx context.Context, name string, seed uint64) error {
	r, err := e.openInput(ctx, name)
	if err != nil {
		return err
	}
	defer r.Close()
	f, err := chia.ReadFile(r)
	if err != nil {
		return fmt.Errorf("%s: %w", inputName(name), err)
	}
	p := e.startProgress()
	res, err := chia.MeasureFile(ctx, f, seed, func(done, total int) { p.update("verifying blocks: %d of %d", done, total) })
	p.done()
	if err != nil {
		return err
	}
	if err := e.print(res, func(w io.Writer) { printBenchChiaFile(w, res) }); err != nil {
		return err
	}
	if res.Invalid > 0 {
		return failf(ExitInvalid, "", "%d of %d blocks aren't valid", res.Invalid, len(res.Blocks))
	}
	return nil
}

func printBenchChiaFile(w io.Writer, res *chia.FileResult) {
	const format = "%7s %6s %9s %11s %11s %11s %8s  %s\n"
	fmt.Fprintf(w, format, "", "", "real", "re-keyed", "re-keyed", "re-keyed", "", "")
	fmt.Fprintf(w, format, "pairs", "keys", "classic", "classic", "distilled", "weighted", "ratio", "block")
	ms := func(v float64) string {
		if v == 0 {
			return "-"
		}
		return fmt.Sprintf("%.2f", v)
	}
	for _, b := range res.Blocks {
		real, ratio, name := ms(b.Real), "-", b.Name
		switch {
		case !b.Signed:
			real, name = "unsigned", name+" (no signature in the file)"
		case !b.Valid:
			real, name = "INVALID", name+": "+b.Problem
		}
		if b.Ratio > 0 {
			ratio = fmt.Sprintf("%.1fx", b.Ratio)
		}
		fmt.Fprintf(w, format, fmt.Sprint(b.Pairs), fmt.Sprint(b.Keys), real, ms(b.Classic), ms(b.Distilled), ms(b.Weighted), ratio, printable(name))
	}
	fmt.Fprintf(w, "\n%d blocks of %s with %d pairs: %d valid, %d not, %d without a signature.\n", len(res.Blocks),
		printable(cmp.Or(res.Network, "an unnamed network")), res.Pairs, res.Valid, res.Invalid, res.Unsigned)
	if res.Valid > 0 {
		fmt.Fprintf(w, "The valid ones take %s ms in all. ", ms(res.Real))
	}
	fmt.Fprintf(w, "Re-keyed, all take %s ms classic, %s distilled", ms(res.Classic), ms(res.Distilled))
	if res.Ratio > 0 {
		fmt.Fprintf(w, " (%.1f times)", res.Ratio)
	}
	fmt.Fprintf(w, `.

Real keys have no signatures of a root: only their owners could give them. What is
distilled is re-keyed, the same messages by as many synthetic keys. Keys are known,
and those of the column distilled are proven. Messages of one key share a pairing
as it is, so that hashing them is all that is saved there.
`)
}
