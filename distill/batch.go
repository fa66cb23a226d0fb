// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"crypto/sha256"

	"github.com/undersign/undersign/bls"
)

// A Batch is messages of many clients with what authenticates them. Leaves are columns,
// in strictly ascending order of ids, each of the same length.
type Batch struct {
	Net        NetworkID
	Dirver     uint64 // version of the directory that says whose key an id means
	AggID      uint64
	Seq        uint64
	ValidUntil uint64 // last height at which the batch may be executed
	Mode       Mode

	IDs      []uint64
	Nonces   []uint64
	NotAfter []uint64 // each at least ValidUntil
	Payloads Payloads // an absent leaf has the payload's hash in its place

	// Stragglers are the indices of leaves whose clients didn't sign the root, in
	// ascending order: signed by other means, or absent in [ModeLean].
	Stragglers    []uint32
	StragglerSigs []byte // 64 bytes for each straggler in [ModeEd25519], or else none

	// Aggregate is the sum of the signatures of the root and, in [ModeFolded], of the
	// stragglers' own. It is nil if there are none.
	Aggregate []byte

	// Signature is the aggregator's, of the [Bat] statement.
	Signature [64]byte
}

// Len returns the number of leaves.
func (b *Batch) Len() int { return len(b.IDs) }

// Header returns the fields before the leaves.
func (b *Batch) Header() Header {
	return Header{b.Net, b.Dirver, b.AggID, b.Seq, b.ValidUntil, b.Mode, uint64(len(b.IDs))}
}

// Prop returns the statement by which the batch was proposed, for its root.
func (b *Batch) Prop(root [32]byte) Prop {
	return Prop{b.Net, b.Dirver, b.AggID, b.Seq, uint64(len(b.IDs)), root, b.ValidUntil}
}

// A Header is the fields of a batch before its leaves.
type Header struct {
	Net        NetworkID
	Dirver     uint64
	AggID      uint64
	Seq        uint64
	ValidUntil uint64
	Mode       Mode
	N          uint64 // leaves
}

// Payloads is a column of byte strings: one after the other, with the places where they end.
type Payloads struct {
	Data []byte
	Ends []uint32
}

// Len returns the number of payloads.
func (p *Payloads) Len() int { return len(p.Ends) }

// At returns a payload, which mustn't be changed.
func (p *Payloads) At(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = p.Ends[i-1]
	}
	return p.Data[from:p.Ends[i]:p.Ends[i]]
}

// Append appends a payload.
func (p *Payloads) Append(payload []byte) {
	p.Data = append(p.Data, payload...)
	p.Ends = append(p.Ends, uint32(len(p.Data)))
}

// BatchDigest returns the hash of an encoded batch without its aggregator's signature:
// what the [Bat] statement and the log are about.
func BatchDigest(encoded []byte) [32]byte {
	return sha256.Sum256(encoded[:max(0, len(encoded)-signatureSize)])
}

const (
	signatureSize = 64
	aggregateSize = bls.SignatureSize
)
