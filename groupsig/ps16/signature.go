// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// SignatureSize is the length of a signature's raw encoding.
const SignatureSize = 2*bls12381.G1Size + 2*bls12381.ScalarSize

// ErrSignature: a signature is wrong, or for something else.
var ErrSignature = errors.New("ps16: invalid signature")

// A Signature is s1 = t·sigma1, s2 = t·sigma2, and a proof of sk.
type Signature struct {
	s1, s2 bls12381.G1
	c, s   bls12381.Scalar
}

// Bytes returns the canonical encoding without the two bytes in front of
// MarshalBinary's: s1, s2, c, s.
func (sig *Signature) Bytes() []byte {
	b := make([]byte, 0, SignatureSize)
	b = sig.s1.Append(b)
	b = sig.s2.Append(b)
	b = sig.c.Append(b)
	return sig.s.Append(b)
}

// ParseSignature decodes what Bytes returned.
func ParseSignature(raw []byte) (*Signature, error) {
	d := wire.NewDecoder(raw)
	return readSignature(d)
}

func readSignature(d *wire.Decoder) (*Signature, error) {
	sig := new(Signature)
	codec.ReadG1(d, "s1", &sig.s1)
	codec.ReadG1(d, "s2", &sig.s2)
	codec.ReadScalar(d, "c", &sig.c)
	codec.ReadScalar(d, "s", &sig.s)
	if err := d.Finish(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return sig, nil
}

// MarshalBinary returns a version and a suite, and then Bytes.
func (sig *Signature) MarshalBinary() ([]byte, error) {
	if sig.s1.IsIdentity() || sig.s2.IsIdentity() {
		return nil, errors.New("ps16: empty signature")
	}
	return append([]byte{version, suite}, sig.Bytes()...), nil
}

// UnmarshalBinary decodes what MarshalBinary returned.
func (sig *Signature) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	q, err := readSignature(d)
	if err != nil {
		return err
	}
	*sig = *q
	return nil
}

// ID returns the digest that names the signature: in lists, and in openings.
func (sig *Signature) ID() [32]byte {
	return new(transcript.Items).Bytes("sig", sig.Bytes()).Sum()
}

// Equal reports whether x is the same signature.
func (sig *Signature) Equal(x *Signature) bool {
	return x != nil && sig.s1.Equal(&x.s1) && sig.s2.Equal(&x.s2) && sig.c.Equal(&x.c) && sig.s.Equal(&x.s)
}
