// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package strongrsa

import (
	"github.com/undersign/undersign/groupsig/legacy/internal/qrn"
	"github.com/undersign/undersign/internal/modexp"
)

// Indices of secrets in a signature of CG05.
const (
	cgX = iota
	cgE
	cgR
	cgRho
)

// CG05 is the scheme of Camenisch and Groth 2004 ("Group signatures: better efficiency
// and new theoretical aspects"), section 3. Beside QR(n) it has a group of prime order
// Q in the integers modulo P, both constants here. A credential is
//
//	A^E = a · g^x · h^r,  E in 2^lE + [0, 2^le),
//
// with x below Q, which the member draws alone: it sends g^x·h^r' and G^x, and the
// issuer adds to r', which hides x from it as well (Camenisch and Lysyanskaya 2002).
// The opener's key is G = F^X, and G^x names a member. The lengths are
//
//	lE > le + k + s + 1,  lE > lQ + k + s + 1.
func CG05(p qrn.Params) (*Scheme, error) {
	slack := p.Challenge + p.Statistical
	const le = 128
	lQ := subgroup().order.BitLen()
	lE := max(le, lQ) + slack + 2
	x := qrn.Below(lQ - 1)
	e := qrn.Range{Low: qrn.Pow2(lE), Bits: le}
	r := slot{base: "h", member: p.Modulus + p.Statistical, issuer: p.Modulus + 3*p.Statistical + p.Challenge}
	r.r = qrn.Below(r.issuer + 1)
	w := qrn.Below(p.Modulus / 2)
	blind := qrn.Below(lQ + p.Statistical) // R modulo Q is uniform but for 2^-s
	rho := qrn.Below(max(r.r.Bits, w.Bits+lE+1) + 1)
	s := &Scheme{
		name: "cg05", p: p,
		constant: "a", bases: []string{"a", "g", "h"}, subgroup: []string{"F", "H"},
		slots: []slot{{base: "g", r: x, member: x.Bits}, r},
		e:     e, blinds: []qrn.Range{w, blind},
		secrets: []qrn.Range{cgX: x, cgE: e, cgR: blind, cgRho: rho},
		gen:     "F", opener: lQ + p.Statistical,
		elements: 4, inSub: []bool{false, true, true, true}, num: 2, den: 1, point: 0,
		hide: cgHide, relations: cgRelations,
	}
	if err := s.bound(x, lE, false); err != nil {
		return nil, err
	}
	if err := s.bound(qrn.Below(le), lE-1, false); err != nil {
		return nil, err
	}
	return s.check()
}

// cgHide returns
//
//	u = A·h^w  U1 = F^R  U2 = G^(R+x)  U3 = H^(R+E)
//
// and x, E, R, rho = r + w·E.
func cgHide(m *MemberKey, blinds []modexp.Nat) ([]*modexp.Element, []modexp.Nat) {
	g, s := m.g, m.g.s
	w, r := blinds[0], blinds[1]
	e := s.e.Full(m.e)
	n := s.secrets[cgRho].Bits
	we := qrn.Product(w, e, n)
	rho := qrn.Sum(m.w[1], we, n)
	bits := max(s.secrets[cgR].Bits, s.secrets[cgX].Bits, s.e.FullBits()) + 1
	rx, re := qrn.Sum(r, m.w[0], bits), qrn.Sum(r, e, bits)
	ts := []*modexp.Element{
		g.n.Mul(m.a, g.pow("h", w)),
		g.pow("F", r), g.pow("y", rx), g.pow("H", re),
	}
	qrn.Wipe(e, we, rx, re)
	return ts, []modexp.Nat{m.w[0], m.e, r, rho}
}

// cgRelations is
//
//	g^x · h^rho / u^E = 1/a, F^R = U1, G^R·G^x = U2, H^R·H^E = U3.
//
// From u^E = A^E·h^(wE) = a · g^x · h^(r+wE).
func cgRelations(g *GroupKey, t []*qrn.Base) []qrn.Relation {
	b := g.base
	return []qrn.Relation{
		relation([]qrn.Term{pow(b["g"], cgX), pow(b["h"], cgRho), over(t[0], cgE)}, qrn.Factor{Base: b["a"], Neg: true}),
		relation([]qrn.Term{pow(b["F"], cgR)}, qrn.Factor{Base: t[1]}),
		relation([]qrn.Term{pow(b["y"], cgR), pow(b["y"], cgX)}, qrn.Factor{Base: t[2]}),
		relation([]qrn.Term{pow(b["H"], cgR), pow(b["H"], cgE)}, qrn.Factor{Base: t[3]}),
	}
}
