// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"crypto/sha256"
	"slices"
	"testing"

	"github.com/undersign/undersign/distill"
)

// Proofs are right together if each is alone.
func TestProofs(t *testing.T) {
	for _, n := range []int{1, 2, 3, 37, 64} {
		leaves := make([][32]byte, n)
		for i := range leaves {
			leaves[i] = sha256.Sum256([]byte{byte(i)})
		}
		tree := distill.NewTree(slices.Clone(leaves))
		p := newProofs(tree.Root(), uint64(n))
		var want []bool
		add := func(leaf [32]byte, index uint64, siblings [][32]byte) {
			p.add(leaf, index, siblings)
			want = append(want, distill.VerifyProof(tree.Root(), uint64(n), index, leaf, siblings) == nil)
		}
		for i := range n {
			s := tree.Proof(i)
			add(leaves[i], uint64(i), s)
			add(leaves[i], uint64(i+1), s)
			add(leaves[i], uint64(i)+1<<32, s)
			add(leaves[i], uint64(n), s)
			add([32]byte{1}, uint64(i), s)
			add(leaves[i], uint64(i), append(slices.Clone(s), [32]byte{}))
			if len(s) > 0 {
				add(leaves[i], uint64(i), s[1:])
				other := slices.Clone(s)
				other[len(s)-1][0] ^= 1
				add(leaves[i], uint64(i), other)
			}
		}
		got := p.verify()
		if !slices.Equal(got, want) || !slices.Contains(got, true) || !slices.Contains(got, false) {
			t.Errorf("%d leaves: %v, want %v", n, got, want)
		}
	}
	huge := newProofs([32]byte{}, 1<<distill.MaxDepth+1)
	huge.add([32]byte{}, 0, make([][32]byte, distill.MaxDepth+1))
	if huge.verify()[0] {
		t.Error("a tree that is too deep")
	}
}
