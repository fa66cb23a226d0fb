// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package hashpairs

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func random(r *rand.ChaCha8, n int) [][32]byte {
	list := make([][32]byte, n)
	for i := range list {
		r.Read(list[i][:])
	}
	return list
}

func reference(src [][32]byte) [][32]byte {
	dst := make([][32]byte, len(src)/2)
	for i := range dst {
		dst[i] = sha256.Sum256(slices.Concat(src[2*i][:], src[2*i+1][:]))
	}
	return dst
}

// All counts, at places in memory that aren't aligned, write what they should and
// nothing beside it.
func TestSum(t *testing.T) {
	r := rand.NewChaCha8([32]byte{1})
	for n := range 200 {
		for _, offset := range []int{0, 1, 3} {
			src := random(r, 2*n+offset)[offset:]
			before := slices.Clone(src)
			want := reference(src)
			room := random(r, n+offset+20)
			kept := slices.Clone(room)
			dst := room[offset : offset+n]
			Sum(dst, src)
			if !slices.Equal(dst, want) {
				t.Fatalf("%d hashes: wrong", n)
			}
			if !slices.Equal(room[:offset], kept[:offset]) || !slices.Equal(room[offset+n:], kept[offset+n:]) {
				t.Fatalf("%d hashes: wrote beside them", n)
			}
			if !slices.Equal(src, before) {
				t.Fatalf("%d hashes: changed the source", n)
			}
		}
	}
}

// Bytes that aren't at a multiple of any power of two are no obstacle.
func TestUnaligned(t *testing.T) {
	r := rand.NewChaCha8([32]byte{2})
	type odd struct {
		_   [1]byte
		src [66][32]byte
		_   [1]byte
		dst [33][32]byte
	}
	for n := range 34 {
		x := new(odd)
		copy(x.src[:], random(r, len(x.src)))
		want := reference(x.src[:2*n])
		Sum(x.dst[:n], x.src[:2*n])
		if !slices.Equal(x.dst[:n], want) {
			t.Fatalf("%d hashes: wrong", n)
		}
	}
}

// Results may be written over the sources: levels of trees are.
func TestInPlace(t *testing.T) {
	r := rand.NewChaCha8([32]byte{3})
	for _, n := range []int{1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 64, 100, 1023, 1024, 1025, 2048, 5000} {
		src := random(r, 2*n)
		want := reference(src)
		rest := slices.Clone(src[n:])
		Sum(src[:n], src)
		if !slices.Equal(src[:n], want) {
			t.Fatalf("%d hashes: wrong", n)
		}
		if !slices.Equal(src[n:], rest) {
			t.Fatalf("%d hashes: wrote beyond them", n)
		}
	}
}

func TestLengths(t *testing.T) {
	for _, lengths := range [][2]int{{0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 3}, {2, 3}, {8, 15}, {8, 17}, {8, 18}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d results of %d sources", lengths[0], lengths[1])
				}
			}()
			Sum(make([][32]byte, lengths[0]), make([][32]byte, lengths[1]))
		}()
	}
	Sum(nil, nil)
}

func TestAssembly(t *testing.T) {
	if !fast() {
		t.Skip("crypto/sha256 is used here")
	}
	r := rand.NewChaCha8([32]byte{4})
	for n := 1; n < 100; n++ {
		src := random(r, 2*n)
		dst := make([][32]byte, n)
		assembly(dst, src)
		if !slices.Equal(dst, reference(src)) {
			t.Errorf("%d hashes: wrong", n)
		}
	}
}

func BenchmarkSum(b *testing.B) {
	for _, n := range []int{1, 2, 4, 8, 16, 64, 65536} {
		src, dst := make([][32]byte, 2*n), make([][32]byte, n)
		for _, f := range []struct {
			name string
			sum  func(dst, src [][32]byte)
		}{{"std", generic}, {"assembly", assembly}} {
			b.Run(fmt.Sprintf("%s/n=%d", f.name, n), func(b *testing.B) {
				for b.Loop() {
					f.sum(dst, src)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/hash")
			})
		}
	}
}

func FuzzSum(f *testing.F) {
	f.Add([]byte("seed"), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, n uint8) {
		src := make([][32]byte, 2*int(n))
		for i := range src {
			copy(src[i][:], data[min(len(data), 32*i):])
		}
		dst := make([][32]byte, n)
		Sum(dst, src)
		if !slices.Equal(dst, reference(src)) {
			t.Error("wrong")
		}
	})
}
