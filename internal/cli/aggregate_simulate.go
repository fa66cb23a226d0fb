// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/distill/distillsim"
)

type aggregateSimulateFlags struct {
	seeds, seed uint64
	trace       bool
	wrong       string
}

// maxSimulations is some days.
const maxSimulations = 10_000_000

// maxShownSeeds is how many seeds with violations are shown before a campaign ends.
const maxShownSeeds = 20

func newAggregateSimulateCmd(e *env) *cobra.Command {
	var f aggregateSimulateFlags
	c := &cobra.Command{
		Use:   "simulate",
		Short: "Try the protocol of distilled aggregates with all that may go wrong",
		Long: `Simulate clients, aggregators and validators of distilled aggregates, in
virtual time: messages are lost, repeated, late and out of order, the network
falls apart, everybody crashes at any write and is restored from backups, keys
change, and some cheat. Signatures are real.

What must hold is checked all the time: what is executed was chosen by its
owner, and once; all validators have the same log; each message gets one
outcome, which is true; there is evidence against whoever cheats, and nobody
else.

All of it follows from the seed. If something is found the seed is named, and
--seed N --trace shows how it came about.

With --wrong somebody who should be right is wrong on purpose, and must be found
out: clients that submit a message anew on one validator's word (reissue), or in
the compact mode sign before the raised range of numbers is durable (range);
validators that take a hash for a leaf (bare-hash); aggregators that go on
with old numbers from a backup (sequence).`,
		Example: `  undersign aggregate simulate
  undersign aggregate simulate --seeds 10000
  undersign aggregate simulate --seed 7 --trace
  undersign aggregate simulate --wrong reissue`,
		Args: noArgs,
	}
	fl := c.Flags()
	fl.Uint64Var(&f.seeds, "seeds", 100, "run `N` simulations; 1 with --seed")
	fl.Uint64Var(&f.seed, "seed", 0, "the `N` to begin with")
	fl.BoolVar(&f.trace, "trace", false, "show what happens, of one simulation")
	fl.StringVar(&f.wrong, "wrong", "", "have somebody be wrong: reissue, range, bare-hash or sequence")
	c.RunE = func(c *cobra.Command, args []string) error {
		if (fl.Changed("seed") || f.trace) && !fl.Changed("seeds") {
			f.seeds = 1
		}
		wrong, ok := distillsim.ParseWrong(f.wrong)
		switch {
		case !ok || f.wrong == "" && fl.Changed("wrong"):
			return usagef(c, "--wrong %q isn't one of %s", f.wrong, strings.Join(distillsim.Wrongs(), ", "))
		case f.seeds < 1 || f.seeds > maxSimulations:
			return usagef(c, "--seeds is from 1 to %d, not %d", maxSimulations, f.seeds)
		case f.seed+f.seeds-1 < f.seed:
			return usagef(c, "there are no %d seeds from %d on", f.seeds, f.seed)
		case f.trace && f.seeds > 1:
			return usagef(c, "--trace is of one simulation")
		}
		return e.aggregateSimulate(c.Context(), f, distillsim.Config{Seed: f.seed, Wrong: wrong})
	}
	describe(c, "seeds, first_seed, wrong, found (seeds in which an invariant was broken), violations [seed, invariant, text], trace (lines), heights, messages, executed, reissued, batches, strikes, compact, cheating, faults [lost, repeated, late, cut_off, partitions, crashes, restores, new_keys], evidence (kinds), and of one simulation validators, mode", ExitInvalid)
	describeExit(c, ExitInvalid, "an invariant is broken; with --wrong: none is")
	return c
}

type aggregateSimulateResult struct {
	Seeds      uint64               `json:"seeds"`
	First      uint64               `json:"first_seed"`
	Wrong      string               `json:"wrong,omitempty"`
	Found      int                  `json:"found"`
	Violations []aggregateViolation `json:"violations"`
	Trace      []string             `json:"trace,omitempty"`
	distillsim.Stats
}

type aggregateViolation struct {
	Seed uint64 `json:"seed"`
	distillsim.Violation
}

func (e *env) aggregateSimulate(ctx context.Context, f aggregateSimulateFlags, cfg distillsim.Config) error {
	r := aggregateSimulateResult{First: f.seed, Wrong: f.wrong, Violations: []aggregateViolation{}}
	r.Evidence = make(map[string]int)
	if f.trace {
		cfg.Trace = func(line string) { r.Trace = append(r.Trace, line) }
	}
	p := e.startProgress()
	shown := 0
	err := distillsim.NewRunner().Campaign(cfg, f.seeds, runtime.GOMAXPROCS(0), func(x *distillsim.Report) bool {
		if ctx.Err() != nil {
			return false
		}
		r.Seeds++
		r.add(x)
		if len(x.Violations) > 0 {
			r.Found++
			if shown++; shown <= maxShownSeeds {
				for _, v := range x.Violations {
					r.Violations = append(r.Violations, aggregateViolation{x.Seed, v})
				}
			}
		}
		p.update("simulation %d of %d", r.Seeds, f.seeds)
		return cfg.Wrong != distillsim.NoneWrong || r.Found < maxShownSeeds
	})
	p.done()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	good := r.Found == 0
	if cfg.Wrong != distillsim.NoneWrong {
		good = !good
	}
	if err := e.print(r, r.print); err != nil || good {
		return err
	}
	if cfg.Wrong != distillsim.NoneWrong {
		return failf(ExitInvalid, "try more of them with --seeds", "what is wrong was found in none of %s", countOf(int(r.Seeds), "simulation"))
	}
	return failf(ExitInvalid, "", "an invariant is broken in %d of %s", r.Found, countOf(int(r.Seeds), "simulation"))
}

func (r *aggregateSimulateResult) add(x *distillsim.Report) {
	if r.Stats.Add(&x.Stats); r.Seeds == 1 {
		r.Validators, r.Mode = x.Validators, x.Mode
	} else {
		r.Validators, r.Mode = 0, ""
	}
}

func (r *aggregateSimulateResult) print(w io.Writer) {
	for _, line := range r.Trace {
		fmt.Fprintln(w, line)
	}
	if len(r.Trace) > 0 {
		fmt.Fprintln(w)
	}
	wrong := ""
	if r.Wrong != "" {
		wrong = " --wrong " + r.Wrong
	}
	last := uint64(0)
	for i, v := range r.Violations {
		if i > 0 && v.Seed != last {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "seed %d: %s: %s\n", v.Seed, v.Invariant, v.Text)
		if i+1 == len(r.Violations) || r.Violations[i+1].Seed != v.Seed {
			fmt.Fprintf(w, "  again: undersign aggregate simulate --seed %d%s --trace\n", v.Seed, wrong)
		}
		last = v.Seed
	}
	if len(r.Violations) > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s from seed %d on: an invariant is broken in %d\n", countOf(int(r.Seeds), "simulation"), r.First, r.Found)
	f := &r.Faults
	fmt.Fprintf(w, "%8d messages, of which %d in the compact mode; %d executed, %d submitted anew\n", r.Messages+r.Compact, r.Compact, r.Executed, r.Reissued)
	fmt.Fprintf(w, "%8d heights with %d batches and %d bad ones\n", r.Heights, r.Batches, r.Strikes)
	fmt.Fprintf(w, "%8d lost on the way, %d repeated, %d late by seconds, %d cut off by %d partitions and crashes\n", f.Lost, f.Repeated, f.Late, f.CutOff, f.Partitions)
	fmt.Fprintf(w, "%8d crashes, %d restores from backups, %d changes of keys\n", f.Crashes, f.Restores, f.NewKeys)
	fmt.Fprintf(w, "%8d cheating parties\n", r.Byzantine)
	for _, kind := range slices.Sorted(maps.Keys(r.Evidence)) {
		fmt.Fprintf(w, "%8d times evidence: %s\n", r.Evidence[kind], kind)
	}
}
