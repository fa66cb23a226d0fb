// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/wire"
)

// Encrypted is a token w·P2, encrypted to the opener twice, for security against chosen
// ciphertexts: S_i = s_i·P2, F_i = w·P2 + s_i·Z_i.
type Encrypted struct {
	S, F [2]bls12381.G2
}

// Encrypt draws s0 and s1 and encrypts the token of w. They are for the proof.
func (g *GroupKey) Encrypt(w *bls12381.Scalar, s0, s1 *bls12381.Scalar) (c Encrypted) {
	var token bls12381.G2
	token.ScalarBaseMult(w)
	for i, s := range []*bls12381.Scalar{s0, s1} {
		s.Random()
		c.S[i].ScalarBaseMult(s)
		c.F[i].ScalarMult(s, &g.opener.z[i])
		c.F[i].Add(&c.F[i], &token)
	}
	token.Wipe()
	bls12381.NormalizeG2(&c.S[0], &c.S[1], &c.F[0], &c.F[1])
	return c
}

// AddTo adds the relations of the encryptions to a statement whose secrets begin with w,
// s0 and s1.
func (c *Encrypted) AddTo(st *sigma.Statement, g *GroupKey) {
	p2 := bls12381.G2Generator()
	for i := range c.S {
		st.G2 = append(st.G2, sigma.RelationG2{Y: &c.S[i], Terms: []sigma.TermG2{{W: 1 + i, P: p2}}})
	}
	for i := range c.F {
		st.G2 = append(st.G2, sigma.RelationG2{Y: &c.F[i], Terms: []sigma.TermG2{{W: 0, P: p2}, {W: 1 + i, P: &g.opener.z[i]}}})
	}
}

// HasZero reports whether one of the points is zero.
func (c *Encrypted) HasZero() bool {
	return c.S[0].IsIdentity() || c.S[1].IsIdentity() || c.F[0].IsIdentity() || c.F[1].IsIdentity()
}

// Append appends S0, F0, S1, F1.
func (c *Encrypted) Append(e *wire.Encoder) {
	for i := range c.S {
		e.Fixed(c.S[i].Bytes())
		e.Fixed(c.F[i].Bytes())
	}
}

// Read reads what Append appended.
func (c *Encrypted) Read(d *wire.Decoder) {
	for i := range c.S {
		codec.ReadG2(d, fmt.Sprint("S", i), &c.S[i])
		codec.ReadG2(d, fmt.Sprint("F", i), &c.F[i])
	}
}

// Decrypt returns the token F_i - z_i·S_i, or nil if the encryptions differ.
func (k *OpenerKey) Decrypt(c *Encrypted) *bls12381.G2 {
	var t [2]bls12381.G2
	for i := range t {
		t[i].Sub(&c.F[i], t[i].ScalarMult(&k.z.w[i], &c.S[i]))
	}
	Normalize(&t[0], &t[1])
	if !t[0].Equal(&t[1]) {
		return nil
	}
	t[1].Wipe()
	return &t[0]
}

// AddEncrypted decrypts a member's token and puts its record into the opener's register,
// as Add does.
func (k *OpenerKey) AddEncrypted(g *GroupKey, register *join.Register, r *join.Record, c *Encrypted) error {
	token := k.Decrypt(c)
	if token == nil {
		return errors.New("the two encryptions differ")
	}
	defer token.Wipe()
	return k.Key.Add(g.Tokens, register, r, token)
}
