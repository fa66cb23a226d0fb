// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"crypto/sha256"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/cttest"
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

// tainted checks that b is undefined: that the secret got there, so that the case
// before has tested something. b is published then.
func tainted(c *cttest.Checker, b []byte) {
	c.Leaks("  depends on the secret", func() {
		if b[len(b)-1]&1 == 1 {
			branches++
		}
	})
	cttest.Public(b)
}

func secretScalar(k *bls12381.Scalar, name string) {
	b := sha256.Sum256([]byte(name))
	cttest.Secret(b[:])
	k.SetWide(b[:])
}

// publish normalises points that were computed from secrets: what is inverted there is a
// random multiple.
func publish(c *cttest.Checker, points ...*bls12381.G1) {
	c.Clean("  points", func() { bls12381.NormalizeG1(points...) })
	for _, p := range points {
		b := p.Bytes()
		tainted(c, b)
		if err := p.SetBytes(b); err != nil {
			panic(err)
		}
	}
}

// publishTraced does the same for what a signature is traced by.
func publishTraced(c *cttest.Checker, t *traced) {
	c.Clean("  T4", func() { bls12381.NormalizeG2(&t.t4) })
	b := t.t4.Bytes()
	tainted(c, b)
	if err := t.t4.SetBytes(b); err != nil {
		panic(err)
	}
	for _, z := range []*bls12381.GT{&t.t5, &t.r} {
		b := z.Bytes()
		tainted(c, b)
		if err := z.SetBytes(b); err != nil {
			panic(err)
		}
	}
}

// memcheckCases signs with a member's secrets, blinds and nonces that are undefined.
func memcheckCases(c *cttest.Checker) {
	bls12381.Declassify(func(w []uint64) { cttest.Public(w) })
	for _, s := range []*Scheme{DP06, hlccn11Rekey, CPY06} { // CPY06 has all that BBS04 has
		g := newGroup(new(testing.T), s, "memcheck")
		m := g.join("ada")
		claim := g.signed(m, "makes what is made once")
		secretScalar(&m.cred.x, "x")
		for j := range m.y {
			secretScalar(&m.y[j], "y"+string(rune('0'+j)))
		}
		w, nonces := make([]bls12381.Scalar, s.Secrets), make([]bls12381.Scalar, s.nonces())
		for i := range s.Blinds {
			secretScalar(&w[i], "blind "+string(rune('0'+i)))
		}
		for i := range nonces {
			secretScalar(&nonces[i], "nonce "+string(rune('0'+i)))
		}
		var p *prover
		c.Clean(s.Name+": points", func() { p = m.commit(w, nonces) })
		var all []*bls12381.G1
		for _, list := range [][]bls12381.G1{p.points, p.commitments} {
			for i := range list {
				all = append(all, &list[i])
			}
		}
		publish(c, all...)
		gt := p.gt.Bytes()
		tainted(c, gt)
		if err := p.gt.SetBytes(gt); err != nil {
			panic(err)
		}
		for _, t := range p.traced {
			publishTraced(c, t)
		}
		ch := g.gk.challenge(message("m"), nil, p.points, p.commitments, p.gt, p.traced...)
		var responses []bls12381.Scalar
		c.Clean(s.Name+": responses", func() { responses = sigma.Respond(ch, nonces[:s.Secrets], w) })
		b := responses[0].Bytes()
		tainted(c, b)
		if g.gk.Moves() {
			next := g.issuer.divide(1, g.gk.start(), new(bls12381.Scalar).Random())
			var a bls12381.G1
			a.Set(&m.cred.a)
			c.Clean(s.Name+": update", func() { m.step(&a, next) })
			publish(c, &a)
		}
		if s.Trace != nil {
			memcheckClaim(c, g, m, claim)
		}
	}
}
