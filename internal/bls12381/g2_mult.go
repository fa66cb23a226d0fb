// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"sync"

	"github.com/undersign/undersign/internal/opcount"
)

// The endomorphism of G2, (x, y) -> (conj(x)·psiX, conj(y)·psiY), multiplies by
// the curve's parameter -seed. The factors are 1/(1+u)^((p-1)/3) and
// 1/(1+u)^((p-1)/2).
var (
	psiX = fe2{A1: feFromHex("1a0111ea397fe699ec02408663d4de85aa0d857d89759ad4897d29650fb85f9b409427eb4f49fffd8bfd00000000aaad")}
	psiY = fe2{
		A0: feFromHex("135203e60180a68ee2e9c448d77a2cd91c3dedd930b1cf60ef396489f61eb45e304466cf3e67fa0af1ee7b04121bdea2"),
		A1: feFromHex("06af0e0437ff400b6831e36d6bd17ffe48395dabc2d3435e77f76e17009241c5ee67992f72ec05f4c81084fbede3cc09"),
	}
)

// g2MulSeed sets p = seed·q, for q of order r.
func g2MulSeed(p, q *G2) {
	fe2Conj(&p.x, &q.x)
	fe2Mul(&p.x, &p.x, &psiX)
	fe2Conj(&p.y, &q.y)
	fe2Mul(&p.y, &p.y, &psiY)
	fe2Neg(&p.y, &p.y)
	fe2Conj(&p.z, &q.z)
	p.affine = q.affine
}

// g2Window is the width of the digits of a secret multiplier.
const g2Window = 4

// ScalarMult sets p = kq for a secret k.
//
// It writes k to the base seed, multiplication by which is an endomorphism,
// blinds the four digits, and runs through their own signed digits together.
func (p *G2) ScalarMult(k *Scalar, q *G2) *G2 {
	opcount.Add(opcount.MulG2, 1)
	const digits = seedBits / g2Window
	split := splitBlindedSeed(k)
	var mag, neg [4][digits]uint8
	var table [4][1 << (g2Window - 1)]g2Projective // multiples of q, seed·q, ...
	for i := range split {
		signedDigits(mag[i][:], neg[i][:], split[i][:], g2Window)
	}
	base := q.fixed()
	acc := base
	var t G2
	for i := range table[0] {
		multiple := acc
		for j := range table {
			table[j][i] = g2Projective{multiple.x, multiple.y, multiple.z}
			g2MulSeed(&multiple, &multiple)
		}
		g2Add(&acc, &acc, &base)
	}
	acc.SetIdentity()
	for i := digits - 1; i >= 0; i-- {
		if i != digits-1 {
			for range g2Window {
				g2Double(&acc, &acc)
			}
		}
		for j := range table {
			g2Lookup(&t, table[j][:], mag[j][i], neg[j][i])
			g2Add(&acc, &acc, &t)
		}
	}
	*p = acc
	clear(table[:])
	clear(mag[:])
	clear(neg[:])
	clear(split[:])
	return p
}

// g2Lookup sets t = ±m·table[0].
func g2Lookup(t *G2, table []g2Projective, m, neg uint8) {
	var e g2Projective
	e.lookup(table, uint64(m)-1)
	fe2Select(&e.y, &fe2One, &e.y, isZeroWord(uint64(m)))
	fe2CondNeg(&e.y, uint64(neg))
	t.x, t.y, t.z = e.x, e.y, e.z
}

// A G2Comb holds multiples of one point for fast multiplication by secrets, like
// a [G1Comb], in 48 KiB.
type G2Comb struct {
	identity uint64 // 1 if the point is the identity
	table    [combBlocks][1 << (combTeeth - 1)]g2Entry
}

// NewG2Comb prepares multiplications of q, in constant time.
func NewG2Comb(q *G2) *G2Comb {
	c := new(G2Comb)
	base := q.fixed()
	c.identity = fe2IsZero(&base.z)
	base.Select(&g2Generator, &base, int(c.identity))

	var rows [combBlocks][combTeeth]G2
	for pos := range combBits {
		if pos%combWidth == 0 {
			col := pos % combCols
			rows[col/combWidth][pos/combCols] = base
		}
		g2Double(&base, &base)
	}
	points := make([]G2, combBlocks<<(combTeeth-1))
	refs := make([]*G2, len(points))
	for b := range rows {
		g2CombBlock(points[b<<(combTeeth-1):][:1<<(combTeeth-1)], &rows[b])
	}
	for i := range points {
		refs[i] = &points[i]
	}
	NormalizeG2(refs...)
	for i := range points {
		c.table[i>>(combTeeth-1)][i&(1<<(combTeeth-1)-1)] = g2Entry{points[i].x, points[i].y}
	}
	clear(points)
	clear(rows[:])
	return c
}

// g2CombBlock sets t[v] to the highest row plus the others, each with the sign
// that its bit of v gives.
func g2CombBlock(t []G2, rows *[combTeeth]G2) {
	t[0] = rows[combTeeth-1]
	var twice, neg G2
	for j := range combTeeth - 1 {
		neg.Neg(&rows[j])
		g2Add(&t[0], &t[0], &neg)
	}
	for j := range combTeeth - 1 {
		g2Double(&twice, &rows[j])
		for v := range 1 << j {
			g2Add(&t[v|1<<j], &t[v], &twice)
		}
	}
}

// CombMult sets p = kq for a secret k, where c was made for q.
func (p *G2) CombMult(k *Scalar, c *G2Comb) *G2 {
	opcount.Add(opcount.MulG2, 1)
	w := combScalar(k)
	var acc G2
	var e g2Entry
	for i := combWidth - 1; i >= 0; i-- {
		if i != combWidth-1 {
			g2Double(&acc, &acc)
		}
		for b := range c.table {
			index, neg := combDigit(&w, b*combWidth+i, combCols, combTeeth)
			e.lookup(c.table[b][:], index)
			fe2CondNeg(&e.y, neg)
			if i == combWidth-1 && b == 0 {
				acc = G2{x: e.x, y: e.y, z: fe2One}
			} else {
				g2AddMixed(&acc, &acc, &e.x, &e.y)
			}
		}
	}
	fe2Select(&p.x, &fe2{}, &acc.x, c.identity)
	fe2Select(&p.y, &fe2One, &acc.y, c.identity)
	fe2Select(&p.z, &fe2{}, &acc.z, c.identity)
	p.affine = false
	clear(w[:])
	return p
}

// Wipe clears the table: for a comb of a secret point.
func (c *G2Comb) Wipe() { *c = G2Comb{} }

var g2BaseComb = sync.OnceValue(func() *G2Comb { return NewG2Comb(&g2Generator) })

// ScalarBaseMult sets p = k·P2 for a secret k.
func (p *G2) ScalarBaseMult(k *Scalar) *G2 { return p.CombMult(k, g2BaseComb()) }
