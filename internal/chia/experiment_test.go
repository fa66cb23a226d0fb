// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package chia

import (
	"context"
	"errors"
	"math"
	"os"
	"testing"
)

// TestExperiment runs a small experiment, and checks what doesn't depend on the machine.
// UNDERSIGN_LONG holds the ratios to what is written of them, less a tenth for a busy machine.
func TestExperiment(t *testing.T) {
	x := Experiment{Blocks: 4, Largest: 60, Together: 3, Seed: 1}
	long := os.Getenv("UNDERSIGN_LONG") != ""
	if long {
		x.Blocks, x.Largest, x.Together = 96, MaxPairs, 32
	}
	steps := 0
	x.Progress = func(done, total int, what string) {
		steps++
		if done < 0 || done > total || total != x.Blocks+1 || what == "" {
			t.Errorf("step %d of %d: %s", done, total, what)
		}
	}
	res, err := x.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string]int{}
	for i, r := range res.Rows {
		columns[r.Column]++
		if r.Mean <= 0 || r.Max < r.Mean || r.Ratio <= 0 {
			t.Errorf("%+v", r)
		}
		if (r.Column != ColumnTogether) != (r.Largest > 0) {
			t.Errorf("the largest block: %+v", r)
		}
		if i < 2 && (r.Column != ColumnClassic || r.Ratio != 1) {
			t.Errorf("%+v", r)
		}
		t.Logf("%-8s%-36s decoded %-6v late %3.0f %%: %7.3f ms (%6.1fx), largest %8.3f ms (%6.1fx)",
			r.Column, r.Method, r.Decoded, r.LatePercent, r.Mean, r.Ratio, r.Largest, r.LargestRatio)
	}
	for c, n := range map[string]int{ColumnClassic: 2, ColumnPublished: 1, ColumnKnown: 2, ColumnDecoded: 1, ColumnWeighted: 2, ColumnLate: 10, ColumnTogether: 2} {
		if columns[c] != n {
			t.Errorf("column %s has %d rows", c, columns[c])
		}
	}
	for _, s := range res.Sync {
		if s.Classic <= s.Distilled || s.Ratio >= s.Bound || s.Ratio <= 1 {
			t.Errorf("%+v", s)
		}
	}
	if steps < 2*x.Blocks {
		t.Errorf("%d steps", steps)
	}
	if !long {
		return
	}
	at := func(column string, late float64) Row {
		best := Row{}
		for _, r := range res.Rows {
			if r.Column == column && r.LatePercent == late && !r.Decoded && r.Method != "stragglers folded in" && r.Ratio > best.Ratio {
				best = r
			}
		}
		return best
	}
	for name, v := range map[string]struct{ got, want float64 }{
		"mean block":                  {at(ColumnKnown, 0).Ratio, 12},
		"890 pairs":                   {at(ColumnKnown, 0).LargestRatio, 180},
		"890 pairs, 10 % by Ed25519":  {at(ColumnLate, 10).LargestRatio, 90},
		"mean block, checked jointly": {at(ColumnTogether, 0).Ratio, 23},
	} {
		if v.got < v.want {
			t.Errorf("%s: %.1fx, want %.0fx", name, v.got, v.want)
		}
	}
}

func TestExperimentStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	x := Experiment{Blocks: 2, Largest: 2, Together: 2}
	x.Progress = func(int, int, string) { cancel() }
	if _, err := x.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, x := range []Experiment{{Largest: 1, Together: 1}, {Blocks: 1, Together: 1}, {Blocks: 1, Largest: 1}} {
		_, err := x.Run(t.Context())
		wantErr(t, "no blocks", err, ErrFormat)
	}
}

// TestSync computes the report's own figures by the model.
func TestSync(t *testing.T) {
	s := ReportSync()
	near := func(what string, got, want, by float64) {
		t.Helper()
		if math.Abs(got-want) > by {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("classic hours", s.Classic, float64(ReportClassicSync)/3600, 0.01)
	near("distilled hours", s.Distilled, float64(ReportDistilledSync)/3600, 0.01)
	near("ratio", s.Ratio, 1.80, 0.005)
	near("bound", s.Bound, 1.83, 0.005)
	near("implied share", ImpliedShare(), 0.2535, 0.0005)
	free := newSync(0.5, 0.1, 0, 0, 0)
	near("a free verification", free.Ratio, free.Bound, 1e-12)
}

func TestMeasureFile(t *testing.T) {
	c := NewChain(4)
	good, bad := c.Block(3).Block, c.Block(3).Block
	bad.Signature = good.Signature
	unsigned := c.Block(2).Block
	unsigned.Signature = nil
	f := &File{Network: "test", Blocks: []Block{good, bad, unsigned, {Name: "empty", Signature: identityBytes()}}}
	res, err := MeasureFile(t.Context(), f, 1, func(done, total int) {
		if done < 0 || done >= total || total != 4 {
			t.Errorf("step %d of %d", done, total)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if res.Valid != 2 || res.Invalid != 1 || res.Unsigned != 1 || res.Pairs != 8 || res.Network != "test" || res.Ratio <= 0 {
		t.Errorf("%+v", res)
	}
	for i, b := range res.Blocks {
		if want := i != 1 && i != 2; b.Valid != want || (b.Problem != "") != (i == 1) || (b.Real > 0) != want {
			t.Errorf("%+v", b)
		}
		if pairs := i != 3; (b.Distilled > 0) != pairs || (b.Weighted > 0) != pairs || (b.Ratio > 0) != pairs || b.Keys != b.Pairs {
			t.Errorf("%+v", b)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := MeasureFile(ctx, f, 1, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
