// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"errors"
	"slices"

	"github.com/undersign/undersign/bls"
)

// A KeyedMessage is what the owner of a key wants to have executed.
type KeyedMessage struct {
	Key      KeyBytes
	NotAfter uint64
	Payload  []byte
}

// A KeyedRound is an aggregator's work on one batch of keys: it makes proposals, takes
// signatures of the root, and makes a batch of those that are valid, and of what the
// others have signed by themselves.
type KeyedRound struct {
	v      *KeyedVerifier
	batch  KeyedBatch
	tree   *Tree
	digest [32]byte // what all sign
	keys   []*bls.PublicKey
	sigs   []*bls.Signature // nil for who hasn't signed
	proven []bool           // the signature has been verified
}

// NewRound starts a round. The batch's number must be new.
func (v *KeyedVerifier) NewRound(aggID, seq, validUntil uint64, msgs []KeyedMessage) (*KeyedRound, error) {
	if len(msgs) == 0 {
		return nil, reject(RuleEmpty)
	}
	if uint64(len(msgs)) > v.Params.MaxLeaves {
		return nil, reject(RuleLeaves)
	}
	msgs = slices.SortedStableFunc(slices.Values(msgs), func(a, b KeyedMessage) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	r := &KeyedRound{v: v, sigs: make([]*bls.Signature, len(msgs)), proven: make([]bool, len(msgs))}
	b := &r.batch
	b.Net, b.AggID, b.Seq, b.ValidUntil, b.Flags = v.Net, aggID, seq, validUntil, v.Flags()
	for i, m := range msgs {
		if m.NotAfter < validUntil || m.NotAfter-validUntil > v.Params.MaxAhead {
			return nil, rejectAt(RuleNotAfter, i)
		}
		if uint64(len(m.Payload)) > v.Params.MaxPayload {
			return nil, rejectAt(RulePayloadSize, i)
		}
		key, rejected := v.key(&m.Key)
		if rejected != nil {
			rejected.Index = i
			return nil, rejected
		}
		if v.Messages != nil {
			if list, err := v.Messages(&m.Key, m.Payload); err != nil || len(list) == 0 {
				return nil, &RejectError{RuleKeyedPayload, i, err}
			}
		}
		r.keys = append(r.keys, key)
		b.Keys = append(b.Keys, m.Key)
		b.NotAfter = append(b.NotAfter, m.NotAfter)
		b.Payloads.Append(m.Payload)
	}
	if err := checkKeyOrder(b.Keys); err != nil {
		return nil, err
	}
	r.tree = NewTree(b.Hashes())
	r.digest = b.Prop(r.tree.Root()).Red().Digest()
	return r, nil
}

// Prop returns the statement that all sign.
func (r *KeyedRound) Prop() Prop { return r.batch.Prop(r.tree.Root()) }

// Keys returns the keys of the round, in the order of leaves.
func (r *KeyedRound) Keys() []KeyBytes { return slices.Clone(r.batch.Keys) }

func (r *KeyedRound) find(key *KeyBytes) (int, bool) {
	return slices.BinarySearchFunc(r.batch.Keys, key, func(k KeyBytes, key *KeyBytes) int { return bytes.Compare(k[:], key[:]) })
}

// Proposal returns what the owner of a key is to be shown.
func (r *KeyedRound) Proposal(key *KeyBytes) (*KeyedProposal, error) {
	i, ok := r.find(key)
	if !ok {
		return nil, reject(RuleKeyedSigners)
	}
	return &KeyedProposal{r.Prop(), uint64(i), r.tree.Proof(i)}, nil
}

// Add takes a key's signature of the root, unverified: it costs less to verify all of
// them together, in [KeyedRound.Stragglers].
func (r *KeyedRound) Add(key *KeyBytes, sig *bls.Signature) error {
	i, ok := r.find(key)
	if !ok || r.sigs[i] != nil || sig == nil {
		return reject(RuleKeyedSigners)
	}
	r.sigs[i] = sig
	return nil
}

// Drop forgets a key's signature, as if it hadn't come: where keys sign together, one that
// is late makes stragglers of the others.
func (r *KeyedRound) Drop(key *KeyBytes) {
	if i, ok := r.find(key); ok {
		r.sigs[i], r.proven[i] = nil, false
	}
}

// Stragglers verifies the signatures that have come, forgets those that aren't valid, and
// returns the indices of the keys without one.
func (r *KeyedRound) Stragglers() []uint32 {
	b := bls.NewBatch(bls.ProofOfPossession)
	var items []int
	for i, sig := range r.sigs {
		if sig != nil && !r.proven[i] {
			b.Add(r.keys[i], r.digest[:], sig)
			items = append(items, i)
			r.proven[i] = true
		}
	}
	if bad, ok := errors.AsType[*bls.BatchError](b.Verify()); ok {
		for _, at := range bad.Bad {
			r.sigs[items[at]], r.proven[items[at]] = nil, false
		}
	}
	var list []uint32
	for i, sig := range r.sigs {
		if sig == nil {
			list = append(list, uint32(i))
		}
	}
	return list
}

// Finish returns the batch, for the aggregator to sign. The signatures that stragglers
// made by themselves, in any order and added up or not, must be those of the keys that
// [KeyedRound.Stragglers] returns, and no others.
func (r *KeyedRound) Finish(folded ...*bls.Signature) (*KeyedBatch, error) {
	b := r.batch
	b.Stragglers = r.Stragglers()
	if len(b.Stragglers) > r.v.Params.MaxStragglers(ModeFolded, b.Len()) {
		return nil, reject(RuleStragglers)
	}
	var keys []*bls.PublicKey
	var sigs []*bls.Signature
	for i, sig := range r.sigs {
		if sig != nil {
			keys, sigs = append(keys, r.keys[i]), append(sigs, sig)
		}
	}
	parts := slices.Clone(folded)
	if len(sigs) > 0 {
		sum, err := r.sum(keys, sigs)
		if err != nil {
			return nil, err
		}
		parts = append(parts, sum)
	}
	if len(parts) == 0 {
		return nil, reject(RuleKeyedFolded)
	}
	sum, err := bls.Aggregate(parts...)
	if err != nil {
		return nil, &RejectError{RuleKeyedFolded, -1, err}
	}
	if sum.IsIdentity() {
		return nil, reject(RuleAggregateIdentity)
	}
	copy(b.Aggregate[:], sum.Bytes())
	// The signatures of the root are valid, so that an invalid sum is the others' fault.
	if err := r.check(&b, sum); err != nil {
		return nil, err
	}
	return &b, nil
}

// sum adds the signatures of the root up.
func (r *KeyedRound) sum(keys []*bls.PublicKey, sigs []*bls.Signature) (*bls.Signature, error) {
	var sum *bls.Signature
	var err error
	if r.v.Proven != nil {
		sum, err = bls.Aggregate(sigs...)
	} else {
		sum, err = bls.ProofOfPossession.BDNAggregate(keys, r.digest, sigs)
	}
	if err != nil {
		return nil, &RejectError{RuleKeySum, -1, err}
	}
	return sum, nil
}

// check verifies the sum of all signatures.
func (r *KeyedRound) check(b *KeyedBatch, sum *bls.Signature) error {
	c := &KeyedVerified{KeyedBatch: b}
	c.hashLeaves()
	var eq equation
	if err := r.v.addKeys(c, &eq); err != nil {
		return err
	}
	if bls.ProofOfPossession.FoldedVerify(eq.sum, r.digest[:], eq.keys, eq.msgs, sum) != nil {
		return reject(RuleKeyedFolded)
	}
	return nil
}
