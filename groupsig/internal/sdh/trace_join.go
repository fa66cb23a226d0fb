// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"errors"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
)

// Where signatures are traced, a member that joins commits to y', gets numbers u and v that
// nobody has chosen, and has the secret y:
//
//	I = y'·B + r·H,  y = u·y' + v,  C = y·B
//
// u and v are hashed from I and from the issuer's challenge, which came before it, so that
// there is no message more, and whoever has the application computes them again. The
// proof, with u and v in its statement and not among its secrets, is of y and u·r:
//
//	C = y·B,  v·B + u·I - C = (u·r)·H

// mix returns u and v.
func (k *GroupKey) mix(c *join.Challenge, i *bls12381.G1) (u, v *bls12381.Scalar) {
	items := c.Context(nil).G1("I", i)
	return items.Clone().Bytes("name", []byte("u")).Challenge(k.dst("join/mix")),
		items.Bytes("name", []byte("v")).Challenge(k.dst("join/mix"))
}

// mixed is the statement of the join proof.
func (k *GroupKey) mixed(m *application, u, v *bls12381.Scalar) *sigma.Statement {
	b, h := k.consts[k.s.Trace.Const], k.consts[k.s.Trace.Hide]
	rest := new(bls12381.G1).MultiMultVarTime(bls12381.MulG1Table(v, b.table), bls12381.MulG1(u, m.hidden))
	bls12381.NormalizeG1(rest.Sub(rest, &m.t))
	return &sigma.Statement{Secrets: 2, G1: []sigma.Relation{
		{Y: &m.t, Terms: []sigma.Term{{W: 0, P: &b.p, Table: b.table}}},
		{Y: rest, Terms: []sigma.Term{{W: 1, P: &h.p, Table: h.table}}},
	}}
}

// checkMixed checks a member's join proof, and that the member registered what traces it.
func (k *GroupKey) checkMixed(m *application, c *join.Challenge) error {
	u, v := k.mix(c, m.hidden)
	if u.IsZero() {
		return errors.New("groupsig: the application's commitment isn't mixed")
	}
	if err := join.VerifyVarTime(m.kind, k.dst("join"), c.Context(nil).G1("I", m.hidden), k.mixed(m, u, v), m.proof); err != nil {
		return err
	}
	z := new(bls12381.GT).PairingProductVarTime(bls12381.PairWith(&m.t, k.linesP2))
	return k.checkRegistered(z, m.point)
}

// applyMixed makes the application, and returns y.
func (k *GroupKey) applyMixed(m *application, c *join.Challenge) (*bls12381.Scalar, error) {
	w := make([]bls12381.Scalar, 2)
	defer wipe(w)
	w[0].Random()
	w[1].Random()
	b := k.consts[k.s.Trace.Const]
	m.hidden = new(bls12381.G1).CombMult(&w[0], b.comb())
	var p bls12381.G1
	m.hidden.Add(m.hidden, p.CombMult(&w[1], k.consts[k.s.Trace.Hide].comb()))
	bls12381.NormalizeG1(m.hidden)
	u, v := k.mix(c, m.hidden)
	y := new(bls12381.Scalar)
	y.MulAdd(u, &w[0], v)
	w[0].Set(y)
	w[1].Mul(u, &w[1])
	if y.IsZero() || u.IsZero() { // which doesn't happen
		return nil, errors.New("groupsig: the secret is zero")
	}
	m.t.CombMult(y, b.comb())
	bls12381.NormalizeG1(&m.t)
	m.point = k.registration(new(bls12381.GT).CombExp(y, b.combP2()))
	var err error
	m.proof, err = join.Prove(m.kind, k.dst("join"), c.Context(nil).G1("I", m.hidden), k.mixed(m, u, v), w)
	return y, err
}

// registration returns what a member registers in place of C: a hash of e(C, P2).
func (k *GroupKey) registration(z *bls12381.GT) []byte {
	sum := k.context("registration").GT("e(C, P2)", z).Sum()
	return sum[:]
}

// checkRegistered checks e(C, P2) by what a record has in its place.
func (k *GroupKey) checkRegistered(z *bls12381.GT, point []byte) error {
	if z.IsIdentity() || string(k.registration(z)) != string(point) {
		return errors.New("groupsig: what traces the member isn't what it registered")
	}
	return nil
}

// checkTraced checks that a credential is of C by what was registered in its place: C is
// still secret where a signature is opened.
//
//	e(A, w)·e(x·A - g1, P2) = e(C, P2)
func (k *GroupKey) checkTraced(c *credential, point []byte) error {
	if c.a.IsIdentity() || c.x.IsZero() {
		return errors.New("groupsig: the credential is zero")
	}
	var rest bls12381.G1
	rest.ScalarMultVarTime(&c.x, &c.a)
	rest.Sub(&rest, &k.consts[0].p)
	z := new(bls12381.GT).PairingProductVarTime(bls12381.PairWith(&c.a, k.linesW), bls12381.PairWith(&rest, k.linesP2))
	return k.checkRegistered(z, point)
}
