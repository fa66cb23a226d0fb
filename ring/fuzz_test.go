// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"bytes"
	"encoding"
	"testing"
)

// FuzzDecode holds all decoders to one encoding for a value, and lets what is decoded be
// verified.
func FuzzDecode(f *testing.F) {
	var rings []*Ring
	for _, g := range Groups() {
		r, secret := newRingOf(f, g, 2)
		rings = append(rings, r)
		sig := sign(f, secret[0], r, "message", nil)
		for _, x := range []encoding.BinaryMarshaler{r, sig, expand(f, r, "message", sig, nil), r.Key(0), secret[0]} {
			f.Add(encode(f, x))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, x := range []interface {
			encoding.BinaryMarshaler
			encoding.BinaryUnmarshaler
		}{new(Ring), new(Signature), new(PublicKey), new(PrivateKey)} {
			if x.UnmarshalBinary(data) != nil {
				continue
			}
			if b, err := x.MarshalBinary(); err != nil || !bytes.Equal(b, data) {
				t.Errorf("%T: %x, and encoded %x: %v", x, data, b, err)
			}
			if sig, ok := x.(*Signature); ok {
				for _, r := range rings {
					r.Verify([]byte("another message"), sig, nil)
				}
			}
		}
	})
}
