// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill_test

import (
	"fmt"

	"github.com/undersign/undersign/distill"
)

// A client verifies that its own leaf is in the tree before it signs the root.
func ExampleVerifyProof() {
	var hashes [][32]byte
	for id := range uint64(5) {
		payload := fmt.Appendf(nil, "message of %d", id)
		leaf := distill.Leaf{ID: id, Nonce: 1, NotAfter: 1000, PayloadHash: distill.PayloadHash(payload)}
		hashes = append(hashes, leaf.Hash())
	}
	tree := distill.NewTree(hashes)
	root, proof := tree.Root(), tree.Proof(3)

	mine := distill.Leaf{ID: 3, Nonce: 1, NotAfter: 1000, PayloadHash: distill.PayloadHash([]byte("message of 3"))}
	fmt.Println(distill.VerifyProof(root, 5, 3, mine.Hash(), proof))

	mine.PayloadHash = distill.PayloadHash([]byte("pay everything to the aggregator"))
	fmt.Println(distill.VerifyProof(root, 5, 3, mine.Hash(), proof))
	// Output:
	// <nil>
	// distill: proof leads to another root
}
