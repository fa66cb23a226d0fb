// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import (
	"errors"

	"github.com/undersign/undersign/internal/bls12381"
)

// A keyBBS04 is a group key of Boneh, Boyen and Shacham, Short Group Signatures (CRYPTO
// 2004), section 5: a member has (A, x) with e(A, w+x·g2) = e(g1,g2).
type keyBBS04 struct {
	g1, h, u, v *bls12381.G1
	g2, w       *bls12381.Lines
}

func readBBS04(r *reader) (*keyBBS04, error) {
	g1, g2 := r.g1("g1"), r.g2("g2")
	h, u, v := r.g1("h"), r.g1("u"), r.g1("v")
	w := r.g2("w")
	hw, hg2, g1g2 := r.gt("e(h,w)"), r.gt("e(h,g2)"), r.gt("e(g1,g2)")
	if r.err != nil {
		return nil, r.err
	}
	// The library trusts these: who writes a key could set them to what it likes.
	for _, c := range []struct {
		got *bls12381.GT
		p   *bls12381.G1
		q   *bls12381.G2
	}{{hw, h, w}, {hg2, h, g2}, {g1g2, g1, g2}} {
		if !new(bls12381.GT).PairVarTime(c.p, c.q).Equal(c.got) {
			return nil, errors.New("a precomputed pairing is wrong")
		}
	}
	return &keyBBS04{g1: g1, h: h, u: u, v: v, g2: bls12381.NewLinesVarTime(g2), w: bls12381.NewLinesVarTime(w)}, nil
}

// verify computes
//
//	R1 = s_alpha·u - c·T1, R2 = s_beta·v - c·T2
//	R3 = e(T3, c·w+s_x·g2) · e(h,w)^(-s_alpha-s_beta) · e(h,g2)^(-s_d1-s_d2) · e(g1,g2)^(-c)
//	   = e(s_x·T3-(s_d1+s_d2)·h-c·g1, g2) · e(c·T3-(s_alpha+s_beta)·h, w)
//	R4 = s_x·T1 - s_d1·u, R5 = s_x·T2 - s_d2·v
//
// and compares c = HB(m || T1 || T2 || T3 || R1 || R2 || R3 || R4 || R5).
func (k *keyBBS04) verify(r *reader, _, text []byte) (*bls12381.G1, error) {
	t1, t2, t3 := r.g1("T1"), r.g1("T2"), r.g1("T3")
	c := r.scalar("c")
	alpha, beta, x, d1, d2 := r.scalar("s_alpha"), r.scalar("s_beta"), r.scalar("s_x"), r.scalar("s_d1"), r.scalar("s_d2")
	if err := r.end(); err != nil {
		return nil, err
	}
	var minusC, minusD1, minusD2, ab, d bls12381.Scalar
	minusC.Neg(c)
	minusD1.Neg(d1)
	minusD2.Neg(d2)
	ab.Add(alpha, beta)
	ab.Neg(&ab)
	d.Add(&minusD1, &minusD2)
	mul := bls12381.MulG1
	sums := bls12381.G1SumsVarTime(
		[]bls12381.G1Term{mul(alpha, k.u), mul(&minusC, t1)},
		[]bls12381.G1Term{mul(beta, k.v), mul(&minusC, t2)},
		[]bls12381.G1Term{mul(x, t1), mul(&minusD1, k.u)},
		[]bls12381.G1Term{mul(x, t2), mul(&minusD2, k.v)},
		[]bls12381.G1Term{mul(x, t3), mul(&d, k.h), mul(&minusC, k.g1)},
		[]bls12381.G1Term{mul(c, t3), mul(&ab, k.h)},
	)
	r3 := new(bls12381.GT).PairingProductVarTime(bls12381.PairWith(&sums[4], k.g2), bls12381.PairWith(&sums[5], k.w))
	if !hashBLAKE(text, t1, t2, t3, &sums[0], &sums[1], r3, &sums[2], &sums[3]).Equal(c) {
		return nil, ErrSignature
	}
	return nil, nil
}

// entry reads A. The edition of IBM writes four zero bytes after it, where the other has
// nothing.
func (k *keyBBS04) entry(r *reader, e Edition, m *Member) {
	m.points(r, "A")
	if e == IBM {
		m.nothing(r)
	}
}

// checkEntries has nothing to check A by, but with x.
func (k *keyBBS04) checkEntries([]Member) error { return nil }
