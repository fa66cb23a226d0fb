// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/wire"
)

// read reads all of b by f.
func read(b []byte, f func(*wire.Decoder)) error {
	d := wire.NewDecoder(b)
	f(d)
	return d.Finish()
}

func TestRead(t *testing.T) {
	var g1 bls12381.G1
	var g2 bls12381.G2
	var k bls12381.Scalar
	order, err := hex.DecodeString("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001")
	if err != nil {
		t.Fatal(err)
	}
	fill := func(first byte, n int) []byte { return append([]byte{first}, make([]byte, n-1)...) }
	for _, r := range []struct {
		name string
		read func(*wire.Decoder)
		good []byte
		bad  map[string][]byte
	}{
		{"G1", func(d *wire.Decoder) { ReadG1(d, "p", &g1) }, bls12381.G1Generator().Bytes(), map[string][]byte{
			"identity": fill(0xc0, 48), "order 3": fill(0x80, 48), "zeros": fill(0, 48), "x above p": bytes.Repeat([]byte{0x9f}, 48),
		}},
		{"G2", func(d *wire.Decoder) { ReadG2(d, "p", &g2) }, bls12381.G2Generator().Bytes(), map[string][]byte{
			"identity": fill(0xc0, 96), "zeros": fill(0, 96), "x above p": bytes.Repeat([]byte{0x9f}, 96),
		}},
		{"scalar", func(d *wire.Decoder) { ReadScalar(d, "k", &k) }, fill(0, 32), map[string][]byte{"order": order}},
		{"secret", func(d *wire.Decoder) { ReadSecret(d, "k", &k) }, fill(1, 32), map[string][]byte{"order": order, "zero": fill(0, 32)}},
	} {
		if err := read(r.good, r.read); err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
		r.bad["short"], r.bad["long"], r.bad["none"] = r.good[:len(r.good)-1], append(bytes.Clone(r.good), 0), nil
		for what, b := range r.bad {
			if read(b, r.read) == nil {
				t.Errorf("%s: %s: accepted", r.name, what)
			}
		}
	}
}

// What a secret is copied from is cleared.
func TestPutSecret(t *testing.T) {
	var e wire.Encoder
	b := []byte{1, 2, 3}
	PutSecret(&e, b)
	if !bytes.Equal(e.Data(), []byte{1, 2, 3}) || !bytes.Equal(b, make([]byte, 3)) {
		t.Errorf("%x, and %x is left", e.Data(), b)
	}
}
