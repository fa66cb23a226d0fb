// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"math"
	"math/big"
	"strings"
	"testing"
)

func sample() []byte {
	var e Encoder
	e.U8(1)
	e.U8(2)
	e.U16(0x0304)
	e.U32(0x05060708)
	e.U64(0x090a0b0c0d0e0f10)
	e.Fixed([]byte("fix"))
	e.Bytes([]byte("var"))
	e.Int(big.NewInt(0x1234))
	e.Int(new(big.Int))
	return e.Data()
}

func decode(b []byte) ([]any, error) {
	d := NewDecoder(b)
	d.Header(1, 2)
	v := []any{d.U16("a"), d.U32("b"), d.U64("c"), string(d.Fixed("fixed", 3)), string(d.Bytes("bytes", 3)),
		d.Int("int", 2).Int64(), d.Int("zero", 2).Int64()}
	return v, d.Finish()
}

func TestRoundTrip(t *testing.T) {
	v, err := decode(sample())
	if err != nil {
		t.Fatal(err)
	}
	want := []any{uint16(0x0304), uint32(0x05060708), uint64(0x090a0b0c0d0e0f10), "fix", "var", int64(0x1234), int64(0)}
	for i := range want {
		if v[i] != want[i] {
			t.Errorf("field %d: %v, want %v", i, v[i], want[i])
		}
	}
}

func TestTruncated(t *testing.T) {
	b := sample()
	for i := range b {
		if _, err := decode(b[:i]); err == nil {
			t.Errorf("accepted the first %d of %d bytes", i, len(b))
		}
	}
	if _, err := decode(append(b, 0)); err == nil || !strings.Contains(err.Error(), "after the last field") {
		t.Errorf("trailing byte: %v", err)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []byte
		read func(*Decoder)
		want string
	}{
		{"version", []byte{9, 2}, func(d *Decoder) { d.Header(1, 2) }, "version"},
		{"suite", []byte{1, 9}, func(d *Decoder) { d.Header(1, 2) }, "suite"},
		{"limit", []byte{0, 0, 0, 4, 1, 2, 3, 4}, func(d *Decoder) { d.Bytes("f", 3) }, "over the limit"},
		{"huge length", []byte{0x7f, 0xff, 0xff, 0xff}, func(d *Decoder) { d.Bytes("f", math.MaxInt) }, "truncated"},
		{"leading zero", []byte{0, 0, 0, 2, 0, 1}, func(d *Decoder) { d.Int("f", 8) }, "leading zero"},
		{"zero as a byte", []byte{0, 0, 0, 1, 0}, func(d *Decoder) { d.Int("f", 8) }, "leading zero"},
		{"negative", nil, func(d *Decoder) { d.Fixed("f", -1) }, "truncated"},
		{"own error", []byte{7}, func(d *Decoder) { d.U8("f"); d.Fail("f", "is %d", 7); d.U8("g") }, "f (byte 1): is 7"},
	} {
		d := NewDecoder(c.in)
		c.read(d)
		if err := d.Finish(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestNoAlias(t *testing.T) {
	b := []byte{1, 2, 3}
	f := NewDecoder(b).Fixed("f", 3)
	b[0] = 9
	if f[0] != 1 {
		t.Error("Fixed aliases the input")
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add(sample())
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := decode(b)
		if err != nil {
			return
		}
		var e Encoder
		e.U8(1)
		e.U8(2)
		e.U16(v[0].(uint16))
		e.U32(v[1].(uint32))
		e.U64(v[2].(uint64))
		e.Fixed([]byte(v[3].(string)))
		e.Bytes([]byte(v[4].(string)))
		e.Int(big.NewInt(v[5].(int64)))
		e.Int(big.NewInt(v[6].(int64)))
		if !bytes.Equal(e.Data(), b) {
			t.Errorf("two encodings of one value: %x and %x", b, e.Data())
		}
	})
}
