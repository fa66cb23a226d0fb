// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// The encoding of a batch: a version, the header, columns of varints (ids as
// differences less one, nonces, expiries less the batch's, lengths of payloads), the
// payloads, the positions of the stragglers, their signatures, the aggregate and the
// aggregator's signature. Every batch has one encoding.
const (
	batchVersion = 1
	headerSize   = 1 + 32 + 4*8 + 1 + 8
)

// The ways to give the positions of stragglers. The shorter one is taken.
const (
	positionsBitmap = iota // of all leaves, from the least bit of the first byte on
	positionsList          // their number, and differences less one
)

// appendHeader appends the version and the header.
func (h *Header) append(dst []byte) []byte {
	dst = append(dst, batchVersion)
	dst = append(dst, h.Net[:]...)
	for _, v := range [...]uint64{h.Dirver, h.AggID, h.Seq, h.ValidUntil} {
		dst = binary.BigEndian.AppendUint64(dst, v)
	}
	dst = append(dst, byte(h.Mode))
	return binary.BigEndian.AppendUint64(dst, h.N)
}

// MarshalBinary returns the encoding. It fails if the columns don't fit together or
// aren't in order: what it returns can be decoded, within the network's limits.
func (b *Batch) MarshalBinary() ([]byte, error) {
	e, err := b.Unsigned()
	if err != nil {
		return nil, err
	}
	return append(e, b.Signature[:]...), nil
}

// Sign sets the aggregator's signature, and returns the encoding.
func (b *Batch) Sign(key ed25519.PrivateKey) ([]byte, error) {
	e, err := b.Unsigned()
	if err != nil {
		return nil, err
	}
	bat := Bat{b.Net, b.AggID, b.Seq, sha256.Sum256(e)}
	copy(b.Signature[:], ed25519.Sign(key, bat.Bytes()))
	return append(e, b.Signature[:]...), nil
}

// Unsigned returns the encoding without the aggregator's signature: its hash is the
// batch's digest.
func (b *Batch) Unsigned() ([]byte, error) {
	if err := b.checkColumns(); err != nil {
		return nil, err
	}
	h := b.Header()
	e := make([]byte, 0, headerSize+16*b.Len()+len(b.Payloads.Data)+len(b.StragglerSigs)+aggregateSize+signatureSize)
	e = h.append(e)
	next := uint64(0) // the least id that may come
	for _, id := range b.IDs {
		e = binary.AppendUvarint(e, id-next)
		next = id + 1
	}
	for _, nonce := range b.Nonces {
		e = binary.AppendUvarint(e, nonce)
	}
	for _, notAfter := range b.NotAfter {
		e = binary.AppendUvarint(e, notAfter-b.ValidUntil)
	}
	from := uint32(0)
	for _, end := range b.Payloads.Ends {
		e = binary.AppendUvarint(e, uint64(end-from))
		from = end
	}
	e = append(e, b.Payloads.Data...)
	e = appendPositions(e, b.Stragglers, b.Len())
	e = append(e, b.StragglerSigs...)
	return append(e, b.Aggregate...), nil
}

// checkColumns verifies what the encoding takes for granted.
func (b *Batch) checkColumns() error {
	n := len(b.IDs)
	switch {
	case b.Mode >= modes:
		return reject(RuleMode)
	case n == 0:
		return reject(RuleEmpty)
	case n > 1<<MaxDepth:
		return reject(RuleLeaves)
	case len(b.Nonces) != n || len(b.NotAfter) != n || b.Payloads.Len() != n:
		return reject(RuleColumns)
	}
	for i := range n {
		if i > 0 && b.IDs[i] <= b.IDs[i-1] {
			return rejectAt(RuleOrder, i)
		}
		if b.NotAfter[i] < b.ValidUntil {
			return rejectAt(RuleNotAfter, i)
		}
	}
	from := uint32(0)
	for i, end := range b.Payloads.Ends {
		if end < from {
			return rejectAt(RuleColumns, i)
		}
		from = end
	}
	if int(from) != len(b.Payloads.Data) {
		return reject(RuleColumns)
	}
	for i, at := range b.Stragglers {
		if int(at) >= n || i > 0 && at <= b.Stragglers[i-1] {
			return rejectAt(RulePositions, i)
		}
		if b.Mode == ModeLean && len(b.Payloads.At(int(at))) != 32 {
			return rejectAt(RuleAbsentHash, int(at))
		}
	}
	sigs := 0
	if b.Mode == ModeEd25519 {
		sigs = signatureSize * len(b.Stragglers)
	}
	aggregate := 0
	if hasAggregate(b.Mode, n, len(b.Stragglers)) {
		aggregate = aggregateSize
	}
	if len(b.StragglerSigs) != sigs || len(b.Aggregate) != aggregate {
		return reject(RuleColumns)
	}
	return nil
}

// hasAggregate reports whether there is something for an aggregate to be of.
func hasAggregate(m Mode, n, stragglers int) bool { return m == ModeFolded || stragglers < n }

func appendPositions(e []byte, list []uint32, n int) []byte {
	if bitmapIsShorter(list, n) {
		e = append(e, positionsBitmap)
		at := len(e)
		e = append(e, make([]byte, (n+7)/8)...)
		for _, i := range list {
			e[at+int(i/8)] |= 1 << (i % 8)
		}
		return e
	}
	e = append(e, positionsList)
	e = binary.AppendUvarint(e, uint64(len(list)))
	next := uint32(0)
	for _, i := range list {
		e = binary.AppendUvarint(e, uint64(i-next))
		next = i + 1
	}
	return e
}

// bitmapIsShorter reports whether a bitmap is shorter than the list, or as long.
func bitmapIsShorter(list []uint32, n int) bool {
	bitmap := (n + 7) / 8
	if len(list) >= bitmap {
		return true
	}
	length := uvarintLen(uint64(len(list)))
	next := uint32(0)
	for _, i := range list {
		length += uvarintLen(uint64(i - next))
		next = i + 1
	}
	return bitmap <= length
}

func uvarintLen(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }
