// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package wire is the canonical binary codec of undersign's objects: big-endian
// integers of fixed size, and byte strings with a 32-bit length.
//
// There is one encoding for a value and one value for an encoding. A Decoder
// refuses what an Encoder would not have written: trailing bytes, leading zeros
// in an integer, a length over the caller's limit. It never allocates more than
// the input holds. It isn't constant time; a secret's length is public.
package wire

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
)

// An Encoder appends fields to a buffer. The zero value is ready to use.
type Encoder struct {
	b []byte
}

// Data returns the encoding so far.
func (e *Encoder) Data() []byte { return e.b }

// Grow makes room for n more bytes, so that they are appended without leaving a
// copy of what is there behind. An encoder of secrets calls it first.
func (e *Encoder) Grow(n int) { e.b = slices.Grow(e.b, n) }

// U8 appends one byte.
func (e *Encoder) U8(v uint8) { e.b = append(e.b, v) }

// U16 appends v in two bytes.
func (e *Encoder) U16(v uint16) { e.b = binary.BigEndian.AppendUint16(e.b, v) }

// U32 appends v in four bytes.
func (e *Encoder) U32(v uint32) { e.b = binary.BigEndian.AppendUint32(e.b, v) }

// U64 appends v in eight bytes.
func (e *Encoder) U64(v uint64) { e.b = binary.BigEndian.AppendUint64(e.b, v) }

// Fixed appends b as it is: its length is known to the reader.
func (e *Encoder) Fixed(b []byte) { e.b = append(e.b, b...) }

// Bytes appends the length of b in four bytes, then b.
func (e *Encoder) Bytes(b []byte) {
	e.U32(uint32(len(b)))
	e.b = append(e.b, b...)
}

// Int appends x >= 0 as Bytes of its shortest big-endian form; 0 is the empty string.
func (e *Encoder) Int(x *big.Int) { e.Bytes(x.Bytes()) }

// A Decoder reads fields from a buffer. The first error sticks: later reads
// return zero values, and Finish reports it.
type Decoder struct {
	b   []byte
	off int
	err error
}

// NewDecoder returns a Decoder for b. What it returns never aliases b.
func NewDecoder(b []byte) *Decoder { return &Decoder{b: b} }

// Err returns the first error.
func (d *Decoder) Err() error { return d.err }

// Fail records an error of the caller's about the named field.
func (d *Decoder) Fail(field, format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%s (byte %d): %s", field, d.off, fmt.Sprintf(format, args...))
	}
}

// Remaining returns the number of bytes not yet read.
func (d *Decoder) Remaining() int {
	if d.err != nil {
		return 0
	}
	return len(d.b) - d.off
}

// Finish returns the first error, or an error if bytes are left over.
func (d *Decoder) Finish() error {
	if n := d.Remaining(); d.err == nil && n != 0 {
		d.err = fmt.Errorf("%d bytes after the last field (byte %d)", n, d.off)
	}
	return d.err
}

// next returns the next n bytes of the input, or nil after an error.
func (d *Decoder) next(field string, n int) []byte {
	if d.err != nil {
		return nil
	}
	if n < 0 || n > len(d.b)-d.off {
		d.Fail(field, "truncated: needs %d bytes, has %d", n, len(d.b)-d.off)
		return nil
	}
	d.off += n
	return d.b[d.off-n : d.off]
}

// U8 reads one byte.
func (d *Decoder) U8(field string) uint8 {
	if b := d.next(field, 1); b != nil {
		return b[0]
	}
	return 0
}

// U16 reads two bytes.
func (d *Decoder) U16(field string) uint16 {
	if b := d.next(field, 2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

// U32 reads four bytes.
func (d *Decoder) U32(field string) uint32 {
	if b := d.next(field, 4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// U64 reads eight bytes.
func (d *Decoder) U64(field string) uint64 {
	if b := d.next(field, 8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// Fixed reads n bytes. After an error it returns nil.
func (d *Decoder) Fixed(field string, n int) []byte {
	b := d.next(field, n)
	if b == nil {
		return nil
	}
	return append(make([]byte, 0, n), b...)
}

// Read fills dst.
func (d *Decoder) Read(field string, dst []byte) {
	copy(dst, d.next(field, len(dst)))
}

// Bytes reads a byte string of at most max bytes. After an error it returns nil.
func (d *Decoder) Bytes(field string, max int) []byte {
	n := d.U32(field)
	if d.err == nil && uint64(n) > uint64(max) {
		d.Fail(field, "length %d is over the limit of %d", n, max)
	}
	if d.err != nil {
		return nil
	}
	return d.Fixed(field, int(n))
}

// Int reads an integer of at most max bytes, which must have no leading zeros.
// After an error it returns 0.
func (d *Decoder) Int(field string, max int) *big.Int {
	b := d.Bytes(field, max)
	if len(b) > 0 && b[0] == 0 {
		d.Fail(field, "integer with a leading zero")
	}
	if d.err != nil {
		return new(big.Int)
	}
	return new(big.Int).SetBytes(b)
}

// Header reads the two bytes that start every object and checks them.
func (d *Decoder) Header(version, suite uint8) {
	if v := d.U8("version"); d.err == nil && v != version {
		d.Fail("version", "%d, and this release reads version %d", v, version)
	}
	if s := d.U8("suite"); d.err == nil && s != suite {
		d.Fail("suite", "%d, and this release reads suite %d", s, suite)
	}
}
