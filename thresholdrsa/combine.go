// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"math/big"

	"github.com/undersign/undersign/internal/modexp"
)

// Combine makes the RSA signature of a request from the shares of K holders,
// Size bytes long, and checks it before it returns it.
//
// It combines first and looks at proofs only when that fails; then it names
// those who lied in bad and signs with the others, if K of them are good. bad
// also lists the shares that can't be used at all, with success too. Too few good
// shares are a *QuorumError. If good shares of K holders don't combine the
// dealing is at fault: a *DealingError.
func (p *PublicKey) Combine(r *Request, shares ...*SignatureShare) (sig []byte, bad []*ShareError, err error) {
	x, err := r.representative(p)
	if err != nil {
		return nil, nil, err
	}
	id := r.ID()
	var usable []*SignatureShare
	first := map[int]*SignatureShare{} // by holder
	seen := map[string]bool{}          // encodings
	for _, s := range shares {
		if e := p.checkShare(id, s); e != nil {
			bad = append(bad, e)
			continue
		}
		// One with another proof stays: somebody may have spoilt the first on its way.
		if b := string(s.encode()); seen[b] {
			bad = append(bad, p.refuse(s, "given twice"))
			continue
		} else {
			seen[b] = true
		}
		if first[s.index] == nil {
			first[s.index] = s
		}
		usable = append(usable, s)
	}
	if len(first) < p.k {
		return nil, bad, &QuorumError{len(first), p.k}
	}
	// In the good case the first K holders' shares are right.
	var quorum []*SignatureShare
	taken := map[int]bool{}
	for _, s := range usable {
		if !taken[s.index] && len(quorum) < p.k {
			taken[s.index] = true
			quorum = append(quorum, s)
		}
	}
	if sig := p.combine(x, quorum); sig != nil {
		for _, s := range usable {
			if o := first[s.index]; o != s && taken[s.index] {
				bad = append(bad, p.refuse(s, "a second share of this holder, not needed"))
			}
		}
		return sig, bad, nil
	}

	quorum = quorum[:0]
	clear(taken)
	claims := make([]*claim, len(usable))
	for i, s := range usable {
		claims[i] = &claim{x: x, s: s}
	}
	p.verifyProofs(claims)
	for i, s := range usable {
		if e := claims[i].err; e != nil {
			bad = append(bad, e)
		} else if !taken[s.index] {
			taken[s.index] = true
			quorum = append(quorum, s)
		} else {
			bad = append(bad, p.refuse(s, "a second share of this holder, not needed"))
		}
	}
	if len(quorum) < p.k {
		return nil, bad, &QuorumError{len(quorum), p.k}
	}
	if sig := p.combine(x, quorum[:p.k]); sig != nil {
		return sig, bad, nil
	}
	return nil, bad, &DealingError{0, "shares with valid proofs don't combine to a signature"}
}

// combine returns y with y^e = x from the shares of K different holders, or nil
// if that doesn't come out.
//
//	w = prod x_j^(2 lambda_j) = x^(4 Gamma d)
//	4 Gamma a + e b = 1: y = w^a x^b = P+^a / (P-^a x^|b|), b <= 0
//
// where P+ and P- take the positive and the negative lambda_j.
func (p *PublicKey) combine(x *big.Int, quorum []*SignatureShare) []byte {
	mod := p.arith().mod
	e := big.NewInt(int64(p.e))
	g4 := new(big.Int).Lsh(p.gamma, 2)
	a := new(big.Int).ModInverse(g4, e) // 0 < a < e: check has gcd(Gamma, e) = 1
	b := new(big.Int).Mul(g4, a)
	b.Sub(b, one)
	b.Quo(b, e) // |b|

	set := make([]int, len(quorum))
	for i, s := range quorum {
		set[i] = s.index
	}
	var pos, neg struct {
		xs []*modexp.Element
		es []*big.Int
	}
	for i, lambda := range lagrange(set, p.l) {
		xi, err := mod.SetBytes(quorum[i].x)
		if err != nil {
			return nil
		}
		mod.Sqr(xi, xi)
		if lambda.Sign() > 0 {
			pos.xs, pos.es = append(pos.xs, xi), append(pos.es, lambda)
		} else {
			neg.xs, neg.es = append(neg.xs, xi), append(neg.es, lambda.Neg(lambda))
		}
	}
	xm, err := mod.SetBig(x)
	if err != nil {
		return nil
	}
	y, den, xb := mod.NewElement(), mod.NewElement(), mod.NewElement()
	if mod.MultiExpVarTime(y, pos.xs, pos.es) != nil || mod.MultiExpVarTime(den, neg.xs, neg.es) != nil {
		return nil
	}
	mod.ExpVarTime(y, y, a)
	if mod.MultiExpVarTime(den, []*modexp.Element{den, xm}, []*big.Int{a, b}) != nil {
		return nil
	}
	if mod.InverseVarTime(den, den) != nil {
		return nil
	}
	mod.Mul(y, y, den)
	mod.ExpVarTime(xb, y, e)
	if !mod.Equal(xb, xm) {
		return nil
	}
	return mod.Bytes(y)
}
