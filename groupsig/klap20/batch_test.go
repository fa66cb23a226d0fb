// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package klap20

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/internal/bls12381"
)

// crafted is a member's signature whose vv is off by dv, and whose s is off by ds: the
// challenge is right for what is sent, and what is sent with it.
func crafted(g *GroupKey, m *MemberKey, msg string, dv func(*Signature) *bls12381.G1, ds *bls12381.Scalar) *Signature {
	sig := &Signature{r: new(bls12381.G1)}
	var r, k, t bls12381.Scalar
	r.Random()
	k.Random()
	sig.uu.ScalarMult(&r, &m.u)
	sig.vv.ScalarMult(&r, &m.v)
	sig.ww.ScalarMult(&r, &m.w)
	sig.r.ScalarMult(t.Mul(&r, &k), &m.u)
	if dv != nil {
		sig.vv.Add(&sig.vv, dv(sig))
	}
	bls12381.NormalizeG1(&sig.uu, &sig.vv, &sig.ww, sig.r)
	sig.c.Set(g.challenge([]byte(msg), nil, sig, sig.r))
	sig.s.Sub(&k, t.Mul(&sig.c, &m.alpha))
	sig.s.Add(&sig.s, ds)
	return sig
}

// badOf returns what a batch refuses, and checks that single verification agrees.
func badOf(t *testing.T, g *GroupKey, msgs []string, sigs []*Signature) []int {
	t.Helper()
	b := g.Batch(nil)
	var want []int
	for i, sig := range sigs {
		b.Add([]byte(msgs[i]), sig)
		if g.Verify([]byte(msgs[i]), sig, nil) != nil {
			want = append(want, i)
		}
	}
	if b.Len() != len(sigs) {
		t.Errorf("Len is %d of %d", b.Len(), len(sigs))
	}
	err := b.Verify()
	var e *BatchError
	switch {
	case err == nil && want == nil:
		return nil
	case !errors.As(err, &e):
		t.Fatalf("batch: %v, and singly %v are bad", err, want)
	case !errors.Is(err, ErrSignature):
		t.Errorf("batch: %v", err)
	}
	if !slices.Equal(e.Bad, want) {
		t.Fatalf("batch: %v are bad, and singly %v", e.Bad, want)
	}
	return e.Bad
}

func TestBatch(t *testing.T) {
	f := group()
	names := []string{"alice", "bob", "carol"}
	var msgs []string
	var sigs []*Signature
	for i := range 40 {
		msgs = append(msgs, fmt.Sprint("message ", i))
		sig := f.Sign(names[i%3], msgs[i])
		if i%2 == 0 {
			sig.r = nil // compact
		}
		sigs = append(sigs, sig)
	}
	if err := f.G.Batch(nil).Verify(); err != nil {
		t.Errorf("empty batch: %v", err)
	}
	for _, n := range []int{1, 2, tokens.Leaf, tokens.Leaf + 1, 40} {
		if bad := badOf(t, f.G, msgs[:n], sigs[:n]); bad != nil {
			t.Errorf("%d good signatures: %v", n, bad)
		}
	}
	for _, bad := range [][]int{{0}, {39}, {17}, {3, 4}, {0, 13, 26, 39}} {
		changed := slices.Clone(sigs)
		for j, i := range bad {
			sig := *sigs[i]
			switch j % 4 {
			case 0:
				sig.s.Random()
			case 1:
				sig.vv.Double(&sig.vv)
			case 2:
				sig.r = bls12381.G1Generator() // wrong, and c right: that is a good signature
			case 3:
				changed[i] = nil
				continue
			}
			changed[i] = &sig
		}
		var want []int
		for j, i := range bad {
			if j%4 != 2 {
				want = append(want, i)
			}
		}
		if got := badOf(t, f.G, msgs, changed); !slices.Equal(got, want) {
			t.Errorf("%v are bad, want %v", got, want)
		}
	}
	all := make([]*Signature, 40)
	for i := range all {
		sig := *sigs[i]
		sig.s.Random()
		all[i] = &sig
	}
	if got := badOf(t, f.G, msgs, all); len(got) != 40 {
		t.Errorf("%d of 40 are bad", len(got))
	}
	var s *StaleError
	stale := f.G.Batch(&VerifyOptions{Revocation: f.List(1), Now: now + 1000})
	if err := stale.Verify(); !errors.As(err, &s) {
		t.Errorf("stale list: %v", err)
	}
}

// Errors that cancel in a sum without weights, or with one weight for two equations.
func TestCancellation(t *testing.T) {
	f := group()
	alice, bob := f.Members["alice"], f.Members["bob"]
	zero, one, minus := new(bls12381.Scalar), new(bls12381.Scalar).SetOne(), new(bls12381.Scalar)
	minus.Neg(one)
	d := bls12381.G1Generator()
	plus := func(*Signature) *bls12381.G1 { return d }
	less := func(*Signature) *bls12381.G1 { return new(bls12381.G1).Neg(d) }
	itself := func(s *Signature) *bls12381.G1 { return new(bls12381.G1).Set(&s.uu) }
	for name, pair := range map[string][2]*Signature{
		// e(-D, P2)·e(D, P2) = 1
		"pairing equations of two": {crafted(f.G, alice, "m", plus, zero), crafted(f.G, bob, "m", less, zero)},
		// -vv + (s·uu + c·ww - R), where both are off by uu
		"equations of one": {crafted(f.G, alice, "m", itself, one), crafted(f.G, bob, "m", itself, one)},
		"only s":           {crafted(f.G, alice, "m", nil, one), crafted(f.G, alice, "m", nil, minus)},
	} {
		for _, compact := range []bool{false, true} {
			sigs, msgs := []*Signature{}, []string{}
			for i := range 10 {
				sig := f.Sign("carol", "m")
				if i < 2 {
					c := *pair[i]
					if sig = &c; compact {
						sig.r = nil
					}
				}
				sigs, msgs = append(sigs, sig), append(msgs, "m")
			}
			if bad := badOf(t, f.G, msgs, sigs); !slices.Equal(bad, []int{0, 1}) {
				t.Errorf("%s: %v are bad", name, bad)
			}
		}
	}
	// crafted without changes is a signature.
	if err := f.G.Verify([]byte("m"), crafted(f.G, alice, "m", nil, zero), nil); err != nil {
		t.Error(err)
	}
}

// The same signature in both layouts, and twice, is one signature to who counts IDs.
func TestBatchLayouts(t *testing.T) {
	f := group()
	sig := f.Sign("alice", "m")
	compact, err := ParseSignature(sig.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	merged, err := f.G.ParseBatchSignature(sig.BatchBytes(), []byte("m"), nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := f.G.ParseBatchSignature(sig.BatchBytes(), []byte("n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	sigs := []*Signature{compact, merged, sig, compact, merged, other}
	if bad := badOf(t, f.G, []string{"m", "m", "m", "m", "m", "m"}, sigs); !slices.Equal(bad, []int{5}) {
		t.Errorf("%v are bad", bad)
	}
	ids := map[[32]byte]bool{}
	for _, s := range sigs[:5] {
		ids[s.ID()] = true
	}
	if len(ids) != 1 {
		t.Errorf("%d IDs", len(ids))
	}
}
