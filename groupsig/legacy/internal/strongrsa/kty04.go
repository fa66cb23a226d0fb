// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package strongrsa

import (
	"math/big"

	"github.com/undersign/undersign/groupsig/legacy/internal/qrn"
	"github.com/undersign/undersign/internal/modexp"
)

// Indices of secrets in a signature of KTY04.
const (
	ktyX = iota
	ktyX1
	ktyE
	ktyR
	ktyH
)

// KTY04 is the traceable signatures of Kiayias, Tsiounis and Yung 2004, sections 4 to
// 6. With S(c, r) for the interval of the radius r around c, and nu the length of the
// order of QR(n), its spheres are
//
//	Lambda = S(2^(nu/4-1), 2^(nu/4-1)), of x and x'
//	Gamma  = S(2^(3nu/4) + 2^(nu/4-1), 2^(nu/4-1)), of e
//	M      = S(2^(nu/2-1), 2^(nu/2-1)), of r
//
// They are the outer intervals here. A credential is A^e = a0 · a^x · b^x', where x is
// the tracing trapdoor, that the issuer knows, and x' the member's.
func KTY04(p qrn.Params) (*Scheme, error) {
	nu := p.Modulus - 2
	slack := p.Challenge + p.Statistical
	radius := func(bits int) int { return bits - slack } // of what is inside of a sphere
	lambda := qrn.Range{Low: qrn.Pow2(nu/4 - 1), Bits: radius(nu/4 - 1)}
	gamma := qrn.Range{Low: new(big.Int).Add(qrn.Pow2(3*nu/4), qrn.Pow2(nu/4-1)), Bits: radius(nu/4 - 1)}
	m := qrn.Range{Low: qrn.Pow2(nu/2 - 1), Bits: radius(nu/2 - 1)}
	h := qrn.Below(gamma.FullBits() + m.FullBits())
	s := &Scheme{
		name: "kty04", p: p,
		constant: "a0", bases: []string{"a", "a0", "b", "g", "h"},
		slots: []slot{
			{base: "a", r: lambda, issuer: lambda.Bits},
			{base: "b", r: lambda, member: p.Secret, issuer: lambda.Bits - 1},
		},
		e: gamma, blinds: []qrn.Range{m, m, m},
		secrets: []qrn.Range{ktyX: lambda, ktyX1: lambda, ktyE: gamma, ktyR: m, ktyH: h},
		gen:     "g", opener: nu / 2,
		elements: 7, inSub: make([]bool, 7), num: 0, den: 1, point: -1,
		hide: ktyHide, relations: ktyRelations,
	}
	if err := s.bound(lambda, nu/4, true); err != nil {
		return nil, err
	}
	if err := s.bound(m, nu/2, true); err != nil {
		return nil, err
	}
	// |x - x_i| and |x' - x'_i| are below 2^(nu/4), and all e above 2^(3nu/4).
	if low, _ := gamma.Outer(p); low.Cmp(qrn.Pow2(3*nu/4)) < 0 {
		return nil, s.bound(gamma, 0, true)
	}
	return s.check()
}

// ktyHide returns
//
//	T1 = A·y^r  T2 = g^r  T3 = g^e·h^r  T5 = g^k1  T4 = T5^x  T7 = g^k2  T6 = T7^x'
//
// and x, x', e, r, h = e·r.
func ktyHide(m *MemberKey, blinds []modexp.Nat) ([]*modexp.Element, []modexp.Nat) {
	g, s := m.g, m.g.s
	var full [3]modexp.Nat
	for i := range full {
		full[i] = s.blinds[i].Full(blinds[i])
	}
	e, r := s.e.Full(m.e), full[0]
	x, x1 := s.slots[0].r.Full(m.w[0]), s.slots[1].r.Full(m.w[1])
	h := qrn.Product(e, r, s.secrets[ktyH].Bits)
	t5, t7 := g.pow("g", full[1]), g.pow("g", full[2])
	ts := []*modexp.Element{
		g.n.Mul(m.a, g.pow("y", r)),
		g.pow("g", r),
		g.n.Mul(g.pow("g", e), g.pow("h", r)),
		g.n.Pow(t5, x), t5,
		g.n.Pow(t7, x1), t7,
	}
	qrn.Wipe(e, x, x1)
	qrn.Wipe(full[:]...)
	return ts, []modexp.Nat{m.w[0], m.w[1], m.e, blinds[0], h}
}

// ktyRelations is
//
//	g^r = T2, g^e·h^r = T3, g^h = T2^e, T5^x = T4, T7^x' = T6,
//	y^h · a^x · b^x' / T1^e = 1/a0.
//
// By the first and the third h is e·r modulo the order, and so
// (T1/y^r)^e = a0 · a^x · b^x'.
func ktyRelations(g *GroupKey, t []*qrn.Base) []qrn.Relation {
	b := g.base
	return []qrn.Relation{
		relation([]qrn.Term{pow(b["g"], ktyR)}, qrn.Factor{Base: t[1]}),
		relation([]qrn.Term{pow(b["g"], ktyE), pow(b["h"], ktyR)}, qrn.Factor{Base: t[2]}),
		relation([]qrn.Term{pow(b["g"], ktyH), over(t[1], ktyE)}),
		relation([]qrn.Term{pow(t[4], ktyX)}, qrn.Factor{Base: t[3]}),
		relation([]qrn.Term{pow(t[6], ktyX1)}, qrn.Factor{Base: t[5]}),
		relation([]qrn.Term{pow(b["y"], ktyH), over(t[0], ktyE), pow(b["a"], ktyX), pow(b["b"], ktyX1)},
			qrn.Factor{Base: b["a0"], Neg: true}),
	}
}
