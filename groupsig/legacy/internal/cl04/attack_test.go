// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cl04

import (
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// weakChallenge is what an implementation of the paper has: the commitments,
// the keys and the message, without T1 to T7.
func (g *GroupKey) weakChallenge(msg []byte, r *sigma.Commitments, gt *bls12381.GT) *bls12381.Scalar {
	items := g.items().Message("m", transcript.MessageOf(msg))
	r.AppendTo(items)
	return items.GT("R", gt).Challenge(dstSig)
}

func (g *GroupKey) weakVerify(msg, sig []byte) bool {
	t, p, err := decode(sig)
	if err != nil {
		return false
	}
	_, r, gt := g.recompute(t, p)
	return g.weakChallenge(msg, r, gt).Equal(&p.C) && g.blinded(t)
}

// TestWeakFiatShamir forges a signature for a challenge that doesn't absorb T1 to T7, by
// solving for them. Of a symmetric pairing's keys X and Y the forger has what it needs
// in G1; here it is given x·P1 and y·P1.
func TestWeakFiatShamir(t *testing.T) {
	w := newWorld(t, "weak")
	g := w.gk
	var x1, y1 bls12381.G1
	x1.ScalarBaseMult(&w.issuer.x)
	y1.ScalarBaseMult(&w.issuer.y)

	// Commitments first: R1 = e(rho·P1, P2), R2 = k·P1, R3 = k·h, and any R4 and R5.
	var rho, k, a, sk, su, srho, v, inv bls12381.Scalar
	for _, z := range []*bls12381.Scalar{&rho, &k, &a, &su, &srho} {
		z.Random()
	}
	p1 := bls12381.G1Generator()
	r := &sigma.Commitments{G1: make([]bls12381.G1, 4)}
	r.G1[0].ScalarBaseMult(&k)
	r.G1[1].ScalarMult(&k, &g.h)
	r.G1[2].ScalarBaseMult(new(bls12381.Scalar).Random())
	r.G1[3].ScalarBaseMult(new(bls12381.Scalar).Random())
	bls12381.NormalizeG1(&r.G1[0], &r.G1[1], &r.G1[2], &r.G1[3])
	var rp bls12381.G1
	rp.ScalarBaseMult(&rho)
	gt := new(bls12381.GT).PairVarTime(&rp, bls12381.G2Generator())
	msg := []byte("nobody signed this")
	c := g.weakChallenge(msg, r, gt)

	// Then the elements. T_i = (R_i - s·G)/c, with s_k = 0, T5 = a·P1, T6 = a·Y,
	// T7 = (rho·P1 - c·a·X)/s_rho: e(s_rho·T7, P2)·e(c·T5, X) = R1.
	var tt [7]bls12381.G1
	inv.Inverse(c)
	solve := func(i int, base *bls12381.G1) {
		var q bls12381.G1
		tt[i].Sub(&r.G1[i], q.ScalarMult(&su, base))
		tt[i].ScalarMult(&inv, &tt[i])
	}
	solve(0, p1)
	solve(1, &g.h)
	solve(2, &g.ys[0])
	bls12381.NormalizeG1(&tt[0], &tt[1], &tt[2])
	var y bls12381.G1
	y.ScalarMult(g.hash(&tt), &g.ys[2])
	solve(3, y.Add(&y, &g.ys[1]))
	tt[4].ScalarBaseMult(&a)
	tt[5].ScalarMult(&a, &y1)
	var q bls12381.G1
	q.ScalarMult(v.Mul(c, &a), &x1)
	tt[6].Sub(&rp, &q)
	tt[6].ScalarMult(inv.Inverse(&srho), &tt[6])
	var sig []byte
	for i := range tt {
		sig = tt[i].Append(sig)
	}
	sig = (&sigma.Proof{C: *c, S: []bls12381.Scalar{sk, su, srho}}).Append(sig)
	if !g.weakVerify(msg, sig) {
		t.Fatal("the forgery is none")
	}
	if g.Verify(msg, nil, sig) == nil {
		t.Error("forged")
	}
}

// TestWeakFiatShamirMember: with two groups x·P1 isn't public, but a member makes
// signatures that don't open, for a challenge without T1 to T7: what it encrypts is
// solved for.
func TestWeakFiatShamirMember(t *testing.T) {
	w := newWorld(t, "weak")
	g, m := w.gk, w.join("ada")
	var u, r1, r2 bls12381.Scalar
	u.Random()
	r1.Random()
	r2.Random()
	tt := m.hide(&u, &r1, &r2)
	m.finish(&u, tt)
	secret := []bls12381.Scalar{m.k, u, *new(bls12381.Scalar).Inverse(&r1)}
	nonces := make([]bls12381.Scalar, secrets)
	for i := range nonces {
		nonces[i].Random()
	}
	r := g.relations(tt).Commit(nonces)
	r.G1[2].Add(&r.G1[2], bls12381.G1Generator()) // R3 + P1
	r.G1[3].SetGenerator()
	bls12381.NormalizeG1(&r.G1[2], &r.G1[3])
	gt := m.commitGT(&r1, &r2, nonces)
	msg := []byte("not to be opened")
	c := g.weakChallenge(msg, r, gt)
	s := sigma.Respond(c, nonces, secret)
	var inv bls12381.Scalar
	var q bls12381.G1
	inv.Inverse(c)
	tt[2].Add(&tt[2], q.ScalarBaseMult(&inv)) // T3 + P1/c
	bls12381.NormalizeG1(&tt[2])
	var y bls12381.G1
	y.ScalarMult(g.hash(tt), &g.ys[2])
	y.Add(&y, &g.ys[1])
	tt[3].Sub(&r.G1[3], q.ScalarMult(&s[secretU], &y))
	tt[3].ScalarMult(&inv, &tt[3])
	var sig []byte
	for i := range tt {
		sig = tt[i].Append(sig)
	}
	sig = (&sigma.Proof{C: *c, S: s}).Append(sig)
	if !g.weakVerify(msg, sig) {
		t.Fatal("the forgery is none")
	}
	if g.Verify(msg, nil, sig) == nil {
		t.Error("a signature that doesn't open")
	}
}

// TestWeakJoin forges a proof of k for a challenge that doesn't absorb P, by solving
// for P.
func TestWeakJoin(t *testing.T) {
	w := newWorld(t, "weak join")
	j := w.invite("eve", join.Schnorr)
	context := j.challenge.Context(nil)
	var k, s, inv bls12381.Scalar
	k.Random()
	s.Random()
	var r, q, p bls12381.G1
	r.ScalarBaseMult(&k)
	bls12381.NormalizeG1(&r)
	c := context.Clone().G1("T", &r).Challenge(dstJoin)
	p.Sub(&r, q.ScalarBaseMult(&s))
	p.ScalarMult(inv.Inverse(c), &p)
	// The weak verifier's equation, R = c·P + s·P1.
	if q.ScalarMult(c, &p); !r.Equal(q.Add(&q, new(bls12381.G1).ScalarBaseMult(&s))) {
		t.Fatal("the forgery is none")
	}
	req := j.Request()
	bls12381.NormalizeG1(&p)
	req.p, req.proof = p, (&sigma.Proof{C: *c, S: []bls12381.Scalar{s}}).Append(nil)
	rec := w.gk.record(&j.challenge, req)
	if err := rec.Sign(longTerm("eve")); err != nil {
		t.Fatal(err)
	}
	req.sig = rec.Signature
	if _, err := w.issuer.Issue(w.gk, w.sessions, w.register, req, 2); err == nil {
		t.Error("a credential for an unknown secret")
	}
}
