// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/zip215"
)

// A KeyedVerifier checks batches of keys: all that depends on the batch alone, as a
// [Verifier] does. Its fields are what a network has agreed on, but for Known. It may be
// used by several goroutines, if its functions may.
//
// Where aggregators don't sign, anybody can make it decode as many keys as a batch may
// have: Params should allow no more than the application needs.
type KeyedVerifier struct {
	Net    NetworkID
	Params Params

	// Aggregator returns an aggregator's Ed25519 key, or nil. If it isn't set, batches
	// aren't signed by aggregators.
	Aggregator func(id uint64) *zip215.Key

	// Proven returns a key that has a proof of possession, or nil. If it is set, all keys
	// must have one, and no weights are needed.
	Proven func(*KeyBytes) *bls.ProvenKey

	// Known returns a key that was decoded before, or nil. It saves decoding again, which
	// takes longer than the rest; it isn't used if Proven is set.
	Known func(*KeyBytes) *bls.PublicKey

	// Messages returns what a key signs by itself for a payload, at least one message, if
	// it isn't among those who sign the root, who have signed the payload itself. If it
	// isn't set, it is the digest of the leaf's [Sub].
	Messages func(key *KeyBytes, payload []byte) ([][]byte, error)
}

// A KeyedVerified is a batch of keys that passed, with what was computed on the way.
type KeyedVerified struct {
	*KeyedBatch
	Digest        [32]byte // of the batch
	Root          [32]byte
	PayloadHashes [][32]byte // of all leaves
}

// Verify verifies an encoded batch. What it returns is a [RejectError], whose rule is the
// first that is broken.
func (v *KeyedVerifier) Verify(encoded []byte) (*KeyedVerified, error) {
	c, eq, err := v.prepare(encoded)
	if err != nil {
		return nil, err
	}
	if err := eq.verify(c.redDigest()); err != nil {
		return nil, err
	}
	return c, nil
}

// VerifyAll verifies several batches to the same verdicts as Verify. Their aggregates are
// verified together, with random weights.
func (v *KeyedVerifier) VerifyAll(encoded [][]byte) ([]*KeyedVerified, []error) {
	results := make([]*KeyedVerified, len(encoded))
	errs := make([]error, len(encoded))
	joint := bls.NewBatch(bls.ProofOfPossession)
	joint.ShortWeights = true
	var items []int // by their position in joint
	for i := range encoded {
		var eq equation
		if results[i], eq, errs[i] = v.prepare(encoded[i]); errs[i] != nil {
			continue
		}
		sig, err := eq.check()
		if err != nil {
			results[i], errs[i] = nil, err
			continue
		}
		digest := results[i].redDigest()
		joint.AddFolded(eq.sum, digest[:], eq.keys, eq.msgs, sig)
		items = append(items, i)
	}
	if bad, ok := errors.AsType[*bls.BatchError](joint.Verify()); ok {
		for _, at := range bad.Bad {
			results[items[at]], errs[items[at]] = nil, reject(RuleAggregate)
		}
	}
	return results, errs
}

func (c *KeyedVerified) redDigest() [32]byte { return c.Prop(c.Root).Red().Digest() }

// Flags returns what flags the network's batches have.
func (v *KeyedVerifier) Flags() (f KeyedFlags) {
	if v.Proven != nil {
		f |= KeyedProven
	}
	if v.Aggregator != nil {
		f |= KeyedSigned
	}
	return f
}

// open does what needs no leaves: the network, the kind, and who made the batch.
func (v *KeyedVerifier) open(encoded []byte) (digest [32]byte, err error) {
	if uint64(len(encoded)) > v.Params.MaxBatch {
		return digest, reject(RuleBatchSize)
	}
	h, _, err := decodeKeyedHeader(encoded)
	switch {
	case err != nil:
		return digest, err
	case h.Net != v.Net:
		return digest, reject(RuleNetwork)
	case h.Flags != v.Flags():
		return digest, reject(RuleMode)
	}
	if v.Aggregator == nil {
		return sha256.Sum256(encoded), nil
	}
	if len(encoded) < keyedHeaderSize+signatureSize {
		return digest, reject(RuleHeader)
	}
	key := v.Aggregator(h.AggID)
	if key == nil {
		return digest, reject(RuleAggregator)
	}
	digest = BatchDigest(encoded)
	bat := Bat{h.Net, h.AggID, h.Seq, digest}
	if key.Verify(bat.Bytes(), encoded[len(encoded)-signatureSize:]) != nil {
		return digest, reject(RuleAggregatorSignature)
	}
	return digest, nil
}

// prepare does all checks but that of the equation.
func (v *KeyedVerifier) prepare(encoded []byte) (c *KeyedVerified, eq equation, err error) {
	digest, err := v.open(encoded)
	if err != nil {
		return nil, eq, err
	}
	b, err := DecodeKeyedBatch(encoded, &v.Params)
	if err != nil {
		return nil, eq, err
	}
	c = &KeyedVerified{KeyedBatch: b, Digest: digest}
	c.hashLeaves()
	// An invalid encoding costs less to find than invalid keys.
	if err := eq.parse(b.Aggregate[:]); err != nil {
		return nil, eq, err
	}
	if err := v.addKeys(c, &eq); err != nil {
		if _, first := eq.check(); first != nil {
			err = first
		}
		return nil, eq, err
	}
	return c, eq, nil
}

// hashLeaves sets the hashes of payloads and the root.
func (c *KeyedVerified) hashLeaves() {
	c.PayloadHashes = make([][32]byte, c.Len())
	leaves := make([][32]byte, c.Len())
	var block [LeafSize]byte
	for i := range leaves {
		c.PayloadHashes[i] = KeyedPayloadHash(&c.Keys[i], c.Payloads.At(i))
		putKeyedLeaf(&block, c.NotAfter[i], &c.PayloadHashes[i])
		leaves[i] = sha256.Sum256(block[:])
	}
	c.Root = rootOf(leaves)
}

// addKeys adds the sum of the keys that signed the root, and the stragglers' own terms.
func (v *KeyedVerifier) addKeys(c *KeyedVerified, eq *equation) error {
	sum, err := v.sumKeys(c.KeyedBatch, c.redDigest(), eq)
	if err != nil {
		return err
	}
	eq.sum = sum
	keys := eq.keys // of the stragglers, once each
	eq.keys = nil
	for i, at := range c.Stragglers {
		msgs, err := v.messages(c, int(at))
		if err != nil || len(msgs) == 0 {
			return &RejectError{RuleKeyedPayload, int(at), err}
		}
		for _, m := range msgs {
			eq.keys = append(eq.keys, keys[i])
			eq.msgs = append(eq.msgs, m)
		}
	}
	return nil
}

func (v *KeyedVerifier) messages(c *KeyedVerified, i int) ([][]byte, error) {
	if v.Messages != nil {
		return v.Messages(&c.Keys[i], c.Payloads.At(i))
	}
	digest := KeyedLeaf{c.NotAfter[i], c.PayloadHashes[i]}.Sub(c.Net).Digest()
	return [][]byte{digest[:]}, nil
}

// sumKeys decodes all keys, puts the stragglers' into eq, and returns the sum of the
// others, or nil if there are none.
func (v *KeyedVerifier) sumKeys(b *KeyedBatch, digest [32]byte, eq *equation) (sum *bls.PublicKey, err error) {
	if len(b.Stragglers) == b.Len() {
		eq.keys, err = pick(b, v.key, nil)
		return nil, err
	}
	if v.Proven != nil {
		var late []*bls.ProvenKey
		reducers, err := pick(b, v.provenKey, &late)
		if err != nil {
			return nil, err
		}
		for _, p := range late {
			eq.keys = append(eq.keys, p.PublicKey())
		}
		p, err := bls.SumKeys(reducers)
		if err != nil {
			return nil, &RejectError{RuleKeySum, -1, err}
		}
		return p.PublicKey(), nil
	}
	reducers, err := pick(b, v.key, &eq.keys)
	if err != nil {
		return nil, err
	}
	if sum, err = bls.ProofOfPossession.BDNSum(reducers, digest); err != nil {
		return nil, &RejectError{RuleKeySum, -1, err}
	}
	return sum, nil
}

// pick returns the keys of b, without those of stragglers if these are to go to late.
func pick[K any](b *KeyedBatch, get func(*KeyBytes) (K, *RejectError), late *[]K) ([]K, error) {
	keys := make([]K, 0, b.Len())
	next := b.Stragglers
	for i := range b.Keys {
		key, err := get(&b.Keys[i])
		if err != nil {
			err.Index = i
			return nil, err
		}
		if late != nil && len(next) > 0 && int(next[0]) == i {
			next = next[1:]
			*late = append(*late, key)
			continue
		}
		keys = append(keys, key)
	}
	return keys, nil
}

var identityKey = slices.Concat([]byte{0xc0}, make([]byte, bls.PublicKeySize-1))

func (v *KeyedVerifier) provenKey(k *KeyBytes) (*bls.ProvenKey, *RejectError) {
	if p := v.Proven(k); p != nil {
		return p, nil
	}
	return nil, &RejectError{Rule: RuleKeyedProven}
}

// key returns a key, which is proven where all must be.
func (v *KeyedVerifier) key(k *KeyBytes) (*bls.PublicKey, *RejectError) {
	if v.Proven != nil {
		p, err := v.provenKey(k)
		return p.PublicKey(), err
	}
	if v.Known != nil {
		if key := v.Known(k); key != nil {
			return key, nil
		}
	}
	key, err := bls.ParsePublicKey(k[:])
	switch {
	case err == nil:
		return key, nil
	case slices.Equal(k[:], identityKey):
		return nil, &RejectError{Rule: RuleKeyedIdentity, Err: err}
	}
	return nil, &RejectError{Rule: RuleKeyedKey, Err: err}
}
