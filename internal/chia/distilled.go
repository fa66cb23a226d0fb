// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package chia

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
)

// MaxKeys is how many signatures the cost limit of a block leaves room for: 11,000,000,000,
// at 1,200,000 for each. Keys have to be decoded before anything is known to be signed.
const MaxKeys = 9166

// NewVerifier returns the verifier of a network's distilled blocks. Keys need no proof of
// possession, and are taken from a store that may be nil. A block has one aggregate and no
// signature of an aggregator, because whoever makes a block signs all of it.
func NewVerifier(network distill.NetworkID, keys *Keys) *distill.KeyedVerifier {
	v := &distill.KeyedVerifier{
		Net:    network,
		Params: distill.DefaultParams(),
		Messages: func(_ *distill.KeyBytes, payload []byte) ([][]byte, error) {
			return Messages(payload)
		},
	}
	v.Params.MaxLeaves = MaxKeys
	if keys != nil {
		v.Known = func(k *distill.KeyBytes) *bls.PublicKey { return keys.Known(Key(*k)) }
	}
	return v
}

// LeafMessages returns the leaves of a block: a message for each key, whose payload is what
// the key has to sign. They expire at a height.
func LeafMessages(pairs []Pair, notAfter uint64) []distill.KeyedMessage {
	groups := GroupPairs(pairs)
	msgs := make([]distill.KeyedMessage, len(groups))
	for i, g := range groups {
		msgs[i] = distill.KeyedMessage{Key: distill.KeyBytes(g.Key), NotAfter: notAfter, Payload: g.Payload()}
	}
	return msgs
}

// VerifyDistilled verifies a distilled block: that it is valid, and about the pairs that
// the block's spends ask for, no more and no fewer. That comes first: what the spends ask
// for has been paid for, while anybody can write a payload of a million messages.
func VerifyDistilled(v *distill.KeyedVerifier, pairs []Pair, encoded []byte) (*distill.KeyedVerified, error) {
	b, err := distill.DecodeKeyedBatch(encoded, &v.Params)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	groups := GroupPairs(pairs)
	if len(groups) != b.Len() {
		return nil, fmt.Errorf("%w: %d keys signed, of the spends' %d", ErrSignature, b.Len(), len(groups))
	}
	for i := range groups {
		g := &groups[i]
		if Key(b.Keys[i]) != g.Key {
			return nil, fmt.Errorf("%w: key %x hasn't signed", ErrSignature, g.Key)
		}
		if !bytes.Equal(b.Payloads.At(i), g.Payload()) {
			return nil, fmt.Errorf("%w: key %x signed other messages", ErrSignature, g.Key)
		}
	}
	c, err := v.Verify(encoded)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return c, nil
}

// blockHeight is the height of synthetic blocks, and their leaves' last.
const blockHeight = 1000

// Distill returns the distilled block, for which all keys but those at some places among
// the sorted ones sign the root. The sequence number is the block's.
func (b *Owned) Distill(v *distill.KeyedVerifier, seq uint64, late []int) ([]byte, error) {
	msgs := LeafMessages(b.Pairs, blockHeight)
	r, err := v.NewRound(0, seq, blockHeight, msgs)
	if err != nil {
		return nil, err
	}
	client := distill.KeyedClient{Net: v.Net, Params: v.Params, Head: blockHeight - 1}
	var folded []*bls.Signature
	for i, m := range msgs {
		if slices.Contains(late, i) {
			sig, err := b.signMessages(Key(m.Key), m.Payload)
			if err != nil {
				return nil, err
			}
			folded = append(folded, sig)
			continue
		}
		p, err := r.Proposal(&m.Key)
		if err != nil {
			return nil, err
		}
		sig, err := client.Sign(b.Secrets[Key(m.Key)], p, m.Payload, m.NotAfter)
		if err != nil {
			return nil, err
		}
		if err := r.Add(&m.Key, sig); err != nil {
			return nil, err
		}
	}
	batch, err := r.Finish(folded...)
	if err != nil {
		return nil, err
	}
	return batch.MarshalBinary()
}

// signMessages returns the sum of a key's Augmented signatures of a payload's messages.
func (b *Owned) signMessages(key Key, payload []byte) (*bls.Signature, error) {
	msgs, err := Messages(payload)
	if err != nil {
		return nil, err
	}
	sigs := make([]*bls.Signature, len(msgs))
	for i, m := range msgs {
		if sigs[i], err = bls.Augmented.Sign(b.Secrets[key], m); err != nil {
			return nil, fmt.Errorf("chia: can't sign by key %x: %w", key, err)
		}
	}
	return bls.Aggregate(sigs...)
}
