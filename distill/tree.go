// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"crypto/sha256"
	"math/bits"

	"github.com/undersign/undersign/internal/hashpairs"
)

// MaxDepth is the depth of the deepest tree: of 2^24 leaves.
const MaxDepth = 24

// zeroHashes are the roots of subtrees without leaves, by their depth.
var zeroHashes = func() (z [MaxDepth + 1][32]byte) {
	for i := range MaxDepth {
		z[i+1] = hashNode(&z[i], &z[i])
	}
	return z
}()

func hashNode(left, right *[32]byte) [32]byte {
	var b [64]byte
	copy(b[:32], left[:])
	copy(b[32:], right[:])
	return sha256.Sum256(b[:])
}

// Depth returns the depth of a tree of n leaves, the least d with n <= 2^d. A root never
// stands alone: n is signed with it, and says how deep the tree is, so that no node
// passes for a leaf.
func Depth(n uint64) int {
	if n == 0 {
		return 0
	}
	return bits.Len64(n - 1)
}

// A Tree is a Merkle tree of leaves' hashes, filled up with zeros to a power of two.
type Tree struct {
	n      int
	levels [][][32]byte // from the leaves up, each without its subtrees of zeros
}

// NewTree returns the tree over the hashes of leaves, which it keeps: from 1 to
// 2^[MaxDepth] of them.
func NewTree(leaves [][32]byte) *Tree {
	d := Depth(uint64(len(leaves)))
	if len(leaves) == 0 || d > MaxDepth {
		panic("distill: a tree of no leaves, or too many")
	}
	t := &Tree{n: len(leaves), levels: make([][][32]byte, d+1)}
	t.levels[0] = leaves
	for i := range d {
		t.levels[i+1] = make([][32]byte, (len(t.levels[i])+1)/2)
		hashLevel(t.levels[i+1], t.levels[i], i)
	}
	return t
}

// hashLevel hashes the nodes of a level, at a height over the leaves, in pairs. The
// results may be written over the nodes.
func hashLevel(dst, nodes [][32]byte, height int) {
	pairs := len(nodes) / 2
	hashpairs.Sum(dst[:pairs], nodes[:2*pairs])
	if len(nodes)%2 == 1 {
		dst[pairs] = hashNode(&nodes[len(nodes)-1], &zeroHashes[height])
	}
}

// Root returns the root.
func (t *Tree) Root() [32]byte { return t.levels[len(t.levels)-1][0] }

// Len returns the number of leaves.
func (t *Tree) Len() int { return t.n }

// Proof returns the siblings on the way from leaf i up, [Depth] of them, by which
// [VerifyProof] finds it in the tree. It panics unless i is from 0 to Len()-1.
func (t *Tree) Proof(i int) [][32]byte {
	if i < 0 || i >= t.n {
		panic("distill: no such leaf")
	}
	siblings := make([][32]byte, 0, len(t.levels)-1)
	for height, nodes := range t.levels[:len(t.levels)-1] {
		at := i>>height ^ 1
		if at < len(nodes) {
			siblings = append(siblings, nodes[at])
		} else {
			siblings = append(siblings, zeroHashes[height])
		}
	}
	return siblings
}

// VerifyProof verifies that the hash of a leaf stands at index i of the tree of n leaves
// with the given root.
func VerifyProof(root [32]byte, n, i uint64, leaf [32]byte, siblings [][32]byte) error {
	if i >= n {
		return reject(RuleProofIndex)
	}
	if n > 1<<MaxDepth || len(siblings) != Depth(n) {
		return reject(RuleProofDepth)
	}
	for height := range siblings {
		if i>>height&1 == 0 {
			leaf = hashNode(&leaf, &siblings[height])
		} else {
			leaf = hashNode(&siblings[height], &leaf)
		}
	}
	if leaf != root {
		return reject(RuleProofRoot)
	}
	return nil
}

// rootOf returns the root of the tree of leaves, which it overwrites.
func rootOf(leaves [][32]byte) [32]byte {
	for height := range Depth(uint64(len(leaves))) {
		n := (len(leaves) + 1) / 2
		hashLevel(leaves[:n], leaves, height)
		leaves = leaves[:n]
	}
	return leaves[0]
}
