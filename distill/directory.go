// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"math"
	"slices"
	"sync"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/zip215"
)

// A Directory says whose keys an id means, at each of its versions. It begins empty,
// and each entry of the log with changes that are accepted makes the next version. Ids
// are given in turn from 0, and never again.
//
// One goroutine at a time may change it. Views may be used at the same time.
type Directory struct {
	committee *Committee
	params    Params

	mu    sync.RWMutex // what follows, against views
	keys  bls.Keys     // in slots: 96 bytes for each key that was ever accepted
	ed    [][32]byte   // in the same slots
	slots []uint32     // by id: its first slot, and the flag moved
	ends  []uint64     // by version: the number of ids
	moves map[uint64][]move
	heirs map[uint32]uint64 // ids of the slots that rotations took
	index keyIndex

	cache edCache
}

// moved flags a slot whose id has entries in moves: one id in a thousand, say.
const moved = 1 << 31

// A move is what a rotation or a revocation did to an id.
type move struct {
	version uint64
	slot    uint32 // or revoked
}

const revoked = math.MaxUint32

// NewDirectory returns the empty directory of a network.
func NewDirectory(g *Genesis) (*Directory, error) {
	c, err := NewCommittee(g)
	if err != nil {
		return nil, err
	}
	return newDirectory(c, g.Params), nil
}

func newDirectory(c *Committee, p Params) *Directory {
	return &Directory{
		committee: c, params: p, ends: []uint64{0},
		moves: make(map[uint64][]move), heirs: make(map[uint32]uint64), index: newKeyIndex(),
	}
}

// Version returns the latest version.
func (d *Directory) Version() uint64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.version()
}

func (d *Directory) version() uint64 { return uint64(len(d.ends) - 1) }

// Len returns the number of ids, revoked ones included.
func (d *Directory) Len() uint64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return uint64(len(d.slots))
}

// At returns a version, which may be any that there is.
func (d *Directory) At(version uint64) (View, error) {
	if version > d.Version() {
		return nil, reject(RuleDirectoryNew)
	}
	return &directoryView{d, version}, nil
}

// Latest returns the latest version.
func (d *Directory) Latest() View { return &directoryView{d, d.Version()} }

// Find returns the id that a BLS key was accepted for, in any version.
func (d *Directory) Find(key [bls.PublicKeySize]byte) (id uint64, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	slot, ok := d.index.find(&key, d.x)
	if !ok || [bls.PublicKeySize]byte(d.keys.At(int(slot)).Bytes()) != key {
		return 0, false
	}
	if id, ok := d.heirs[slot]; ok {
		return id, true
	}
	// First slots ascend with the ids.
	at, ok := slices.BinarySearchFunc(d.slots, slot, func(s, t uint32) int { return int(s&^moved) - int(t) })
	return uint64(at), ok
}

// x returns the key in a slot, compressed, without the bit that tells it from its opposite.
func (d *Directory) x(slot uint32) (x [bls.PublicKeySize]byte) {
	copy(x[:], d.keys.At(int(slot)).Bytes())
	x[0] &^= blsSign
	return x
}

// slotAt returns the slot of an id's keys at a version, or revoked if it has none.
func (d *Directory) slotAt(id, version uint64) uint32 {
	if id >= d.ends[version] {
		return revoked
	}
	slot := d.slots[id]
	if slot&moved == 0 {
		return slot
	}
	moves := d.moves[id]
	for i := len(moves) - 1; i >= 0; i-- {
		if moves[i].version <= version {
			return moves[i].slot
		}
	}
	return slot &^ moved
}

// changedSince reports whether the keys of an id are others, or none, than at a version
// at which it was active. It is for the goroutine that changes the directory.
func (d *Directory) changedSince(id, version uint64) bool {
	if d.slots[id]&moved == 0 {
		return false
	}
	moves := d.moves[id]
	return moves[len(moves)-1].version > version
}

type directoryView struct {
	d       *Directory
	version uint64
}

func (v *directoryView) Version() uint64 { return v.version }

func (v *directoryView) FirstInactive(ids []uint64) int {
	v.d.mu.RLock()
	defer v.d.mu.RUnlock()
	n := v.d.ends[v.version]
	for i, id := range ids {
		if id >= n || v.d.slots[id]&moved != 0 && v.d.slotAt(id, v.version) == revoked {
			return i
		}
	}
	return -1
}

func (v *directoryView) SumKeys(ids []uint64) (*bls.ProvenKey, error) {
	positions := make([]int, len(ids))
	v.d.mu.RLock()
	ascending := true
	for i, id := range ids {
		slot := v.d.slotAt(id, v.version)
		if slot == revoked {
			v.d.mu.RUnlock()
			return nil, rejectAt(RuleInactive, i)
		}
		positions[i] = int(slot)
		ascending = ascending && (i == 0 || positions[i-1] < positions[i])
	}
	// Slots are only appended to, so a copy of the list can be added up without the lock.
	keys := v.d.keys
	v.d.mu.RUnlock()
	if !ascending {
		slices.Sort(positions)
	}
	return keys.Sum(positions)
}

func (v *directoryView) BLSKey(id uint64) *bls.ProvenKey {
	v.d.mu.RLock()
	defer v.d.mu.RUnlock()
	slot := v.d.slotAt(id, v.version)
	if slot == revoked {
		return nil
	}
	return v.d.keys.At(int(slot))
}

func (v *directoryView) EdKey(id uint64) *zip215.Key {
	v.d.mu.RLock()
	defer v.d.mu.RUnlock()
	slot := v.d.slotAt(id, v.version)
	if slot == revoked {
		return nil
	}
	return v.d.cache.get(slot, &v.d.ed[slot])
}
