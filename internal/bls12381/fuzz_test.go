// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"bytes"
	"testing"

	circl "github.com/cloudflare/circl/ecc/bls12381"
)

// What a decoder accepts encodes to the same bytes, is in the subgroup, and is
// accepted by circl too.

func FuzzG1(f *testing.F) {
	f.Add(G1Generator().Bytes())
	f.Add(NewG1().Bytes())
	f.Add(G1Generator().UncompressedBytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		var p G1
		if p.SetBytesOrIdentity(b) == nil {
			var q circl.G1
			if !bytes.Equal(p.Bytes(), b) || !p.InSubgroupVarTime() || q.SetBytes(b) != nil || !bytes.Equal(q.BytesCompressed(), b) {
				t.Fatalf("%x", b)
			}
			if (p.SetBytes(b) == nil) == p.IsIdentity() {
				t.Fatalf("%x: identity", b)
			}
		} else if len(b) == G1Size && b[0]&0x80 != 0 && new(circl.G1).SetBytes(b) == nil {
			t.Fatalf("circl accepts %x", b)
		}
		if p.SetUncompressed(b) == nil && !bytes.Equal(p.UncompressedBytes(), b) {
			t.Fatalf("%x", b)
		}
		if p.SetUncompressedUnsafe(b) == nil && p.InSubgroupVarTime() != (p.SetUncompressed(b) == nil) {
			t.Fatalf("%x: subgroup", b)
		}
	})
}

func FuzzG2(f *testing.F) {
	f.Add(G2Generator().Bytes())
	f.Add(NewG2().Bytes())
	f.Add(G2Generator().UncompressedBytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		var p G2
		if p.SetBytesOrIdentity(b) == nil {
			var q circl.G2
			if !bytes.Equal(p.Bytes(), b) || !p.InSubgroupVarTime() || q.SetBytes(b) != nil || !bytes.Equal(q.BytesCompressed(), b) {
				t.Fatalf("%x", b)
			}
			if (p.SetBytes(b) == nil) == p.IsIdentity() {
				t.Fatalf("%x: identity", b)
			}
		} else if len(b) == G2Size && b[0]&0x80 != 0 && new(circl.G2).SetBytes(b) == nil {
			t.Fatalf("circl accepts %x", b)
		}
		if p.SetUncompressed(b) == nil && !bytes.Equal(p.UncompressedBytes(), b) {
			t.Fatalf("%x", b)
		}
		if p.SetUncompressedUnsafe(b) == nil && p.InSubgroupVarTime() != (p.SetUncompressed(b) == nil) {
			t.Fatalf("%x: subgroup", b)
		}
	})
}

func FuzzGT(f *testing.F) {
	f.Add(new(GT).PairVarTime(G1Generator(), G2Generator()).Bytes())
	f.Add(new(GT).Bytes())
	f.Add(make([]byte, GTSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		var z GT
		if z.SetBytesOrIdentity(b) != nil {
			return
		}
		if !bytes.Equal(z.Bytes(), b) {
			t.Fatalf("%x", b)
		}
		top := new(Scalar).Neg(new(Scalar).SetOne())
		if !new(GT).ExpVarTime(&z, top).Equal(new(GT).Inverse(&z)) {
			t.Fatalf("%x: the order isn't r", b)
		}
	})
}

func FuzzScalar(f *testing.F) {
	f.Add(make([]byte, 32))
	f.Add(new(Scalar).Neg(new(Scalar).SetOne()).Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		var k Scalar
		if k.SetBytes(b) != nil {
			return
		}
		if !bytes.Equal(k.Bytes(), b) || !new(Scalar).SetWide(b).Equal(&k) {
			t.Fatalf("%x", b)
		}
	})
}
