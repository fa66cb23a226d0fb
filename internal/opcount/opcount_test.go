// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package opcount

import (
	"sync"
	"testing"
)

func TestCount(t *testing.T) {
	Add(MulG1, 100) // to nobody
	got := Count(func() {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 10 {
					Add(MulG1, 2)
				}
			})
		}
		wg.Wait()
		Add(Pairing, 3)
	})
	Add(MulG1, 100)
	if want := (Counts{MulG1: 80, Pairing: 3}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := Count(func() {}); got != (Counts{}) {
		t.Errorf("nothing counts as %v", got)
	}
	if on.Load() {
		t.Error("it goes on counting")
	}
}

// An element counts once, and again in the next count.
func TestDecode(t *testing.T) {
	a, b := []byte("a"), []byte("bbb")
	Decode(DecodeG1, a)
	for range 2 {
		got := Count(func() {
			for range 3 {
				Decode(DecodeG1, a)
				Decode(DecodeG1, b)
				Decode(DecodeG2, b)
			}
		})
		if want := (Counts{DecodeG1: 2, DecodeG2: 1, DecodedBytes: 7}); got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// It stops even if what it counts panics.
func TestCountPanic(t *testing.T) {
	func() {
		defer func() { recover() }()
		Count(func() { panic("x") })
	}()
	if on.Load() {
		t.Error("it goes on counting")
	}
	Count(func() {}) // doesn't wait for ever
}

func TestFormat(t *testing.T) {
	c := Counts{Pairing: 3, MulG1: 2, DecodeG1: 9}
	if got := c.Format(Pairing, MulG2, MulG1); got != "3 e + 2 G1" {
		t.Errorf("%q", got)
	}
	if got := c.Format(ExpGT); got != "" {
		t.Errorf("%q", got)
	}
	for op := range numOps {
		if op.String() == "" || op.String() == "?" {
			t.Errorf("kind %d has no name", op)
		}
	}
	if numOps.String() != "?" || Op(-1).String() != "?" {
		t.Error("there are more kinds")
	}
}

func BenchmarkAdd(b *testing.B) {
	for b.Loop() {
		Add(MulG1, 1)
	}
}
