// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
)

type groupOptions struct {
	draws   int
	quick   bool
	schemes []string
}

const groupUsage = `usage: bench group [-scheme LIST] [-draws N] [-quick]

Measures group signatures, on one core, and prints them beside what libgroupsig took
and what a survey published. libgroupsig isn't run: its figures were taken before, on
a machine of the same kind, and are scaled by what gnark-crypto's pairing takes in
this run by what it took then. All operations of a scheme take turns; times are
minima of processor time, and those of batches are for each signature.

`

// groupBatches are the sizes of batches.
var groupBatches = [2]int{100, 1000}

func parseGroup(args []string) (*groupOptions, error) {
	flags := flag.NewFlagSet("group", flag.ContinueOnError)
	schemes := flags.String("scheme", "", "schemes to measure, a `list` with commas (default all)")
	draws := flags.Int("draws", 0, "`draws` of each time (default 15; of the slow ones a fifth)")
	quick := flags.Bool("quick", false, "3 draws, and no batches of 1000")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), groupUsage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	o := &groupOptions{draws: 15, quick: *quick}
	if *quick {
		o.draws = 3
	}
	flags.Visit(func(f *flag.Flag) {
		if f.Name == "draws" {
			o.draws = *draws
		}
	})
	known := func(name string) bool {
		for _, s := range groupSchemes {
			if s.name == name {
				return true
			}
		}
		return false
	}
	switch {
	case flags.NArg() > 0:
		return nil, fmt.Errorf("group: unexpected argument %q", flags.Arg(0))
	case o.draws < 1:
		return nil, errors.New("group: -draws is at least 1")
	}
	if *schemes == "" {
		for _, s := range groupSchemes {
			o.schemes = append(o.schemes, s.name)
		}
		return o, nil
	}
	for name := range strings.SplitSeq(*schemes, ",") {
		if !known(name) || slices.Contains(o.schemes, name) {
			return nil, fmt.Errorf("group: scheme %q is unknown, or given twice", name)
		}
		o.schemes = append(o.schemes, name)
	}
	return o, nil
}

func compareGroup(ctx context.Context, args []string) error {
	o, err := parseGroup(args)
	if err != nil {
		return err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	printHost(os.Stdout)
	fmt.Printf("yardstick: %s %s; libgroupsig isn't run\n", gnark, moduleVersion(gnark))
	busy := busyness{}
	for _, s := range groupSchemes {
		if !slices.Contains(o.schemes, s.name) {
			continue
		}
		scheme, err := s.make()
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		ops, err := groupOps(scheme, o)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		out, err := measureGroup(ctx, s.name, ops, &busy)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		printGroup(os.Stdout, scheme, ops, out)
	}
	fmt.Print(groupNotes)
	printSurvey(os.Stdout, o.schemes)
	busy.print(os.Stdout)
	return nil
}

const gnark = "github.com/consensys/gnark-crypto"

func moduleVersion(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == path {
				return d.Version
			}
		}
	}
	return ""
}

const groupNotes = `
MEASURED in this run: draws, min, median, and all of ours. PUBLISHED: libgroupsig's times and sizes. "scaled"
is the published time by what a pairing takes now; "x" is that by our minimum: above 1, ours is faster. All
is on one core. Signatures of the BBS family are always verified from bytes, and so are batches but for
those that say parsed: bytes need square roots and subgroup checks. Batches are in the layout for batches,
where there is one and they don't say compact, and compared with libgroupsig one by one.
Setting up has the keys of all roles and their proofs; libgroupsig's took 400 to 3000 us. Joining has the
issuer's side and the member's, with Fischlin's proof but for klap20. Opening verifies the signature and
proves who signed; that of bbsgs, gl19, dp06, hlccn11, bbs04 and cpy06 doesn't depend on the number of members.
libgroupsig opens bbs04 in 130 us, and neither verifies nor proves. Links of hlccn11 are the linker's.
`

// A groupOp is an operation to measure.
type groupOp struct {
	name  string
	draws int
	times int // it runs in a draw, so that the clock isn't too coarse
	per   int // signatures that the time is divided by
	run   func(i int) error
}

const opPairing = "gnark-crypto's pairing"

// groupOps returns what is to be measured of a scheme. The first is the pairing.
func groupOps(s *groupScheme, o *groupOptions) ([]groupOp, error) {
	_, _, p, q := bls.Generators()
	ops := []groupOp{{opPairing, o.draws, 8, 1, func(int) error {
		_, err := bls.Pair([]bls.G1Affine{p}, []bls.G2Affine{q})
		return err
	}}}
	add := func(name string, times int, run func(i int) error) {
		ops = append(ops, groupOp{name, o.draws, times, 1, run})
	}
	gate := []byte("gate 4")
	if !s.scoped {
		gate = nil
	}
	sign := func(msg string, scope []byte) (x groupSigned, err error) {
		x = groupSigned{msg: []byte(msg), scope: scope}
		x.sig, err = s.sign(x.msg, x.scope)
		return x, err
	}
	most := groupBatches[1]
	if o.quick {
		most = groupBatches[0]
	}
	var pool, merged []groupSigned
	for i := range most {
		x, err := sign(fmt.Sprint("message ", i), gate)
		if err != nil {
			return nil, err
		}
		if len(x.sig) != s.size {
			return nil, fmt.Errorf("a signature has %d bytes, and not %d", len(x.sig), s.size)
		}
		pool = append(pool, x)
		if s.forBatch != nil {
			if x.sig, err = s.forBatch(&x); err != nil {
				return nil, err
			}
			merged = append(merged, x)
		}
	}
	at := func(i int) *groupSigned { return &pool[i%len(pool)] }

	add(opSetup, 1, func(int) error { return s.setup() })
	add(opJoin, 1, func(i int) error { return s.join(fmt.Sprint("another ", i)) })
	add(opSign, 16, func(i int) error { _, err := sign("m", gate); return err })
	if s.scoped {
		add(opSignScope, 8, func(i int) error { _, err := sign("m", fmt.Append(nil, "scope ", i)); return err })
	}
	if s.parse != nil {
		var parsed []func() error
		for i := range 16 {
			verify, err := s.parse(at(i))
			if err != nil {
				return nil, err
			}
			parsed = append(parsed, verify)
		}
		add(opParsed, 4, func(i int) error { return parsed[i%len(parsed)]() })
	}
	add(opVerify, 4, func(i int) error { return s.verify(at(i)) })
	for _, n := range groupBatches {
		if n > most {
			continue
		}
		draws := o.draws
		if n > 100 {
			draws = (draws + 4) / 5
		}
		name := fmt.Sprintf(opBatch, n)
		set := pool[:n]
		if s.forBatch != nil {
			ops = append(ops, groupOp{name + compactLayout, draws, 1, n, func(int) error { return s.batch(pool[:n]) }})
			set = merged[:n]
		}
		ops = append(ops, groupOp{name, draws, 1, n, func(int) error { return s.batch(set) }})
		if s.parseBatch != nil {
			verify, err := s.parseBatch(set)
			if err != nil {
				return nil, err
			}
			ops = append(ops, groupOp{name + parsedBefore, draws, 1, n, func(int) error { return verify() }})
		}
	}
	if s.open != nil {
		add(opOpen, 2, func(i int) error { return s.open(at(i)) })
	}
	if s.openMany != nil {
		add(fmt.Sprintf(opOpenMany, groupMembers), 1, func(i int) error { return s.openMany(at(i)) })
	}
	if s.link != nil {
		var set []groupSigned
		for i := range groupLinked {
			x, err := sign("linked", fmt.Append(nil, "scope of ", i))
			if err != nil {
				return nil, err
			}
			set = append(set, x)
		}
		prove, verify := s.link(set)
		if err := prove(); err != nil {
			return nil, err
		}
		add(fmt.Sprintf(opLink, groupLinked), 1, func(int) error { return prove() })
		add(fmt.Sprintf(opCheckLink, groupLinked), 1, func(int) error { return verify() })
	}
	if s.convert != nil {
		add(fmt.Sprintf(opConvert, groupLinked), 1, func(int) error { return s.convert(pool[:groupLinked]) })
	}
	return ops, nil
}

// measureGroup returns the time of each operation. All take turns.
func measureGroup(ctx context.Context, name string, ops []groupOp, busy *busyness) ([]series, error) {
	var tasks []task
	for _, op := range ops {
		tasks = append(tasks, task{op.name, op.draws, func(draw int) (cost, error) {
			c, err := timed(func() error {
				for k := range op.times {
					if err := op.run(draw*op.times + k); err != nil {
						return err
					}
				}
				return nil
			})
			busy.add(c)
			n := time.Duration(op.times * op.per)
			return cost{c.cpu / n, c.wall / n}, err
		}})
	}
	return alternate(ctx, tasks, progress(name))
}

// printGroup prints microseconds. The first operation is the pairing, which scales.
func printGroup(w io.Writer, s *groupScheme, ops []groupOp, out []series) {
	pairing := out[0].cpu()[0]
	scale := pairing / pairingThen.Seconds()
	p := groupPublished[s.name]
	peer := p.size > 0
	fmt.Fprintf(w, "\n%s: signatures of %d bytes", s.name, s.size)
	if peer {
		fmt.Fprintf(w, " (libgroupsig %d", p.size)
		if p.surveySize > 0 && p.surveySize != p.size {
			fmt.Fprintf(w, ", or %d in the survey", p.surveySize)
		}
		if p.surveyBits > 0 {
			fmt.Fprintf(w, "; the survey's sum for small curves is %d bits", p.surveyBits)
		}
		fmt.Fprint(w, ")")
	} else {
		fmt.Fprint(w, " (libgroupsig has no such scheme)")
	}
	fmt.Fprintln(w, ": CPU us")
	t := newTable(w)
	fmt.Fprintln(t, "\tdraws\tmin\tmedian\tlibgroupsig\tscaled\tx\t")
	width := 0
	for _, op := range ops {
		width = max(width, len(op.name))
	}
	for i, op := range ops {
		cpu := out[i].cpu()
		fmt.Fprintf(t, "%-*s\t%d\t%.1f\t%.1f\t", width, op.name, len(cpu), cpu[0]*1e6, median(cpu)*1e6)
		then := p.figure(op.name)
		switch {
		case i == 0:
			fmt.Fprintf(t, "%d then\tscale %.2f\t\t\n", pairingThen.Microseconds(), scale)
		case then == 0:
			fmt.Fprintln(t, "-\t\t\t")
		default:
			scaled := then * scale
			fmt.Fprintf(t, "%.0f\t%.0f\t%.2f\t\n", then, scaled, scaled/(cpu[0]*1e6))
		}
	}
	t.Flush()
	if p.batch > 0 {
		fmt.Fprintf(w, "libgroupsig's own batches, with weights of 11 bits where ours have 128: %.0f each, scaled %.0f\n", p.batch, p.batch*scale)
	}
}
