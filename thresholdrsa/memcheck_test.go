// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"math/big"
	"testing"

	"github.com/undersign/undersign/internal/cttest"
	"github.com/undersign/undersign/internal/modexp"
)

func TestMain(m *testing.M) { cttest.Main(m, memcheckCases) }

func TestConstantTime(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	t.Parallel()
	cttest.Memcheck(t)
}

var branches int

// tainted checks that x is undefined: that the secret got there, so that the case
// before has tested something. x is published then.
func tainted[E byte | uint64](c *cttest.Checker, x []E) {
	c.Leaks("  depends on the secret", func() {
		if x[len(x)-1]&1 == 1 {
			branches++
		}
	})
	cttest.Public(x)
}

// memcheckCases runs what a holder does with its secrets: a signature, and its parts
// in a ceremony. The share, the nonce's seed and the coefficients are undefined.
func memcheckCases(c *cttest.Checker) {
	minBits = 8
	defer func() { minBits = MinBits }()
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	t := new(testing.T) // for the primes' file
	p, q := primesOf(t, "small-a")
	priv, err := newPrivateKey(p, q, 65537)
	check(err)
	d, shares, err := Deal(priv, 2, 3, nil)
	check(err)
	digest := sha256.Sum256([]byte("memcheck"))
	r, err := NewRequest(d.key, digest[:], &rsa.PSSOptions{SaltLength: 8, Hash: crypto.SHA256})
	check(err)
	x, err := r.representative(d.key)
	check(err)
	s := shares[0]
	a := d.key.arith()
	xm, err := a.mod.SetBig(x)
	check(err)

	cttest.Secret(s.s)
	cttest.Secret(s.seed[:])
	var nonce modexp.Nat
	c.Clean("nonce", func() { nonce = s.nonce(x) })
	cttest.Secret(nonce) // it is undefined by the seed already
	var xi, vp, xp *modexp.Element
	c.Clean("powers", func() { xi, vp, xp = s.powers(a.mod.NewTable(xm, d.key.nonceBits(), 2), nonce) })
	var published [3][]byte
	c.Clean("publishing", func() {
		for i, e := range []*modexp.Element{xi, vp, xp} {
			published[i] = a.mod.Bytes(e)
		}
	})
	for i := range published {
		tainted(c, published[i])
	}
	c.Clean("powers of a batch", func() {
		xis, vps, xps := s.powersBatch([]*modexp.Element{xm, xm}, []modexp.Nat{nonce, nonce})
		xi, vp, xp = xis[1], vps[1], xps[1]
	})
	for i, e := range []*modexp.Element{xi, vp, xp} {
		b := a.mod.Bytes(e)
		tainted(c, b)
		c.Check("powers of a batch result", string(b) == string(published[i]))
	}
	xi2 := mustElement(a.mod, published[0])
	a.mod.Sqr(xi2, xi2)
	challenge := d.key.challenge(1, x, a.mod.Bytes(xi2), published[1], published[2])
	var z []byte
	c.Clean("response", func() { z = s.respond(nonce, challenge) })
	tainted(c, z)

	// The proof that came out is right: these were the steps of a signature.
	xb := new(big.Int).SetBytes(published[0])
	sig := &SignatureShare{keyID: d.key.id, epoch: 1, requestID: r.ID(), index: 1, c: challenge, z: z,
		x: representable(xb, d.key.n).FillBytes(make([]byte, d.key.size()))}
	c.Check("the proof holds", d.key.VerifyShare(r, sig) == nil)

	y := a.mod.NewElement()
	c.Clean("check of a share", func() { a.table.Exp(y, s.s) })
	tainted(c, a.mod.Bytes(y))

	// A reshare, with a negative Lagrange number for holder 2.
	pr, err := ProposeRefresh(d.key, []int{1, 2})
	check(err)
	pl, err := pr.plan(d.key)
	check(err)
	var all []*Contribution
	for _, s := range shares[:2] {
		cttest.Secret(s.s)
		b := []modexp.Nat{randomBits(pl.beta)}
		cttest.Secret(b[0])
		// The signature of a contribution is over what is published, and that its
		// values fit their fields is known: two branches that would be seen.
		c.Clean("commitment", func() { a.table.Exp(y, b[0]) })
		tainted(c, a.mod.Bytes(y))
		var g modexp.Nat
		c.Clean("polynomial", func() {
			g = evalNat([]modexp.Nat{s.s, b[0]}, 3, pl.beta+64)
			g.Sub(g, narrow(s.s, len(g)))
		})
		tainted(c, g)
		cttest.Public(b[0])
		cttest.Public(s.s)
		out, err := pl.contribute(s, b)
		check(err)
		all = append(all, out)
	}
	bs, e := pl.gather(all)
	if e != nil {
		panic(e)
	}
	for _, b := range bs {
		opening, err := open(shares[2].decryption, pl.sealInfo(b.index, 3), b.parts[2].sealed)
		check(err)
		cttest.Secret(opening)
		// The verdict is public, and the two branches on it are all that is seen.
		g := modexp.NewNat(8 * (len(opening) - openingSaltSize))
		c.Clean("value of an opening", func() { mustSet(g, opening[:len(opening)-openingSaltSize]) })
		var less uint64
		bound := pl.bound(b.at, 3)
		c.Clean("range of an opening", func() { less = g.Less(natOf(bound, bound.BitLen())) })
		c.Clean("power of an opening", func() { a.table.Exp(y, g) })
		verdict := []uint64{less}
		tainted(c, verdict)
		c.Check("in range", verdict[0] == 1)
	}

	// The control: what the proofs would be with math/big.
	secret := modexp.NewNat(768)
	copy(secret, s.s)
	cttest.Secret(secret)
	c.Leaks("math/big", func() { new(big.Int).Exp(x, natBig(secret), d.key.n) })
}

func mustElement(mod *modexp.Modulus, b []byte) *modexp.Element {
	e, err := mod.SetBytes(b)
	if err != nil {
		panic(err)
	}
	return e
}
