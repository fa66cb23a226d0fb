// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package transcript

import (
	"testing"

	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/cttest"
)

func TestMain(m *testing.M) { cttest.Main(m, memcheck) }

func TestConstantTime(t *testing.T) { cttest.Memcheck(t) }

var kept *Items // on the heap, which valgrind follows

func memcheck(c *cttest.Checker) {
	kept = new(Items).Bytes("sk", make([]byte, 32))
	cttest.Secret(kept.b)
	k := new(bls12381.Scalar)
	var b []byte
	c.Clean("Nonces", func() {
		n := NewNonces([]byte("dst"), kept, new(Items))
		n.Next(k)
		n.Wipe()
		b = k.Bytes()
	})
	c.Leaks("depends on the secret", func() {
		if b[0]&1 == 1 {
			branches++
		}
	})
	c.Clean("Bytes", func() { kept.Bytes("again", kept.b[:4]) })
	c.Clean("Wipe", func() { kept.Wipe() })
}

var branches int
