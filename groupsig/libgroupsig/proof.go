// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import (
	"encoding/binary"

	"github.com/undersign/undersign/internal/bls12381"
)

// verifyLog checks a proof of w with W = w·G, over SHA-1:
//
//	c = HS(msg || W || G || s·G+c·W)
func verifyLog(msg []byte, w, g *bls12381.G1, c, s *bls12381.Scalar) bool {
	t := new(bls12381.G1).MultiMultVarTime(bls12381.MulG1(s, g), bls12381.MulG1(c, w))
	return hashSHA1(msg, w, g, t).Equal(c)
}

// findLog is verifyLog for a c whose highest byte was lost, and is 0 here: it tries all that
// there can be, which are less than 2^7, and gives a forger as many tries for one.
func findLog(msg []byte, w, g *bls12381.G1, c, s *bls12381.Scalar) bool {
	top := make([]byte, bls12381.ScalarSize) // big-endian
	top[0] = 1
	var unit bls12381.Scalar
	if unit.SetBytes(top) != nil {
		return false
	}
	t := new(bls12381.G1).MultiMultVarTime(bls12381.MulG1(s, g), bls12381.MulG1(c, w))
	step := new(bls12381.G1).ScalarMultVarTime(&unit, w)
	c = new(bls12381.Scalar).Set(c)
	for {
		bls12381.NormalizeG1(t)
		if hashSHA1(msg, w, g, t).Equal(c) {
			return true
		}
		b := c.Bytes()
		b[0]++
		if c.SetBytes(b) != nil { // past the order
			return false
		}
		t.Add(t, step)
	}
}

// A relation says that y is the sum of secrets times bases, which are named by their
// indices.
type relation struct {
	y     *bls12381.G1
	terms []term
}

type term struct{ secret, base uint16 }

// verifyRep checks a proof of all secrets of some relations:
//
//	T_i = c·Y_i + sum of s_j·G_j, c = HB(msg || Y_1.. || G_0.. || indices || T_1..)
func verifyRep(msg []byte, rels []relation, bases []*bls12381.G1, c *bls12381.Scalar, s []*bls12381.Scalar) bool {
	sums := make([][]bls12381.G1Term, len(rels))
	for i, rel := range rels {
		sums[i] = append(sums[i], bls12381.MulG1(c, rel.y))
		for _, t := range rel.terms {
			sums[i] = append(sums[i], bls12381.MulG1(s[t.secret], bases[t.base]))
		}
	}
	commitments := bls12381.G1SumsVarTime(sums...)
	refs := make([]*bls12381.G1, len(commitments))
	for i := range refs {
		refs[i] = &commitments[i]
	}
	return repChallenge(msg, rels, bases, refs).Equal(c)
}

func repChallenge(msg []byte, rels []relation, bases, commitments []*bls12381.G1) *bls12381.Scalar {
	items := []any{msg}
	var indices []byte
	for _, rel := range rels {
		items = append(items, rel.y)
		for _, t := range rel.terms {
			indices = binary.LittleEndian.AppendUint16(indices, t.secret)
			indices = binary.LittleEndian.AppendUint16(indices, t.base)
		}
	}
	for _, b := range bases {
		items = append(items, b)
	}
	items = append(items, indices)
	for _, t := range commitments {
		items = append(items, t)
	}
	return hashBLAKE(items...)
}
