// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2

import (
	"hash/maphash"

	"github.com/undersign/undersign/internal/sm2ec"
)

// A key is one that occurs in a batch.
type key struct {
	xy    [64]byte
	point sm2ec.Affine
	ok    bool  // it is a point of the curve
	z     int32 // the Z that was used last, or noZ
}

// A keyIndex numbers the keys of a batch. It is a table with open addressing, which costs
// less than a map where all keys are different. Nobody who chooses keys knows the seed.
type keyIndex struct {
	keys  []key
	seed  maphash.Seed
	slots []int32 // a number plus one, or zero; a power of two of them, at most half full
}

func (x *keyIndex) reset() {
	x.keys = x.keys[:0]
	clear(x.slots)
}

// add returns the number of a key, which is new or known. Each is looked at once.
func (x *keyIndex) add(xy *[64]byte) int32 {
	if 2*len(x.keys) >= len(x.slots) {
		x.grow()
	}
	at := x.slot(xy)
	if k := x.slots[at]; k != 0 {
		return k - 1
	}
	n := key{xy: *xy, z: noZ}
	n.ok = point(&n.point, xy)
	x.keys = append(doubled(x.keys), n)
	x.slots[at] = int32(len(x.keys))
	return int32(len(x.keys)) - 1
}

// slot returns where a key is, or is to be put.
func (x *keyIndex) slot(xy *[64]byte) int {
	mask := len(x.slots) - 1
	at := int(maphash.Bytes(x.seed, xy[:])) & mask
	for x.slots[at] != 0 && x.keys[x.slots[at]-1].xy != *xy {
		at = (at + 1) & mask
	}
	return at
}

func (x *keyIndex) grow() {
	if x.slots == nil {
		x.seed = maphash.MakeSeed()
	}
	x.slots = make([]int32, max(16, 4*len(x.slots)))
	for i := range x.keys {
		x.slots[x.slot(&x.keys[i].xy)] = int32(i) + 1
	}
}
