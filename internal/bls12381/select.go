// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

// Tables that a secret index selects from are read as a whole. Entries are made of
// field elements without gaps, a multiple of 96 bytes, so that one assembly function
// reads them all.

// A g1Entry is an affine point of G1, of 96 bytes.
type g1Entry struct{ x, y fe }

// A g1Projective is a projective point of G1, filled up to 192 bytes.
type g1Projective struct{ x, y, z, _ fe }

// A g2Entry is an affine point of G2, of 192 bytes.
type g2Entry struct{ x, y fe2 }

// A g2Projective is a projective point of G2, of 288 bytes.
type g2Projective struct{ x, y, z fe2 }

// lookup sets e = table[index], or to zeros for an index outside.
func (e *g1Entry) lookup(table []g1Entry, index uint64) {
	if haveSelect {
		selectBlocks(&e.x[0], &table[0].x[0], 1, len(table), index)
		return
	}
	*e = g1Entry{}
	for i := range table {
		c := mask(isZeroWord(uint64(i) ^ index))
		orMasked(&e.x, &table[i].x, c)
		orMasked(&e.y, &table[i].y, c)
	}
}

// lookup sets e = table[index], or to zeros for an index outside.
func (e *g1Projective) lookup(table []g1Projective, index uint64) {
	if haveSelect {
		selectBlocks(&e.x[0], &table[0].x[0], 2, len(table), index)
		return
	}
	*e = g1Projective{}
	for i := range table {
		c := mask(isZeroWord(uint64(i) ^ index))
		orMasked(&e.x, &table[i].x, c)
		orMasked(&e.y, &table[i].y, c)
		orMasked(&e.z, &table[i].z, c)
	}
}

// lookup sets e = table[index], or to zeros for an index outside.
func (e *g2Entry) lookup(table []g2Entry, index uint64) {
	if haveSelect {
		selectBlocks(&e.x.A0[0], &table[0].x.A0[0], 2, len(table), index)
		return
	}
	*e = g2Entry{}
	for i := range table {
		c := mask(isZeroWord(uint64(i) ^ index))
		orMasked2(&e.x, &table[i].x, c)
		orMasked2(&e.y, &table[i].y, c)
	}
}

// lookup sets e = table[index], or to zeros for an index outside.
func (e *g2Projective) lookup(table []g2Projective, index uint64) {
	if haveSelect {
		selectBlocks(&e.x.A0[0], &table[0].x.A0[0], 3, len(table), index)
		return
	}
	*e = g2Projective{}
	for i := range table {
		c := mask(isZeroWord(uint64(i) ^ index))
		orMasked2(&e.x, &table[i].x, c)
		orMasked2(&e.y, &table[i].y, c)
		orMasked2(&e.z, &table[i].z, c)
	}
}

// fe12Lookup sets t = table[index], or to 0 for an index outside.
func fe12Lookup(t *fe12, table []fe12, index uint64) {
	if haveSelect {
		selectBlocks(&t.C0.B0.A0[0], &table[0].C0.B0.A0[0], 6, len(table), index)
		return
	}
	*t = fe12{}
	for i := range table {
		c := mask(isZeroWord(uint64(i) ^ index))
		e := &table[i]
		orMasked2(&t.C0.B0, &e.C0.B0, c)
		orMasked2(&t.C0.B1, &e.C0.B1, c)
		orMasked2(&t.C0.B2, &e.C0.B2, c)
		orMasked2(&t.C1.B0, &e.C1.B0, c)
		orMasked2(&t.C1.B1, &e.C1.B1, c)
		orMasked2(&t.C1.B2, &e.C1.B2, c)
	}
}

// orMasked adds the bits of x under the mask c to z.
func orMasked(z, x *fe, c uint64) {
	z[0] |= c & x[0]
	z[1] |= c & x[1]
	z[2] |= c & x[2]
	z[3] |= c & x[3]
	z[4] |= c & x[4]
	z[5] |= c & x[5]
}

func orMasked2(z, x *fe2, c uint64) {
	orMasked(&z.A0, &x.A0, c)
	orMasked(&z.A1, &x.A1, c)
}
