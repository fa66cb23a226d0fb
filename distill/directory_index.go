// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"hash/maphash"
	"sync"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/zip215"
)

// A keyIndex finds slots by the x coordinates of their keys, so that one look-up finds
// an equal and an opposite key: an open hash table of slots alone, with at most three
// of four places taken. Its hash has a random seed, or somebody would register keys
// that collide.
type keyIndex struct {
	seed  maphash.Seed
	table []uint32 // slot+1, or 0
	n     int
}

func newKeyIndex() keyIndex {
	return keyIndex{seed: maphash.MakeSeed(), table: make([]uint32, 16)}
}

// find returns the slot of a key or its opposite; x says which x coordinate a slot has.
func (k *keyIndex) find(key *[bls.PublicKeySize]byte, x func(uint32) [bls.PublicKeySize]byte) (slot uint32, ok bool) {
	want := *key
	want[0] &^= blsSign
	mask := uint64(len(k.table) - 1)
	for at := maphash.Bytes(k.seed, want[:]) & mask; k.table[at] != 0; at = (at + 1) & mask {
		if slot := k.table[at] - 1; x(slot) == want {
			return slot, true
		}
	}
	return 0, false
}

// add adds the next slot, whose key isn't in the table.
func (k *keyIndex) add(key [bls.PublicKeySize]byte, x func(uint32) [bls.PublicKeySize]byte) {
	k.reserve(1, x)
	key[0] &^= blsSign
	k.put(key, uint32(k.n))
	k.n++
}

func (k *keyIndex) resize(size int, x func(uint32) [bls.PublicKeySize]byte) {
	k.table = make([]uint32, size)
	for slot := range uint32(k.n) {
		k.put(x(slot), slot)
	}
}

// reserve makes room for n more.
func (k *keyIndex) reserve(n int, x func(uint32) [bls.PublicKeySize]byte) {
	size := len(k.table)
	for 4*(k.n+n) > 3*size {
		size *= 2
	}
	if size != len(k.table) {
		k.resize(size, x)
	}
}

func (k *keyIndex) put(x [bls.PublicKeySize]byte, slot uint32) {
	mask := uint64(len(k.table) - 1)
	at := maphash.Bytes(k.seed, x[:]) & mask
	for k.table[at] != 0 {
		at = (at + 1) & mask
	}
	k.table[at] = slot + 1
}

// An edCache keeps Ed25519 keys expanded, up to a number, as each takes some 100 bytes more.
// An aggregator needs that of each message, which is a third of what its signature takes.
// When young is full it becomes old, and what was old is forgotten.
type edCache struct {
	mu         sync.Mutex
	young, old map[uint32]*zip215.Key
}

const edCacheSize = 1 << 18

func (c *edCache) get(slot uint32, enc *[32]byte) *zip215.Key {
	c.mu.Lock()
	key, ok := c.young[slot]
	if !ok {
		key, ok = c.old[slot]
	} else {
		c.mu.Unlock()
		return key
	}
	c.mu.Unlock()
	if !ok {
		var err error
		if key, err = zip215.NewKey(enc[:]); err != nil {
			return nil // it was tested when it was registered
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.young) >= edCacheSize {
		c.old, c.young = c.young, nil
	}
	if c.young == nil {
		c.young = make(map[uint32]*zip215.Key)
	}
	c.young[slot] = key
	return key
}
