// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"crypto/rsa"
	"math/big"
	"testing"

	"github.com/undersign/undersign/internal/modexp"
)

// slack makes hiding numbers a few bits longer than what they hide, so that
// statistical distances can be counted out. It opens the door to toy keys.
func slack(t *testing.T, bits int) {
	t.Helper()
	small(t)
	old := hidingBits
	hidingBits = bits
	t.Cleanup(func() { hidingBits = old })
}

// A distribution counts how often a view occurs among equally likely random choices.
type distribution map[[2]int64]int

// distance returns the statistical distance of two distributions over the same
// number of choices.
func distance(a, b distribution) float64 {
	total, diff := 0, 0
	for v, n := range a {
		total += n
		diff += abs(n - b[v])
	}
	for v, n := range b {
		if _, ok := a[v]; !ok {
			diff += n
		}
	}
	return float64(diff) / float64(2*total)
}

func abs(x int) int { return max(x, -x) }

func small64(x int64) modexp.Nat { return modexp.Nat{uint64(x)} }

func value(x modexp.Nat) int64 { return natBig(x).Int64() }

// within checks a distance against its bound.
func within(t *testing.T, what string, got, bound float64) {
	t.Helper()
	if got > bound {
		t.Errorf("%s: distance %v, bound %v", what, got, bound)
	}
	t.Logf("%s: distance %.5f, bound %.5f", what, got, bound)
}

// An import, K = 2: one share of a key with d against that of a key with any other
// d below U. Shares are f(i) = Delta d + a i, a uniform in [0, 2^beta); the bound is
// U Delta K / 2^beta.
func TestImportDistance(t *testing.T) {
	slack(t, 3)
	for _, l := range []int{2, 3} {
		key := &PublicKey{n: big.NewInt(11), k: 2, l: l} // U = 16
		delta := factorial(l)
		beta := integerSharing(key, delta)
		u := key.ubound.Int64()
		bound := float64(u*delta.Int64()*2) / float64(int64(1)<<beta)
		if bound > 1.0/8 {
			t.Fatalf("L = %d: bound %v for 3 bits of slack", l, bound)
		}
		view := func(d int64, i int) distribution {
			out := distribution{}
			for a := range int64(1) << beta {
				s := value(evalNat([]modexp.Nat{small64(delta.Int64() * d), small64(a)}, i, key.ShareBits()))
				if big.NewInt(s).Cmp(key.smax) >= 0 {
					t.Fatalf("share %d isn't below Smax = %v", s, key.smax)
				}
				out[[2]int64{s}]++
			}
			return out
		}
		for i := 1; i <= l; i++ {
			base, worst := view(0, i), 0.0
			for d := int64(1); d < u; d++ {
				worst = max(worst, distance(base, view(d, i)))
			}
			within(t, "import", worst, bound)
			if worst == 0 {
				t.Error("no distance at all: the test sees nothing")
			}
		}
		// The control: f(0) = d instead of Delta d gives d mod i away.
		control := func(d int64) distribution {
			out := distribution{}
			for a := range int64(1) << beta {
				out[[2]int64{d + a*int64(l)}]++
			}
			return out
		}
		if got := distance(control(0), control(1)); got != 1 {
			t.Errorf("without Delta the distance is %v", got)
		}
	}
}

// An import, K = 3: the shares of two holders together.
func TestImportDistanceOfTwo(t *testing.T) {
	slack(t, 0)
	key := &PublicKey{n: big.NewInt(3), k: 3, l: 3} // U = 4
	delta := factorial(3)
	beta := integerSharing(key, delta)
	u := key.ubound.Int64()
	view := func(d int64, i, j int) distribution {
		out := distribution{}
		for a := range int64(1) << beta {
			for b := range int64(1) << beta {
				f := func(x int64) int64 { return delta.Int64()*d + a*x + b*x*x }
				out[[2]int64{f(int64(i)), f(int64(j))}]++
			}
		}
		return out
	}
	bound := float64(u*delta.Int64()*3) / float64(int64(1)<<beta)
	for _, pair := range [][2]int{{1, 2}, {1, 3}, {2, 3}} {
		within(t, "import, two shares", distance(view(0, pair[0], pair[1]), view(u-1, pair[0], pair[1])), bound)
	}
}

// A refresh, K = 2: one share of each of two epochs, of different holders. With the
// contribution g(X) = b X of an honest holder the bound is that of the sharing plus
// 2 U Delta K / 2^beta.
func TestRefreshDistance(t *testing.T) {
	slack(t, 2)
	_, shares, err := deal(tinyKey(), 2, 2, nil, FormInteger, nats(77))
	if err != nil {
		t.Fatal(err)
	}
	key := shares[0].key
	pr, err := ProposeRefresh(key, []int{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	pl, err := pr.plan(key)
	if err != nil {
		t.Fatal(err)
	}
	// As for a key with U = 2.
	toy := &PublicKey{n: big.NewInt(1), k: 2, l: 2}
	delta := factorial(2)
	betaF := integerSharing(toy, delta)
	u := toy.ubound.Int64()
	betaG := pl.beta - key.ubound.BitLen() + toy.ubound.BitLen()
	bound := float64(u*2*2)/float64(int64(1)<<betaF) + float64(2*u*2*2)/float64(int64(1)<<betaG)
	view := func(d int64, old, next int64) distribution {
		out := distribution{}
		for a := range int64(1) << betaF {
			for b := range int64(1) << betaG {
				out[[2]int64{2*d + a*old, 2*d + a*next + b*next}]++
			}
		}
		return out
	}
	for _, c := range [][2]int64{{1, 2}, {2, 1}, {1, 1}} {
		within(t, "refresh", distance(view(0, c[0], c[1]), view(u-1, c[0], c[1])), bound)
	}
	// The control: a sharing of zero added to modular shares, which are no multiples
	// of anything: s_2 mod 2 survives.
	control := func(s int64) distribution {
		out := distribution{}
		for b := range int64(1) << betaG {
			out[[2]int64{s + 2*b}]++
		}
		return out
	}
	if got := distance(control(6), control(7)); got != 1 {
		t.Errorf("the control: distance %v", got)
	}
}

// tinyKey is p = 23, q = 47.
func tinyKey() *rsa.PrivateKey {
	priv, err := newPrivateKey(big.NewInt(23), big.NewInt(47), 3)
	if err != nil {
		panic(err)
	}
	return priv
}

// A reshare: what receiver j gets of contributor i, for shares s_i that differ as
// far as K-1 known ones allow. g(j) = Delta' lambda_i s_i + (O_i + b) j; the bound is
// Delta' |lambda_i| M / 2^beta < 2^-slack / (K K').
func TestReshareDistance(t *testing.T) {
	slack(t, 1)
	_, shares, err := deal(tinyKey(), 2, 2, nil, FormModular, nats(41))
	if err != nil {
		t.Fatal(err)
	}
	key := shares[0].key
	var cards []*Receiver
	for _, name := range []string{"a", "b"} {
		k, err := NewReceiver(name)
		if err != nil {
			t.Fatal(err)
		}
		cards = append(cards, card(t, k))
	}
	pr, err := ProposeReshare(key, []int{1, 2}, 2, cards)
	if err != nil {
		t.Fatal(err)
	}
	pl, err := pr.plan(key)
	if err != nil {
		t.Fatal(err)
	}
	bound := 1.0 / float64(int64(1)<<hidingBits) / 4
	for at := range 2 {
		lambda, offset := pl.lambda[at].Int64(), pl.offset[at].Int64()
		if lambda%2 != 0 {
			t.Errorf("Delta' doesn't divide %d", lambda)
		}
		for j := int64(1); j <= 2; j++ {
			limit := pl.bound(at, int(j)).Int64()
			view := func(s int64) distribution {
				out := distribution{}
				for b := range int64(1) << pl.beta {
					g := lambda*s + (offset+b)*j
					if g < 0 || g >= limit {
						t.Fatalf("value %d isn't in [0, %d)", g, limit)
					}
					out[[2]int64{g}]++
				}
				return out
			}
			got := distance(view(0), view(key.smax.Int64()-1))
			within(t, "reshare", got, bound)
			if got == 0 {
				t.Error("no distance at all: the test sees nothing")
			}
		}
	}
}

// Every bound that a plan computes holds at its edges: with the largest shares and
// coefficients no value leaves its range, and no share of the next epoch does.
func TestExtremeCoefficients(t *testing.T) {
	small(t)
	for _, name := range []string{"small-a", "plain-1024"} {
		for _, top := range []bool{false, true} {
			_, shares := freshSharing(t, name, 2, 3)
			edge := func(bits int) modexp.Nat {
				z := modexp.NewNat(bits)
				if top {
					x := new(big.Int).Lsh(one, uint(bits))
					z = natOf(x.Sub(x, one), bits)
				}
				return z
			}
			p := reshare(t, shares, []int{2, 3}, 3, "a", "b", "c", "d")
			pl, err := p.pr.plan(shares[0].key)
			if err != nil {
				t.Fatal(err)
			}
			next := p.finish([][]modexp.Nat{{edge(pl.beta), edge(pl.beta)}, {edge(pl.beta), edge(pl.beta)}})
			signSubsets(t, next, "extreme")
			q := refresh(t, next, 1, 2, 4)
			if pl, err = q.pr.plan(next[0].key); err != nil {
				t.Fatal(err)
			}
			e := []modexp.Nat{edge(pl.beta), edge(pl.beta)}
			signSubsets(t, q.finish([][]modexp.Nat{e, e, e}), "extreme")
		}
	}
}
