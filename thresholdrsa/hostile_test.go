// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// spoil makes a share of the right form whose value is wrong. Wrong values have
// nothing to do with each other: if two holders only halve theirs, 2^(lambda_1 +
// lambda_2) can be 1, and the signature is right all the same.
func spoil(s *SignatureShare) *SignatureShare {
	s = clone(s)
	h := sha256.Sum256(s.x)
	copy(s.x[len(s.x)-len(h):], h[:])
	return s
}

// spoilProof makes a share of the right value whose proof is wrong.
func spoilProof(s *SignatureShare) *SignatureShare {
	s = clone(s)
	s.z[len(s.z)-1] ^= 1
	return s
}

// hostileShare is a share that VerifyShare refuses.
type hostileShare struct {
	name   string
	share  *SignatureShare
	reason string
}

// hostileShares are wrong shares of holder 2 of the small key (3,5), for r.
func hostileShares(t testing.TB, r *Request) (*PublicKey, []hostileShare) {
	t.Helper()
	d, shares := sharing(t, "small-a", 3, 5)
	p := d.key
	x, err := r.representative(p)
	if err != nil {
		t.Fatal(err)
	}
	good := sign(t, r, shares[1])
	with := func(f func(s *SignatureShare)) *SignatureShare { return wrap(t, good, f) }
	value := func(v *big.Int) *SignatureShare {
		return with(func(s *SignatureShare) { s.x = v.FillBytes(make([]byte, (max(v.BitLen(), p.n.BitLen())+7)/8)) })
	}
	xi := new(big.Int).SetBytes(good.x)
	half := new(big.Int).Rsh(p.n, 1)
	factor, _ := primesOf(t, "small-a")

	other, otherShares := sharing(t, "small-b", 3, 5)
	again, againShares := freshSharing(t, "small-a", 3, 5)
	rOther, rAgain, rNext := request(t, other.key, "a"), request(t, again.key, "a"), request(t, p, "another message")
	// A share that is told to be for this record and this request.
	retold := func(s *SignatureShare) *SignatureShare {
		return wrap(t, s, func(s *SignatureShare) {
			s.keyID, s.epoch, s.requestID, s.index = p.id, p.epoch, r.ID(), 2
		})
	}
	const proof, value0, width = "the proof doesn't hold", "value out of range", "fields of"
	list := []hostileShare{
		{"wrong value", spoil(good), proof},
		{"wrong proof", spoilProof(good), proof},
		{"value of somebody else", retold(sign(t, r, shares[2])), proof},
		{"value and index of somebody else's", with(func(s *SignatureShare) { s.index = 3 }), proof},
		{"of another request", sign(t, rNext, shares[1]), "another request"},
		{"of another request, retold", retold(sign(t, rNext, shares[1])), proof},
		{"of another key", sign(t, rOther, otherShares[1]), "another key"},
		{"of another key, retold", retold(sign(t, rOther, otherShares[1])), ""}, // may be above n/2
		{"of another sharing of the key", sign(t, rAgain, againShares[1]), "another key"},
		{"of another sharing, retold", retold(sign(t, rAgain, againShares[1])), proof},
		{"of another epoch", with(func(s *SignatureShare) { s.keyID[0] ^= 1; s.epoch = 7 }), "made in epoch 7"},
		{"of another epoch of the same record", with(func(s *SignatureShare) { s.epoch = 2 }), "another key"},
		{"index 0", with(func(s *SignatureShare) { s.index = 0 }), "no such holder"},
		{"index L+1", with(func(s *SignatureShare) { s.index = 6 }), "no such holder"},
		{"index 255", with(func(s *SignatureShare) { s.index = 255 }), "no such holder"},
		{"zero", value(new(big.Int)), value0},
		{"one", value(one), proof},
		{"n", value(p.n), value0},
		{"n-1", value(new(big.Int).Sub(p.n, one)), value0},
		{"(n-1)/2", value(half), proof},
		{"(n+1)/2", value(new(big.Int).Add(half, one)), value0},
		{"n - x_i", value(new(big.Int).Sub(p.n, xi)), value0},
		{"all ones", with(func(s *SignatureShare) { s.x = bytes.Repeat([]byte{255}, len(s.x)) }), value0},
		{"a factor of n", value(factor), "not prime to the modulus"},
		{"x", value(representable(x, p.n)), proof},
		{"x^2", value(representable(new(big.Int).Mul(x, x), p.n)), proof},
		{"v_i", value(representable(p.vi[1], p.n)), proof},
		{"x_i^2", value(representable(new(big.Int).Mul(xi, xi), p.n)), proof},
		{"leading zero", with(func(s *SignatureShare) { s.x = append([]byte{0}, s.x...) }), width},
		{"truncated value", with(func(s *SignatureShare) { s.x = s.x[1:] }), width},
		{"no value", with(func(s *SignatureShare) { s.x = nil }), width},
		{"value of 8192 bits", with(func(s *SignatureShare) { s.x = bytes.Repeat([]byte{1}, MaxBits/8) }), width},
		{"no response", with(func(s *SignatureShare) { s.z = nil }), width},
		{"truncated response", with(func(s *SignatureShare) { s.z = s.z[1:] }), width},
		{"longer response", with(func(s *SignatureShare) { s.z = append([]byte{0}, s.z...) }), width},
		{"response 2^(B+513)", with(func(s *SignatureShare) {
			new(big.Int).Lsh(one, uint(p.nonceBits()+1)).FillBytes(s.z)
		}), "response of the proof out of range"},
		{"response 2^(B+513)-1", with(func(s *SignatureShare) {
			z := new(big.Int).Lsh(one, uint(p.nonceBits()+1))
			z.Sub(z, one).FillBytes(s.z)
		}), proof},
		{"response 0", with(func(s *SignatureShare) { clear(s.z) }), proof},
		{"challenge 0", with(func(s *SignatureShare) { clear(s.c[:]) }), proof},
		{"challenge 0 and response 0", with(func(s *SignatureShare) { clear(s.c[:]); clear(s.z) }), proof},
		{"another challenge", with(func(s *SignatureShare) { s.c[31] ^= 1 }), proof},
		{"response plus the order of the squares", with(func(s *SignatureShare) {
			p, q := primesOf(t, "small-a")
			z := new(big.Int).SetBytes(s.z)
			m := new(big.Int).Mul(p.Rsh(p, 1), q.Rsh(q, 1))
			z.Add(z, m.Add(m, one)).FillBytes(s.z)
		}), proof},
	}
	// x_i + n where it fits into the width.
	fits := false
	for i, s := range shares {
		y := sign(t, r, s)
		if v := new(big.Int).SetBytes(y.x); v.Add(v, p.n).BitLen() <= 8*p.size() {
			fits = true
			list = append(list, hostileShare{"x_i + n", wrap(t, y, func(s *SignatureShare) { v.FillBytes(s.x); s.index = i + 1 }), value0})
			break
		}
	}
	if !fits {
		t.Log("no x_i + n fits this time") // n is 0.6 of 2^768: one in 20 runs
	}
	return p, list
}

// representable returns x mod n or its negative, the smaller.
func representable(x, n *big.Int) *big.Int {
	x = new(big.Int).Mod(x, n)
	if y := new(big.Int).Sub(n, x); y.Cmp(x) < 0 {
		return y
	}
	return x
}

func TestHostileShares(t *testing.T) {
	small(t)
	_, shares := sharing(t, "small-a", 3, 5)
	r := request(t, shares[0].key, "a message")
	good := signAll(t, r, shares)
	p, list := hostileShares(t, r)
	for _, s := range good {
		if err := p.VerifyShare(r, s); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range list {
		t.Run(h.name, func(t *testing.T) {
			refusal := func(err error) {
				t.Helper()
				var e *ShareError
				if !errors.As(err, &e) || !errors.Is(err, ErrShare) || e.Index != h.share.Index() || !strings.Contains(e.Reason, h.reason) {
					t.Errorf("got %v, want holder %d blamed for %q", err, h.share.Index(), h.reason)
				} else if e.Holder != p.holderName(e.Index) || e.Holder == "" && e.Index >= 1 && e.Index <= 5 {
					t.Errorf("holder %d is called %q", e.Index, e.Holder)
				}
			}
			refusal(p.VerifyShare(r, h.share))
			rightValue := h.reason == "the proof doesn't hold" && h.share.index == 2 && bytes.Equal(h.share.x, good[1].x)

			// With K good ones, before and after it, also of the same holder.
			for _, set := range [][]int{{1, 4, 5}, {1, 2, 3, 4, 5}} {
				all := append([]*SignatureShare{h.share}, pick(good, set)...)
				sig, bad, err := p.Combine(r, all...)
				if err != nil {
					t.Fatalf("with %v: %v", set, err)
				}
				checkRaw(t, p, r, sig)
				if rightValue {
					continue // nobody looks at the proof
				}
				if len(bad) != 1 {
					t.Fatalf("with %v: named %v", set, bad)
				}
				refusal(bad[0])
			}
			// With too few.
			sig, bad, err := p.Combine(r, good[0], h.share, good[4])
			if rightValue {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var q *QuorumError
			if sig != nil || !errors.As(err, &q) || *q != (QuorumError{2, 3}) || len(bad) != 1 {
				t.Fatalf("K-1 good ones: %x, %v, %v", sig, bad, err)
			}
			refusal(bad[0])
		})
	}
}

// culprits calls f with all sets of at most most of the holders 1..5.
func culprits(most int, f func([]int)) {
	for size := 0; size <= most; size++ {
		subsets(5, size, f)
	}
}

// Every set of culprits, in every order of arrival that is asked for: with K good
// shares there is a signature and the culprits alone are named, if the first K
// shares weren't good anyhow.
func TestCulprits(t *testing.T) {
	small(t)
	d, shares := sharing(t, "small-a", 3, 5)
	p := d.key
	r := request(t, p, "culprits")
	good := signAll(t, r, shares)
	bad := make([]*SignatureShare, 5)
	for i, s := range good {
		bad[i] = spoil(s)
	}
	orders := [][]int{{1, 2, 3, 4, 5}, {5, 4, 3, 2, 1}, {3, 1, 5, 2, 4}, {2, 5, 1, 4, 3}, {4, 3, 2, 5, 1}}
	if long() {
		orders = permutations([]int{1, 2, 3, 4, 5})
	}
	for _, order := range orders {
		culprits(5, func(liars []int) {
			var all []*SignatureShare
			for _, i := range order {
				if slices.Contains(liars, i) {
					all = append(all, bad[i-1])
				} else {
					all = append(all, good[i-1])
				}
			}
			sig, named, err := p.Combine(r, all...)
			var names []int
			for _, e := range named {
				names = append(names, e.Index)
			}
			slices.Sort(names)
			honestStart := !slices.ContainsFunc(order[:3], func(i int) bool { return slices.Contains(liars, i) })
			want := liars
			if honestStart {
				want = nil
			}
			if !slices.Equal(names, want) {
				t.Errorf("%v, liars %v: named %v", order, liars, names)
			}
			if len(liars) <= 2 {
				if err != nil {
					t.Errorf("%v, liars %v: %v", order, liars, err)
				} else {
					checkRaw(t, p, r, sig)
				}
				return
			}
			var q *QuorumError
			if sig != nil || !errors.Is(err, ErrQuorum) || !errors.As(err, &q) || *q != (QuorumError{5 - len(liars), 3}) {
				t.Errorf("%v, liars %v: %x, %v", order, liars, sig, err)
			}
		})
	}
}

func permutations(xs []int) (out [][]int) {
	if len(xs) == 0 {
		return [][]int{nil}
	}
	for i, x := range xs {
		rest := append(slices.Clone(xs[:i]), xs[i+1:]...)
		for _, p := range permutations(rest) {
			out = append(out, append([]int{x}, p...))
		}
	}
	return out
}

// Whoever relays shares puts fakes under honest holders' indices, first or last.
// The true ones count all the same.
func TestImpersonatedHolders(t *testing.T) {
	small(t)
	d, shares := sharing(t, "small-a", 3, 5)
	p := d.key
	r := request(t, p, "impersonated")
	good := signAll(t, r, shares)
	for name, fake := range map[string]func(*SignatureShare) *SignatureShare{"value": spoil, "proof": spoilProof} {
		for i := range 3 {
			for _, liar := range []int{1, 2, 3, 4} {
				// Holder liar really lies, so that the proofs are looked at; three remain.
				set := []int{1, 2, 3, 4}
				all := []*SignatureShare{fake(good[i])}
				for _, j := range set {
					if j == liar {
						all = append(all, spoil(good[j-1]))
					} else {
						all = append(all, good[j-1])
					}
				}
				if liar == i+1 {
					continue // the fake is the liar's own
				}
				for range 2 {
					sig, bad, err := p.Combine(r, all...)
					if err != nil {
						t.Errorf("%s of holder %d, with liar %d: %v, named %v", name, i+1, liar, err, bad)
					} else {
						checkRaw(t, p, r, sig)
					}
					slices.Reverse(all)
				}
			}
		}
	}
	// All holders' shares spoilt on the way, and the true ones behind them.
	var all []*SignatureShare
	for _, s := range good {
		all = append(all, spoil(s), spoilProof(s))
	}
	sig, bad, err := p.Combine(r, append(all, good[:3]...)...)
	if err != nil || len(bad) != 10 {
		t.Fatalf("behind fakes: %v, %d named", err, len(bad))
	}
	checkRaw(t, p, r, sig)
}

func TestTooFewShares(t *testing.T) {
	small(t)
	d, shares := sharing(t, "small-a", 3, 5)
	p := d.key
	r := request(t, p, "few")
	g := signAll(t, r, shares)
	again := sign(t, r, shares[0]) // another proof of the same value
	if again.Equal(g[0]) {
		t.Fatal("two proofs of one share are equal")
	}
	for _, c := range []struct {
		name   string
		shares []*SignatureShare
		have   int
		bad    int
	}{
		{"none", nil, 0, 0},
		{"one", g[:1], 1, 0},
		{"two", g[3:], 2, 0},
		{"one three times", []*SignatureShare{g[0], g[0], g[0]}, 1, 2},
		{"one of two twice", []*SignatureShare{g[0], g[1], g[0]}, 2, 1},
		{"one of two with two proofs", []*SignatureShare{g[0], g[1], again}, 2, 0},
		{"a copy", []*SignatureShare{g[0], g[1], clone(g[1])}, 2, 1},
		{"nil", []*SignatureShare{nil, g[0], nil, g[1]}, 2, 2},
		{"the zero value", []*SignatureShare{{}, g[0], g[1]}, 2, 1},
	} {
		sig, bad, err := p.Combine(r, c.shares...)
		var q *QuorumError
		if sig != nil || !errors.As(err, &q) || *q != (QuorumError{c.have, 3}) || len(bad) != c.bad {
			t.Errorf("%s: %x, %v, %v", c.name, sig, bad, err)
		}
	}
	// Duplicates don't stand in the way of a quorum.
	sig, bad, err := p.Combine(r, g[0], g[0], again, nil, g[1], g[1], g[4])
	if err != nil || len(bad) != 4 {
		t.Fatalf("with duplicates: %v, %v", bad, err)
	}
	checkRaw(t, p, r, sig)
	if err := p.VerifyShare(r, nil); !errors.Is(err, ErrShare) {
		t.Errorf("no share: %v", err)
	}
}

// Shares with valid proofs that don't combine: the dealing is to blame, nobody else.
func TestInconsistentDealing(t *testing.T) {
	small(t)
	d, shares := sharing(t, "small-a", 3, 5)
	p := *d.key
	p.vi = slices.Clone(p.vi)
	wrong := natBig(shares[1].s)
	wrong.Add(wrong, one)
	p.vi[1] = new(big.Int).Exp(p.v, wrong, p.n)
	key, err := p.finish()
	if err != nil {
		t.Fatal(err)
	}
	r := request(t, key, "inconsistent")
	var sigs []*SignatureShare
	for _, s := range shares {
		c := *s
		c.key = key
		if s.index == 2 {
			c.s = natOf(wrong, key.ShareBits())
		}
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		sigs = append(sigs, sign(t, r, &c))
	}
	sig, bad, err := key.Combine(r, sigs...)
	var e *DealingError
	if sig != nil || len(bad) != 0 || !errors.As(err, &e) || !errors.Is(err, ErrDealing) || errors.Is(err, ErrShare) || errors.Is(err, ErrQuorum) {
		t.Errorf("%x, %v, %v", sig, bad, err)
	}
	if sig, bad, err = key.Combine(r, pick(sigs, []int{1, 3, 5})...); err != nil || len(bad) != 0 {
		t.Errorf("those with consistent shares: %v, %v", bad, err)
	} else {
		checkRaw(t, key, r, sig)
	}
}

// A share is refused under every record that differs from its own in anything,
// even when it is told to belong to it and the numbers are the same.
func TestShareBoundToRecord(t *testing.T) {
	small(t)
	d, shares := sharing(t, "small-a", 3, 5)
	r := request(t, d.key, "bound")
	good := sign(t, r, shares[1])
	x, err := r.representative(d.key)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(p *PublicKey)
	}{
		{"e", func(p *PublicKey) { p.e = 257 }},
		{"K", func(p *PublicKey) { p.k = 2 }},
		{"L", func(p *PublicKey) { p.l, p.vi, p.holders = 4, p.vi[:4], p.holders[:4] }},
		{"epoch", func(p *PublicKey) { p.epoch, p.parent, p.ceremony = 2, [32]byte{1}, [32]byte{2} }},
		{"name", func(p *PublicKey) { p.holders[0].Name = "mallory" }},
		{"identity", func(p *PublicKey) { p.holders[0].Identity = bytes.Repeat([]byte{7}, 32) }},
		{"v_1", func(p *PublicKey) { p.vi[0] = p.vi[2] }},
		{"exchanged v_i", func(p *PublicKey) { p.vi[0], p.vi[2] = p.vi[2], p.vi[0] }},
		{"root of v", func(p *PublicKey) { p.root = big.NewInt(5) }},
		{"form", func(p *PublicKey) {
			p.form, p.gamma, p.ubound = FormInteger, new(big.Int).Exp(factorial(5), big.NewInt(2), nil), p.n
		}},
	} {
		p := *d.key
		p.vi, p.holders, p.arith = slices.Clone(p.vi), slices.Clone(p.holders), nil
		c.change(&p)
		key, err := p.finish()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if err := key.VerifyShare(r, good); err == nil {
			t.Errorf("%s: the request holds under another record", c.name)
		}
		if e := key.checkShare(r.ID(), good); e == nil {
			t.Errorf("%s: the share passes under another record", c.name)
		}
		retold := clone(good)
		retold.keyID, retold.epoch = key.id, key.epoch
		if e := key.verifyProof(x, retold); e == nil {
			t.Errorf("%s: the proof holds under another record", c.name)
		}
		if e := d.key.verifyProof(x, good); e != nil {
			t.Fatalf("%s: %v", c.name, e)
		}
	}
}

// With K = 1 all shares are one number, and all v_i: the proof still binds the index.
func TestShareBoundToIndex(t *testing.T) {
	small(t)
	d, shares := sharing(t, "small-a", 1, 3)
	r := request(t, d.key, "index")
	s := sign(t, r, shares[0])
	if d.key.vi[0].Cmp(d.key.vi[1]) != 0 {
		t.Fatal("with K = 1 the shares differ")
	}
	s.index = 2
	if err := d.key.VerifyShare(r, s); !errors.Is(err, ErrShare) {
		t.Errorf("holder 1's proof serves holder 2: %v", err)
	}
}

// The forger of a zero share, or of one without an inverse, takes the powers with a
// negative exponent for 1, as a verifier does that ignores the missing inverse.
func TestForgedZeroShare(t *testing.T) {
	small(t)
	d, shares := sharing(t, "small-a", 3, 5)
	p := d.key
	r := request(t, p, "zero")
	x, err := r.representative(p)
	if err != nil {
		t.Fatal(err)
	}
	factor, cofactor := primesOf(t, "small-a")
	xt := new(big.Int).Exp(x, big.NewInt(4), p.n)
	z := new(big.Int).Lsh(one, uint(p.nonceBits()-7))
	for name, xi := range map[string]*big.Int{"zero": new(big.Int), "p": factor, "q": cofactor, "n": p.n, "3p": new(big.Int).Mul(factor, big.NewInt(3))} {
		buf := func(x *big.Int) []byte { return new(big.Int).Mod(x, p.n).FillBytes(make([]byte, p.size())) }
		vp, xp := new(big.Int).Exp(p.v, z, p.n), new(big.Int).Exp(xt, z, p.n)
		for _, xprime := range []*big.Int{xp, new(big.Int)} {
			s := &SignatureShare{keyID: p.id, epoch: p.epoch, requestID: r.ID(), index: 2, x: xi.FillBytes(make([]byte, p.size())),
				z: z.FillBytes(make([]byte, p.responseSize()))}
			s.c = p.challenge(2, x, buf(new(big.Int).Mul(xi, xi)), buf(vp), buf(xprime))
			if err := p.VerifyShare(r, s); !errors.Is(err, ErrShare) {
				t.Errorf("%s: %v", name, err)
			}
			if e := p.verifyProof(x, s); e == nil {
				t.Errorf("%s: the forged proof holds", name)
			}
			good := signAll(t, r, shares)
			sig, bad, err := p.Combine(r, s, good[0], good[2], good[4])
			if err != nil || len(bad) != 1 || bad[0].Index != 2 {
				t.Errorf("%s: %v, %v", name, bad, err)
			} else {
				checkRaw(t, p, r, sig)
			}
		}
	}
}
