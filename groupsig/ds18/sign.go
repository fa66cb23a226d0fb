// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ds18

import (
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// SignOptions are what a signature is bound to beside the message. The zero value, or
// nil, is nothing.
type SignOptions struct {
	// Context says what the signature is for. A verifier must give the same.
	Context []byte
}

// Sign signs a message: with random ρ and ψ,
//
//	M1 = ρ·r·P1, M2 = ρ·P1, Z' = (ψ·ρ/q)·Z, W' = (1/ψ)·W, WW' = (1/ψ)·WW
//
// and for a nonce k, R = k·P1, c = H(..., R), s = k - c·ρ.
func (m *MemberKey) Sign(msg []byte, opts *SignOptions) (*Signature, error) {
	if m.wiped() {
		return nil, errWiped
	}
	if opts == nil {
		opts = &SignOptions{}
	}
	secret := new(transcript.Items).Grow(128).Scalar("r", &m.r).Scalar("q", &m.q)
	nonces := transcript.NewNonces(dstSign, secret,
		m.g.k.Items().Bytes("context", opts.Context).Message("m", transcript.MessageOf(msg)))
	var rho, psi, k bls12381.Scalar
	nonces.Next(&rho, &psi, &k)
	nonces.Wipe()
	secret.Wipe()
	sig := m.points(&rho, &psi, &k)
	bls12381.NormalizeG1(&sig.m1, &sig.m2, &sig.z, &sig.w, sig.r)
	bls12381.NormalizeG2(&sig.ww)
	m.respond(sig, msg, opts.Context, &rho, &k)
	rho.Wipe()
	psi.Wipe()
	k.Wipe()
	return sig, nil
}

// points returns the signature's points and the commitment.
func (m *MemberKey) points(rho, psi, k *bls12381.Scalar) *Signature {
	sig := &Signature{r: new(bls12381.G1)}
	var t bls12381.Scalar
	sig.m1.ScalarBaseMult(t.Mul(rho, &m.r))
	sig.m2.ScalarBaseMult(rho)
	t.Mul(psi, rho)
	sig.z.CombMult(t.Mul(&t, &m.inverse), m.combZ)
	t.Inverse(psi)
	sig.w.CombMult(&t, m.combW)
	sig.ww.CombMult(&t, m.combWW)
	sig.r.ScalarBaseMult(k)
	t.Wipe()
	return sig
}

// respond adds the challenge and the response for the nonce k.
func (m *MemberKey) respond(sig *Signature, msg, context []byte, rho, k *bls12381.Scalar) {
	var t bls12381.Scalar
	sig.c.Set(m.g.challenge(msg, context, sig, sig.r))
	sig.s.Sub(k, t.Mul(&sig.c, rho))
	t.Wipe()
}
