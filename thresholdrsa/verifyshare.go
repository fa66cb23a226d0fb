// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/undersign/undersign/internal/modexp"
)

// VerifyShare checks a signature share against a request and its holder's
// verification key. The error is a *ShareError, or what is wrong with the request.
func (p *PublicKey) VerifyShare(r *Request, s *SignatureShare) error {
	x, err := r.representative(p)
	if err != nil {
		return err
	}
	if e := p.checkShare(r.ID(), s); e != nil {
		return e
	}
	if e := p.verifyProof(x, s); e != nil {
		return e
	}
	return nil
}

// refuse returns a ShareError about s.
func (p *PublicKey) refuse(s *SignatureShare, format string, args ...any) *ShareError {
	return &ShareError{s.index, p.holderName(s.index), fmt.Sprintf(format, args...)}
}

// checkShare checks what needs no powers.
func (p *PublicKey) checkShare(requestID [32]byte, s *SignatureShare) *ShareError {
	if s == nil {
		return &ShareError{Reason: "there is none"}
	}
	switch {
	case s.keyID != p.id && s.epoch != p.epoch:
		return p.refuse(s, "made in epoch %d, and this is epoch %d", s.epoch, p.epoch)
	case s.keyID != p.id || s.epoch != p.epoch:
		return p.refuse(s, "made for another key")
	case s.requestID != requestID:
		return p.refuse(s, "made for another request")
	case s.index < 1 || s.index > p.l:
		return p.refuse(s, "no such holder: indices go from 1 to %d", p.l)
	case len(s.x) != p.size() || len(s.z) != p.responseSize():
		return p.refuse(s, "fields of %d and %d bytes, not %d and %d", len(s.x), len(s.z), p.size(), p.responseSize())
	}
	// 1 <= x_i <= (n-1)/2: one encoding of a share and its negative.
	x := new(big.Int).SetBytes(s.x)
	if x.Sign() == 0 || x.Cmp(new(big.Int).Rsh(p.n, 1)) > 0 {
		return p.refuse(s, "value out of range")
	}
	if new(big.Int).SetBytes(s.z).BitLen() > p.nonceBits()+1 {
		return p.refuse(s, "response of the proof out of range")
	}
	return nil
}

// An Answer is a signature share with the request that it is for.
type Answer struct {
	Request *Request
	Share   *SignatureShare
}

// VerifyShares checks many signature shares. errs[i] is what VerifyShare returns for
// answer i. Shares of one request are checked in much less time together than one by
// one, and where the processor has AVX-512 IFMA, so are six requests or more; on AMD's
// Zen 4, four or more.
func (p *PublicKey) VerifyShares(answers []Answer) (errs []error) {
	errs = make([]error, len(answers))
	var claims []*claim
	var at []int // where each of them is in answers
	type asked struct {
		id  [32]byte
		x   *big.Int
		err error
	}
	requests := map[*Request]asked{}
	for i, a := range answers {
		if a.Request == nil {
			errs[i] = fmt.Errorf("thresholdrsa: answer %d of %d has no request", i+1, len(answers))
			continue
		}
		r, ok := requests[a.Request]
		if !ok {
			r.id = a.Request.ID()
			r.x, r.err = a.Request.representative(p)
			requests[a.Request] = r
		}
		if r.err != nil {
			errs[i] = r.err
			continue
		}
		if e := p.checkShare(r.id, a.Share); e != nil {
			errs[i] = e
			continue
		}
		claims, at = append(claims, &claim{x: r.x, s: a.Share}), append(at, i)
	}
	p.verifyProofs(claims)
	for k, c := range claims {
		if c.err != nil {
			errs[at[k]] = c.err
		}
	}
	return errs
}

// A claim is a proof to be checked. x has passed representative, and s checkShare.
type claim struct {
	x   *big.Int
	s   *SignatureShare
	err *ShareError

	xt, xi2        *modexp.Element // x^4, x_i^2
	xi2Inv, viInv  *modexp.Element
	vp, xp, xc, vc *modexp.Element // v^z, xt^z, x_i^(-2c), v_i^(-c)
	c, z           *big.Int
}

// verifyProof checks one proof.
func (p *PublicKey) verifyProof(x *big.Int, s *SignatureShare) *ShareError {
	c := &claim{x: x, s: s}
	p.verifyProofs([]*claim{c})
	return c.err
}

// verifyProofs recomputes v' = v^z v_i^(-c) and x' = xt^z x_i^(-2c) and compares the
// challenge, for each claim.
//
// v', x' and x_i^2 so computed are squares, and the squares modulo a product of
// safe primes are cyclic of order p'q' with p', q' > 2^256: a wrong x_i fixes c
// modulo p' or q'.
func (p *PublicKey) verifyProofs(claims []*claim) {
	a := p.arith()
	mod := a.mod
	claims = p.invert(p.load(claims))
	for _, c := range claims {
		c.vp = mod.NewElement()
		a.table.ExpVarTime(c.vp, c.z)
	}
	p.longPowers(claims)
	p.shortPowers(claims)
	for _, c := range claims {
		mod.Mul(c.vp, c.vp, c.vc)
		if c.xc != nil {
			mod.Mul(c.xp, c.xp, c.xc)
		}
		if p.challenge(c.s.index, c.x, mod.Bytes(c.xi2), mod.Bytes(c.vp), mod.Bytes(c.xp)) != c.s.c {
			c.err = p.refuse(c.s, "the proof doesn't hold: it wasn't made with this holder's key share")
		}
	}
}

// load reads the numbers of claims. Like the next steps it returns those that aren't
// refused.
func (p *PublicKey) load(claims []*claim) (good []*claim) {
	mod := p.arith().mod
	for _, c := range claims {
		xm, err1 := mod.SetBig(c.x)
		xi, err2 := mod.SetBytes(c.s.x)
		vi, err3 := mod.SetBig(p.vi[c.s.index-1])
		if err := errors.Join(err1, err2, err3); err != nil {
			c.err = p.refuse(c.s, "%v", err)
			continue
		}
		mod.Sqr(xm, xm)
		mod.Sqr(xm, xm)
		c.xt, c.xi2, c.viInv = xm, xi, vi
		mod.Sqr(c.xi2, c.xi2)
		c.xi2Inv = mod.NewElement()
		c.xi2Inv.Set(c.xi2)
		c.c = new(big.Int).SetBytes(c.s.c[:])
		c.z = new(big.Int).SetBytes(c.s.z)
		good = append(good, c)
	}
	return good
}

// invert sets the inverses, all by one inversion if they exist.
func (p *PublicKey) invert(claims []*claim) (good []*claim) {
	mod := p.arith().mod
	var all []*modexp.Element
	for _, c := range claims {
		all = append(all, c.xi2Inv, c.viInv)
	}
	if len(all) == 0 || mod.InvertVarTime(all) == nil {
		return claims
	}
	for _, c := range claims {
		switch {
		case mod.InverseVarTime(c.xi2Inv, c.xi2Inv) != nil:
			c.err = p.refuse(c.s, "value not prime to the modulus")
		case mod.InverseVarTime(c.viInv, c.viInv) != nil:
			c.err = p.refuse(c.s, "verification key not prime to the modulus")
		default:
			good = append(good, c)
		}
	}
	return good
}

// longPowers sets xt^z: from one table for the shares of a request, in lanes for those
// of different requests, and otherwise times x_i^(-2c), sharing squarings.
func (p *PublicKey) longPowers(claims []*claim) {
	mod := p.arith().mod
	bits := p.nonceBits() + 1
	var order []string
	same := map[string][]*claim{}
	for _, c := range claims {
		c.xp = mod.NewElement()
		x := string(c.x.Bytes())
		if same[x] == nil {
			order = append(order, x)
		}
		same[x] = append(same[x], c)
	}
	var rest []*claim
	for _, x := range order {
		group := same[x]
		if len(group) == 1 {
			rest = append(rest, group[0])
			continue
		}
		table := mod.NewTable(group[0].xt, bits, len(group))
		for _, c := range group {
			table.ExpVarTime(c.xp, c.z)
		}
	}
	n := mod.InLanes(len(rest))
	var zs, xs []*modexp.Element
	var es []modexp.Nat
	for _, c := range rest[:n] {
		zs, xs, es = append(zs, c.xp), append(xs, c.xt), append(es, natOf(c.z, bits))
	}
	modexp.ExpLanes(zs, xs, repeated(mod, n), es, bits)
	for _, c := range rest[n:] {
		// The lengths agree, and neither exponent is negative.
		if err := mod.MultiExpVarTime(c.xp, []*modexp.Element{c.xt, c.xi2Inv}, []*big.Int{c.z, c.c}); err != nil {
			panic("thresholdrsa: " + err.Error())
		}
		c.xi2Inv = nil // used
	}
}

// shortPowers sets v_i^(-c), and x_i^(-2c) where it is still needed.
func (p *PublicKey) shortPowers(claims []*claim) {
	const bits = 256
	mod := p.arith().mod
	var zs, xs []*modexp.Element
	var es []*big.Int
	for _, c := range claims {
		c.vc = mod.NewElement()
		zs, xs, es = append(zs, c.vc), append(xs, c.viInv), append(es, c.c)
		if c.xi2Inv != nil {
			c.xc = mod.NewElement()
			zs, xs, es = append(zs, c.xc), append(xs, c.xi2Inv), append(es, c.c)
		}
	}
	n := mod.InLanes(len(xs))
	nats := make([]modexp.Nat, n)
	for i, e := range es[:n] {
		nats[i] = natOf(e, bits)
	}
	modexp.ExpLanes(zs[:n], xs[:n], repeated(mod, n), nats, bits)
	for i := n; i < len(xs); i++ {
		mod.ExpVarTime(zs[i], xs[i], es[i])
	}
}

func repeated(mod *modexp.Modulus, n int) []*modexp.Modulus {
	ms := make([]*modexp.Modulus, n)
	for i := range ms {
		ms[i] = mod
	}
	return ms
}
