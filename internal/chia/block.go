// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package chia

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/bls"
)

var (
	// ErrSignature: the signature of a block isn't valid, or a key isn't.
	ErrSignature = errors.New("chia: invalid signature")
	// ErrFormat: something isn't in the form that it should have.
	ErrFormat = errors.New("chia: malformed")
)

// A Key is the encoding of a public key.
type Key [bls.PublicKeySize]byte

// A Pair is a message that a key has to sign. The message of the usual condition,
// AGG_SIG_ME, has 96 bytes: a hash, the coin's id, and the network's id.
type Pair struct {
	Key Key
	Msg []byte
}

// A Block is the pairs of a block, or of a spend bundle, with the sum of the Augmented
// signatures. The sum of none is the identity.
type Block struct {
	Name      string
	Pairs     []Pair
	Signature []byte // nil if it isn't known
}

// Keys keeps public keys that have been decoded, so that they aren't decoded again. It
// is for one goroutine at a time. A nil *Keys keeps none.
type Keys struct{ known map[Key]*bls.PublicKey }

// NewKeys returns an empty store.
func NewKeys() *Keys { return &Keys{map[Key]*bls.PublicKey{}} }

// Get returns a key, or an error if it isn't valid.
func (s *Keys) Get(k Key) (*bls.PublicKey, error) {
	if s != nil {
		if p := s.known[k]; p != nil {
			return p, nil
		}
	}
	p, err := bls.ParsePublicKey(k[:])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	if s != nil {
		s.known[k] = p
	}
	return p, nil
}

// Known returns a key if it is kept, or nil.
func (s *Keys) Known(k Key) *bls.PublicKey {
	if s == nil {
		return nil
	}
	return s.known[k]
}

// Verify verifies the block as Chia does, by the aggregate verification of AugSchemeMPL.
func (b *Block) Verify(keys *Keys) error {
	if b.Signature == nil {
		return fmt.Errorf("%w: there is none", ErrSignature)
	}
	sig, err := bls.ParseSignature(b.Signature)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSignature, err)
	}
	pks := make([]*bls.PublicKey, len(b.Pairs))
	msgs := make([][]byte, len(b.Pairs))
	for i, p := range b.Pairs {
		if pks[i], err = keys.Get(p.Key); err != nil {
			return fmt.Errorf("pair %d: %w", i, err)
		}
		msgs[i] = p.Msg
	}
	if err := bls.Augmented.AggregateVerify(pks, msgs, sig); err != nil {
		return fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return nil
}
