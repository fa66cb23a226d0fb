// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/hashpairs"
)

// proofs are what clients verify by [distill.VerifyProof], of one tree: together, as hashes
// side by side take a third of the time.
type proofs struct {
	root  [32]byte
	n     uint64
	depth int
	nodes [][32]byte // of each, where its way up has come to
	index []uint64
	sibs  [][][32]byte
}

func newProofs(root [32]byte, n uint64) *proofs {
	return &proofs{root: root, n: n, depth: distill.Depth(n)}
}

func (p *proofs) add(leaf [32]byte, index uint64, siblings [][32]byte) {
	p.nodes, p.index, p.sibs = append(p.nodes, leaf), append(p.index, index), append(p.sibs, siblings)
}

// verify says of each whether it is right.
func (p *proofs) verify() []bool {
	good := make([]bool, len(p.nodes))
	if p.n > 1<<distill.MaxDepth {
		return good
	}
	for j := range good {
		good[j] = p.index[j] < p.n && len(p.sibs[j]) == p.depth
	}
	pairs := make([][32]byte, 2*len(good))
	for height := range p.depth {
		for j := range good {
			if !good[j] {
				continue
			}
			side := int(p.index[j] >> height & 1)
			pairs[2*j+side], pairs[2*j+1-side] = p.nodes[j], p.sibs[j][height]
		}
		hashpairs.Sum(p.nodes, pairs)
	}
	for j := range good {
		good[j] = good[j] && p.nodes[j] == p.root
	}
	return good
}
