// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"sync"

	"github.com/undersign/undersign/internal/opcount"
)

// beta is the cube root of unity with lambda·(x, y) = (beta·x, y).
var beta = feFromHex("1a0111ea397fe699ec02408663d4de85aa0d857d89759ad4897d29650fb85f9b409427eb4f49fffd8bfd00000000aaac")

// g1Window is the width of the digits of a secret multiplier.
const g1Window = 5

// ScalarMult sets p = kq for a secret k.
//
// It splits k in two, k = k1 + k2·lambda, blinds both halves, and runs through
// their signed digits together. Entries are read by scanning the whole table.
func (p *G1) ScalarMult(k *Scalar, q *G1) *G1 {
	opcount.Add(opcount.MulG1, 1)
	const digits = glvBits / g1Window
	k1, k2 := splitBlindedGLV(k)
	var mag1, neg1, mag2, neg2 [digits]uint8
	signedDigits(mag1[:], neg1[:], k1[:], g1Window)
	signedDigits(mag2[:], neg2[:], k2[:], g1Window)

	var table [1 << (g1Window - 1)]g1Projective // q, 2q, ...
	var acc, t G1
	base := q.fixed()
	acc = base
	for i := range table {
		table[i] = g1Projective{x: acc.x, y: acc.y, z: acc.z}
		g1Add(&acc, &acc, &base)
	}
	acc.SetIdentity()
	for i := digits - 1; i >= 0; i-- {
		if i != digits-1 {
			for range g1Window {
				g1Double(&acc, &acc)
			}
		}
		g1Lookup(&t, table[:], mag1[i], neg1[i])
		g1Add(&acc, &acc, &t)
		g1Lookup(&t, table[:], mag2[i], neg2[i])
		feMul(&t.x, &t.x, &beta)
		g1Add(&acc, &acc, &t)
	}
	*p = acc
	clear(table[:])
	clear(mag1[:])
	clear(neg1[:])
	clear(mag2[:])
	clear(neg2[:])
	clear(k1[:])
	clear(k2[:])
	return p
}

// g1Lookup sets t = ±m·table[0].
func g1Lookup(t *G1, table []g1Projective, m, neg uint8) {
	var e g1Projective
	e.lookup(table, uint64(m)-1)
	feSelect(&e.y, &feOne, &e.y, isZeroWord(uint64(m)))
	feCondNeg(&e.y, uint64(neg))
	t.x, t.y, t.z = e.x, e.y, e.z
}

// A G1Comb holds multiples of one point for fast multiplication by secrets. It
// may be used by several goroutines.
//
// It is the comb of Lim and Lee 1994 with signed digits: a scalar of 288 bits is
// cut into 6 rows of 48 columns, and the columns into 8 blocks of 6.
type G1Comb struct {
	identity uint64 // 1 if the point is the identity
	table    [combBlocks][1 << (combTeeth - 1)]g1Entry
}

const (
	combTeeth  = 6
	combCols   = combBits / combTeeth
	combWidth  = 6
	combBlocks = combCols / combWidth
)

// NewG1Comb prepares multiplications of q, in constant time. It takes as long as
// about four of [G1.ScalarMult], and 24 KiB.
func NewG1Comb(q *G1) *G1Comb {
	c := new(G1Comb)
	base := q.fixed()
	// The identity has no affine multiples; the generator stands in for it.
	c.identity = feIsZero(&base.z)
	base.Select(&g1Generator, &base, int(c.identity))

	var rows [combBlocks][combTeeth]G1
	for pos := range combBits {
		if pos%combWidth == 0 {
			col := pos % combCols
			rows[col/combWidth][pos/combCols] = base
		}
		g1Double(&base, &base)
	}
	points := make([]G1, combBlocks<<(combTeeth-1))
	refs := make([]*G1, len(points))
	for b := range rows {
		g1CombBlock(points[b<<(combTeeth-1):][:1<<(combTeeth-1)], &rows[b])
	}
	for i := range points {
		refs[i] = &points[i]
	}
	NormalizeG1(refs...)
	for i := range points {
		c.table[i>>(combTeeth-1)][i&(1<<(combTeeth-1)-1)] = g1Entry{points[i].x, points[i].y}
	}
	clear(points)
	clear(rows[:])
	return c
}

// g1CombBlock sets t[v] to the highest row plus the others, each with the sign
// that its bit of v gives.
func g1CombBlock(t []G1, rows *[combTeeth]G1) {
	t[0] = rows[combTeeth-1]
	var twice, neg G1
	for j := range combTeeth - 1 {
		neg.Neg(&rows[j])
		g1Add(&t[0], &t[0], &neg)
	}
	for j := range combTeeth - 1 {
		g1Double(&twice, &rows[j])
		for v := range 1 << j {
			g1Add(&t[v|1<<j], &t[v], &twice)
		}
	}
}

// CombMult sets p = kq for a secret k, where c was made for q.
func (p *G1) CombMult(k *Scalar, c *G1Comb) *G1 {
	opcount.Add(opcount.MulG1, 1)
	w := combScalar(k)
	var acc G1
	var e g1Entry
	for i := combWidth - 1; i >= 0; i-- {
		if i != combWidth-1 {
			g1Double(&acc, &acc)
		}
		for b := range c.table {
			index, neg := combDigit(&w, b*combWidth+i, combCols, combTeeth)
			e.lookup(c.table[b][:], index)
			feCondNeg(&e.y, neg)
			if i == combWidth-1 && b == 0 {
				acc = G1{x: e.x, y: e.y, z: feOne}
			} else {
				g1AddMixed(&acc, &acc, &e)
			}
		}
	}
	feSelect(&p.x, &fe{}, &acc.x, c.identity)
	feSelect(&p.y, &feOne, &acc.y, c.identity)
	feSelect(&p.z, &fe{}, &acc.z, c.identity)
	p.affine = false
	clear(w[:])
	return p
}

// Wipe clears the table: for a comb of a secret point.
func (c *G1Comb) Wipe() { *c = G1Comb{} }

var g1BaseComb = sync.OnceValue(func() *G1Comb { return NewG1Comb(&g1Generator) })

// ScalarBaseMult sets p = k·P1 for a secret k.
func (p *G1) ScalarBaseMult(k *Scalar) *G1 { return p.CombMult(k, g1BaseComb()) }
