// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"encoding/hex"
	"fmt"

	"github.com/undersign/undersign/internal/bls12381"
)

// Lengths of encoded keys and signatures. An element of the other group, and an
// uncompressed one, has twice as many bytes.
const (
	PublicKeySize       = bls12381.G1Size
	SignatureSize       = bls12381.G2Size
	MinSigPublicKeySize = bls12381.G2Size
	MinSigSignatureSize = bls12381.G1Size
)

// A PublicKey is a point of order r, in G1 or in G2. It isn't the identity: the
// draft's KeyValidate holds for every PublicKey that isn't empty. It says nothing
// of who has the secret: see [ProvenKey].
type PublicKey struct{ p point }

// ParsePublicKey reads a compressed key in G1, 48 bytes.
func ParsePublicKey(b []byte) (*PublicKey, error) { return parseKey(b, false, PublicKeySize) }

// ParseMinSigPublicKey reads a compressed key in G2, 96 bytes.
func ParseMinSigPublicKey(b []byte) (*PublicKey, error) {
	return parseKey(b, true, MinSigPublicKeySize)
}

// ParseUncompressedPublicKey reads an uncompressed key in G1, 96 bytes. It is
// somewhat faster.
func ParseUncompressedPublicKey(b []byte) (*PublicKey, error) {
	return parseKey(b, false, 2*PublicKeySize)
}

func parseKey(b []byte, g2 bool, size int) (*PublicKey, error) {
	k := &PublicKey{newPoint(g2)}
	if len(b) != size {
		return nil, fmt.Errorf("%w: %d bytes instead of %d", ErrKey, len(b), size)
	}
	if err := k.p.decode(b, false); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	return k, nil
}

// UnmarshalBinary reads a compressed key, which is in G1 if it has 48 bytes and in G2
// if it has 96.
func (k *PublicKey) UnmarshalBinary(b []byte) error {
	parse := ParsePublicKey
	if len(b) == MinSigPublicKeySize {
		parse = ParseMinSigPublicKey
	}
	q, err := parse(b)
	if err != nil {
		return err
	}
	*k = *q
	return nil
}

// MarshalBinary returns the compressed encoding.
func (k *PublicKey) MarshalBinary() ([]byte, error) {
	if k == nil || k.p.empty() {
		return nil, errNoKey
	}
	return k.p.bytes(), nil
}

// Bytes returns the compressed encoding, or nil if k is empty.
func (k *PublicKey) Bytes() []byte {
	b, _ := k.MarshalBinary()
	return b
}

// UncompressedBytes returns the uncompressed encoding, or nil if k is empty.
func (k *PublicKey) UncompressedBytes() []byte {
	if k == nil || k.p.empty() {
		return nil
	}
	return k.p.uncompressed()
}

// Equal reports whether x is the same key. An empty one equals none.
func (k *PublicKey) Equal(x *PublicKey) bool { return k != nil && x != nil && k.p.equal(x.p) }

// String returns the compressed encoding in hexadecimal.
func (k PublicKey) String() string { return hex.EncodeToString(k.Bytes()) }

// A ProvenKey is a public key whose owner has proved to know the secret. It is what
// signatures of one message may be verified by together.
//
// It comes from [Scheme.PopVerify]. A sum of proven keys is one as well.
type ProvenKey struct{ k PublicKey }

// AssumeProvenUnsafe takes a key for proven that was so when it was stored, by this
// program and where nobody else could write. Anybody's key taken for proven lets
// its owner sign for all others that it is aggregated with.
func AssumeProvenUnsafe(k *PublicKey) *ProvenKey {
	if k == nil {
		return nil
	}
	return &ProvenKey{*k}
}

// PublicKey returns a copy of the key.
func (p *ProvenKey) PublicKey() *PublicKey {
	if p == nil {
		return nil
	}
	return &PublicKey{p.k.p}
}

// Bytes returns the compressed encoding, or nil if p is empty.
func (p *ProvenKey) Bytes() []byte { return p.PublicKey().Bytes() }

// Equal reports whether x is the same key. An empty one equals none.
func (p *ProvenKey) Equal(x *ProvenKey) bool { return p.PublicKey().Equal(x.PublicKey()) }

// String returns the compressed encoding in hexadecimal.
func (p ProvenKey) String() string { return p.k.String() }

// SumKeys returns the key by which a signature is verified that all of keys made of
// one message. It fails if they add up to the identity, as opposite keys do.
func SumKeys(keys []*ProvenKey) (*ProvenKey, error) {
	if len(keys) == 0 {
		return nil, fmt.Errorf("%w: there are none", ErrKey)
	}
	points := make([]point, len(keys))
	for i, k := range keys {
		if k == nil || k.k.p.empty() {
			return nil, errNoKey
		}
		points[i] = k.k.p
		if points[i].inG2() != points[0].inG2() {
			return nil, errVariant
		}
	}
	return provenSum(sum(points))
}

func provenSum(p point) (*ProvenKey, error) {
	if p.isIdentity() {
		return nil, errKeyIdentity
	}
	return &ProvenKey{PublicKey{p}}, nil
}
