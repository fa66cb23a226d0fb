// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"bytes"
	"errors"
	"testing"
)

func provenKeys(t testing.TB, n int) []*ProvenKey {
	keys := make([]*ProvenKey, n)
	for i, sk := range numbered(t, n) {
		keys[i] = AssumeProvenUnsafe(sk.PublicKey())
	}
	return keys
}

// What was written and read is the same list, down to the total that sums of most keys
// are taken from.
func TestKeysUncompressed(t *testing.T) {
	keys := provenKeys(t, 9)
	var l, m Keys
	if err := l.Add(keys...); err != nil {
		t.Fatal(err)
	}
	b := l.AppendUncompressed([]byte("x"), 0)
	if b[0] != 'x' || len(b) != 1+9*96 {
		t.Fatalf("%d bytes", len(b))
	}
	for _, part := range [][]byte{b[1 : 1+4*96], nil, l.AppendUncompressed(nil, 4), l.AppendUncompressed(nil, 9)} {
		if err := m.AddUncompressedUnsafe(part); err != nil {
			t.Fatal(err)
		}
	}
	if m.Len() != 9 || !bytes.Equal(m.AppendUncompressed(nil, 0), b[1:]) {
		t.Error("not the same list")
	}
	for _, at := range [][]int{{2, 7}, {0, 1, 2, 3, 5, 6, 7, 8}} {
		want := must[*ProvenKey](t)(l.Sum(at))
		if got := must[*ProvenKey](t)(m.Sum(at)); !got.Equal(want) {
			t.Errorf("another sum of %v", at)
		}
	}
}

func TestKeysUncompressedRefused(t *testing.T) {
	var l Keys
	if err := l.Add(provenKeys(t, 2)...); err != nil {
		t.Fatal(err)
	}
	good := l.AppendUncompressed(nil, 0)
	offCurve := bytes.Clone(good)
	offCurve[191] ^= 1
	identity := bytes.Clone(good)
	clear(identity[96:])
	identity[96] = 0x40
	compressed := bytes.Clone(good)
	compressed[96] |= 0x80
	for name, b := range map[string][]byte{"short": good[:191], "off the curve": offCurve, "identity": identity, "compressed": compressed} {
		if err := l.AddUncompressedUnsafe(b); !errors.Is(err, ErrKey) {
			t.Errorf("%s: %v", name, err)
		}
		if l.Len() != 2 {
			t.Fatalf("%s: added in spite of the error", name)
		}
	}
}

func BenchmarkKeysAddUncompressedUnsafe(b *testing.B) {
	var l Keys
	if err := l.Add(provenKeys(b, 256)...); err != nil {
		b.Fatal(err)
	}
	enc := l.AppendUncompressed(nil, 0)
	for b.Loop() {
		var m Keys
		if err := m.AddUncompressedUnsafe(enc); err != nil {
			b.Fatal(err)
		}
	}
}
