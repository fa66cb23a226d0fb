// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package arweave

import (
	"crypto/sha256"
	"encoding/binary"
)

// Sizes of chunks.
const (
	maxChunk = 256 << 10
	minChunk = 32 << 10
)

// A node is a subtree of the data's Merkle tree.
type node struct {
	hash [sha256.Size]byte
	end  int // of its data
}

// DataRoot returns the Merkle root of data as wallets compute it, nil if there is none.
//
// Data is cut into chunks of 256 KiB; where the last would come out shorter
// than 32 KiB the last two share evenly, and data that ends with a full chunk
// has an empty one after it. Leaves and branches hash what they hold, and the
// offset where it ends.
func DataRoot(data []byte) []byte {
	if len(data) == 0 {
		return nil
	}
	var level []node
	rest, end := data, 0
	leaf := func(n int) {
		end += n
		h := sha256.Sum256(rest[:n])
		level = append(level, node{hashAll(h[:], offset(end)), end})
		rest = rest[n:]
	}
	for len(rest) >= maxChunk {
		n := maxChunk
		if over := len(rest) - maxChunk; over > 0 && over < minChunk {
			n = (len(rest) + 1) / 2
		}
		leaf(n)
	}
	leaf(len(rest))

	for len(level) > 1 {
		var up []node
		for i := 0; i+1 < len(level); i += 2 {
			left, right := level[i], level[i+1]
			up = append(up, node{hashAll(left.hash[:], right.hash[:], offset(left.end)), right.end})
		}
		if len(level)%2 == 1 {
			up = append(up, level[len(level)-1])
		}
		level = up
	}
	return level[0].hash[:]
}

// offset returns a 256-bit big-endian number.
func offset(n int) []byte {
	b := make([]byte, 32)
	binary.BigEndian.PutUint64(b[24:], uint64(n))
	return b
}

// hashAll hashes the hashes of its parts.
func hashAll(parts ...[]byte) [sha256.Size]byte {
	var sums []byte
	for _, p := range parts {
		h := sha256.Sum256(p)
		sums = append(sums, h[:]...)
	}
	return sha256.Sum256(sums)
}
