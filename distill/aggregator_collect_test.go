// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"slices"
	"testing"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/bls12381"
)

func TestAggregatorRefusesReductions(t *testing.T) {
	w := newPartyNet(t, 5, 0, nil)
	for _, tt := range []struct {
		name   string
		change func(*Reduction)
		want   Rule
	}{
		{"number", func(r *Reduction) { r.Seq++ }, RuleNoBatch},
		{"client", func(r *Reduction) { r.ID = 9 }, RuleNotMember},
		{"digest", func(r *Reduction) { r.Digest[0] ^= 1 }, RuleReductionDigest},
		{"not on the curve", func(r *Reduction) { r.Signature[100] ^= 1 }, RuleReductionEncoding},
		{"identity", func(r *Reduction) { r.Signature = [ReductionSize]byte{0x40} }, RuleReductionEncoding},
		{"compressed", func(r *Reduction) { r.Signature[0] |= 0x80 }, RuleReductionEncoding},
		{"other client's place", func(r *Reduction) { r.ID = 1 }, RuleReduced},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, p := w.collecting(t, ModeEd25519, 5, nil)
			if _, err := a.HandleReduction(600, w.reduce(1, p[1])); err != nil {
				t.Fatal(err)
			}
			r := w.reduce(2, p[2])
			tt.change(r)
			out, err := a.HandleReduction(601, r)
			hasRule(t, err, tt.want)
			_, err = a.HandleReduction(602, w.reduce(2, p[2]))
			if tt.want == RuleReductionEncoding {
				if one[ReportReduction](t, out) != (ReportReduction{2, 1}) {
					t.Fatal("not reported")
				}
				hasRule(t, err, RuleReduced)
			} else if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestAggregatorSifts puts bad reductions of several kinds into bursts.
func TestAggregatorSifts(t *testing.T) {
	const n = 40
	w := newPartyNet(t, n, 0, nil)
	wrong := func(id uint64, p *Proposal) *Reduction { return w.reduceBy(w.keys[(id+1)%n].BLS, id, p) }
	shift := func(r *Reduction, by *bls12381.G2) *Reduction {
		var p bls12381.G2
		if err := p.SetUncompressedUnsafe(r.Signature[:]); err != nil {
			t.Fatal(err)
		}
		p.Add(&p, by)
		bls12381.NormalizeG2(&p)
		r.Signature = [ReductionSize]byte(p.UncompressedBytes())
		return r
	}
	delta := new(bls12381.G2).HashVarTime([]byte("offset"), []byte("test"))
	minus := new(bls12381.G2).Neg(delta)
	out := pointOutside(t)
	minusOut := new(bls12381.G2).Neg(out)
	var half []uint64
	for i := range uint64(n / 2) {
		half = append(half, 2*i)
	}
	for _, tt := range []struct {
		name  string
		bad   []uint64 // to be found
		fake  func(id uint64, p *Proposal) *Reduction
		burst int
	}{
		{"one", []uint64{17}, wrong, 100},
		{"one in small bursts", []uint64{17}, wrong, 7},
		{"first and last", []uint64{0, n - 1}, wrong, 100},
		{"some", []uint64{3, 4, 21, 22, 38}, wrong, 100},
		{"half of them", half, wrong, 100},
		{"outside the group", []uint64{5, 30}, func(id uint64, p *Proposal) *Reduction {
			return shift(w.reduce(id, p), out)
		}, 100},
		{"outside the group, and cancelling out", []uint64{5, 30, 31}, func(id uint64, p *Proposal) *Reduction {
			switch id {
			case 5:
				return shift(w.reduce(id, p), out)
			case 30:
				return shift(w.reduce(id, p), minusOut)
			}
			return wrong(id, p)
		}, 100},
		{"offset against each other, and a wrong one", []uint64{6, 29, 30}, func(id uint64, p *Proposal) *Reduction {
			switch id {
			case 6:
				return shift(w.reduce(id, p), delta)
			case 29:
				return shift(w.reduce(id, p), minus)
			}
			return wrong(id, p)
		}, 100},
		{"another message", []uint64{8}, func(id uint64, p *Proposal) *Reduction {
			q := *p
			q.Prop.Seq++
			r := w.reduce(id, &q)
			r.Seq, r.Digest = p.Prop.Seq, p.Prop.Red().Digest()
			return r
		}, 100},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, p := w.collecting(t, ModeEd25519, n, func(c *AggregatorConfig) { c.Limits.Burst = tt.burst })
			var acts []AggregatorAction
			for id := range uint64(n) {
				r := w.reduce(id, p[id])
				if slices.Contains(tt.bad, id) {
					r = tt.fake(id, p[id])
				}
				more, err := a.HandleReduction(600, r)
				if err != nil {
					t.Fatal(err)
				}
				acts = append(acts, more...)
			}
			pub, b, acts := finish(t, a, acts, 1600)
			var stragglers, reported []uint64
			for _, at := range b.Stragglers {
				stragglers = append(stragglers, b.IDs[at])
			}
			for _, r := range actions[ReportReduction](acts) {
				reported = append(reported, r.ID)
			}
			slices.Sort(reported)
			if !slices.Equal(stragglers, tt.bad) || !slices.Equal(reported, tt.bad) {
				t.Fatalf("stragglers %v, reported %v, want %v", stragglers, reported, tt.bad)
			}
			if _, err := newModelLog(w).append(pub.Encoded); err != nil {
				t.Fatal(err)
			}
			for _, id := range tt.bad {
				if !a.clients[id].slow(700) {
					t.Errorf("%d isn't in quarantine", id)
				}
			}
			s := a.Stats()
			if s.Bad != uint64(len(tt.bad)) || s.Reductions != n-s.Bad || s.Stragglers != s.Bad {
				t.Errorf("%+v", s)
			}
			t.Logf("%d pairings", s.Pairings)
			// Whoever is outside the group is found without pairings, and a few
			// others by bisection.
			if len(tt.bad) <= 3 && s.Pairings > 25 || s.Pairings > 3*n {
				t.Errorf("%d pairings to find %d of %d", s.Pairings, len(tt.bad), n)
			}
		})
	}
}

// TestAggregatorOffsets has two clients offset errors against each other: their sum is
// valid, and so is the batch, but for what is concluded about them alone.
func TestAggregatorOffsets(t *testing.T) {
	w := newPartyNet(t, 4, 0, nil)
	a, p := w.collecting(t, ModeEd25519, 4, nil)
	delta := new(bls12381.G2).HashVarTime([]byte("offset"), []byte("test"))
	var acts []AggregatorAction
	for id := range uint64(4) {
		r := w.reduce(id, p[id])
		if id < 2 {
			var q bls12381.G2
			if err := q.SetUncompressedUnsafe(r.Signature[:]); err != nil {
				t.Fatal(err)
			}
			if id == 0 {
				q.Add(&q, delta)
			} else {
				q.Sub(&q, delta)
			}
			bls12381.NormalizeG2(&q)
			r.Signature = [ReductionSize]byte(q.UncompressedBytes())
		}
		more, err := a.HandleReduction(600, r)
		if err != nil {
			t.Fatal(err)
		}
		acts = append(acts, more...)
	}
	pub, b, _ := finish(t, a, acts, 1600)
	if len(b.Stragglers) != 0 {
		t.Fatalf("stragglers %v", b.Stragglers)
	}
	if _, err := newModelLog(w).append(pub.Encoded); err != nil {
		t.Fatal(err)
	}
}

// TestAggregatorKeysThatCancel has clients whose keys add up to the identity, which no
// signature verifies by. With nobody else in the batch one of them becomes a straggler.
func TestAggregatorKeysThatCancel(t *testing.T) {
	w := newPartyNet(t, 2, 0, nil)
	sum, err := bls.SumKeys([]*bls.ProvenKey{w.view.bls[0], w.view.bls[1]})
	if err != nil {
		t.Fatal(err)
	}
	w.setKeys(2, negatedSum(t, w.keys[0].BLS, w.keys[1].BLS), edKey("cancel", 2))
	if _, err := bls.SumKeys([]*bls.ProvenKey{sum, w.view.bls[2]}); err == nil {
		t.Fatal("the keys don't cancel out")
	}
	a, p := w.collecting(t, ModeEd25519, 3, nil)
	var acts []AggregatorAction
	for id := range uint64(3) {
		more, err := a.HandleReduction(600, w.reduce(id, p[id]))
		if err != nil {
			t.Fatal(err)
		}
		acts = append(acts, more...)
	}
	pub, b, _ := finish(t, a, acts, 1600)
	if len(b.Stragglers) != 1 {
		t.Fatalf("stragglers %v", b.Stragglers)
	}
	if _, err := newModelLog(w).append(pub.Encoded); err != nil {
		t.Fatal(err)
	}
}

func TestAggregatorWaits(t *testing.T) {
	var l AggregatorLimits
	p := DefaultParams()
	l.fill(&p)
	w := waits{wait: l.FirstWait}
	for range 19 {
		w.note(10)
	}
	w.update(&l)
	if w.wait != l.FirstWait {
		t.Fatal("concluded from too few")
	}
	rounds := func(n int, times ...int64) {
		for range n {
			for i := range 100 {
				w.note(times[i*len(times)/100])
			}
			w.update(&l)
		}
	}
	rounds(8, 30, 30, 40, 50)
	if w.wait != l.MinWait {
		t.Fatalf("wait %d for fast clients", w.wait)
	}
	rounds(8, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200)
	if w.wait < 1500 || w.wait > 2000 {
		t.Fatalf("wait %d for 95%% within 1.2 s", w.wait)
	}
	rounds(8, 30, 30, 30, 9000)
	if w.wait != l.MaxWait {
		t.Fatalf("wait %d for slow clients", w.wait)
	}
	rounds(8, -5, 1<<60)
	if w.wait != l.MaxWait {
		t.Fatalf("wait %d for impossible ones", w.wait)
	}
}

func TestAggregatorQuarantineGrows(t *testing.T) {
	var l AggregatorLimits
	p := DefaultParams()
	l.fill(&p)
	c := &clientState{}
	now := int64(0)
	want := l.Quarantine
	for range 100 {
		c.quarantine(now, &l)
		if got := c.until - now; got != want {
			t.Fatalf("quarantine of %d, want %d", got, want)
		}
		if !c.slow(c.until-1) || c.slow(c.until) {
			t.Fatal("not that long")
		}
		now = c.until
		want = min(2*want, l.MaxQuarantine)
	}
	for range 100 {
		c.reduced()
	}
	c.quarantine(now, &l)
	if c.until-now != l.Quarantine {
		t.Fatal("not forgiven")
	}
	c = &clientState{}
	c.missed(0, &l)
	if c.slow(0) {
		t.Fatal("in quarantine for missing once")
	}
	c.reduced()
	c.missed(0, &l)
	if c.slow(0) {
		t.Fatal("in quarantine for missing now and then")
	}
	c.missed(0, &l)
	if !c.slow(0) {
		t.Fatal("not in quarantine for missing twice in a row")
	}
}

// TestRemind has clients come back while a batch waits for them: who hasn't signed is shown
// it again, and nobody else.
func TestRemind(t *testing.T) {
	w := newPartyNet(t, 5, 0, nil)
	j := new(MemoryJournal)
	a := w.open(firstAgg, j, nil)
	admit(t, a, 0, w.messages(ModeEd25519, 4)...)
	out, err := a.Tick(505)
	first := proposals(out)
	if err != nil || len(first) != 4 {
		t.Fatalf("%d proposals, %v", len(first), err)
	}
	if _, err := a.HandleReduction(600, w.reduce(1, first[1])); err != nil {
		t.Fatal(err)
	}
	again := proposals(a.Remind([]uint64{0, 1, 2, 4, 77}))
	if len(again) != 2 || again[0].SignedProp != first[0].SignedProp || again[2].SignedProp != first[2].SignedProp {
		t.Fatalf("reminded of %v", again)
	}
	if _, err := a.HandleReduction(700, w.reduce(2, again[2])); err != nil {
		t.Fatal(err)
	}
	if out := a.Remind(nil); len(out) > 0 {
		t.Fatalf("nobody is reminded of %v", out)
	}

	// After a start it waits for the journal to be taken up.
	b := w.open(firstAgg, j, nil)
	if out := b.Remind([]uint64{0}); len(out) > 0 {
		t.Fatalf("reminded before that of %v", out)
	}
	if _, err := b.Tick(800); err != nil {
		t.Fatal(err)
	}
	if again := proposals(b.Remind([]uint64{0})); len(again) != 1 || again[0].SignedProp != first[0].SignedProp {
		t.Fatalf("reminded of %v", again)
	}

	// What is published waits for nobody.
	out, err = b.Tick(60_000)
	if err != nil || len(actions[Publish](out)) == 0 && len(b.Published()) == 0 {
		t.Fatalf("%v, %v", out, err)
	}
	if out := b.Remind([]uint64{0, 1, 2, 3}); len(out) > 0 {
		t.Fatalf("reminded afterwards of %v", out)
	}
}
