// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"crypto/sha256"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/groupsig/internal/state"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// ErrSignature: a signature is wrong, or for something else.
var ErrSignature = state.ErrSignature

// A signature is the points, what it is traced by if there is such, the challenge and the
// responses.
type signature struct {
	points []bls12381.G1
	traced []*traced // one at the most
	c      bls12381.Scalar
	s      []bls12381.Scalar
}

func (sig *signature) bytes(size int) []byte {
	b := make([]byte, 0, size)
	for i := range sig.points {
		b = sig.points[i].Append(b)
	}
	for _, t := range sig.traced {
		b = t.append(b)
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
		codec.ReadG1(d, fmt.Sprint("T", i+1), &sig.points[i])
	}
	if s.Trace != nil {
		sig.traced = []*traced{readTraced(d)}
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
func (k *GroupKey) challenge(msg transcript.Message, context []byte, points, commitments []bls12381.G1, r *bls12381.GT, traced ...*traced) *bls12381.Scalar {
	t := k.context("sign").Bytes("context", context).Message("m", msg)
	for i := range points {
		t.G1("T", &points[i])
	}
	for _, x := range traced {
		t.G2("T", &x.t4).GT("T", &x.t5)
	}
	for i := range commitments {
		t.G1("R", &commitments[i])
	}
	t.GT("R", r)
	for _, x := range traced {
		t.GT("R", &x.r)
	}
	return t.Challenge(k.dst("sig"))
}
