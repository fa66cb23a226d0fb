// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package strongrsa

import (
	"fmt"
	"math/big"

	"github.com/undersign/undersign/groupsig/legacy/internal/qrn"
	"github.com/undersign/undersign/internal/modexp"
	"github.com/undersign/undersign/internal/transcript"
)

// A slot is a secret w = low + member + issuer of a credential, and its base.
type slot struct {
	base   string
	r      qrn.Range
	member int // bits of the part that the member draws, or 0
	issuer int // bits of the part that the issuer draws, or 0
}

// A Scheme is the table of a scheme for certain parameters. It is immutable.
type Scheme struct {
	name     string
	p        qrn.Params
	constant string   // c in A^e = c · prod b^w
	bases    []string // of the group of n, the constant and those of slots included
	subgroup []string // bases of the subgroup, if the scheme has one
	slots    []slot
	e        qrn.Range
	blinds   []qrn.Range
	secrets  []qrn.Range // of a signature's proof
	table    int         // bits of precomputed powers

	// The opener's key is y = gen^X, 0 <= X < 2^opener.
	gen    string
	opener int

	elements int    // T_1, T_2, ..
	inSub    []bool // which of them are of the subgroup

	// opened = T_num / T_den^X is a credential's A, or, if point is a slot, the point
	// y^w that the member has registered.
	num, den int
	point    int // or -1

	// hide returns the elements of a signature, and the secrets v of its proof.
	hide func(m *MemberKey, blinds []modexp.Nat) ([]*modexp.Element, []modexp.Nat)
	// relations returns what the proof shows of them.
	relations func(g *GroupKey, t []*qrn.Base) []qrn.Relation
}

// Name returns what the scheme is called.
func (s *Scheme) Name() string { return s.name }

// Params returns the sizes that the scheme is made for.
func (s *Scheme) Params() qrn.Params { return s.p }

func (s *Scheme) dst(operation string) []byte { return transcript.DST(s.name, operation) }

// check tests what all schemes need of their intervals.
func (s *Scheme) check() (*Scheme, error) {
	lowE, highE := s.e.Outer(s.p)
	if lowE.Sign() <= 0 || highE.Cmp(new(big.Int).Mul(lowE, lowE)) >= 0 {
		// A product of two issued primes would pass for one.
		return nil, fmt.Errorf("strongrsa: %s: the interval of e is too wide", s.name)
	}
	for _, x := range s.slots {
		if x.member > 0 && x.issuer > 0 && x.member+s.p.Challenge+2*s.p.Statistical > x.issuer {
			return nil, fmt.Errorf("strongrsa: %s: the issuer's part of a secret doesn't hide the member's", s.name)
		}
		parts := new(big.Int)
		for _, bits := range []int{x.member, x.issuer} {
			if bits > 0 {
				parts.Add(parts, new(big.Int).Sub(qrn.Pow2(bits), big.NewInt(1)))
			}
		}
		if parts.BitLen() > x.r.Bits {
			return nil, fmt.Errorf("strongrsa: %s: the parts of a secret exceed its interval", s.name)
		}
	}
	for _, r := range s.secrets {
		s.table = max(s.table, r.Response(s.p), r.FullBits())
	}
	s.table = (s.table + 127) / 64 * 64
	return s, s.p.Check()
}

// bound demands that all numbers of the outer interval of r be below 2^bits, and above
// 0 if positive is set.
func (s *Scheme) bound(r qrn.Range, bits int, positive bool) error {
	low, high := r.Outer(s.p)
	if high.Cmp(qrn.Pow2(bits)) > 0 || positive && low.Sign() < 0 {
		return fmt.Errorf("strongrsa: %s: an interval isn't within its bounds", s.name)
	}
	return nil
}

// relation returns terms = factors in the group of the first base.
func relation(terms []qrn.Term, y ...qrn.Factor) qrn.Relation {
	return qrn.Relation{G: terms[0].Base.G, Terms: terms, Y: y}
}

func pow(b *qrn.Base, w int) qrn.Term { return qrn.Term{Base: b, W: w} }

func over(b *qrn.Base, w int) qrn.Term { return qrn.Term{Base: b, W: w, Neg: true} }
