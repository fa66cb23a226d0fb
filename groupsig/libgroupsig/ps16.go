// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import (
	"fmt"

	"github.com/undersign/undersign/internal/bls12381"
)

// A keyPS16 is a group key of Pointcheval and Sanders, Short Randomizable Signatures
// (CT-RSA 2016): a member has (sk, sigma1, sigma2) with e(sigma1, X+sk·Y) = e(sigma2, gg).
type keyPS16 struct {
	g        *bls12381.G1
	gg, x, y *bls12381.Lines
}

func readPS16(r *reader) (*keyPS16, error) {
	g := r.g1("g")
	gg, x, y := r.g2("gg"), r.g2("X"), r.g2("Y")
	if r.err != nil {
		return nil, r.err
	}
	return &keyPS16{g, bls12381.NewLinesVarTime(gg), bls12381.NewLinesVarTime(x), bls12381.NewLinesVarTime(y)}, nil
}

// verify computes
//
//	R = (e(-s1,X)·e(s2,gg))^(-c) · e(s·s1,Y) = e(c·s1,X) · e(-c·s2,gg) · e(s·s1,Y)
//
// and compares c = HB(s1 || s2 || R || m). With s1 = s2 = 0, which the library takes, R
// would be 1 whatever c and s are.
func (k *keyPS16) verify(r *reader, _, text []byte) (*bls12381.G1, error) {
	s1, s2 := r.g1("s1"), r.g1("s2")
	c, s := r.scalar("c"), r.scalar("s")
	if err := r.end(); err != nil {
		return nil, err
	}
	minusC := new(bls12381.Scalar).Neg(c)
	mul := bls12381.MulG1
	sums := bls12381.G1SumsVarTime(
		[]bls12381.G1Term{mul(c, s1)}, []bls12381.G1Term{mul(minusC, s2)}, []bls12381.G1Term{mul(s, s1)})
	t := new(bls12381.GT).PairingProductVarTime(
		bls12381.PairWith(&sums[0], k.x), bls12381.PairWith(&sums[1], k.gg), bls12381.PairWith(&sums[2], k.y))
	if !hashBLAKE(s1, s2, t, text).Equal(c) {
		return nil, ErrSignature
	}
	return nil, nil
}

// entry reads tau = sk·g and ttau = sk·Y. By ttau everybody can tell what the member
// signed.
func (k *keyPS16) entry(r *reader, _ Edition, m *Member) {
	m.points(r, "tau")
	m.g2points(r, "ttau")
}

// checkEntries checks e(tau,Y) = e(g,ttau), for all at once with random weights.
func (k *keyPS16) checkEntries(members []Member) error {
	if len(members) == 0 || k.entriesFit(members) {
		return nil
	}
	for i := range members {
		if !k.entriesFit(members[i : i+1]) {
			return fmt.Errorf("libgroupsig: entry %d of the list isn't of this group", i)
		}
	}
	return nil // can't be: the equations hold each by itself
}

func (k *keyPS16) entriesFit(members []Member) bool {
	taus := make([]bls12381.G1Term, len(members))
	tokens := make([]bls12381.G2Term, len(members))
	for i, m := range members {
		w := new(bls12381.Scalar).RandomWeight()
		taus[i] = bls12381.MulG1(w, m.g1[0])
		tokens[i] = bls12381.MulG2(w, m.g2[0])
	}
	tau := new(bls12381.G1).MultiMultVarTime(taus...)
	token := new(bls12381.G2).MultiMultVarTime(tokens...)
	return bls12381.PairingCheckVarTime(bls12381.PairWith(tau.Neg(tau), k.y), bls12381.PairOf(k.g, token))
}
