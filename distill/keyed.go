// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/undersign/undersign/bls"
)

// tagKeyedPayload is of a hash that isn't signed.
var tagKeyedPayload = newTag("dist/payk/v1")

// A KeyBytes is a compressed public key, by which a client is known where there is no
// directory.
type KeyBytes [bls.PublicKeySize]byte

// A KeyedLeaf is a [Leaf] of a client that is known by its key. There is no id in it, and
// no nonce: what keeps a payload from being executed twice is the application's own rule,
// such as that a coin is spent once.
type KeyedLeaf struct {
	NotAfter    uint64
	PayloadHash [32]byte // from [KeyedPayloadHash], which takes the key
}

// Block returns what is hashed.
func (l KeyedLeaf) Block() (b [LeafSize]byte) {
	putKeyedLeaf(&b, l.NotAfter, &l.PayloadHash)
	return b
}

// Hash returns the hash that stands in the tree.
func (l KeyedLeaf) Hash() [32]byte {
	b := l.Block()
	return sha256.Sum256(b[:])
}

// Sub returns the statement that a client signs for itself, by [bls.Augmented].
func (l KeyedLeaf) Sub(net NetworkID) Sub {
	return Sub{Net: net, NotAfter: l.NotAfter, PayloadHash: l.PayloadHash}
}

func putKeyedLeaf(b *[LeafSize]byte, notAfter uint64, payloadHash *[32]byte) {
	putLeaf(b, 0, 0, notAfter, payloadHash)
	b[0] = kindKeyed
}

// KeyedPayloadHash returns the hash of a payload of a client that is known by its key.
func KeyedPayloadHash(key *KeyBytes, payload []byte) (sum [32]byte) {
	// Short payloads don't leave the stack.
	var buf [tagSize + len(key) + 8 + shortPayload]byte
	const prefix = tagSize + len(key) + 8
	copy(buf[:], tagKeyedPayload[:])
	copy(buf[tagSize:], key[:])
	binary.BigEndian.PutUint64(buf[tagSize+len(key):], uint64(len(payload)))
	if len(payload) <= shortPayload {
		return sha256.Sum256(buf[:prefix+copy(buf[prefix:], payload)])
	}
	h := sha256.New()
	h.Write(buf[:prefix])
	h.Write(payload)
	h.Sum(sum[:0])
	return sum
}

// KeyedFlags say of what kind a [KeyedBatch] is. A network has one kind, so that keys with
// weights and keys without never meet in one sum.
type KeyedFlags uint8

const (
	// KeyedProven: all keys are proven, and added up without weights.
	KeyedProven KeyedFlags = 1 << iota
	// KeyedSigned: the aggregator signs the batch. It needn't if the batch is part of
	// something that is signed, such as a block.
	KeyedSigned

	allKeyedFlags = KeyedProven | KeyedSigned
)

// A KeyedBatch is a [Batch] of clients that are known by their keys. Those who don't sign
// the root are in it by signatures of their own that are folded into the aggregate, as in
// [ModeFolded].
//
// Keys without a proof of possession are weighted, after Boneh, Drijvers and Neven 2018,
// by a hash of all keys in the sum. That a batch verifies says of each key that it signed
// the root, and nothing of who signed together.
type KeyedBatch struct {
	Net        NetworkID
	AggID      uint64
	Seq        uint64
	ValidUntil uint64 // last height at which the batch may be executed
	Flags      KeyedFlags

	Keys     []KeyBytes // in strictly ascending order
	NotAfter []uint64   // each at least ValidUntil
	Payloads Payloads

	// Stragglers are the indices of keys that didn't sign the root, in ascending order.
	Stragglers []uint32

	// Aggregate is the sum of the weighted signatures of the root and of the
	// stragglers' own.
	Aggregate [bls.SignatureSize]byte

	// Signature is the aggregator's, of the [Bat] statement, if there is one.
	Signature [signatureSize]byte
}

// Len returns the number of leaves.
func (b *KeyedBatch) Len() int { return len(b.Keys) }

// Prop returns the statement by which the batch was proposed, for its root. It has no
// version of a directory.
func (b *KeyedBatch) Prop(root [32]byte) Prop {
	return Prop{b.Net, 0, b.AggID, b.Seq, uint64(len(b.Keys)), root, b.ValidUntil}
}

// Leaf returns a leaf.
func (b *KeyedBatch) Leaf(i int) KeyedLeaf {
	return KeyedLeaf{b.NotAfter[i], KeyedPayloadHash(&b.Keys[i], b.Payloads.At(i))}
}

// Hashes returns the hashes of all leaves.
func (b *KeyedBatch) Hashes() [][32]byte {
	hashes := make([][32]byte, len(b.Keys))
	for i := range hashes {
		hashes[i] = b.Leaf(i).Hash()
	}
	return hashes
}
