// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"sync"

	"github.com/undersign/undersign/internal/opcount"
)

// A GTComb holds powers of one element for fast powers with secret exponents: a
// comb like [G1Comb], in 72 KiB.
//
// Its entries are coordinates on the torus, see [GT.AppendCompressed], and products are
// formed in Fp12 modulo Fp6, where one with g + w takes two products in Fp6, and not three.
// An element is z to the power 1 - p⁶ for those z of its class.
type GTComb struct {
	identity uint64 // 1 if the element is
	table    [combBlocks][1 << (combTeeth - 1)]fe6
}

// NewGTComb prepares powers of x, in constant time.
func NewGTComb(x *GT) *GTComb {
	c := new(GTComb)
	base := x.fixed()
	// 1 has no coordinate: powers are of another element, and have the exponent 0.
	c.identity = fe6IsZero(&base.C1)
	fe12Select(&base, gtGenerator(), &base, c.identity)
	var rows [combBlocks][combTeeth]fe12
	for pos := range combBits {
		if pos%combWidth == 0 {
			col := pos % combCols
			rows[col/combWidth][pos/combCols] = base
		}
		fe12SqrCyclotomic(&base, &base)
	}
	all := make([]fe12, combBlocks<<(combTeeth-1))
	for b := range rows {
		t := all[b<<(combTeeth-1):][:1<<(combTeeth-1)]
		t[0] = rows[b][combTeeth-1]
		var f fe12
		for j := range combTeeth - 1 {
			fe12Conj(&f, &rows[b][j])
			fe12Mul(&t[0], &t[0], &f)
		}
		for j := range combTeeth - 1 {
			fe12SqrCyclotomic(&f, &rows[b][j])
			for v := range 1 << j {
				fe12Mul(&t[v|1<<j], &t[v], &f)
			}
		}
	}
	c.fill(all)
	clear(rows[:])
	clear(all)
	return c
}

// fill sets the table to the coordinates (1 + a)/b of elements a + bw, with one inversion.
func (c *GTComb) fill(all []fe12) {
	prod := make([]fe6, len(all)) // of all b before
	var acc fe6
	acc.B0.A0 = feOne
	for i := range all {
		prod[i] = acc
		fe6Mul(&acc, &acc, &all[i].C1)
	}
	fe6Invert(&acc, &acc)
	var inv fe6
	for i := len(all) - 1; i >= 0; i-- {
		fe6Mul(&inv, &acc, &prod[i])
		fe6Mul(&acc, &acc, &all[i].C1)
		feAdd(&all[i].C0.B0.A0, &all[i].C0.B0.A0, &feOne)
		fe6Mul(&c.table[i>>(combTeeth-1)][i&(1<<(combTeeth-1)-1)], &all[i].C0, &inv)
	}
	clear(prod)
	acc, inv = fe6{}, fe6{}
}

// A GTPower is a factor of a product: the comb's element to the power of a secret K.
type GTPower struct {
	K    *Scalar
	Comb *GTComb
}

// CombExp sets z = x^k for a secret k, where c was made for x.
func (z *GT) CombExp(k *Scalar, c *GTComb) *GT { return z.CombProduct(GTPower{k, c}) }

// CombProduct sets z to a product of powers, with the squarings of one.
func (z *GT) CombProduct(powers ...GTPower) *GT {
	opcount.Add(opcount.ExpGT, len(powers))
	ws := make([][5]uint64, len(powers))
	for j, p := range powers {
		var k Scalar
		k.Mul(p.K, k.SetUint64(1^p.Comb.identity))
		ws[j] = combScalar(&k)
		k.Wipe()
	}
	acc := fe12One()
	var g fe6
	for i := combWidth - 1; i >= 0; i-- {
		if i != combWidth-1 {
			fe12Sqr(&acc, &acc)
		}
		for j, p := range powers {
			for b := range p.Comb.table {
				index, neg := combDigit(&ws[j], b*combWidth+i, combCols, combTeeth)
				fe6Lookup(&g, p.Comb.table[b][:], index)
				fe6CondNeg(&g, neg)
				fe12MulTorus(&acc, &acc, &g)
			}
		}
	}
	fe12FromTorus(&z.v, &acc)
	acc, g = fe12{}, fe6{}
	clear(ws)
	return z
}

var gtGenerator = sync.OnceValue(func() *fe12 {
	f, _ := millerLoops([]Pair{PairOf(G1Generator(), G2Generator())})
	z := new(fe12)
	finalExponentiation(z, &f)
	return z
})

// Wipe clears the table: for a comb of a secret element.
func (c *GTComb) Wipe() { *c = GTComb{} }

// fe12MulTorus sets z = x(g + w).
func fe12MulTorus(z, x *fe12, g *fe6) {
	var a, b fe6
	fe6Mul(&a, &x.C0, g)
	fe6Mul(&b, &x.C1, g)
	fe6Add(&b, &b, &x.C0)
	fe6MulV(&z.C0, &x.C1)
	fe6Add(&z.C0, &z.C0, &a)
	z.C1 = b
}

// fe12Sqr sets z = x² for any x.
func fe12Sqr(z, x *fe12) {
	var s, t, u fe6
	fe6Mul(&t, &x.C0, &x.C1)
	fe6Add(&s, &x.C0, &x.C1)
	fe6MulV(&u, &x.C1)
	fe6Add(&u, &u, &x.C0)
	fe6Mul(&s, &s, &u)
	fe6Sub(&s, &s, &t)
	fe6Add(&z.C1, &t, &t)
	fe6MulV(&t, &t)
	fe6Sub(&z.C0, &s, &t)
}

// fe12FromTorus sets z = x/conj(x) = x²/(x conj(x)).
func fe12FromTorus(z, x *fe12) {
	var n, t fe6
	fe6Mul(&n, &x.C0, &x.C0)
	fe6Mul(&t, &x.C1, &x.C1)
	fe6MulV(&t, &t)
	fe6Sub(&n, &n, &t)
	fe6Invert(&n, &n)
	fe12Sqr(z, x)
	fe6Mul(&z.C0, &z.C0, &n)
	fe6Mul(&z.C1, &z.C1, &n)
}

// fe12Select sets z = x if c is 1, and z = y if it is 0.
func fe12Select(z, x, y *fe12, c uint64) {
	zs, xs, ys := fe12Words(z), fe12Words(x), fe12Words(y)
	for i := range zs {
		feSelect(zs[i], xs[i], ys[i], c)
	}
}

func fe6IsZero(x *fe6) uint64 { return fe2IsZero(&x.B0) & fe2IsZero(&x.B1) & fe2IsZero(&x.B2) }

// fe6CondNeg sets z = -z if c is 1.
func fe6CondNeg(z *fe6, c uint64) {
	fe2CondNeg(&z.B0, c)
	fe2CondNeg(&z.B1, c)
	fe2CondNeg(&z.B2, c)
}

// fe6Lookup sets t = table[index], or to 0 for an index outside.
func fe6Lookup(t *fe6, table []fe6, index uint64) {
	if haveSelect {
		selectBlocks(&t.B0.A0[0], &table[0].B0.A0[0], 3, len(table), index)
		return
	}
	*t = fe6{}
	for i := range table {
		c := mask(isZeroWord(uint64(i) ^ index))
		orMasked2(&t.B0, &table[i].B0, c)
		orMasked2(&t.B1, &table[i].B1, c)
		orMasked2(&t.B2, &table[i].B2, c)
	}
}
