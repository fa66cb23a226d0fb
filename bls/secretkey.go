// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"fmt"
	"sync"

	"github.com/undersign/undersign/internal/bls12381"
)

// SecretKeySize is the length of an encoded secret key.
const SecretKeySize = bls12381.ScalarSize

// A SecretKey is a scalar from 1 to r-1. It is the same for all schemes, but better
// not used with two. It may be used by several goroutines, but not while Wipe runs.
// Copies share the secret.
type SecretKey struct{ *shield }

// A shield keeps the secret from fmt, which doesn't call the methods of fields that
// aren't exported: it follows one pointer, with a verb that doesn't fit, but not two.
type shield struct{ *secret }

// With k = 0 a secret has been wiped.
type secret struct {
	k            bls12381.Scalar
	once1, once2 sync.Once // public keys are made when they are asked for
	g1, g2       point
}

// GenerateKey returns a random key.
func GenerateKey() *SecretKey {
	s := newSecretKey()
	s.k.Random()
	return s
}

func newSecretKey() *SecretKey { return &SecretKey{&shield{new(secret)}} }

// ParseSecretKey reads a key from its encoding.
func ParseSecretKey(b []byte) (*SecretKey, error) {
	s := new(SecretKey)
	if err := s.UnmarshalBinary(b); err != nil {
		return nil, err
	}
	return s, nil
}

// UnmarshalBinary reads a key from 32 bytes, big-endian. 0, and what isn't below r, is
// refused.
func (s *SecretKey) UnmarshalBinary(b []byte) error {
	q := newSecretKey()
	if err := q.k.SetBytesNonZero(b); err != nil {
		return fmt.Errorf("%w: not a scalar from 1 to r-1 in %d bytes", ErrKey, SecretKeySize)
	}
	*s = *q
	return nil
}

// MarshalBinary returns the encoding, which is secret; clear it after use.
func (s *SecretKey) MarshalBinary() ([]byte, error) {
	if s.empty() {
		return nil, errNoKey
	}
	return s.k.Bytes(), nil
}

func (s *SecretKey) empty() bool { return s == nil || s.shield == nil || s.k.IsZero() }

// PublicKey returns the public key in G1, for the schemes whose names don't begin
// with MinSig. It is nil if s is empty.
func (s *SecretKey) PublicKey() *PublicKey {
	if s.empty() {
		return nil
	}
	s.once1.Do(func() {
		p := newPoint(false)
		p.one.ScalarBaseMult(&s.k)
		bls12381.NormalizeG1(p.one)
		s.g1 = p
	})
	return &PublicKey{s.g1}
}

// MinSigPublicKey returns the public key in G2, for the schemes whose names begin
// with MinSig. It is nil if s is empty.
func (s *SecretKey) MinSigPublicKey() *PublicKey {
	if s.empty() {
		return nil
	}
	s.once2.Do(func() {
		p := newPoint(true)
		p.two.ScalarBaseMult(&s.k)
		bls12381.NormalizeG2(p.two)
		s.g2 = p
	})
	return &PublicKey{s.g2}
}

// public returns the public key that a suite takes.
func (s *SecretKey) public(u *suite) *PublicKey {
	if u.minSig {
		return s.MinSigPublicKey()
	}
	return s.PublicKey()
}

// Equal reports, in constant time, whether x is the same key. An empty one equals none.
func (s *SecretKey) Equal(x *SecretKey) bool {
	return !s.empty() && !x.empty() && s.k.Equal(&x.k)
}

// Wipe overwrites the secret. The key and its copies are empty afterwards.
func (s *SecretKey) Wipe() {
	if s.shield != nil {
		s.k.Wipe()
	}
}

// String names the key by its public key in G1, and shows nothing of the secret. The
// receiver is a value, so that printing a dereferenced key shows no more.
func (s SecretKey) String() string {
	if s.empty() {
		return "bls.SecretKey(empty)"
	}
	return fmt.Sprintf("bls.SecretKey(of %x)", s.PublicKey().p.bytes()[:8])
}

// GoString is String.
func (s SecretKey) GoString() string { return s.String() }

// Format writes String, whatever the verb, so that no verb shows the secret.
func (s SecretKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }
