// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package strongrsa

import (
	"github.com/undersign/undersign/groupsig/legacy/internal/qrn"
	"github.com/undersign/undersign/internal/modexp"
)

// Indices of secrets in a signature of ACJT00.
const (
	acjtX = iota
	acjtE
	acjtW
	acjtH
)

// ACJT00 is the scheme of Ateniese, Camenisch, Joye and Tsudik 2000, section 5, with the
// lengths
//
//	lambda2 > 4·lp,  lambda1 > lambda2 + k + s + 2,
//	gamma2 > lambda1 + 2,  gamma1 > gamma2 + k + s + 2,
//
// in which lp is the length of a factor. A credential is A^e = a0 · a^x, with x from
// 2^lambda1 + [0, 2^lambda2) and e from 2^gamma1 + [0, 2^gamma2).
func ACJT00(p qrn.Params) (*Scheme, error) {
	slack := p.Challenge + p.Statistical
	lambda2 := 2*p.Modulus + 1
	lambda1 := lambda2 + slack + 3
	gamma2 := lambda1 + 3
	gamma1 := gamma2 + slack + 3
	lambda := qrn.Range{Low: qrn.Pow2(lambda1), Bits: lambda2}
	gamma := qrn.Range{Low: qrn.Pow2(gamma1), Bits: gamma2}
	w := qrn.Below(p.Modulus)
	h := qrn.Below(gamma.FullBits() + p.Modulus)
	s := &Scheme{
		name: "acjt00", p: p,
		constant: "a0", bases: []string{"a", "a0", "g", "h"},
		slots: []slot{{base: "a", r: lambda, member: p.Secret, issuer: lambda2 - 1}},
		e:     gamma, blinds: []qrn.Range{w},
		secrets: []qrn.Range{acjtX: lambda, acjtE: gamma, acjtW: w, acjtH: h},
		gen:     "g", opener: p.Modulus,
		elements: 3, inSub: make([]bool, 3), num: 0, den: 1, point: -1,
		hide: acjtHide, relations: acjtRelations,
	}
	// The outer interval of x is positive and below 2^gamma2, that of e positive.
	if err := s.bound(lambda, gamma2, true); err != nil {
		return nil, err
	}
	if err := s.bound(gamma, gamma1+1, true); err != nil {
		return nil, err
	}
	return s.check()
}

// acjtHide returns
//
//	T1 = A·y^w  T2 = g^w  T3 = g^e·h^w
//
// and x, e, w, h = e·w.
func acjtHide(m *MemberKey, blinds []modexp.Nat) ([]*modexp.Element, []modexp.Nat) {
	g, s := m.g, m.g.s
	e, w := s.e.Full(m.e), blinds[0]
	h := qrn.Product(e, w, s.secrets[acjtH].Bits)
	ts := []*modexp.Element{
		g.n.Mul(m.a, g.pow("y", w)),
		g.pow("g", w),
		g.n.Mul(g.pow("g", e), g.pow("h", w)),
	}
	qrn.Wipe(e)
	return ts, []modexp.Nat{m.w[0], m.e, w, h}
}

// acjtRelations is
//
//	y^h · a^x / T1^e = 1/a0, g^h = T2^e, g^w = T2, g^e·h^w = T3:
//
// d1 to d4 of the paper, of which the first is inverted.
func acjtRelations(g *GroupKey, t []*qrn.Base) []qrn.Relation {
	b := g.base
	return []qrn.Relation{
		relation([]qrn.Term{pow(b["y"], acjtH), over(t[0], acjtE), pow(b["a"], acjtX)}, qrn.Factor{Base: b["a0"], Neg: true}),
		relation([]qrn.Term{pow(b["g"], acjtH), over(t[1], acjtE)}),
		relation([]qrn.Term{pow(b["g"], acjtW)}, qrn.Factor{Base: t[1]}),
		relation([]qrn.Term{pow(b["g"], acjtE), pow(b["h"], acjtW)}, qrn.Factor{Base: t[2]}),
	}
}
