// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"slices"

	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// Sign signs a message for a context, which says what the signature is for.
func (m *MemberKey) Sign(msg transcript.Message, context []byte) ([]byte, error) {
	if m.wiped() {
		return nil, errWiped
	}
	k, s := m.gk, m.gk.s
	secret := new(transcript.Items).Grow(64*(2+len(m.y))).G1("A", &m.cred.a).Scalar("x", &m.cred.x)
	for j := range m.y {
		secret.Scalar("y", &m.y[j])
	}
	n := transcript.NewNonces(k.dst("sig"), secret, k.context("sign").Bytes("context", context).Message("m", msg))
	secret.Wipe()
	w, nonces := make([]bls12381.Scalar, s.Secrets), make([]bls12381.Scalar, s.nonces())
	for i := range s.Blinds {
		n.Next(&w[i])
	}
	for i := range nonces {
		n.Next(&nonces[i])
	}
	n.Wipe()
	sig := m.prove(msg, context, w, nonces)
	wipe(w)
	wipe(nonces)
	return sig.bytes(s.SignatureSize()), nil
}

// prove makes a signature with random blinds, which are the first of w, and nonces.
func (m *MemberKey) prove(msg transcript.Message, context []byte, w, nonces []bls12381.Scalar) *signature {
	p := m.commit(w, nonces)
	norm := make([]*bls12381.G1, 0, len(p.points)+len(p.commitments))
	for i := range p.points {
		norm = append(norm, &p.points[i])
	}
	for i := range p.commitments {
		norm = append(norm, &p.commitments[i])
	}
	bls12381.NormalizeG1(norm...)
	for _, t := range p.traced {
		bls12381.NormalizeG2(&t.t4)
	}
	sig := &signature{points: p.points, traced: p.traced}
	sig.c.Set(m.gk.challenge(msg, context, p.points, p.commitments, p.gt, p.traced...))
	sig.s = sigma.Respond(&sig.c, nonces[:m.gk.s.Secrets], w)
	return sig
}

// A prover has committed.
type prover struct {
	points, commitments []bls12381.G1 // not normalised
	gt                  *bls12381.GT
	traced              []*traced
}

// commit fills in the rest of w, and computes the points of a signature and the
// commitments.
func (m *MemberKey) commit(w, nonces []bls12381.Scalar) *prover {
	k, s := m.gk, m.gk.s
	s.Witness(w, &m.cred.x, m.y)
	p := &prover{
		points:      make([]bls12381.G1, len(s.Points)),
		commitments: make([]bls12381.G1, 0, len(s.Points)-1+len(s.Relations)),
	}
	for i, terms := range s.Points {
		p.points[i] = *k.sum(k.coefficients(terms, w, nil))
		if slices.Contains(s.Carriers, i) {
			p.points[i].Add(&p.points[i], &m.cred.a)
		} else {
			p.commitments = append(p.commitments, *k.sum(k.coefficients(terms, nonces, nil)))
		}
	}
	for _, r := range s.Relations {
		p.commitments = append(p.commitments, *k.sum(k.coefficients(r.Terms, nonces, w)))
	}
	p.gt = m.commitGT(w, nonces)
	if s.Trace != nil {
		p.traced = []*traced{k.trace(w, nonces)}
	}
	return p
}

// coefficients returns by which numbers the constants are multiplied in a sum of terms, for
// values of the secrets. A term of a point, but for A in it, is one of constants, with
// the point's own secrets w. Constants that aren't in it have nil.
func (k *GroupKey) coefficients(terms Terms, values, w []bls12381.Scalar) []*bls12381.Scalar {
	out := make([]*bls12381.Scalar, len(k.consts))
	add := func(of int, v *bls12381.Scalar, minus bool) {
		if out[of] == nil {
			out[of] = new(bls12381.Scalar)
		}
		if minus {
			out[of].Sub(out[of], v)
		} else {
			out[of].Add(out[of], v)
		}
	}
	var product bls12381.Scalar
	for _, t := range terms {
		if t.Of >= 0 {
			add(t.Of, &values[t.Secret], t.Minus)
			continue
		}
		for _, of := range k.s.Points[^t.Of] {
			product.Mul(&values[t.Secret], &w[of.Secret])
			add(of.Of, &product, t.Minus != of.Minus)
		}
	}
	product.Wipe()
	return out
}

// sum returns the sum of multiples of constants, and wipes the numbers.
func (k *GroupKey) sum(coefficients []*bls12381.Scalar) *bls12381.G1 {
	z := new(bls12381.G1)
	var p bls12381.G1
	for i, c := range coefficients {
		if c != nil {
			z.Add(z, p.CombMult(c, k.consts[i].comb()))
			c.Wipe()
		}
	}
	p.Wipe()
	return z
}

// commitGT returns the commitment to the pairing equation: e(A, P2) to the nonces of the
// terms of T_A, times constants.
func (m *MemberKey) commitGT(w, nonces []bls12381.Scalar) *bls12381.GT {
	k, s := m.gk, m.gk.s
	var ofA bls12381.Scalar
	for _, t := range s.P2 {
		if t.Of < 0 { // T_A alone: see TestTables
			ofA.Add(&ofA, &nonces[t.Secret])
		}
	}
	powers := []bls12381.GTPower{{K: &ofA, Comb: m.combA}}
	for i, c := range k.coefficients(s.P2, nonces, w) {
		if c != nil {
			powers = append(powers, bls12381.GTPower{K: c, Comb: k.consts[i].combP2()})
		}
	}
	for i, c := range k.coefficients(s.W, nonces, w) {
		if c != nil {
			powers = append(powers, bls12381.GTPower{K: c, Comb: k.consts[i].combW()})
		}
	}
	r := new(bls12381.GT).CombProduct(powers...)
	for _, p := range powers {
		p.K.Wipe()
	}
	return r
}
