// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2

import (
	"encoding/binary"
	"testing"
)

// Keys keep their numbers while the index grows, and lose them when it is reset.
func TestKeyIndex(t *testing.T) {
	var x keyIndex
	keyAt := func(i int) (xy [64]byte) {
		binary.BigEndian.PutUint64(xy[56:], uint64(i)) // no points, but for the index that is the same
		return xy
	}
	for round := range 2 {
		for i := range 1000 {
			xy := keyAt(i + round)
			if k := x.add(&xy); int(k) != i {
				t.Fatalf("round %d: key %d has number %d", round, i, k)
			}
			again := keyAt(i/2 + round)
			if k := x.add(&again); int(k) != i/2 {
				t.Fatalf("round %d: key %d has number %d when it comes again", round, i/2, k)
			}
			if x.keys[i].ok {
				t.Fatalf("key %d is a point", i)
			}
		}
		x.reset()
	}
}

// One key with several IDs, by turns, in one batch and in the next.
func TestManyIDs(t *testing.T) {
	s := newSource(t)
	priv := s.key()
	ids := []UID{{}, NewUID([]byte("alice")), NewUID(nil), NoUID(), NewUID([]byte("bob"))}
	b := NewBatch(nil)
	for range 2 {
		for i := range 40 {
			uid := ids[i*i%len(ids)]
			msg := s.bytes(i * 300) // some are hashed at once, since they are long
			digest, err := Digest(&priv.PublicKey, uid, msg)
			if err != nil {
				t.Fatal(err)
			}
			b.AddItem(Item{PublicKey: &priv.PublicKey, Message: msg, UID: &uid, Signature: s.sign(priv, digest)})
			if i%7 == 6 {
				if err := b.Verify(); err != nil {
					t.Fatalf("after %d items: %v", i+1, err)
				}
			}
		}
		other := NewUID([]byte("carol"))
		digest, _ := Digest(&priv.PublicKey, ids[1], []byte("m"))
		b.AddItem(Item{PublicKey: &priv.PublicKey, Message: []byte("m"), UID: &other, Signature: s.sign(priv, digest)})
		if bad := badOf(t, b.Verify()); len(bad) != 1 || bad[0] != 40 {
			t.Errorf("bad: %v", bad)
		}
		b.Reset()
	}
}
