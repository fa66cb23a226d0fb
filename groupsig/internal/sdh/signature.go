// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"crypto/sha256"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/state"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// ErrSignature: a signature is wrong, or for something else.
var ErrSignature = state.ErrSignature

// A signature is the points, the challenge and the responses.
type signature struct {
	points []bls12381.G1
	c      bls12381.Scalar
	s      []bls12381.Scalar
}

func (sig *signature) bytes(size int) []byte {
	b := make([]byte, 0, size)
	for i := range sig.points {
		b = sig.points[i].Append(b)
	}
	b = sig.c.Append(b)
	for i := range sig.s {
		b = sig.s[i].Append(b)
	}
	return b
}

// parse decodes a signature. No point is the identity.
func (s *Scheme) parse(raw []byte) (*signature, error) {
	d := wire.NewDecoder(raw)
	sig := &signature{points: make([]bls12381.G1, len(s.Points)), s: make([]bls12381.Scalar, s.Secrets)}
	for i := range sig.points {
		readG1(d, fmt.Sprint("T", i+1), &sig.points[i])
	}
	readPublic(d, "c", &sig.c)
	for i := range sig.s {
		readPublic(d, "s", &sig.s[i])
	}
	if err := d.Finish(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return sig, nil
}

// readPublic reads a scalar, which may be 0.
func readPublic(d *wire.Decoder, field string, k *bls12381.Scalar) {
	if b := d.Fixed(field, bls12381.ScalarSize); b != nil {
		if err := k.SetBytes(b); err != nil {
			d.Fail(field, "%v", err)
		}
	}
}

// SignatureID names a signature. It doesn't verify it.
func (k *GroupKey) SignatureID(raw []byte) ([sha256.Size]byte, error) {
	if k.empty() {
		return [32]byte{}, errEmpty
	}
	if _, err := k.s.parse(raw); err != nil {
		return [32]byte{}, err
	}
	return signatureID(raw), nil
}

func signatureID(raw []byte) [sha256.Size]byte {
	return new(transcript.Items).Bytes("signature", raw).Sum()
}

// challenge hashes what a signature is bound to, its points and the commitments.
func (k *GroupKey) challenge(msg transcript.Message, context []byte, points, commitments []bls12381.G1, r *bls12381.GT) *bls12381.Scalar {
	t := k.context("sign").Bytes("context", context).Message("m", msg)
	for i := range points {
		t.G1("T", &points[i])
	}
	for i := range commitments {
		t.G1("R", &commitments[i])
	}
	return t.GT("R", r).Challenge(k.dst("sig"))
}
