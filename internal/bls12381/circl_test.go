// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"bytes"
	"testing"

	circl "github.com/cloudflare/circl/ecc/bls12381"
)

// circlScalar returns k for circl.
func circlScalar(k *Scalar) *circl.Scalar {
	z := new(circl.Scalar)
	z.SetBytes(k.Bytes())
	return z
}

func circlBytes(t *testing.T, marshal func() ([]byte, error)) []byte {
	t.Helper()
	b, err := marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCirclScalar holds the field of scalars against circl's.
func TestCirclScalar(t *testing.T) {
	list := testScalars(10)
	for i := range list {
		for j := range list {
			k, l := &list[i], &list[j]
			a, b := circlScalar(k), circlScalar(l)
			var z Scalar
			var c circl.Scalar
			check := func(op string) {
				t.Helper()
				if !bytes.Equal(z.Bytes(), circlBytes(t, c.MarshalBinary)) {
					t.Fatalf("%s of %x and %x: %x", op, k.Bytes(), l.Bytes(), z.Bytes())
				}
			}
			z.Add(k, l)
			c.Add(a, b)
			check("sum")
			z.Sub(k, l)
			c.Sub(a, b)
			check("difference")
			z.Mul(k, l)
			c.Mul(a, b)
			check("product")
			z.MulAdd(k, l, k)
			c.Add(&c, a)
			check("product and sum")
			if j == 0 {
				z.Inverse(k)
				c.Inv(a)
				check("inverse")
				z.Neg(k)
				c.Set(a)
				c.Neg()
				check("negative")
			}
		}
	}
}

// TestCirclPoints holds products, sums, hashes and encodings against circl's.
func TestCirclPoints(t *testing.T) {
	dst := []byte("undersign test")
	for i, k := range testScalars(5) {
		msg := bytes.Repeat([]byte{byte(i)}, i)
		c := circlScalar(&k)

		p, q := new(G1).HashVarTime(msg, dst), new(circl.G1)
		q.Hash(msg, dst)
		if !bytes.Equal(p.Bytes(), q.BytesCompressed()) {
			t.Fatalf("hash to G1 of %x", msg)
		}
		q.ScalarMult(c, q)
		if !bytes.Equal(new(G1).ScalarMult(&k, p).Bytes(), q.BytesCompressed()) {
			t.Fatalf("product in G1 by %x", k.Bytes())
		}
		p.ScalarMult(&k, p)
		p.Add(p, G1Generator())
		q.Add(q, circl.G1Generator())
		if !bytes.Equal(p.UncompressedBytes(), q.Bytes()) {
			t.Fatalf("sum in G1 for %x", k.Bytes())
		}

		p2, q2 := new(G2).HashVarTime(msg, dst), new(circl.G2)
		q2.Hash(msg, dst)
		if !bytes.Equal(p2.Bytes(), q2.BytesCompressed()) {
			t.Fatalf("hash to G2 of %x", msg)
		}
		q2.ScalarMult(c, q2)
		if !bytes.Equal(new(G2).ScalarMult(&k, p2).Bytes(), q2.BytesCompressed()) {
			t.Fatalf("product in G2 by %x", k.Bytes())
		}
		p2.ScalarMult(&k, p2)
		p2.Add(p2, G2Generator())
		q2.Add(q2, circl.G2Generator())
		if !bytes.Equal(p2.UncompressedBytes(), q2.Bytes()) {
			t.Fatalf("sum in G2 for %x", k.Bytes())
		}
	}
}

// TestCirclPairing holds values of the pairing against circl's, whose final
// exponentiation has the same factor 3 and whose encoding is the same.
func TestCirclPairing(t *testing.T) {
	for range 5 {
		k, l := new(Scalar).Random(), new(Scalar).Random()
		p, q := new(G1).ScalarBaseMult(k), new(G2).ScalarBaseMult(l)
		cp, cq := new(circl.G1), new(circl.G2)
		if err := cp.SetBytes(p.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := cq.SetBytes(q.Bytes()); err != nil {
			t.Fatal(err)
		}
		z, c := new(GT).PairVarTime(p, q), circl.Pair(cp, cq)
		if !bytes.Equal(z.Bytes(), circlBytes(t, c.MarshalBinary)) {
			t.Fatalf("pairing\n%x\n%x", z.Bytes(), circlBytes(t, c.MarshalBinary))
		}
		z.Exp(z, k)
		c.Exp(c, circlScalar(k))
		if !bytes.Equal(z.Bytes(), circlBytes(t, c.MarshalBinary)) {
			t.Fatal("power")
		}
	}
}
