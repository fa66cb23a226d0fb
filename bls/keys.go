// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"fmt"
	"slices"

	"github.com/undersign/undersign/internal/bls12381"
)

// Keys is a list of proven keys in G1, ready to be added up: 96 bytes for each, and
// nothing to decode. Keys have positions, in the order of adding. The zero value is an
// empty list. It may be used by several goroutines, but not while Add runs.
type Keys struct {
	list  []bls12381.G1Affine
	total bls12381.G1
}

// Add appends keys. All must be in G1, or none is added.
func (l *Keys) Add(keys ...*ProvenKey) error {
	for _, k := range keys {
		if _, err := suites[ProofOfPossession].key(k.PublicKey()); err != nil {
			return err
		}
	}
	l.list = slices.Grow(l.list, len(keys))
	at := len(l.list)
	for _, k := range keys {
		var a bls12381.G1Affine
		l.list = append(l.list, *a.Set(k.k.p.one))
	}
	var more bls12381.G1
	more.SumVarTime(l.list[at:])
	l.total.Add(&l.total, &more)
	return nil
}

// Len returns the number of keys.
func (l *Keys) Len() int { return len(l.list) }

// At returns the key at position i, which must be from 0 to Len()-1.
func (l *Keys) At(i int) *ProvenKey { return &ProvenKey{PublicKey{point{one: l.list[i].Point()}}} }

// Sum returns the sum of the keys at some positions, which must ascend strictly, as
// [SumKeys] does. If most keys are among them, it is taken from the sum of all.
func (l *Keys) Sum(positions []int) (*ProvenKey, error) {
	if len(positions) == 0 {
		return nil, fmt.Errorf("%w: there are none", ErrKey)
	}
	for i, at := range positions {
		if at < 0 || at >= len(l.list) || i > 0 && at <= positions[i-1] {
			return nil, fmt.Errorf("%w: position %d isn't one of %d, or out of order", ErrKey, at, len(l.list))
		}
	}
	p := newPoint(false)
	if len(positions) <= len(l.list)/2 {
		picked := make([]bls12381.G1Affine, len(positions))
		for i, at := range positions {
			picked[i] = l.list[at]
		}
		p.one.SumVarTime(picked)
		return provenSum(p)
	}
	absent := make([]bls12381.G1Affine, 0, len(l.list)-len(positions))
	next := 0
	for _, at := range positions {
		absent = append(absent, l.list[next:at]...)
		next = at + 1
	}
	absent = append(absent, l.list[next:]...)
	p.one.SumVarTime(absent)
	p.one.Sub(&l.total, p.one)
	bls12381.NormalizeG1(p.one)
	return provenSum(p)
}
