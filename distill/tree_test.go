// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"testing"
)

// testLeaves returns n blocks and their hashes.
func testLeaves(n int) (blocks [][]byte, hashes [][32]byte) {
	for i := range n {
		b := Leaf{ID: uint64(i), Nonce: 7, NotAfter: 9, PayloadHash: [32]byte{byte(i)}}.Block()
		blocks = append(blocks, b[:])
		hashes = append(hashes, sha256.Sum256(b[:]))
	}
	return blocks, hashes
}

func TestDepth(t *testing.T) {
	for n, want := range map[uint64]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 8: 3, 9: 4, 65536: 16, 65537: 17, 1 << 24: 24, 1<<64 - 1: 64} {
		if got := Depth(n); got != want {
			t.Errorf("%d leaves: %d, not %d", n, got, want)
		}
	}
}

// The tree is that of the slow oracle, and every leaf has a proof that holds for its own
// index, hash, number of leaves and root only.
func TestTree(t *testing.T) {
	for n := 1; n <= 70; n++ {
		blocks, hashes := testLeaves(n)
		tree := NewTree(slices.Clone(hashes))
		root := tree.Root()
		if !bytes.Equal(root[:], slowRoot(blocks)) {
			t.Fatalf("%d leaves: wrong root", n)
		}
		if got := rootOf(slices.Clone(hashes)); got != root {
			t.Fatalf("%d leaves: two roots", n)
		}
		if tree.Len() != n {
			t.Fatalf("%d leaves, not %d", tree.Len(), n)
		}
		for i := range n {
			proof := tree.Proof(i)
			if err := VerifyProof(root, uint64(n), uint64(i), hashes[i], proof); err != nil {
				t.Fatalf("leaf %d of %d: %v", i, n, err)
			}
			for j := range n {
				if j != i && VerifyProof(root, uint64(n), uint64(j), hashes[i], proof) == nil {
					t.Fatalf("leaf %d of %d stands at %d too", i, n, j)
				}
			}
			for j := range proof {
				proof[j][j] ^= 1
				if RuleOf(VerifyProof(root, uint64(n), uint64(i), hashes[i], proof)) != RuleProofRoot {
					t.Fatalf("leaf %d of %d with a wrong sibling", i, n)
				}
				proof[j][j] ^= 1
			}
		}
	}
}

func TestProofRefused(t *testing.T) {
	_, hashes := testLeaves(5)
	tree := NewTree(hashes)
	root, proof := tree.Root(), tree.Proof(4)
	parent := hashNode(&hashes[0], &hashes[1])
	cases := []struct {
		name  string
		n, i  uint64
		leaf  [32]byte
		proof [][32]byte
		want  Rule
	}{
		{"index n", 5, 5, hashes[4], proof, RuleProofIndex},
		{"large index", 5, 1 << 63, hashes[4], proof, RuleProofIndex},
		{"no leaves", 0, 0, hashes[0], nil, RuleProofIndex},
		{"short", 5, 4, hashes[4], proof[:2], RuleProofDepth},
		{"long", 5, 4, hashes[4], append(slices.Clone(proof), [32]byte{}), RuleProofDepth},
		{"none", 5, 4, hashes[4], nil, RuleProofDepth},
		{"another n", 9, 4, hashes[4], proof, RuleProofDepth},
		{"too many leaves", 1<<24 + 1, 4, hashes[4], make([][32]byte, 25), RuleProofDepth},
		{"far too many leaves", 1<<64 - 1, 4, hashes[4], make([][32]byte, 64), RuleProofDepth},
		// With another n a node passes for a leaf's hash. It can't be meant: n is signed with
		// the root, and verifiers hash a leaf of their own.
		{"a node as a leaf", 3, 0, parent, tree.Proof(0)[1:], 0},
		{"the root as a leaf", 1, 0, root, nil, 0},
		{"another leaf", 5, 4, hashes[3], proof, RuleProofRoot},
		{"a missing leaf", 5, 3, [32]byte{}, proof, RuleProofRoot},
	}
	for _, c := range cases {
		err := VerifyProof(root, c.n, c.i, c.leaf, c.proof)
		if RuleOf(err) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Trees that end with the same leaf twice have other roots than those with it once, and
// leaves of zeros change n at least (CVE-2012-2459).
func TestTreeShape(t *testing.T) {
	seen := map[[32]byte]int{}
	for n := 1; n <= 33; n++ {
		_, hashes := testLeaves(n)
		for _, list := range [][][32]byte{hashes, append(slices.Clone(hashes), hashes[n-1])} {
			root := rootOf(slices.Clone(list))
			if was, ok := seen[root]; ok && was != n {
				t.Fatalf("trees of %d and %d leaves have one root", was, n)
			}
			seen[root] = n
		}
	}
	// The root alone doesn't tell a leaf that is missing from one whose hash is zero. The
	// statement does, by n, if there could be such a leaf.
	prop := Prop{N: 3}
	other := prop
	other.N = 4
	if prop.Red().Digest() == other.Red().Digest() {
		t.Error("the statement doesn't contain n")
	}
}

func TestTreePanics(t *testing.T) {
	_, hashes := testLeaves(3)
	tree := NewTree(hashes)
	for name, f := range map[string]func(){
		"no leaves":  func() { NewTree(nil) },
		"index -1":   func() { tree.Proof(-1) },
		"index n":    func() { tree.Proof(3) },
		"in padding": func() { tree.Proof(4) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestZeroHashes(t *testing.T) {
	if zeroHashes[0] != [32]byte{} {
		t.Error("at the leaves")
	}
	// Z_1 is known from Ethereum's deposit contract, which pads trees in the same way.
	if !bytes.Equal(zeroHashes[1][:], unhex(t, "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b")) {
		t.Errorf("%x", zeroHashes[1])
	}
}

func FuzzVerifyProof(f *testing.F) {
	_, hashes := testLeaves(6)
	root := NewTree(slices.Clone(hashes)).Root()
	f.Add(uint64(6), uint64(2), hashes[2][:], make([]byte, 96))
	f.Fuzz(func(t *testing.T, n, i uint64, leaf, siblings []byte) {
		var h [32]byte
		copy(h[:], leaf)
		var list [][32]byte
		for ; len(siblings) >= 32; siblings = siblings[32:] {
			list = append(list, [32]byte(siblings))
		}
		if VerifyProof(root, n, i, h, list) == nil && n == 6 && (i > 5 || h != hashes[i]) {
			t.Error("a forged proof")
		}
	})
}
