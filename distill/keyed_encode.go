// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"

	"github.com/undersign/undersign/bls"
)

// The encoding of a batch of keys: a version, the header, the keys, columns of varints
// (expiries less the batch's, lengths of payloads), the payloads, the positions of the
// stragglers, the aggregate, and the aggregator's signature if the flags say so.
const (
	keyedVersion    = 0x4b // other than that of batches with ids
	keyedHeaderSize = 1 + 32 + 3*8 + 1 + 8
)

// MarshalBinary returns the encoding. It fails if the columns don't fit together or
// aren't in order.
func (b *KeyedBatch) MarshalBinary() ([]byte, error) {
	e, err := b.Unsigned()
	if err == nil && b.Flags&KeyedSigned != 0 {
		e = append(e, b.Signature[:]...)
	}
	return e, err
}

// Sign sets the aggregator's signature, which the flags must ask for, and returns the
// encoding.
func (b *KeyedBatch) Sign(key ed25519.PrivateKey) ([]byte, error) {
	if b.Flags&KeyedSigned == 0 {
		return nil, reject(RuleMode)
	}
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
func (b *KeyedBatch) Unsigned() ([]byte, error) {
	if err := b.checkColumns(); err != nil {
		return nil, err
	}
	n := b.Len()
	e := make([]byte, 0, keyedHeaderSize+n*(len(KeyBytes{})+8)+len(b.Payloads.Data)+len(b.Aggregate)+signatureSize)
	e = append(e, keyedVersion)
	e = append(e, b.Net[:]...)
	for _, v := range [...]uint64{b.AggID, b.Seq, b.ValidUntil} {
		e = binary.BigEndian.AppendUint64(e, v)
	}
	e = append(e, byte(b.Flags))
	e = binary.BigEndian.AppendUint64(e, uint64(n))
	for i := range b.Keys {
		e = append(e, b.Keys[i][:]...)
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
	e = appendPositions(e, b.Stragglers, n)
	return append(e, b.Aggregate[:]...), nil
}

// checkColumns verifies what the encoding takes for granted.
func (b *KeyedBatch) checkColumns() error {
	n := len(b.Keys)
	switch {
	case b.Flags&^allKeyedFlags != 0:
		return reject(RuleMode)
	case n == 0:
		return reject(RuleEmpty)
	case n > 1<<MaxDepth:
		return reject(RuleLeaves)
	case len(b.NotAfter) != n || b.Payloads.Len() != n:
		return reject(RuleColumns)
	}
	if err := checkKeyOrder(b.Keys); err != nil {
		return err
	}
	for i, notAfter := range b.NotAfter {
		if notAfter < b.ValidUntil {
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
	}
	return nil
}

// checkKeyOrder verifies that keys ascend strictly.
func checkKeyOrder(keys []KeyBytes) error {
	for i := 1; i < len(keys); i++ {
		switch c := bytes.Compare(keys[i-1][:], keys[i][:]); {
		case c == 0:
			return rejectAt(RuleKeyedTwice, i)
		case c > 0:
			return rejectAt(RuleKeyedOrder, i)
		}
	}
	return nil
}

// DecodeKeyedBatch reads a batch within the limits of a network. It accepts what
// MarshalBinary writes, and nothing else. No signature is verified, and no key decoded.
func DecodeKeyedBatch(encoded []byte, p *Params) (*KeyedBatch, error) {
	if uint64(len(encoded)) > p.MaxBatch {
		return nil, reject(RuleBatchSize)
	}
	b, n, err := decodeKeyedHeader(encoded)
	if err != nil {
		return nil, err
	}
	switch {
	case b.Flags&^allKeyedFlags != 0:
		return nil, reject(RuleMode)
	case n == 0:
		return nil, reject(RuleEmpty)
	case n > p.MaxLeaves:
		return nil, reject(RuleLeaves)
	}
	d := decoder{b: encoded[keyedHeaderSize:]}
	if b.Flags&KeyedSigned != 0 {
		if len(d.b) < signatureSize {
			return nil, reject(RuleTruncated)
		}
		at := len(d.b) - signatureSize
		b.Signature = [signatureSize]byte(d.b[at:])
		d.b = d.b[:at]
	}
	if err := d.keyedLeaves(b, int(n), p); err != nil {
		return nil, err
	}
	if b.Stragglers, err = d.positions(b.Len()); err != nil {
		return nil, err
	}
	if len(b.Stragglers) > p.MaxStragglers(ModeFolded, b.Len()) {
		return nil, reject(RuleStragglers)
	}
	copy(b.Aggregate[:], d.take(len(b.Aggregate)))
	switch {
	case d.short:
		return nil, reject(RuleTruncated)
	case len(d.b) > 0:
		return nil, reject(RuleTrailing)
	}
	return b, nil
}

// decodeKeyedHeader reads the fields before the leaves, and the number of these.
func decodeKeyedHeader(encoded []byte) (b *KeyedBatch, n uint64, err error) {
	if len(encoded) < keyedHeaderSize || encoded[0] != keyedVersion {
		return nil, 0, reject(RuleHeader)
	}
	p := encoded[1:]
	b = &KeyedBatch{Net: NetworkID(p)}
	p = p[32:]
	for _, v := range []*uint64{&b.AggID, &b.Seq, &b.ValidUntil} {
		*v = binary.BigEndian.Uint64(p)
		p = p[8:]
	}
	b.Flags = KeyedFlags(p[0])
	return b, binary.BigEndian.Uint64(p[1:]), nil
}

// keyedLeaves reads the columns. Each leaf has a key and two bytes, so that no more is
// allocated than a multiple of the input.
func (d *decoder) keyedLeaves(b *KeyedBatch, n int, p *Params) error {
	const size = bls.PublicKeySize
	if n > len(d.b)/(size+2) {
		return reject(RuleTruncated)
	}
	b.Keys = make([]KeyBytes, n)
	for i := range b.Keys {
		copy(b.Keys[i][:], d.b[size*i:])
	}
	d.b = d.b[size*n:]
	if err := checkKeyOrder(b.Keys); err != nil {
		return err
	}
	b.NotAfter = make([]uint64, n)
	if err := d.column(b.NotAfter); err != nil {
		return err
	}
	for i, ahead := range b.NotAfter {
		if ahead > p.MaxAhead || ahead+b.ValidUntil < ahead {
			return rejectAt(RuleNotAfter, i)
		}
		b.NotAfter[i] = ahead + b.ValidUntil
	}
	if err := d.payloads(&b.Payloads, n); err != nil {
		return err
	}
	from := uint32(0)
	for i, end := range b.Payloads.Ends {
		if uint64(end-from) > p.MaxPayload {
			return rejectAt(RulePayloadSize, i)
		}
		from = end
	}
	return nil
}
