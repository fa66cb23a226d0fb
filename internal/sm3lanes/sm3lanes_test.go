// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm3lanes

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/emmansun/gmsm/sm3"
)

// ways runs a test with the kernel, if there is one, with its twin, and without lanes.
func ways(t *testing.T, f func(t *testing.T)) {
	t.Run("one", func(t *testing.T) {
		if disable(t); useLanes() {
			t.Fatal("lanes are in use")
		}
		f(t)
	})
	t.Run("twin", func(t *testing.T) {
		disable(t)
		laneTwin = true
		t.Cleanup(func() { laneTwin = false })
		f(t)
	})
	t.Run("kernel", func(t *testing.T) {
		if !useLanes() {
			t.Skip("no AVX-512")
		}
		f(t)
	})
}

// want is the hash by gmsm.
func want(m *Message) [Size]byte {
	return sm3.Sum(append(append([]byte{}, m.Prefix...), m.Data...))
}

func check(t *testing.T, msgs []Message) {
	t.Helper()
	dst := make([][Size]byte, len(msgs)+1)
	Sum(dst, msgs)
	for i := range msgs {
		if dst[i] != want(&msgs[i]) {
			t.Errorf("message %d of %d, of %d and %d bytes: %x, not %x", i, len(msgs), len(msgs[i].Prefix), len(msgs[i].Data), dst[i], want(&msgs[i]))
		}
	}
	if dst[len(msgs)] != [Size]byte{} {
		t.Error("more was written than there are messages")
	}
}

func random(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// The examples of GB/T 32905-2016, annex A.
func TestStandard(t *testing.T) {
	ways(t, func(t *testing.T) {
		msgs := make([]Message, 2*lanes)
		for i := range msgs {
			msgs[i].Data = []byte("abc")
			if i%2 == 1 {
				msgs[i].Data = bytes.Repeat([]byte("abcd"), 16)
			}
		}
		dst := make([][Size]byte, len(msgs))
		Sum(dst, msgs)
		for i := range dst {
			want := "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0"
			if i%2 == 1 {
				want = "debe9ff92275b8a138604889c18e5a4d6fdb70e5387e5765293dcba39c0c5732"
			}
			if got := fmt.Sprintf("%x", dst[i]); got != want {
				t.Errorf("%d: %s, not %s", i, got, want)
			}
		}
	})
}

// All lengths around the ends of blocks, of both parts, as neighbours of any others.
func TestLengths(t *testing.T) {
	lengths := []int{0, 1, 31, 32, 54, 55, 56, 57, 63, 64, 65, 118, 119, 120, 127, 128, 129, 191, 192, 200, 247, 248, 255, 256, 257, 319, 320}
	ways(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		var msgs []Message
		for _, p := range lengths {
			for _, d := range lengths {
				msgs = append(msgs, Message{random(r, p), random(r, d)})
			}
		}
		r.Shuffle(len(msgs), func(i, j int) { msgs[i], msgs[j] = msgs[j], msgs[i] })
		check(t, msgs)
	})
}

// All numbers of messages, of one length or not, and long ones between them.
func TestCounts(t *testing.T) {
	ways(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for n := range 3*lanes + 2 {
			msgs := make([]Message, n)
			for i := range msgs {
				msgs[i] = Message{random(r, 32), random(r, 200)}
			}
			check(t, msgs)
			for i := range msgs {
				msgs[i].Data = random(r, r.IntN(700))
				if r.IntN(8) == 0 {
					msgs[i] = Message{nil, random(r, r.IntN(20000))}
				}
			}
			check(t, msgs)
		}
	})
}

func TestHuge(t *testing.T) {
	ways(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		big := random(r, 1<<20)
		msgs := []Message{{nil, big}, {big[:1000], nil}, {nil, nil}, {big[5:], big[:77]}, {[]byte{1}, big[1:]}}
		for i := range 20 {
			msgs = append(msgs, Message{big[i : 100*i], big[i:]})
		}
		check(t, msgs)
	})
}

// The kernel and its twin agree on any state and any blocks, in every lane.
func TestKernel(t *testing.T) {
	if !useLanes() {
		t.Skip("no AVX-512")
	}
	r := rand.New(rand.NewPCG(7, 8))
	for n := 1; n <= maxSteps; n++ {
		for _, fill := range []func() uint32{r.Uint32, func() uint32 { return 0 }, func() uint32 { return 1<<32 - 1 }} {
			var v, w state
			for i := range v {
				v[i] = fill()
			}
			w = v
			var blocks [maxSteps * lanes]*[blockSize]byte
			for i := range blocks[:n*lanes] {
				blocks[i] = (*[blockSize]byte)(random(r, blockSize))
			}
			compress(&v, &blocks, n)
			compressGeneric(&w, &blocks, n)
			if v != w {
				t.Errorf("%d blocks: the kernel and its twin differ", n)
			}
		}
	}
}

// A changed bit of one message changes its hash and no other.
func TestLanesApart(t *testing.T) {
	ways(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 10))
		msgs := make([]Message, lanes)
		for i := range msgs {
			msgs[i] = Message{random(r, 32), random(r, 168)}
		}
		before, after := make([][Size]byte, lanes), make([][Size]byte, lanes)
		Sum(before, msgs)
		for i := range msgs {
			msgs[i].Data[10*i] ^= 1 << (i % 8)
			Sum(after, msgs)
			for j := range after {
				if (before[j] == after[j]) == (i == j) {
					t.Errorf("message %d changed, and hash %d", i, j)
				}
			}
			msgs[i].Data[10*i] ^= 1 << (i % 8)
		}
	})
}

// The order is a permutation, by blocks.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	msgs := make([]Message, 500)
	buf := make([]byte, 20000)
	for i := range msgs {
		msgs[i].Data = buf[:r.IntN(1+r.IntN(len(buf)))]
	}
	seen := make([]bool, len(msgs))
	last := 1 << 30
	for _, task := range byBlocks(msgs) {
		if seen[task.index] {
			t.Fatalf("message %d twice", task.index)
		}
		seen[task.index] = true
		if b := msgs[task.index].blocks(); b != task.blocks || b > last {
			t.Fatalf("%d blocks are said to be %d, after %d", b, task.blocks, last)
		}
		last = task.blocks
	}
	for i, s := range seen {
		if !s {
			t.Errorf("message %d is missing", i)
		}
	}
}

// With no room for the hashes nothing is hashed elsewhere.
func TestShortDestination(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("three hashes went into two")
		}
	}()
	Sum(make([][Size]byte, 2), make([]Message, 3))
}

// The environment chooses.
func TestEnvironment(t *testing.T) {
	if v := os.Getenv("UNDERSIGN_SM2EC"); (v == "adx" || v == "generic") && useLanes() {
		t.Errorf("UNDERSIGN_SM2EC=%s, and lanes are in use", v)
	}
}

func BenchmarkSum(b *testing.B) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, size := range []int{32, 232, 2000} {
		msgs := make([]Message, 512)
		for i := range msgs {
			msgs[i].Data = random(r, size)
		}
		dst := make([][Size]byte, len(msgs))
		perMessage := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(msgs)), "ns/message")
		}
		b.Run(fmt.Sprintf("lanes/%d", size), func(b *testing.B) {
			for b.Loop() {
				Sum(dst, msgs)
			}
			perMessage(b)
		})
		b.Run(fmt.Sprintf("gmsm/%d", size), func(b *testing.B) {
			for b.Loop() {
				for i := range msgs {
					dst[i] = sm3.Sum(msgs[i].Data)
				}
			}
			perMessage(b)
		})
	}
}
