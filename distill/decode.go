// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"encoding/binary"
)

// DecodeHeader reads the fields before the leaves. It isn't known yet who wrote them.
func DecodeHeader(encoded []byte) (Header, error) {
	if len(encoded) < headerSize+signatureSize || encoded[0] != batchVersion {
		return Header{}, reject(RuleHeader)
	}
	b := encoded[1:]
	u64 := func() uint64 {
		v := binary.BigEndian.Uint64(b)
		b = b[8:]
		return v
	}
	h := Header{Net: NetworkID(b)}
	b = b[32:]
	h.Dirver, h.AggID, h.Seq, h.ValidUntil = u64(), u64(), u64(), u64()
	h.Mode = Mode(b[0])
	b = b[1:]
	h.N = u64()
	return h, nil
}

// DecodeBatch reads a batch within the limits of a network. It accepts what MarshalBinary
// writes, and nothing else. No signature is verified.
func DecodeBatch(encoded []byte, p *Params) (*Batch, error) {
	if uint64(len(encoded)) > p.MaxBatch {
		return nil, reject(RuleBatchSize)
	}
	h, err := DecodeHeader(encoded)
	if err != nil {
		return nil, err
	}
	switch {
	case !p.Modes.Has(h.Mode):
		return nil, reject(RuleMode)
	case h.N == 0:
		return nil, reject(RuleEmpty)
	case h.N > p.MaxLeaves:
		return nil, reject(RuleLeaves)
	}
	d := decoder{b: encoded[headerSize : len(encoded)-signatureSize]}
	b := &Batch{
		Net: h.Net, Dirver: h.Dirver, AggID: h.AggID, Seq: h.Seq, ValidUntil: h.ValidUntil, Mode: h.Mode,
		Signature: [64]byte(encoded[len(encoded)-signatureSize:]),
	}
	if err := d.leaves(b, int(h.N), p); err != nil {
		return nil, err
	}
	if b.Stragglers, err = d.positions(b.Len()); err != nil {
		return nil, err
	}
	if len(b.Stragglers) > p.MaxStragglers(b.Mode, b.Len()) {
		return nil, reject(RuleStragglers)
	}
	if err := b.checkPayloads(p); err != nil {
		return nil, err
	}
	if b.Mode == ModeEd25519 {
		b.StragglerSigs = d.take(signatureSize * len(b.Stragglers))
	}
	if hasAggregate(b.Mode, b.Len(), len(b.Stragglers)) {
		b.Aggregate = d.take(aggregateSize)
	}
	switch {
	case d.short:
		return nil, reject(RuleTruncated)
	case len(d.b) > 0:
		return nil, reject(RuleTrailing)
	}
	return b, nil
}

type decoder struct {
	b     []byte
	short bool // there were too few bytes
}

// take returns a copy of the next n bytes.
func (d *decoder) take(n int) []byte {
	if n > len(d.b) {
		d.short, d.b = true, nil
		return nil
	}
	p := append([]byte(nil), d.b[:n]...)
	d.b = d.b[n:]
	return p
}

// leaves reads the columns. Each leaf has at least a byte in each of four, so that no
// more is allocated than a multiple of the input.
func (d *decoder) leaves(b *Batch, n int, p *Params) error {
	if 4*n > len(d.b) {
		return reject(RuleTruncated)
	}
	column := make([]uint64, 3*n)
	b.IDs, b.Nonces, b.NotAfter = column[:n:n], column[n:2*n:2*n], column[2*n:]
	if err := d.column(b.IDs); err != nil {
		return err
	}
	last := b.IDs[0]
	for i, delta := range b.IDs[1:] {
		id := last + delta + 1
		if id <= last {
			return rejectAt(RuleOrder, i+1)
		}
		b.IDs[i+1] = id
		last = id
	}
	if err := d.column(b.Nonces); err != nil {
		return err
	}
	if err := d.column(b.NotAfter); err != nil {
		return err
	}
	for i, ahead := range b.NotAfter {
		if ahead > p.MaxAhead || ahead+b.ValidUntil < ahead {
			return rejectAt(RuleNotAfter, i)
		}
		b.NotAfter[i] = ahead + b.ValidUntil
	}
	return d.payloads(&b.Payloads, n)
}

// payloads reads the lengths and the bytes of n payloads.
func (d *decoder) payloads(p *Payloads, n int) error {
	lengths := make([]uint64, n)
	if err := d.column(lengths); err != nil {
		return err
	}
	p.Ends = make([]uint32, n)
	end := uint64(0)
	for i, length := range lengths {
		if length > uint64(len(d.b))-end {
			return reject(RuleTruncated)
		}
		end += length
		p.Ends[i] = uint32(end)
	}
	p.Data = d.take(int(end))
	return nil
}

// checkPayloads verifies the lengths of payloads, and of the hashes in their places.
func (b *Batch) checkPayloads(p *Params) error {
	absent := b.Stragglers
	if b.Mode != ModeLean {
		absent = nil
	}
	from := uint32(0)
	for i, end := range b.Payloads.Ends {
		length := end - from
		from = end
		if len(absent) > 0 && int(absent[0]) == i {
			absent = absent[1:]
			if length != 32 {
				return rejectAt(RuleAbsentHash, i)
			}
		} else if uint64(length) > p.MaxPayload {
			return rejectAt(RulePayloadSize, i)
		}
	}
	return nil
}

// column reads varints.
func (d *decoder) column(dst []uint64) error {
	b := d.b
	for i := range dst {
		if len(b) > 0 && b[0] < 0x80 {
			dst[i] = uint64(b[0])
			b = b[1:]
			continue
		}
		v, n := binary.Uvarint(b)
		switch {
		case n == 0:
			return reject(RuleTruncated)
		case n < 0 || b[n-1] == 0:
			return reject(RuleVarint)
		}
		dst[i] = v
		b = b[n:]
	}
	d.b = b
	return nil
}

// positions reads the positions of stragglers among n leaves, in the shorter form.
func (d *decoder) positions(n int) ([]uint32, error) {
	if len(d.b) == 0 {
		return nil, reject(RuleTruncated)
	}
	kind := d.b[0]
	d.b = d.b[1:]
	var list []uint32
	var err error
	switch kind {
	case positionsBitmap:
		list, err = d.bitmap(n)
	case positionsList:
		list, err = d.list(n)
	default:
		return nil, reject(RulePositions)
	}
	if err == nil && (kind == positionsBitmap) != bitmapIsShorter(list, n) {
		return nil, reject(RulePositions)
	}
	return list, err
}

func (d *decoder) bitmap(n int) (list []uint32, err error) {
	bitmap := d.take((n + 7) / 8)
	if d.short {
		return nil, reject(RuleTruncated)
	}
	for i, b := range bitmap {
		for j := range 8 {
			if b>>j&1 == 0 {
				continue
			}
			if 8*i+j >= n {
				return nil, reject(RulePositions)
			}
			list = append(list, uint32(8*i+j))
		}
	}
	return list, nil
}

func (d *decoder) list(n int) ([]uint32, error) {
	var count [1]uint64
	if err := d.column(count[:]); err != nil {
		return nil, err
	}
	if count[0] > uint64(n) {
		return nil, reject(RulePositions)
	}
	if count[0] > uint64(len(d.b)) {
		return nil, reject(RuleTruncated)
	}
	if count[0] == 0 {
		return nil, nil
	}
	deltas := make([]uint64, count[0])
	if err := d.column(deltas); err != nil {
		return nil, err
	}
	list := make([]uint32, len(deltas))
	next := uint64(0)
	for i, delta := range deltas {
		if delta >= uint64(n)-next {
			return nil, reject(RulePositions)
		}
		list[i] = uint32(next + delta)
		next += delta + 1
	}
	return list, nil
}
