// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

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

// Sign signs a message: s1 = t·sigma1, s2 = t·sigma2, R = E^(t·k) with E = e(sigma1, Y),
// c = H(..., R), s = k - c·sk.
func (m *MemberKey) Sign(msg []byte, opts *SignOptions) (*Signature, error) {
	if m.wiped() {
		return nil, errWiped
	}
	if opts == nil {
		opts = &SignOptions{}
	}
	secret := new(transcript.Items).Grow(128).Scalar("sk", &m.sk)
	nonces := transcript.NewNonces(dstSign, secret,
		m.g.k.Items().Bytes("context", opts.Context).Message("m", transcript.MessageOf(msg)))
	var t, k bls12381.Scalar
	nonces.Next(&t, &k)
	nonces.Wipe()
	secret.Wipe()
	sig := m.points(&t)
	bls12381.NormalizeG1(&sig.s1, &sig.s2)
	m.respond(sig, msg, opts.Context, &t, &k)
	t.Wipe()
	k.Wipe()
	return sig, nil
}

// points returns the signature's points for the nonce t.
func (m *MemberKey) points(t *bls12381.Scalar) *Signature {
	sig := new(Signature)
	sig.s1.CombMult(t, m.comb1)
	sig.s2.CombMult(t, m.comb2)
	return sig
}

// respond adds the proof for the nonces t and k.
func (m *MemberKey) respond(sig *Signature, msg, context []byte, t, k *bls12381.Scalar) {
	var tk bls12381.Scalar
	var r bls12381.GT
	r.CombExp(tk.Mul(t, k), m.combE)
	sig.c.Set(m.g.challengeItems(msg, context, sig).GT("R", &r).Challenge(dstSign))
	sig.s.Sub(k, tk.Mul(&sig.c, &m.sk))
	tk.Wipe()
}
