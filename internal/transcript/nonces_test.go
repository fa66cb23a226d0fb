// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package transcript

import (
	"bytes"
	"testing"
	"testing/cryptotest"

	"github.com/undersign/undersign/internal/bls12381"
)

func nonce(dst, secret, statement string) []byte {
	var k bls12381.Scalar
	n := NewNonces([]byte(dst), new(Items).Bytes("sk", []byte(secret)), new(Items).Bytes("s", []byte(statement)))
	n.Next(&k)
	return k.Bytes()
}

// With a generator that repeats itself, nonces still depend on all inputs.
func TestNoncesHedged(t *testing.T) {
	seen := map[string]bool{}
	for _, in := range [][3]string{{"d", "k", "s"}, {"e", "k", "s"}, {"d", "l", "s"}, {"d", "k", "t"}, {"d", "ks", ""}} {
		cryptotest.SetGlobalRandom(t, 1)
		seen[string(nonce(in[0], in[1], in[2]))] = true
		cryptotest.SetGlobalRandom(t, 1)
		if !seen[string(nonce(in[0], in[1], in[2]))] {
			t.Error("not a function of its inputs")
		}
	}
	if len(seen) != 5 {
		t.Errorf("%d nonces for 5 inputs", len(seen))
	}
	cryptotest.SetGlobalRandom(t, 2)
	if seen[string(nonce("d", "k", "s"))] {
		t.Error("nonces don't depend on the generator")
	}
}

func TestNoncesDiffer(t *testing.T) {
	var a, b, c bls12381.Scalar
	n := NewNonces([]byte("d"), new(Items), new(Items))
	n.Next(&a, &b)
	n.Next(&c)
	if a.Equal(&b) || b.Equal(&c) || a.Equal(&c) {
		t.Error("a nonce came twice")
	}
}

func TestWeights(t *testing.T) {
	sum := new(Items).Bytes("x", nil).Sum()
	cryptotest.SetGlobalRandom(t, 1)
	w := NewWeights(sum)
	cryptotest.SetGlobalRandom(t, 1)
	sum[0] ^= 1
	v := NewWeights(sum)
	seen := map[string]bool{}
	for range 100 {
		var k, l bls12381.Scalar
		w.Next(&k)
		v.Next(&l)
		for _, x := range []*bls12381.Scalar{&k, &l} {
			if b := x.Bytes(); x.IsZero() || !bytes.Equal(b[:16], make([]byte, 16)) || seen[string(b)] {
				t.Fatalf("weight %x", b)
			}
			seen[string(x.Bytes())] = true
		}
		w.NextShort(&k)
		if b := k.Bytes(); k.IsZero() || !bytes.Equal(b[:24], make([]byte, 24)) || seen[string(b)] {
			t.Fatalf("short weight %x", b)
		}
		seen[string(k.Bytes())] = true
	}
}

func TestWipe(t *testing.T) {
	s := new(Items).Grow(100).Bytes("sk", []byte{1, 2, 3})
	b := s.Data()
	s.Grow(1000)
	if !bytes.Equal(b, make([]byte, len(b))) {
		t.Error("Grow left a copy")
	}
	b = s.Data()
	s.Wipe()
	if !bytes.Equal(b, make([]byte, len(b))) || s.Len() != 0 {
		t.Error("not wiped")
	}
}
