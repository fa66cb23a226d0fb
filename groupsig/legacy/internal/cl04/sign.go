// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cl04

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// Indices of secrets in a signature.
const (
	secretK = iota
	secretU
	secretRho
	secrets
)

// SignatureSize is the length of a signature: T1 to T7, the challenge and three
// responses.
const SignatureSize = 7*bls12381.G1Size + (1+secrets)*bls12381.ScalarSize

// hash returns H = hash(T1, T2, T3).
func (g *GroupKey) hash(t *[7]bls12381.G1) *bls12381.Scalar {
	return g.items().G1("T", &t[0]).G1("T", &t[1]).G1("T", &t[2]).Challenge(dstHash)
}

// relations is the part of the statement in G1.
func (g *GroupKey) relations(t *[7]bls12381.G1) *sigma.Statement {
	p1 := bls12381.G1Generator()
	y := new(bls12381.G1) // y2 + H·y3
	y.ScalarMultVarTime(g.hash(t), &g.ys[2])
	y.Add(y, &g.ys[1])
	bls12381.NormalizeG1(y)
	return &sigma.Statement{Secrets: secrets, G1: []sigma.Relation{
		{Y: &t[0], Terms: []sigma.Term{{W: secretU, P: p1}}},
		{Y: &t[1], Terms: []sigma.Term{{W: secretU, P: &g.h}}},
		{Y: &t[2], Terms: []sigma.Term{{W: secretU, P: &g.ys[0]}, {W: secretK, P: p1}}},
		{Y: &t[3], Terms: []sigma.Term{{W: secretU, P: y}}},
	}}
}

// challenge absorbs everything: the group, the context, the message, T1 to T7 and the
// commitments.
func (g *GroupKey) challenge(msg, context []byte, t *[7]bls12381.G1, st *sigma.Statement, r *sigma.Commitments, gt *bls12381.GT) *bls12381.Scalar {
	items := g.items().Bytes("context", context).Message("m", transcript.MessageOf(msg))
	for i := range t {
		items.G1("T", &t[i])
	}
	st.AppendTo(items)
	r.AppendTo(items)
	return items.GT("R", gt).Challenge(dstSig)
}

// hide returns T1 to T7, normalised, for u, r1 and r2.
func (m *MemberKey) hide(u, r1, r2 *bls12381.Scalar) *[7]bls12381.G1 {
	g, t := m.g, new([7]bls12381.G1)
	var v bls12381.Scalar
	t[0].ScalarBaseMult(u)
	t[1].ScalarMult(u, &g.h)
	t[2].ScalarMult(u, &g.ys[0])
	t[2].Add(&t[2], &m.pk)
	t[4].ScalarMult(r2, &m.p[0])
	t[5].ScalarMult(r2, &m.p[1])
	t[6].ScalarMult(v.Mul(r1, r2), &m.p[2])
	v.Wipe()
	return t
}

// finish adds T4, which depends on the hash of T1 to T3.
func (m *MemberKey) finish(u *bls12381.Scalar, t *[7]bls12381.G1) {
	g := m.g
	bls12381.NormalizeG1(&t[0], &t[1], &t[2], &t[4], &t[5], &t[6])
	y := new(bls12381.G1)
	y.ScalarMultVarTime(g.hash(t), &g.ys[2])
	y.Add(y, &g.ys[1])
	t[3].ScalarMult(u, y)
	bls12381.NormalizeG1(&t[3])
}

// commitGT returns e(T7, P2)^k_rho · e(T6, X)^-k_k, from e(c, P2) and e(b, X).
func (m *MemberKey) commitGT(r1, r2 *bls12381.Scalar, nonces []bls12381.Scalar) *bls12381.GT {
	var v, w bls12381.Scalar
	v.Mul(r1, r2)
	v.Mul(&v, &nonces[secretRho])
	w.Mul(r2, &nonces[secretK])
	w.Neg(&w)
	z := new(bls12381.GT).CombProduct(bls12381.GTPower{K: &v, Comb: m.cp}, bls12381.GTPower{K: &w, Comb: m.bx})
	v.Wipe()
	w.Wipe()
	return z
}

// Sign signs a message in a context, which verifiers have to know.
func (m *MemberKey) Sign(msg, context []byte) ([]byte, error) {
	if m.k.IsZero() {
		return nil, errWiped
	}
	g := m.g
	secret := new(transcript.Items).Grow(128).Scalar("k", &m.k)
	n := transcript.NewNonces(dstBlind, secret, g.items().Bytes("context", context).Message("m", transcript.MessageOf(msg)))
	defer secret.Wipe()
	defer n.Wipe()
	var u, r1, r2 bls12381.Scalar
	w, nonces := make([]bls12381.Scalar, secrets), make([]bls12381.Scalar, secrets)
	n.Next(&u, &r1, &r2, &nonces[0], &nonces[1], &nonces[2])
	w[secretK].Set(&m.k)
	w[secretU].Set(&u)
	w[secretRho].Inverse(&r1)
	t := m.hide(&u, &r1, &r2)
	m.finish(&u, t)
	st := g.relations(t)
	commitments := st.Commit(nonces)
	gt := m.commitGT(&r1, &r2, nonces)
	c := g.challenge(msg, context, t, st, commitments, gt)
	s := sigma.Respond(c, nonces, w)
	for _, list := range [][]bls12381.Scalar{w, nonces} {
		for i := range list {
			list[i].Wipe()
		}
	}
	u.Wipe()
	r1.Wipe()
	r2.Wipe()
	var sig []byte
	for i := range t {
		if t[i].IsIdentity() { // with a probability of 2^-255
			return nil, errors.New("cl04: sign: try again")
		}
		sig = t[i].Append(sig)
	}
	return (&sigma.Proof{C: *c, S: s}).Append(sig), nil
}

// decode returns the parts of a signature. No point is the identity.
func decode(sig []byte) (*[7]bls12381.G1, *sigma.Proof, error) {
	if len(sig) != SignatureSize {
		return nil, nil, fmt.Errorf("cl04: signature of %d bytes, want %d", len(sig), SignatureSize)
	}
	t := new([7]bls12381.G1)
	for i := range t {
		if err := t[i].SetBytes(sig[:bls12381.G1Size]); err != nil {
			return nil, nil, fmt.Errorf("cl04: signature: %w", err)
		}
		sig = sig[bls12381.G1Size:]
	}
	p, err := sigma.Decode(sig, secrets)
	if err != nil {
		return nil, nil, fmt.Errorf("cl04: signature: %w", err)
	}
	return t, p, nil
}

// Verify checks a signature on a message in a context.
func (g *GroupKey) Verify(msg, context, sig []byte) error {
	t, p, err := decode(sig)
	if err != nil {
		return err
	}
	return g.verify(msg, context, t, p)
}

// recompute returns the commitments of a proof; that in GT is
// e(s_rho·T7, P2) · e(c·T5 - s_k·T6, X).
func (g *GroupKey) recompute(t *[7]bls12381.G1, p *sigma.Proof) (*sigma.Statement, *sigma.Commitments, *bls12381.GT) {
	st := g.relations(t)
	var k bls12381.Scalar
	var a, b bls12381.G1
	a.ScalarMultVarTime(&p.S[secretRho], &t[6])
	b.MultiMultVarTime(bls12381.MulG1(&p.C, &t[4]), bls12381.MulG1(k.Neg(&p.S[secretK]), &t[5]))
	bls12381.NormalizeG1(&a, &b)
	gt := new(bls12381.GT).PairingProductVarTime(bls12381.PairWith(&a, g.lines), bls12381.PairWith(&b, g.lx))
	return st, st.RecomputeVarTime(&p.C, p.S), gt
}

// blinded checks e(T5, Y) = e(T6, P2).
func (g *GroupKey) blinded(t *[7]bls12381.G1) bool {
	var n bls12381.G1
	n.Neg(&t[5])
	return bls12381.PairingCheckVarTime(bls12381.PairWith(&t[4], g.ly), bls12381.PairWith(&n, g.lines))
}

func (g *GroupKey) verify(msg, context []byte, t *[7]bls12381.G1, p *sigma.Proof) error {
	st, r, gt := g.recompute(t, p)
	if !g.challenge(msg, context, t, st, r, gt).Equal(&p.C) || !g.blinded(t) {
		return errors.New("cl04: invalid signature")
	}
	return nil
}

// sigID names a signature.
func sigID(sig []byte) [32]byte { return new(transcript.Items).Bytes("signature", sig).Sum() }
