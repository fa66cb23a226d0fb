// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package klap20

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

// Sign signs a message: uu = r·u, vv = r·v, ww = r·w, R = (r·k)·u, c = H(..., R),
// s = k - c·alpha.
func (m *MemberKey) Sign(msg []byte, opts *SignOptions) (*Signature, error) {
	if m.wiped() {
		return nil, errWiped
	}
	if opts == nil {
		opts = &SignOptions{}
	}
	secret := new(transcript.Items).Grow(128).Scalar("alpha", &m.alpha)
	nonces := transcript.NewNonces(dstSign, secret,
		m.g.k.Items().Bytes("context", opts.Context).Message("m", transcript.MessageOf(msg)))
	var r, k bls12381.Scalar
	nonces.Next(&r, &k)
	nonces.Wipe()
	secret.Wipe()
	sig := m.points(&r, &k)
	bls12381.NormalizeG1(&sig.uu, &sig.vv, &sig.ww, sig.r)
	m.respond(sig, msg, opts.Context, &k)
	r.Wipe()
	k.Wipe()
	return sig, nil
}

// points returns the signature's points and the commitment for the nonces r and k.
func (m *MemberKey) points(r, k *bls12381.Scalar) *Signature {
	sig := &Signature{r: new(bls12381.G1)}
	var t bls12381.Scalar
	sig.uu.CombMult(r, m.combU)
	sig.vv.CombMult(r, m.combV)
	sig.ww.CombMult(r, m.combW)
	sig.r.CombMult(t.Mul(r, k), m.combU)
	t.Wipe()
	return sig
}

// respond adds the challenge and the response for the nonce k.
func (m *MemberKey) respond(sig *Signature, msg, context []byte, k *bls12381.Scalar) {
	var t bls12381.Scalar
	sig.c.Set(m.g.challenge(msg, context, sig, sig.r))
	sig.s.Sub(k, t.Mul(&sig.c, &m.alpha))
	t.Wipe()
}
