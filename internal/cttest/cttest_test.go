// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cttest

import "testing"

func TestMain(m *testing.M) { Main(m, cases) }

func TestMemcheck(t *testing.T) { Memcheck(t) }

func cases(c *Checker) {
	secret := []uint64{1, 2, 3, 4}
	table := []uint64{5, 6, 7, 8}
	Secret(secret)
	var sink uint64
	c.Leaks("branch", func() {
		if secret[1]&1 == 1 {
			sink++
		}
	})
	c.Leaks("address", func() { sink += table[secret[2]&3] })
	out := make([]uint64, 1)
	c.Clean("arithmetic", func() { out[0] = secret[0]*3 + secret[1]<<5 ^ secret[2] })
	c.Leaks("result", func() {
		if out[0] == 7 {
			sink++
		}
	})
	Public(out)
	c.Clean("published", func() {
		if out[0] == 7 {
			sink++
		}
	})
	c.Check("value", out[0] == 1*3+2<<5^3)

	b := []byte{1}
	Secret(b)
	c.Leaks("byte", func() { sink += table[b[0]&1] })

	// Secrets that were copied to fresh memory of the heap and the stack.
	c.Clean("allocation", func() {
		for range 100 {
			kept = append(make([]uint64, 0, 1000), secret...)
		}
	})
	c.Leaks("heap", func() {
		if kept[3] == 4 {
			sink++
		}
	})
	var copied uint64
	c.Clean("deep", func() { copied = deep(100, secret[0]) })
	c.Leaks("stack", func() {
		if copied == 1 {
			sink++
		}
	})
}

var kept []uint64

// deep passes x through n frames, enough to make the stack grow.
//
//go:noinline
func deep(n int, x uint64) uint64 {
	var frame [32]uint64
	frame[n%32] = x
	if n > 0 {
		return deep(n-1, frame[n%32])
	}
	return frame[0] | x
}
