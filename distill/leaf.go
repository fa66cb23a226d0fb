// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"crypto/sha256"
	"encoding/binary"
)

// A NetworkID is the hash of a [Genesis]. It is in everything that is signed.
type NetworkID [32]byte

// LeafSize is the length of a leaf before it is hashed. It is that of two hashes, so
// that leaves and nodes are hashed alike.
const LeafSize = 64

// The first bytes of a leaf: its kind, and the version of its layout.
const (
	kindLeaf    = 'L' // of a client with an id
	kindKeyed   = 'K' // of a client known by its key
	kindResult  = 'R' // what became of a leaf
	leafVersion = 1
)

// A Leaf is a client's message as the tree has it, and as the client wants it: its
// payload is executed once at most, and at no height over NotAfter.
type Leaf struct {
	ID, Nonce, NotAfter uint64
	PayloadHash         [32]byte
}

// Block returns what is hashed.
func (l Leaf) Block() (b [LeafSize]byte) {
	putLeaf(&b, l.ID, l.Nonce, l.NotAfter, &l.PayloadHash)
	return b
}

// Hash returns the hash that stands in the tree.
func (l Leaf) Hash() [32]byte {
	b := l.Block()
	return sha256.Sum256(b[:])
}

func putLeaf(b *[LeafSize]byte, id, nonce, notAfter uint64, payloadHash *[32]byte) {
	putFields((*[LeafSize / 2]byte)(b[:]), id, nonce, notAfter)
	copy(b[LeafSize/2:], payloadHash[:])
}

// putFields writes the first half of a leaf. The other one is the payload's hash.
func putFields(b *[LeafSize / 2]byte, id, nonce, notAfter uint64) {
	b[0], b[1] = kindLeaf, leafVersion
	clear(b[2:8])
	binary.BigEndian.PutUint64(b[8:], id)
	binary.BigEndian.PutUint64(b[16:], nonce)
	binary.BigEndian.PutUint64(b[24:], notAfter)
}

// PayloadHash returns the hash by which statements name a payload.
func PayloadHash(payload []byte) [32]byte {
	// Short payloads don't leave the stack.
	var short [payloadPrefix + shortPayload]byte
	buf := append(short[:0], tagPayload[:]...)
	buf = binary.BigEndian.AppendUint64(buf, uint64(len(payload)))
	if len(payload) <= shortPayload {
		return sha256.Sum256(append(buf, payload...))
	}
	h := sha256.New()
	h.Write(buf)
	h.Write(payload)
	var sum [32]byte
	h.Sum(sum[:0])
	return sum
}

const (
	payloadPrefix = tagSize + 8
	shortPayload  = 192
)
