// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"fmt"
	"slices"

	"github.com/undersign/undersign/internal/bls12381"
)

// Grow makes room for n more keys.
func (l *Keys) Grow(n int) { l.list = slices.Grow(l.list, n) }

// AppendUncompressed appends the uncompressed encodings of the keys from a position on
// to b, 96 bytes each. It is what [Keys.AddUncompressedUnsafe] reads.
func (l *Keys) AppendUncompressed(b []byte, from int) []byte {
	for i := max(from, 0); i < len(l.list); i++ {
		b = append(b, l.list[i].Point().UncompressedBytes()...)
	}
	return b
}

// AddUncompressedUnsafe appends keys that were written by [Keys.AppendUncompressed],
// by this program and where nobody else could write since: that they are proven, or in
// the group at all, isn't tested, and reading takes a microsecond instead of fifty.
// All must be points of the curve, or none is added. See [AssumeProvenUnsafe].
func (l *Keys) AddUncompressedUnsafe(b []byte) error {
	const size = bls12381.G1SizeUncompressed
	if len(b)%size != 0 {
		return fmt.Errorf("%w: %d bytes aren't a list of keys", ErrKey, len(b))
	}
	// Growing by append keeps the cost of adding keys one by one linear.
	list, at := l.list, len(l.list)
	for i := 0; i < len(b); i += size {
		var p bls12381.G1
		if err := p.SetUncompressedUnsafe(b[i : i+size]); err != nil {
			return fmt.Errorf("%w: key %d: %w", ErrKey, i/size, err)
		}
		var a bls12381.G1Affine
		list = append(list, *a.Set(&p))
	}
	l.list = list
	var more bls12381.G1
	more.SumVarTime(l.list[at:])
	l.total.Add(&l.total, &more)
	return nil
}
