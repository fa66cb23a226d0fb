// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import (
	"encoding/binary"

	"github.com/undersign/undersign/distill"
)

// Sizes are what a message takes, in bytes, on its way to the validators and to the
// aggregator.
type Sizes struct {
	Batch, CompactBatch     float64 // a message's part of a batch
	Submit, CompactSubmit   int     // of what a client sends first
	Numbers, CompactNumbers float64 // of Batch, what goes to nonces and sequence numbers
}

// CompareSizes returns what messages of so many bytes take in a batch of n, of whose clients
// late have not signed in time, with the modes' own numbers. Clients have sent as many
// messages as nonce says, about.
func CompareSizes(n, payload, late int, nonce uint64) (Sizes, error) {
	const clients = 1_000_000
	b := &distill.Batch{AggID: 7, Seq: 1 << 20, Dirver: 1000, ValidUntil: 1 << 24, Mode: distill.ModeEd25519}
	numbers, compact := 0, 8 // the raised number itself
	for i := range n {
		own := nonce - uint64(i)%(nonce/4+1)
		b.IDs = append(b.IDs, uint64(i)*(clients/uint64(n)))
		b.Nonces = append(b.Nonces, own)
		b.NotAfter = append(b.NotAfter, b.ValidUntil+500+uint64(i%1500))
		b.Payloads.Append(make([]byte, payload))
		numbers += varintSize(own)
		if i < late {
			b.Stragglers = append(b.Stragglers, uint32(i))
			b.StragglerSigs = append(b.StragglerSigs, make([]byte, 64)...)
			compact += varintSize(nonce - own) // how far behind it is
		}
	}
	b.Aggregate = make([]byte, 96)
	encoded, err := b.Unsigned()
	if err != nil {
		return Sizes{}, err
	}
	size := len(encoded) + 64
	// A submission has id, nonce, last height, payload and a signature. In the compact mode
	// it shows a certified head as well, without which its number isn't legitimate.
	submit := 3*8 + payload + 64
	head := len(distill.Hgt{}.Bytes()) - 16 - 32 + 1 + 96 // tag and network are known
	per := func(bytes int) float64 { return float64(bytes) / float64(n) }
	return Sizes{
		Batch: per(size), CompactBatch: per(size - numbers + compact),
		Submit: submit, CompactSubmit: submit + head,
		Numbers: per(numbers), CompactNumbers: per(compact),
	}, nil
}

func varintSize(v uint64) int { return len(binary.AppendUvarint(nil, v)) }
