// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package sm3lanes computes the SM3 hashes (GB/T 32905-2016) of many messages,
// sixteen at once where the processor has AVX-512.
//
// Messages of all lengths may be mixed: those of like numbers of blocks share
// lanes, and what doesn't fill enough lanes is hashed one by one. Nothing
// depends on the contents of messages but the hashes.
//
// A block of sixteen lanes is 1680 vector instructions, of which processors start two in a
// cycle, but one if it is a rotation or a permutation, as 672 are. Zen 4 takes 1035
// cycles, and 842 would be the floor.
package sm3lanes

import (
	"encoding/binary"
	"slices"

	"github.com/emmansun/gmsm/sm3"
)

// Size is the length of a hash.
const Size = sm3.Size

const (
	lanes     = 16
	blockSize = sm3.BlockSize
)

// A Message is what is hashed: Prefix, and after it Data.
type Message struct {
	Prefix, Data []byte
}

func (m *Message) len() int { return len(m.Prefix) + len(m.Data) }

// blocks returns the number of blocks with the padding: 0x80 and the length in 8 bytes.
func (m *Message) blocks() int {
	return int((uint(m.len()) + 9 + blockSize - 1) / blockSize)
}

// Sum sets dst[i] to the hash of msgs[i]. dst has room for all.
func Sum(dst [][Size]byte, msgs []Message) {
	dst = dst[:len(msgs)]
	if !useLanes() || len(msgs) < 2 {
		for i := range msgs {
			sumOne(&dst[i], &msgs[i])
		}
		return
	}
	var made [maxSteps * lanes][blockSize]byte
	order := byBlocks(msgs)
	for len(order) > 0 {
		n := min(lanes, len(order))
		total := 0
		for _, t := range order[:n] {
			total += t.blocks
		}
		if first := order[0]; total < worthwhile*first.blocks {
			sumOne(&dst[first.index], &msgs[first.index])
			order = order[1:]
			continue
		}
		sumLanes(dst, msgs, order[:n], &made)
		order = order[n:]
	}
}

// sumOne hashes a message alone.
func sumOne(dst *[Size]byte, m *Message) {
	if len(m.Prefix) == 0 {
		*dst = sm3.Sum(m.Data)
		return
	}
	h := sm3.New()
	h.Write(m.Prefix)
	h.Write(m.Data)
	h.Sum(dst[:0])
}

// A task is a message to be hashed.
type task struct{ index, blocks int }

// byBlocks returns all messages, those with the most blocks first.
func byBlocks(msgs []Message) []task {
	const long = 64
	var at [long + 1]int
	for i := range msgs {
		at[min(msgs[i].blocks(), long)]++
	}
	longs := at[long]
	next := 0
	for b := long; b >= 0; b-- {
		at[b], next = next, next+at[b]
	}
	order := make([]task, len(msgs))
	for i := range msgs {
		blocks := msgs[i].blocks()
		b := min(blocks, long)
		order[at[b]] = task{i, blocks}
		at[b]++
	}
	slices.SortFunc(order[:longs], func(s, t task) int { return t.blocks - s.blocks })
	return order
}

// maxSteps is how many blocks of each lane one call of the kernel takes.
const maxSteps = 4

// worthwhile is how many lanes have to be filled, for all take longer than one hash
// alone.
const worthwhile = 2

// A state has word i of lane j at lanes·i+j.
type state [8 * lanes]uint32

var initial = func() (v state) {
	for i, x := range [8]uint32{0x7380166f, 0x4914b2b9, 0x172442d7, 0xda8a0600, 0xa96f30bc, 0x163138aa, 0xe38dee4d, 0xb0fb0e4e} {
		for j := range lanes {
			v[lanes*i+j] = x
		}
	}
	return v
}()

// digest sets dst to the hash of lane j.
func (v *state) digest(dst *[Size]byte, j int) {
	for i := range Size / 4 {
		binary.BigEndian.PutUint32(dst[4*i:], v[lanes*i+j])
	}
}

// sumLanes hashes up to sixteen messages, given from the longest to the shortest.
// Blocks that aren't in a message as they are go to made.
func sumLanes(dst [][Size]byte, msgs []Message, order []task, made *[maxSteps * lanes][blockSize]byte) {
	v := initial
	var pointers [maxSteps * lanes]*[blockSize]byte // block i of lane j at lanes·i+j
	for i := range pointers {
		pointers[i] = &made[i] // anything, for lanes without a message
	}
	for at := 0; len(order) > 0; {
		// As far as the shortest goes.
		end := order[len(order)-1].blocks
		for at < end {
			steps := min(maxSteps, end-at)
			for j, t := range order {
				m := &msgs[t.index]
				d := blockSize*at - len(m.Prefix)
				for k := j; k < lanes*steps; k += lanes {
					if d >= 0 && len(m.Data)-d >= blockSize {
						pointers[k] = (*[blockSize]byte)(m.Data[d:])
					} else {
						m.block(&made[k], d+len(m.Prefix))
						pointers[k] = &made[k]
					}
					d += blockSize
				}
			}
			compress(&v, &pointers, steps)
			at += steps
		}
		for len(order) > 0 && order[len(order)-1].blocks == end {
			j := len(order) - 1
			v.digest(&dst[order[j].index], j)
			order = order[:j]
		}
	}
}

// block sets b to what is in the padded message from byte at on.
func (m *Message) block(b *[blockSize]byte, at int) {
	*b = [blockSize]byte{}
	n := 0
	if at < len(m.Prefix) {
		n = copy(b[:], m.Prefix[at:])
	}
	if d := at + n - len(m.Prefix); d >= 0 && d < len(m.Data) {
		copy(b[n:], m.Data[d:])
	}
	if end := m.len() - at; end >= 0 && end < blockSize {
		b[end] = 0x80
	}
	if m.len()-at+9 <= blockSize {
		binary.BigEndian.PutUint64(b[blockSize-8:], 8*uint64(m.len()))
	}
}
