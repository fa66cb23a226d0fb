// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2paper

import (
	"errors"
	"math"
	"testing"
	"testing/iotest"
)

// TestFormulas: the formulas give what is printed, but for two numbers and the totals that
// they are in.
func TestFormulas(t *testing.T) {
	if singleMuls != 4947 {
		t.Errorf("single verification: %d", singleMuls)
	}
	for n := MinItems; n <= MaxItems; n++ {
		p, f := printedRow(n), formulaRow(n)
		slip := map[int]float64{6: 105, 8: 310}[n]
		if f.Accelerated-p.Accelerated != slip || f.Total-p.Total != slip {
			t.Errorf("%d items: accelerated %v, total %v, printed %v and %v", n, f.Accelerated, f.Total, p.Accelerated, p.Total)
		}
		if (slip != 0) && len(notes[n]) == 0 {
			t.Errorf("%d items: no note on the slip", n)
		}
		if f.Inversion != p.Inversion || f.SemiScalar != p.SemiScalar || f.Decision != p.Decision {
			t.Errorf("%d items: %v, printed %v", n, f, p)
		}
	}
	if got := formulaRow(8).SpeedUp; got != 2.55 {
		t.Errorf("speed-up for 8: %v", got)
	}
	if got := formulaRow(7).SpeedUp; math.Abs(got-2.717) > 0.0005 {
		t.Errorf("speed-up for 7: %v", got)
	}
}

func TestSoundnessBits(t *testing.T) {
	for _, test := range []struct{ t, bits, want int }{
		{2, 0, 0}, {9, 0, 0}, {9, 8, 0}, {9, 9, 0}, {9, 10, -1}, {7, 32, -25}, {2, 32, -30}, {9, 128, -119},
	} {
		if got := SoundnessBits(test.t, test.bits); got != test.want {
			t.Errorf("t = %d, %d bits: %d", test.t, test.bits, got)
		}
	}
}

func TestPaperTable(t *testing.T) {
	table, err := PaperTable(&TableOptions{Verify: Options{RandomizerBits: PrintedRandomizerBits}, Rounds: 4})
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) != 8 || table.PrintedSingle != 4947 {
		t.Fatalf("%d rows, single %v", len(table.Rows), table.PrintedSingle)
	}
	if math.Abs(table.CountedSingle-4936) > 60 {
		t.Errorf("single verification is counted as %v", table.CountedSingle)
	}
	for i, row := range table.Rows {
		c := row.Counted
		if row.Items != i+2 || row.SoundnessBits != row.Items-32 {
			t.Errorf("row %d: %d items, 2^%d", i, row.Items, row.SoundnessBits)
		}
		if math.Abs(c.Total-row.Formula.Total) > 0.1*row.Formula.Total {
			t.Errorf("%d items: counted %v, the formula %v", row.Items, c.Total, row.Formula.Total)
		}
		if c.Total != c.Accelerated+c.SemiScalar+c.Inversion+c.Decision || c.SpeedUp != float64(row.Items)*table.CountedSingle/c.Total {
			t.Errorf("%d items: %+v doesn't add up", row.Items, c)
		}
		if row.LiftCheck != float64(267*row.Items) || c.Decision != float64(decisions[row.Items].Mul) || row.DecisionSmall != float64(decisions[row.Items].Small) {
			t.Errorf("%d items: %+v", row.Items, row)
		}
		if want := formulaRow(row.Items).Inversion; float64(3*(row.Values-1)+270) != want {
			t.Errorf("%d items: %d values", row.Items, row.Values)
		}
	}
}

func TestPaperTableOptions(t *testing.T) {
	broken := errors.New("broken")
	for name, opts := range map[string]*TableOptions{
		"bits":      {Verify: Options{RandomizerBits: 1000}},
		"rand":      {Rand: iotest.ErrReader(broken)},
		"rand of z": {Verify: Options{Rand: iotest.ErrReader(broken)}},
	} {
		if _, err := PaperTable(opts); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, err := CountBits(7, 4947, opts); err == nil {
			t.Errorf("%s: no error of CountBits", name)
		}
	}
	table, err := PaperTable(new(TableOptions))
	if err != nil {
		t.Fatal(err)
	}
	if got := table.Rows[0].SoundnessBits; got != 2-DefaultRandomizerBits {
		t.Errorf("by default: 2^%d", got)
	}
	table, err = PaperTable(&TableOptions{Verify: Options{NoRandomizersUnsafe: true}})
	if err != nil {
		t.Fatal(err)
	}
	if r := table.Rows[0]; r.SoundnessBits != 0 || r.Counted.SemiScalar != 2*7 {
		t.Errorf("without randomisers: %+v", r)
	}
}

// TestCountBits: longer randomisers cost more, and by what.
func TestCountBits(t *testing.T) {
	for _, bits := range []int{16, 32, 64, 128} {
		c, err := CountBits(7, 4947, &TableOptions{Verify: Options{RandomizerBits: bits}, Rounds: 8})
		if err != nil {
			t.Fatal(err)
		}
		want := 7 * (float64(bits-2)*10 + float64(bits-2)/2*11 + 7)
		if math.Abs(c.SemiScalar-want) > 0.12*want {
			t.Errorf("%d bits: %v, want about %v", bits, c.SemiScalar, want)
		}
		if c.SpeedUp != 7*4947/c.Total {
			t.Errorf("%d bits: speed-up %v", bits, c.SpeedUp)
		}
	}
}
