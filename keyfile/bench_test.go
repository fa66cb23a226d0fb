// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import "testing"

func BenchmarkEncode(b *testing.B) {
	v := &fakePublic{make([]byte, 1<<20)}
	b.SetBytes(1 << 20)
	for b.Loop() {
		Encode(v)
	}
}

func BenchmarkParse(b *testing.B) {
	text, err := Encode(&fakePublic{make([]byte, 1<<20)})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(1 << 20)
	for b.Loop() {
		Parse(text)
	}
}
