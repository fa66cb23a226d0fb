// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/wire"
)

// A Trace says how signatures are traced. T = C = y·B traces all of one member's: it is the
// issuer's secret, and the member registers a hash of e(C, P2) in its place. There are
//
//	T4 = ρ·P2, T5 = e(B, T4)^y = e(C, T4)
//
// beside a signature's points, and the proof's relation T5 = e(B, T4)^y. With T4 = 0, T5
// would be 1 for all members: neither is decoded.
type Trace struct {
	Const  int // B, which is the one of Base
	Secret int // y in the proof
	Hide   int // H of y'·B + r·H, what the member commits to before it learns y
}

// traced is what a signature has for that, and the commitment to the relation, which isn't
// encoded.
type traced struct {
	t4    bls12381.G2
	t5, r bls12381.GT
}

const tracedSize = bls12381.G2Size + bls12381.GTSizeCompressed

func (t *traced) append(b []byte) []byte { return t.t5.AppendCompressed(t.t4.Append(b)) }

func readTraced(d *wire.Decoder) *traced {
	t := new(traced)
	if b := d.Fixed("T4", bls12381.G2Size); b != nil {
		if err := t.t4.SetBytes(b); err != nil {
			d.Fail("T4", "%v", err)
		}
	}
	if b := d.Fixed("T5", bls12381.GTSizeCompressed); b != nil {
		if err := t.t5.SetCompressed(b); err != nil {
			d.Fail("T5", "%v", err)
		}
	}
	return t
}

// nonces is the number of random exponents of a signature beside its blinds: ρ is the last.
func (s *Scheme) nonces() int {
	if s.Trace != nil {
		return s.Secrets + 1
	}
	return s.Secrets
}

// trace makes T4, not normalised, T5 and the commitment to the relation between them, all
// from powers of P2 and of e(B, P2).
func (k *GroupKey) trace(w, nonces []bls12381.Scalar) *traced {
	tr, rho := k.s.Trace, &nonces[k.s.Secrets]
	comb := k.consts[tr.Const].combP2()
	t := new(traced)
	t.t4.ScalarBaseMult(rho)
	var e bls12381.Scalar
	t.t5.CombExp(e.Mul(rho, &w[tr.Secret]), comb)
	t.r.CombExp(e.Mul(rho, &nonces[tr.Secret]), comb)
	e.Wipe()
	return t
}

// commit computes the commitment as the verifier does, e(s·B, T4)·T5^c from s·B: nothing in
// GT has the exponent s.
func (t *traced) commit(sb *bls12381.G1, c *bls12381.Scalar) {
	t.r.PairVarTime(sb, &t.t4)
	t.r.Mul(&t.r, new(bls12381.GT).ExpVarTime(&t.t5, c))
}

// of reports whether C traces the signature: e(C, T4) = T5.
func (t *traced) of(c *bls12381.G1) bool {
	return new(bls12381.GT).PairVarTime(c, &t.t4).Equal(&t.t5)
}

// Traces reports whether the group's signatures can be traced.
func (k *GroupKey) Traces() bool { return k.traces() == nil }
