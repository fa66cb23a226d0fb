// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"crypto/sha256"
	"testing"

	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/cttest"
)

func TestMain(m *testing.M) { cttest.Main(m, memcheckCases) }

func TestConstantTime(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	t.Parallel()
	cttest.Memcheck(t)
}

// memcheckCases are the opener's search, with a token whose blinding is undefined. That
// its parts are read from a record adds two verdicts, on canonical encodings.
func memcheckCases(c *cttest.Checker) {
	g, _ := testGroup()
	token := tokenOf(7)
	t := targetOf(g, 7)
	neg := bls12381.NewG1Comb(new(bls12381.G1).Neg(t.A))
	b := sha256.Sum256([]byte("blinding"))
	cttest.Secret(b[:])
	var s shared
	s.r.SetWide(b[:])

	// The part that the pairing sees is random without the other.
	c.Clean("the token is blinded", func() { s.b.Add(s.b.ScalarBaseMult(&s.r), token) })
	c.Leaks("  depends on the secret", func() { bls12381.NormalizeG2(&s.b) })
	q := s.b.UncompressedBytes()
	cttest.Public(q)
	if err := s.b.SetUncompressed(q); err != nil {
		panic(err)
	}
	// What it sees of the other is r·a.
	var ra bls12381.G1
	c.Clean("r·a", func() { ra.CombMult(&s.r, neg) })
	c.Leaks("  depends on the secret", func() { bls12381.NormalizeG1(&ra) })
	q = ra.Bytes()
	cttest.Public(q)
	if err := ra.SetBytes(q); err != nil {
		panic(err)
	}
	fits := false
	c.Clean("the test", func() {
		fits = new(bls12381.GT).PairingProductVarTime(bls12381.PairOf(t.A, &s.b), bls12381.PairWith(&ra, linesP2())).Equal(t.k())
	})
	if !fits {
		panic("the token doesn't fit")
	}
	// The token of the member that is found, for the proof.
	var sum *bls12381.G2
	c.Clean("the token", func() { sum = s.sum() })
	c.Leaks("  is normalised, blinded", func() { bls12381.NormalizeG2(sum) })
	if !sum.Equal(token) {
		panic("another token")
	}
}
