// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/undersign/undersign/internal/batch"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// A Batch is signatures, or aggregates, that are verified together: each to the same
// verdict as alone, but for a probability of 2⁻¹²⁸. The zero value is an empty batch of
// the scheme [Basic]. It is for one goroutine at a time.
//
// Nothing that is added has to be valid: what is malformed is found by Verify. Messages
// are copied. Items are independent of each other, so that with all schemes their
// messages may be equal.
type Batch struct {
	// ShortWeights makes Verify faster, by up to a tenth, with weights of 64 bits
	// instead of 128: the probability is 2⁻⁶⁴ then. Weights are fresh, so that
	// nobody can try it more often than Verify is called.
	ShortWeights bool

	scheme Scheme
	items  []item
	eq     equation
	found  batch.Result // what the last search took, for tests
}

// An item is the terms from at to end of the equation, and its signature.
type item struct {
	at, end int
	sig     point
	bad     bool // without an equation
}

// NewBatch returns an empty batch.
func NewBatch(s Scheme) *Batch { return &Batch{scheme: s} }

// Len returns the number of items.
func (b *Batch) Len() int { return len(b.items) }

// Add adds a signature: see [Scheme.Verify]. The key may be a sum of proven ones.
func (b *Batch) Add(key *PublicKey, msg []byte, sig *Signature) {
	u, err := b.scheme.suite()
	if err == nil {
		var k point
		if k, err = u.key(key); err == nil {
			b.eq.add(u, k, u.dst, u.text(k, msg))
		}
	}
	b.put(u, sig, err)
}

// AddAggregate adds an aggregate: see [Scheme.AggregateVerify].
func (b *Batch) AddAggregate(keys []*PublicKey, msgs [][]byte, sig *Signature) {
	u, err := b.scheme.suite()
	if err == nil {
		err = b.eq.addAll(u, keys, msgs, u.kind != Augmented)
	}
	b.put(u, sig, err)
}

// AddAggregateProven adds an aggregate: see [Scheme.AggregateVerifyProven].
func (b *Batch) AddAggregateProven(keys []*ProvenKey, msgs [][]byte, sig *Signature) {
	u, err := b.scheme.popSuite()
	if err == nil {
		err = b.eq.addAll(u, publicOf(keys), msgs, false)
	}
	b.put(u, sig, err)
}

// AddBDN adds a weighted aggregate: see [Scheme.BDNVerify].
func (b *Batch) AddBDN(keys []*PublicKey, digest [32]byte, sig *Signature) {
	u, err := b.scheme.suite()
	if err == nil {
		var sum *PublicKey
		if sum, err = u.bdnKey(keys, &digest); err == nil {
			b.eq.add(u, sum.p, u.dst, digest[:])
		}
	}
	b.put(u, sig, err)
}

// put ends an item, whose terms have been added unless there was an error.
func (b *Batch) put(u *suite, sig *Signature, err error) {
	it := item{end: len(b.eq.terms)}
	if n := len(b.items); n > 0 {
		it.at = b.items[n-1].end
	}
	if err == nil {
		it.sig, err = u.sig(sig)
	}
	it.bad = err != nil || it.sig.isIdentity() != (it.at == it.end)
	b.items = append(b.items, it)
}

// Verify verifies all items. If some are bad it returns a [*BatchError]. An empty batch
// is good: compare Len with what you expect.
func (b *Batch) Verify() error {
	if _, err := b.scheme.suite(); err != nil {
		return err
	}
	if bad := b.verify(); len(bad) > 0 {
		return &BatchError{bad, len(b.items), ErrSignature}
	}
	return nil
}

// verify returns the indices of the bad items.
func (b *Batch) verify() []int {
	var good []int // items that have an equation
	isBad := make([]bool, len(b.items))
	for i, it := range b.items {
		isBad[i] = it.bad
		if !it.bad && it.at < it.end {
			good = append(good, i)
		}
	}
	if len(good) > 0 {
		b.eq.hash()
		for _, i := range b.search(good) {
			isBad[good[i]] = true
		}
	}
	var bad []int
	for i, is := range isBad {
		if is {
			bad = append(bad, i)
		}
	}
	return bad
}

// search verifies items together, and returns which of them are bad, as indices of
// the list given. Each item's equation gets a weight of its own.
func (b *Batch) search(list []int) []int {
	weights := transcript.NewWeights(b.digest(list))
	ws := make([]bls12381.Scalar, len(list))
	next := weights.Next
	if b.ShortWeights {
		next = weights.NextShort
	}
	for i := range ws {
		next(&ws[i])
	}
	product := func(lo, hi int) *bls12381.GT {
		var terms []term
		var termWeights []bls12381.Scalar
		sigs := make([]point, 0, hi-lo)
		for i, at := range list[lo:hi] {
			it := b.items[at]
			for _, t := range b.eq.terms[it.at:it.end] {
				terms = append(terms, t)
				termWeights = append(termWeights, ws[lo+i])
			}
			sigs = append(sigs, it.sig)
		}
		pairs := b.eq.pairs(terms, termWeights)
		pairs = append(pairs, pairGenerator(weightedSum(ws[lo:hi], sigs)))
		return new(bls12381.GT).PairingProductVarTime(pairs...)
	}
	confirm := func(items []int) (bad []int) {
		for _, i := range items {
			it := b.items[list[i]]
			pairs := b.eq.pairs(b.eq.terms[it.at:it.end], nil)
			if !bls12381.PairingCheckVarTime(append(pairs, pairGenerator(it.sig))...) {
				bad = append(bad, i)
			}
		}
		return bad
	}
	if len(list) == 1 {
		return confirm([]int{0})
	}
	// A sum has a final exponentiation, multiplications by weights for each item, and
	// a Miller loop for each group of terms.
	groups := float64(min(len(b.eq.keys.list), len(b.eq.texts.list))) / float64(len(b.eq.terms))
	b.found = batch.Locate(batch.Problem[*bls12381.GT]{
		N:       len(list),
		Sum:     product,
		Sub:     func(sum, part *bls12381.GT) *bls12381.GT { return new(bls12381.GT).Div(sum, part) },
		IsZero:  (*bls12381.GT).IsIdentity,
		Confirm: confirm,
		Cost:    func(n int) float64 { return 0.6 + (0.15+0.25*groups)*float64(n) },
		Leaf:    8, MaxExtra: 0.5,
	}, product(0, len(list)))
	return b.found.Bad
}

// digest hashes all that is to be verified, to hedge the weights.
func (b *Batch) digest(list []int) (d [sha256.Size]byte) {
	h := sha256.New()
	var n [8]byte
	put := func(v []byte) {
		binary.BigEndian.PutUint64(n[:], uint64(len(v)))
		h.Write(n[:])
		h.Write(v)
	}
	for _, encoding := range slices.Concat(b.eq.keys.encodings, b.eq.texts.encodings) {
		put([]byte(encoding))
	}
	for _, i := range list {
		it := b.items[i]
		put(it.sig.bytes())
		for _, t := range b.eq.terms[it.at:it.end] {
			binary.BigEndian.PutUint64(n[:], uint64(t.key))
			h.Write(n[:])
			binary.BigEndian.PutUint64(n[:], uint64(t.text))
			h.Write(n[:])
		}
	}
	h.Sum(d[:0])
	return d
}
