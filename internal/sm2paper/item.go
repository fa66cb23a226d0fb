// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2paper

import (
	"bytes"

	"github.com/undersign/undersign/internal/sm2ec"
)

// An Item is a signature with its key and digest, all of them big-endian
// integers. See [NewItem].
type Item struct {
	X, Y   [32]byte // the key
	Digest [32]byte // the hash of ZA and the message
	R, S   [32]byte
}

// A parsed item is in range, with its key on the curve.
type parsed struct {
	key   sm2ec.Affine
	s, t  sm2ec.Scalar // t = r+s
	x     element      // r-e
	twoXs bool         // x+n is a coordinate as well
}

// parse reports false for an item that is invalid whatever its equation says.
func (it *Item) parse() (p parsed, ok bool) {
	var r, e sm2ec.Scalar
	if !p.key.SetBytes(&it.X, &it.Y) || !r.SetBytes(&it.R) || !p.s.SetBytes(&it.S) || r.IsZero() || p.s.IsZero() {
		return p, false
	}
	p.t.Add(&r, &p.s)
	if p.t.IsZero() {
		return p, false
	}
	e.SetDigest(&it.Digest)
	r.Sub(&r, &e)
	x := r.Bytes()
	p.x.SetBytes(&x) // n < p
	p.twoXs = bytes.Compare(x[:], gap[:]) < 0
	return p, true
}

// verifySingle verifies one item by the same arithmetic as batches: the tables of
// G and P are one with G+P.
func (f field) verifySingle(p *parsed) bool {
	tables := f.invertTables([]term{{sm2ec.Generator(), p.s}, {p.key, p.t}})
	q := f.joint(tables)
	if q.IsInfinity() {
		return false
	}
	var z2, x element
	f.sqr(&z2, &q.Z)
	f.mul(&x, &z2, &p.x)
	if x.Equal(&q.X) {
		return true
	}
	if !p.twoXs {
		return false
	}
	x = add(p.x, order)
	f.mul(&x, &z2, &x)
	return x.Equal(&q.X)
}

// invertTables makes the table of a few terms complete.
func (f field) invertTables(terms []term) []*subsets {
	s := f.newSubsets(terms)
	masks := s.toInvert()
	zs := make([]element, len(masks))
	for i, m := range masks {
		zs[i] = s.jac[m].Z
	}
	f.invert(zs)
	for i, m := range masks {
		s.sums[m] = f.affine(&s.jac[m], &zs[i])
	}
	return []*subsets{s}
}

// VerifySingle verifies one item by itself, and returns what that costs.
func VerifySingle(it *Item) (ok bool, cost Cost) {
	p, ok := it.parse()
	if !ok {
		return false, cost
	}
	ok = field{&cost}.verifySingle(&p)
	return ok, cost
}
