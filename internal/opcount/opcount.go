// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package opcount counts what a computation does in groups: multiplications, powers,
// pairings, hashes and elements that are decoded. The packages of arithmetic report what
// they do; what nobody counts costs them the reading of one flag.
//
// Counts are of operations as papers count them: a sum of five multiples is five
// multiplications, however it is computed, and a product of three pairings is three. What
// is done once for many operations, such as tables, isn't counted. An element that is
// decoded twice is one.
package opcount

import (
	"crypto/sha256"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// An Op is a kind of operation.
type Op int

// Kinds of operations. Hashes are those to a group.
const (
	MulG1 Op = iota
	MulG2
	ExpGT
	ExpZn // powers modulo a composite number
	Pairing
	FinalExp // of products of pairings
	HashG1
	HashG2
	DecodeG1
	DecodeG2
	DecodeGT
	DecodeScalar
	DecodeZn     // elements modulo a composite number
	DecodeInt    // integers
	DecodedBytes // of all of these

	numOps
)

var opNames = [numOps]string{
	MulG1: "G1", MulG2: "G2", ExpGT: "GT", ExpZn: "Zn", Pairing: "e", FinalExp: "final exp",
	HashG1: "hash to G1", HashG2: "hash to G2",
	DecodeG1: "decode G1", DecodeG2: "decode G2", DecodeGT: "decode GT", DecodeScalar: "decode Zr",
	DecodeZn: "decode Zn", DecodeInt: "decode Z", DecodedBytes: "bytes",
}

// String returns the usual abbreviation.
func (op Op) String() string {
	if op < 0 || op >= numOps {
		return "?"
	}
	return opNames[op]
}

// Counts are how often each kind was done.
type Counts [numOps]int

var (
	on     atomic.Bool
	counts [numOps]atomic.Int64
	one    sync.Mutex // who counts

	seenMu sync.Mutex
	seen   map[element]bool
)

// An element is a kind and the digest of an encoding, which may be secret.
type element struct {
	op     Op
	digest [sha256.Size]byte
}

// Add reports n operations.
func Add(op Op, n int) {
	if on.Load() {
		counts[op].Add(int64(n))
	}
}

// Decode reports that an element is decoded.
func Decode(op Op, encoding []byte) {
	if on.Load() {
		decode(op, encoding)
	}
}

func decode(op Op, encoding []byte) {
	e := element{op, sha256.Sum256(encoding)}
	seenMu.Lock()
	defer seenMu.Unlock()
	if !seen[e] {
		seen[e] = true
		counts[op].Add(1)
		counts[DecodedBytes].Add(int64(len(encoding)))
	}
}

// Count returns what f does, and whatever else the process does meanwhile. Only one
// count runs at a time.
func Count(f func()) Counts {
	one.Lock()
	defer one.Unlock()
	for i := range counts {
		counts[i].Store(0)
	}
	seenMu.Lock()
	seen = map[element]bool{}
	seenMu.Unlock()
	on.Store(true)
	defer on.Store(false)
	f()
	var c Counts
	for i := range c {
		c[i] = int(counts[i].Load())
	}
	return c
}

// Format lists those of some kinds that were done, as in "3 e + 2 G1".
func (c *Counts) Format(ops ...Op) string {
	var parts []string
	for _, op := range ops {
		if n := c[op]; n != 0 {
			parts = append(parts, strconv.Itoa(n)+" "+op.String())
		}
	}
	return strings.Join(parts, " + ")
}
