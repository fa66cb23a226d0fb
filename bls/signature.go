// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"encoding/hex"
	"fmt"

	"github.com/undersign/undersign/internal/bls12381"
)

// A Signature is a point of order r or the identity, in G2 or in G1: of one signer, or
// an aggregate. The identity is what no signatures add up to; no key and message
// verify it.
type Signature struct{ p point }

// ParseSignature reads a compressed signature in G2, 96 bytes.
func ParseSignature(b []byte) (*Signature, error) { return parseSig(b, true, SignatureSize) }

// ParseMinSigSignature reads a compressed signature in G1, 48 bytes.
func ParseMinSigSignature(b []byte) (*Signature, error) {
	return parseSig(b, false, MinSigSignatureSize)
}

// ParseUncompressedSignature reads an uncompressed signature in G2, 192 bytes. The
// identity is refused.
func ParseUncompressedSignature(b []byte) (*Signature, error) {
	return parseSig(b, true, 2*SignatureSize)
}

func parseSig(b []byte, g2 bool, size int) (*Signature, error) {
	s := &Signature{newPoint(g2)}
	if len(b) != size {
		return nil, fmt.Errorf("%w: %d bytes instead of %d", ErrSignature, len(b), size)
	}
	if err := s.p.decode(b, true); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return s, nil
}

// UnmarshalBinary reads a compressed signature, which is in G2 if it has 96 bytes and
// in G1 if it has 48.
func (s *Signature) UnmarshalBinary(b []byte) error {
	parse := ParseSignature
	if len(b) == MinSigSignatureSize {
		parse = ParseMinSigSignature
	}
	q, err := parse(b)
	if err != nil {
		return err
	}
	*s = *q
	return nil
}

// MarshalBinary returns the compressed encoding.
func (s *Signature) MarshalBinary() ([]byte, error) {
	if s == nil || s.p.empty() {
		return nil, errNoSig
	}
	return s.p.bytes(), nil
}

// Bytes returns the compressed encoding, or nil if s is empty.
func (s *Signature) Bytes() []byte {
	b, _ := s.MarshalBinary()
	return b
}

// UncompressedBytes returns the uncompressed encoding, or nil if s is empty.
func (s *Signature) UncompressedBytes() []byte {
	if s == nil || s.p.empty() {
		return nil
	}
	return s.p.uncompressed()
}

// IsIdentity reports whether s is the identity, which is the sum of no signatures.
func (s *Signature) IsIdentity() bool { return s != nil && !s.p.empty() && s.p.isIdentity() }

// Equal reports whether x is the same signature. An empty one equals none.
func (s *Signature) Equal(x *Signature) bool { return s != nil && x != nil && s.p.equal(x.p) }

// String returns the compressed encoding in hexadecimal.
func (s Signature) String() string { return hex.EncodeToString(s.Bytes()) }

// Aggregate returns the sum of signatures, at least one. They aren't verified.
func Aggregate(sigs ...*Signature) (*Signature, error) {
	if len(sigs) == 0 {
		return nil, errNoSignatures
	}
	points := make([]point, len(sigs))
	for i, s := range sigs {
		if s == nil || s.p.empty() {
			return nil, errNoSig
		}
		points[i] = s.p
		if points[i].inG2() != points[0].inG2() {
			return nil, errVariant
		}
	}
	return &Signature{sum(points)}, nil
}

// An UncheckedSignature is a point of the curve of G2 that may lie outside the
// group. It can be added up, as one test of the sum costs less than a test of each, and be
// verified by [Scheme.FoldedVerifyUnchecked].
type UncheckedSignature struct{ a bls12381.G2Affine }

// ParseUncheckedSignature reads an uncompressed signature in G2, 192 bytes, and only
// tests that it is on the curve.
func ParseUncheckedSignature(b []byte) (*UncheckedSignature, error) {
	var p bls12381.G2
	if err := p.SetUncompressedUnsafe(b); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	s := new(UncheckedSignature)
	s.a.Set(&p)
	return s, nil
}

// ParseUncheckedCompressed reads a compressed signature in G2, 96 bytes, and only tests that
// it is on the curve.
func ParseUncheckedCompressed(b []byte) (*UncheckedSignature, error) {
	var p bls12381.G2
	if err := p.SetBytesUnsafe(b); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	s := new(UncheckedSignature)
	s.a.Set(&p)
	return s, nil
}

// IsIdentity reports whether s is the identity.
func (s *UncheckedSignature) IsIdentity() bool { return s != nil && s.a.Point().IsIdentity() }

// Check returns the signature, if it is in the group.
func (s *UncheckedSignature) Check() (*Signature, error) {
	if s == nil {
		return nil, errNoSig
	}
	p := point{two: s.a.Point()}
	if !p.two.InSubgroupVarTime() {
		return nil, errOutside
	}
	return &Signature{p}, nil
}

// AggregateUnchecked returns the sum of signatures, at least one, if it is in the
// group. That says nothing of them: points outside the group may add up to one inside.
func AggregateUnchecked(sigs []*UncheckedSignature) (*Signature, error) {
	if len(sigs) == 0 {
		return nil, errNoSignatures
	}
	list := make([]bls12381.G2Affine, len(sigs))
	for i, s := range sigs {
		if s == nil {
			return nil, errNoSig
		}
		list[i] = s.a
	}
	p := newPoint(true)
	p.two.SumVarTime(list)
	if !p.two.InSubgroupVarTime() {
		return nil, fmt.Errorf("%w: the sum isn't in the subgroup", ErrSignature)
	}
	return &Signature{p}, nil
}
