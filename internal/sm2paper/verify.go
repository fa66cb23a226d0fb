// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2paper

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"github.com/undersign/undersign/internal/sm2ec"
)

// The sizes of batches, and the lengths of randomisers.
const (
	MinItems              = 2
	MaxItems              = 9
	MaxRandomizerBits     = 192
	DefaultRandomizerBits = 128
)

// Options say how to verify. The zero value has no weakness beyond those of 128-bit
// randomisers.
type Options struct {
	// RandomizerBits is the length of randomisers, 0 for the default.
	RandomizerBits int

	// Rand is where randomisers come from, nil for crypto/rand.
	Rand io.Reader

	// NoRandomizersUnsafe takes 1 for all randomisers. Invalid signatures that
	// cancel each other are accepted.
	NoRandomizersUnsafe bool

	// SkipLiftCheckUnsafe leaves out the test that every r-e is the x-coordinate of
	// a point of the curve. Invalid signatures with coordinates on its twist are
	// accepted with a probability that no randomiser makes small.
	SkipLiftCheckUnsafe bool
}

// Counts are the costs of a batch by the columns of the paper's last table, and
// of what it has no column for.
type Counts struct {
	Accelerated Cost `json:"accelerated"` // step 3, with its tables
	SemiScalar  Cost `json:"semi_scalar"` // steps 1 and 2
	Inversion   Cost `json:"inversion"`   // step 4
	Decision    Cost `json:"decision"`    // step 5
	LiftCheck   Cost `json:"lift_check"`  // whether r-e is on the curve
	Single      Cost `json:"single"`      // single verification of a degenerate batch
	Values      int  `json:"values"`      // inverted in step 4
	Degenerate  bool `json:"degenerate"`  // the polynomials weren't defined
}

// Total returns the cost of what is in the paper's table.
func (c *Counts) Total() Cost {
	return c.Accelerated.Add(c.SemiScalar).Add(c.Inversion).Add(c.Decision)
}

// Verify reports whether all items are valid, at most 9 of them and at least 2. It
// errs on the side of a batch with an invalid item with a probability of at most
// 2^[SoundnessBits], and never on the other. An item with values out of range is
// invalid. The error is about opts and the number of items alone.
//
// Batches for which the polynomials aren't defined are verified singly: those
// with equal or opposite summands, with L at infinity, and with an r-e below p-n,
// which two coordinates are equal to modulo n.
func Verify(items []Item, opts *Options) (ok bool, counts Counts, err error) {
	if opts == nil {
		opts = new(Options)
	}
	if len(items) < MinItems || len(items) > MaxItems {
		return false, counts, fmt.Errorf("sm2paper: a batch has %d to %d items, not %d", MinItems, MaxItems, len(items))
	}
	ps := make([]parsed, len(items))
	for i := range items {
		if ps[i], ok = items[i].parse(); !ok {
			return false, counts, nil
		}
	}
	zs, err := opts.randomizers(len(items))
	if err != nil {
		return false, counts, err
	}
	v := verdict(undefined)
	if !hasTwoXs(ps) {
		v = verifyBatch(ps, zs, opts, &counts)
	}
	if v != undefined {
		return v == accepted, counts, nil
	}
	counts.Degenerate = true
	f := field{&counts.Single}
	ok = true
	for i := range ps {
		ok = f.verifySingle(&ps[i]) && ok
	}
	return ok, counts, nil
}

// randomizers returns n integers from 1 to 2^bits.
func (opts *Options) randomizers(n int) ([]sm2ec.Scalar, error) {
	bits := opts.RandomizerBits
	switch {
	case opts.NoRandomizersUnsafe && bits != 0:
		return nil, errors.New("sm2paper: there is a length for randomisers that aren't to be")
	case bits < 0 || bits > MaxRandomizerBits:
		return nil, fmt.Errorf("sm2paper: randomisers have 1 to %d bits, not %d", MaxRandomizerBits, bits)
	case bits == 0 && !opts.NoRandomizersUnsafe:
		bits = DefaultRandomizerBits
	}
	r := opts.Rand
	if r == nil {
		r = rand.Reader
	}
	zs := make([]sm2ec.Scalar, n)
	for i := range zs {
		var b [32]byte
		tail := b[32-(bits+7)/8:]
		if _, err := io.ReadFull(r, tail); err != nil {
			return nil, fmt.Errorf("sm2paper: no randomness: %w", err)
		}
		if bits%8 != 0 {
			tail[0] &= 1<<(bits%8) - 1
		}
		zs[i].SetBytes(&b)
		if zs[i].IsZero() { // stands for 2^bits, so that there are as many
			zs[i][bits/64] = 1 << (bits % 64)
		}
	}
	return zs, nil
}

func hasTwoXs(ps []parsed) bool {
	for i := range ps {
		if ps[i].twoXs {
			return true
		}
	}
	return false
}

type verdict int

const (
	rejected verdict = iota
	accepted
	undefined // the polynomials can't say
)

func verdictOf(ok bool) verdict {
	if ok {
		return accepted
	}
	return rejected
}

// verifyBatch goes through the steps of the scheme.
func verifyBatch(ps []parsed, zs []sm2ec.Scalar, opts *Options, counts *Counts) verdict {
	// Steps 1 and 2.
	f := field{&counts.SemiScalar}
	nums, dens := make([]element, len(ps)), make([]element, len(ps))
	for i := range ps {
		c := f.rhs(&ps[i].x)
		if !opts.SkipLiftCheckUnsafe && !(field{&counts.LiftCheck}).isSquare(&c) {
			return rejected // no point has this x, and x+n isn't below p
		}
		var ok bool
		if nums[i], dens[i], ok = f.seminumeric(&ps[i].x, &c, &zs[i]); !ok {
			return undefined
		}
	}

	// The tables of step 3.
	f = field{&counts.Accelerated}
	terms := collect(ps, zs)
	var tables []*subsets
	for _, k := range groupSizes(len(terms)) {
		tables = append(tables, f.newSubsets(terms[:k]))
		terms = terms[k:]
	}

	// Step 4, and what it is for.
	var toInvert []element
	for _, s := range tables {
		for _, m := range s.toInvert() {
			toInvert = append(toInvert, s.jac[m].Z)
		}
	}
	inverted := append(toInvert, dens...)
	counts.Values = len(inverted)
	field{&counts.Inversion}.invert(inverted)
	for _, s := range tables {
		for _, m := range s.toInvert() {
			s.sums[m] = f.affine(&s.jac[m], &inverted[0])
			inverted = inverted[1:]
		}
	}
	hs := make([]element, len(ps))
	for i := range hs {
		field{&counts.SemiScalar}.mul(&hs[i], &nums[i], &inverted[i])
	}

	// Step 3, with its tables complete, and step 5.
	l := f.joint(tables)
	if l.IsInfinity() {
		return undefined
	}
	return field{&counts.Decision}.decide(hs, &l)
}

// collect returns the terms of L, with those of one signer made one.
func collect(ps []parsed, zs []sm2ec.Scalar) []term {
	terms := []term{{p: sm2ec.Generator()}}
	index := map[sm2ec.Affine]int{}
	for i := range ps {
		j, ok := index[ps[i].key]
		if !ok {
			j = len(terms)
			index[ps[i].key] = j
			terms = append(terms, term{p: ps[i].key})
		}
		addProduct(&terms[0].k, &zs[i], &ps[i].s)
		addProduct(&terms[j].k, &zs[i], &ps[i].t)
	}
	return terms
}
