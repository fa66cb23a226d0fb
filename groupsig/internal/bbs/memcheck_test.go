// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

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

// publish makes points defined again.
func publish(c *cttest.Checker, points []bls12381.G1) {
	c.Leaks("  points depend on the secret", func() { normalize(points) })
	for i := range points {
		b := points[i].Bytes()
		cttest.Public(b)
		if err := points[i].SetBytes(b); err != nil {
			panic(err)
		}
	}
}

// memcheckCases signs with a secret, multipliers and nonces that are undefined, in
// both forms and with all encryptions.
func memcheckCases(c *cttest.Checker) {
	for _, f := range []Features{Scope | Escrow, Plus | Convert | Escrow | SingleOpener} {
		g := newGroup(new(testing.T), f)
		m := g.join("ada")
		scope := g.scope("s")
		sig := &signature{p: make([]bls12381.G1, g.k.l.points)}
		var s signing
		secretScalar(&m.y, "y")
		secretScalar(&m.cred.x, "x")
		secretScalar(&s.r1, "r1")
		secretScalar(&s.r2, "r2")
		secretScalar(&s.a, "a")
		secretScalar(&s.aConvert, "a'")
		c.Clean("points", func() { m.hide(sig, &s, scope) })
		publish(c, sig.p)
		for i := range s.k {
			secretScalar(&s.k[i], string(rune('a'+i)))
		}
		c.Clean("commitments", func() { m.commit(sig, &s, scope) })
		publish(c, sig.t.G1)
		sig.c = *sig.t.AppendTo(g.k.items(sig, scope, msg("m"))).Challenge(g.k.dst("sig"))
		c.Clean("responses", func() { sig.s = sigma.Respond(&sig.c, s.k, s.w) })
		b := sig.s[0].Bytes()
		tainted(c, b)
	}
}
