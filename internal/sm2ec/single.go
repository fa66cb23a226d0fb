// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

// A Hint says which of the two points with its x a signature belongs to.
type Hint int8

const (
	NoHint   Hint = iota
	HintEven      // y is even, as an integer below p
	HintOdd
)

// An Item is a signature (R, S) of a digest E, modulo n, under the key P.
type Item struct {
	P       Affine
	E, R, S Scalar
	Hint    Hint
	Signer  uint32 // a number for P: see Config.Signers
}

// VerifySingle reports whether a signature is valid: P is on the curve, r and s
// are in [1, n-1], t = r + s isn't zero modulo n, and sG + tP isn't infinity and
// has an x with e + x = r modulo n (GB/T 32918.2-2016, section 7.1).
func VerifySingle(it *Item) bool {
	var ok [1]bool
	VerifySingles(ok[:], []*Item{it})
	return ok[0]
}

// VerifySingles sets ok[i] to the verdict of VerifySingle for items[i].
func VerifySingles(ok []bool, items []*Item) {
	for lo := 0; lo < len(items); lo += current.combineChunk {
		hi := min(lo+current.combineChunk, len(items))
		verifySome(ok[lo:hi], items[lo:hi])
	}
}

func verifySome(ok []bool, items []*Item) {
	todo, places := make([]*Item, 0, len(items)), make([]int, 0, len(items))
	for i, it := range items {
		ok[i] = false
		if _, inRange := it.T(); inRange && it.P.IsOnCurve() {
			todo, places = append(todo, it), append(places, i)
		}
	}
	sums := make([]Jacobian, len(todo))
	current.combine(sums, todo)
	for k, i := range places {
		ok[i] = todo[k].XMatches(&sums[k])
	}
}

// T returns r + s, and false if that, r or s is zero.
func (it *Item) T() (t Scalar, ok bool) {
	t.Add(&it.R, &it.S)
	return t, !it.R.IsZero() && !it.S.IsZero() && !t.IsZero()
}

// XMatches reports whether p is not infinity and e + x(p) = r modulo n: the x is
// r - e, or r - e + n if that is below p.
func (it *Item) XMatches(p *Jacobian) bool {
	if p.IsInfinity() {
		return false
	}
	x0, x1, two := it.XCandidates()
	return p.xIs(&x0) || two && p.xIs(&x1)
}

// XCandidates returns the field elements that are r - e modulo n: x0, and also
// x1 if two is true, which in honest signatures it is never seen to be.
func (it *Item) XCandidates() (x0, x1 Element, two bool) {
	var x Scalar
	x.Sub(&it.R, &it.E)
	x0.setPlain((*[4]uint64)(&x))
	if less((*[4]uint64)(&x), &pMinusN) {
		n := Element(scN)
		n.setPlain((*[4]uint64)(&n))
		x1.Add(&x0, &n)
		two = true
	}
	return x0, x1, two
}
