// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package gl19

import (
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/bbs"
	"github.com/undersign/undersign/internal/transcript"
)

// A BlindingKey is whose pseudonyms are converted for: one for each query.
type BlindingKey struct {
	b *bbs.BlindingKey
}

// NewBlindingKey returns a key for one query.
func (k *GroupKey) NewBlindingKey() (*BlindingKey, error) {
	b, err := k.k.NewBlindingKey()
	if err != nil {
		return nil, err
	}
	return &BlindingKey{b}, nil
}

// ParseBlindingKey decodes a key for the group.
func (k *GroupKey) ParseBlindingKey(data []byte) (*BlindingKey, error) {
	b, err := k.k.ParseBlindingKey(data)
	if err != nil {
		return nil, err
	}
	return &BlindingKey{b}, nil
}

// MarshalBinary returns the canonical encoding, which is secret.
func (b *BlindingKey) MarshalBinary() ([]byte, error) { return b.b.MarshalBinary() }

// Public returns the public key, for the converter.
func (b *BlindingKey) Public() []byte { return b.b.Public() }

// Wipe overwrites the key.
func (b *BlindingKey) Wipe() { b.b.Wipe() }

// String shows nothing of the key.
func (b BlindingKey) String() string { return "gl19: secret key" }

// GoString is String.
func (b BlindingKey) GoString() string { return b.String() }

// Format writes String, whatever the verb.
func (b BlindingKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, b.String()) }

// Blind verifies a signature and blinds its pseudonym and its message for a query.
func (b *BlindingKey) Blind(msg, sig []byte, opts VerifyOptions) ([]byte, error) {
	return b.b.Blind(transcript.MessageOf(msg), sig, opts)
}

// Convert answers a query, which is made under the public key bpk: what one member
// signed gets one pseudonym, another one in every query. The order is random. The
// converter can't tell whether what it gets comes from signatures: it has to trust
// who asks, and to limit how much.
func (k *ConverterKey) Convert(gk *GroupKey, bpk []byte, query [][]byte) ([][]byte, error) {
	return k.k.Convert(gk.k, bpk, query)
}

// Unblind returns a converted pseudonym, and what [GroupKey.MessagePoint] returns for
// its message. Within a query equal pseudonyms are of one member.
func (b *BlindingKey) Unblind(converted []byte) (nym, message []byte, err error) {
	return b.b.Unblind(converted)
}

// MessagePoint returns what stands for a message in a converted pseudonym.
func (k *GroupKey) MessagePoint(msg []byte) []byte {
	return k.k.MessagePoint(transcript.MessageOf(msg))
}
