// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"crypto/rsa"
	"math/big"
	"testing"

	"github.com/undersign/undersign/internal/modexp"
)

// withToys opens the door to keys of a few bits for the test.
func withToys(t *testing.T) {
	t.Helper()
	minBits = 8
	t.Cleanup(func() { minBits = MinBits })
}

func nats(xs ...int64) []modexp.Nat {
	out := []modexp.Nat{}
	for _, x := range xs {
		out = append(out, modexp.Nat{uint64(x)})
	}
	return out
}

// toyKey is p = 1187, q = 1283, e = 65537.
func toyKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	p, q := big.NewInt(1187), big.NewInt(1283)
	d := new(big.Int).ModInverse(big.NewInt(65537), lambda(p, q))
	return &rsa.PrivateKey{
		PublicKey: rsa.PublicKey{N: new(big.Int).Mul(p, q), E: 65537},
		D:         d, Primes: []*big.Int{p, q},
	}
}

// rebase replaces the derived v of a toy record by root^2, and what depends on it.
func rebase(t *testing.T, d *Dealing, shares []*KeyShare, root int64, f []int64) {
	t.Helper()
	p := *d.key
	p.root = big.NewInt(root)
	p.v = new(big.Int).Mul(p.root, p.root)
	p.v.Mod(p.v, p.n)
	p.arith = nil
	for i, s := range shares {
		p.vi[i] = new(big.Int).Exp(p.v, natBig(s.s), p.n)
	}
	d.commitments = nil
	for _, c := range f {
		d.commitments = append(d.commitments, new(big.Int).Exp(p.v, big.NewInt(c), p.n))
	}
	key, err := p.finish()
	if err != nil {
		t.Fatal(err)
	}
	d.key = key
	for _, s := range shares {
		s.key = key
	}
}

func natBig(x modexp.Nat) *big.Int {
	z := new(big.Int)
	for i := len(x) - 1; i >= 0; i-- {
		z.Lsh(z, 64)
		z.Or(z, new(big.Int).SetUint64(x[i]))
	}
	return z
}

// subsets calls f with all subsets of k of the n indices 1..n.
func subsets(n, k int, f func([]int)) {
	var rec func(from int, set []int)
	rec = func(from int, set []int) {
		if len(set) == k {
			f(set)
			return
		}
		for i := from; i <= n; i++ {
			rec(i+1, append(set[:len(set):len(set)], i))
		}
	}
	rec(1, nil)
}

// proofs makes every holder's share of x, checks its proof, and returns them.
func proofs(t *testing.T, shares []*KeyShare, x int64) []*SignatureShare {
	t.Helper()
	var out []*SignatureShare
	for _, s := range shares {
		sig, err := s.prove(big.NewInt(x))
		if err != nil {
			t.Fatal(err)
		}
		if e := s.key.checkShare([32]byte{}, sig); e != nil {
			t.Fatal(e)
		}
		if e := s.key.verifyProof(big.NewInt(x), sig); e != nil {
			t.Fatal(e)
		}
		out = append(out, sig)
	}
	return out
}

// combineAll checks that every subset of K shares gives the signature y of x.
func combineAll(t *testing.T, p *PublicKey, sigs []*SignatureShare, x, y int64) {
	t.Helper()
	subsets(p.l, p.k, func(set []int) {
		var quorum []*SignatureShare
		for _, i := range set {
			quorum = append(quorum, sigs[i-1])
		}
		got := p.combine(big.NewInt(x), quorum)
		if got == nil {
			t.Errorf("epoch %d: %v doesn't combine", p.epoch, set)
		} else if new(big.Int).SetBytes(got).Int64() != y {
			t.Errorf("epoch %d: %v combines to %x, want %d", p.epoch, set, got, y)
		}
	})
}

func eqInts(t *testing.T, what string, got []*big.Int, want ...int64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", what, len(got), len(want))
		return
	}
	for i, w := range want {
		if got[i].Cmp(big.NewInt(w)) != 0 {
			t.Errorf("%s %d: %v, want %d", what, i+1, got[i], w)
		}
	}
}

func secrets(shares []*KeyShare) (out []*big.Int) {
	for _, s := range shares {
		out = append(out, natBig(s.s))
	}
	return out
}

// modularToy is the known-answer key (3,6): f = 142546 + 123456 X + 222222 X^2.
func modularToy(t *testing.T) (*Dealing, []*KeyShare) {
	t.Helper()
	d, shares, err := deal(toyKey(t), 3, 6, nil, FormModular, nats(123456, 222222))
	if err != nil {
		t.Fatal(err)
	}
	rebase(t, d, shares, 5, []int64{142546, 123456, 222222})
	return d, shares
}

// integerToy is the known-answer import (2,3): f = 6*522659 + 1000003 X.
func integerToy(t *testing.T) (*Dealing, []*KeyShare) {
	t.Helper()
	d, shares, err := deal(toyKey(t), 2, 3, nil, FormInteger, nats(1000003))
	if err != nil {
		t.Fatal(err)
	}
	rebase(t, d, shares, 5, []int64{522659, 1000003})
	return d, shares
}

func TestKnownAnswerModular(t *testing.T) {
	withToys(t)
	d, shares := modularToy(t)
	eqInts(t, "s", secrets(shares), 17572, 21837, 223111, 241281, 76347, 108422)
	eqInts(t, "v", []*big.Int{d.key.v}, 25)
	eqInts(t, "v_i", d.key.vi, 998537, 476228, 1437195, 505865, 454743, 1243518)
	if err := d.verifyKeys(); err != nil {
		t.Error(err)
	}
	sigs := proofs(t, shares, 31337)
	for i, want := range []int64{1233060, 1155281, 5713, 532542, 1478175, 1083293} {
		if n := d.key.n.Int64(); want > n/2 {
			want = n - want
		}
		eqInts(t, "x_i", []*big.Int{new(big.Int).SetBytes(sigs[i].x)}, want)
	}
	combineAll(t, d.key, sigs, 31337, 1072360)
}

func TestKnownAnswerInteger(t *testing.T) {
	withToys(t)
	d, shares := integerToy(t)
	eqInts(t, "s", secrets(shares), 4135957, 5135960, 6135963)
	eqInts(t, "A", d.commitments, 931517, 1211387)
	eqInts(t, "v_i", d.key.vi, 1079253, 402594, 1485601)
	if err := d.verifyKeys(); err != nil {
		t.Error(err)
	}
	combineAll(t, d.key, proofs(t, shares, 31337), 31337, 1072360)
}
