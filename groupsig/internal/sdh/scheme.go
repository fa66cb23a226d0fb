// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import "github.com/undersign/undersign/internal/bls12381"

// A Scheme is the table of a scheme.
type Scheme struct {
	Name string

	// Consts are the constants of G1. The first is g1.
	Consts []Const
	// Opener and Linker are the roles beside the issuer. A scheme without linker has
	// none of its keys.
	Opener, Linker Role

	// Base are the constants B_j of the member's secrets, and Minus is for g1 - T.
	Base  []int
	Minus bool

	// Secrets is the number of the proof's secrets. The first Blinds of them are random
	// in each signature, and Witness computes the rest from them and the member's key.
	Secrets, Blinds int
	Witness         func(w []bls12381.Scalar, x *bls12381.Scalar, y []bls12381.Scalar)

	// Points are the signature's. Carriers are those that carry A, which isn't among their
	// terms; the first is T_A. Each of the others is a relation of the proof.
	Points   []Terms
	Carriers []int
	// Relations are those beside: the sum of terms is the difference of two points, or
	// zero if both are the same.
	Relations []Relation

	// P2 and W are the exponents of the pairing equation, of e(·, P2) and e(·, w).
	P2, W Terms

	// Moves are the constants that move when a member is revoked, the first of them g1;
	// none if members aren't revoked by moving keys.
	Moves []int
	// Static says that the issuer makes the whole key of a member: there is no Base, and
	// the issuer can sign as each member. Rekey says that it is the form that moves of one
	// that doesn't. Variant is the static form or the one that moves of a scheme that has one.
	Static, Rekey bool
	Variant       *Scheme

	// Open are the points whose multiples by the opener's secrets, in this order, the
	// opener subtracts from T_A for A.
	Open []int
	// Link are the points of a pseudonym: the second less the first times the linker's
	// secret.
	Link [2]int

	// Trace, if it isn't nil, says how signatures are traced.
	Trace *Trace
}

const (
	flagStatic = 1 << iota
	flagRekey
)

// flags are what is absorbed of a variant in the group's ID.
func (s *Scheme) flags() uint64 {
	switch {
	case s.Static:
		return flagStatic
	case s.Rekey:
		return flagRekey
	}
	return 0
}

// withFlags returns the variant that has flags, or nil.
func (s *Scheme) withFlags(flags uint64) *Scheme {
	for ; s != nil; s = s.Variant {
		if s.flags() == flags {
			return s
		}
	}
	return nil
}

// carrier is the number of T_A.
func (s *Scheme) carrier() int { return s.Carriers[0] }

// An Origin says where a constant comes from.
type Origin uint8

const (
	// OfGroup is hashed from the group's ID, so that a credential of one group isn't one
	// of another, even if an issuer has one key in both.
	OfGroup Origin = iota
	// OfLabel is hashed from the group's label: roles' keys are made with it, before the
	// group has an ID.
	OfLabel
	// OfOpener and OfLinker are of a role's public key.
	OfOpener
	OfLinker
)

// A Const is a constant of G1.
type Const struct {
	Name string
	From Origin
}

// A Role has secrets, one for each of its public constants.
type Role []RoleKey

// A RoleKey says that a constant is secret·Base, or with Inverse that secret times the
// constant is Base.
type RoleKey struct {
	Const, Base int
	Inverse     bool
}

// Terms are a sum of multiples.
type Terms []Term

// A Term is a multiple of a constant, or with a negative number ^i of point i, by a
// secret of the proof.
type Term struct {
	Secret, Of int
	Minus      bool
}

// Point is the number of point i in a [Term].
func Point(i int) int { return ^i }

// A Relation is a sum that is points Left - Right.
type Relation struct {
	Left, Right int
	Terms       Terms
}

// SignatureSize is the length of a signature: its points, the challenge and the
// responses.
func (s *Scheme) SignatureSize() int {
	n := len(s.Points)*bls12381.G1Size + (1+s.Secrets)*bls12381.ScalarSize
	if s.Trace != nil {
		n += tracedSize
	}
	return n
}

// DP06 is the scheme of Delerablée and Pointcheval, Dynamic Fully Anonymous Short Group
// Signatures (VIETCRYPT 2006), known as XSGS. A is encrypted twice,
//
//	T1 = α·k, T2 = A + α·h, T3 = β·k, T4 = A + β·g
//
// with h = ξ1·k and g = ξ2·k, and the proof that both are of one A makes it secure
// against chosen ciphertexts: signers stay anonymous when others' signatures are opened.
// With z = x·α + y:
//
//	e(g1, P2)/e(T2, w) = e(T2, P2)^x · e(h, P2)^-z · e(h, w)^-α
var DP06 = &Scheme{
	Name:   "dp06",
	Consts: []Const{{"g1", OfGroup}, {"k", OfLabel}, {"h", OfOpener}, {"g", OfOpener}},
	Opener: Role{{Const: 2, Base: 1}, {Const: 3, Base: 1}},
	Base:   []int{2},

	Secrets: 4, // α, β, x, z
	Blinds:  2,
	Witness: func(w []bls12381.Scalar, x *bls12381.Scalar, y []bls12381.Scalar) {
		w[2].Set(x)
		w[3].MulAdd(x, &w[0], &y[0])
	},
	Points: []Terms{
		{{Secret: 0, Of: 1}},
		{{Secret: 0, Of: 2}},
		{{Secret: 1, Of: 1}},
		{{Secret: 1, Of: 3}},
	},
	Carriers: []int{1, 3},
	Relations: []Relation{
		{1, 3, Terms{{Secret: 0, Of: 2}, {Secret: 1, Of: 3, Minus: true}}},
	},
	P2:      Terms{{Secret: 2, Of: Point(1)}, {Secret: 3, Of: 2, Minus: true}},
	W:       Terms{{Secret: 0, Of: 2, Minus: true}},
	Open:    []int{0},
	Variant: dp06Rekey,
}

// HLCCN11 is the scheme of Hwang, Lee, Chung, Cho and Nyang, Short Group Signatures with
// Controllable Linkability (2011). Who has the linker's key sees which signatures are of
// one member, and not of which:
//
//	D1 = α·u, D2 = A + α·v, D3 = y·g + α·d
//
// with v = η·u for the opener's η, d = ξ·u for the linker's ξ, and credentials over
// g1 - y·h - z·v, so that the issuer, who sees y·h + z·v, knows nothing of y. With
// ζ = x·α - z:
//
//	e(g1, P2)/e(D2, w) = e(D2, P2)^x · e(v, P2)^-ζ · e(h, P2)^y · e(v, w)^-α
var HLCCN11 = &Scheme{
	Name: "hlccn11",
	Consts: []Const{{"g1", OfGroup}, {"h", OfGroup}, {"g", OfGroup}, {"u", OfLabel},
		{"v", OfOpener}, {"d", OfLinker}},
	Opener: Role{{Const: 4, Base: 3}},
	Linker: Role{{Const: 5, Base: 3}},
	Base:   []int{1, 4},
	Minus:  true,

	Secrets: 4, // α, x, ζ, y
	Blinds:  1,
	Witness: func(w []bls12381.Scalar, x *bls12381.Scalar, y []bls12381.Scalar) {
		w[1].Set(x)
		w[2].Mul(x, &w[0])
		w[2].Sub(&w[2], &y[1])
		w[3].Set(&y[0])
	},
	Points: []Terms{
		{{Secret: 0, Of: 3}},
		{{Secret: 0, Of: 4}},
		{{Secret: 3, Of: 2}, {Secret: 0, Of: 5}},
	},
	Carriers: []int{1},
	P2:       Terms{{Secret: 1, Of: Point(1)}, {Secret: 2, Of: 4, Minus: true}, {Secret: 3, Of: 1}},
	W:        Terms{{Secret: 0, Of: 4, Minus: true}},
	Open:     []int{0},
	Link:     [2]int{0, 2},
	Variant:  hlccn11Rekey,
}

// BBS04 is the scheme of Boneh, Boyen and Shacham, Short Group Signatures (CRYPTO 2004),
// with the members' own secrets of its section 8. A is encrypted linearly,
//
//	T1 = α·u, T2 = β·v, T3 = A + (α+β)·h
//
// with h = ξ1·u = ξ2·v. With δ1 = x·α and δ2 = x·β:
//
//	e(g1, P2)/e(T3, w) = e(T3, P2)^x · e(h, P2)^(-δ1-δ2) · e(h1, P2)^-y · e(h, w)^(-α-β)
//
// Signers are anonymous as long as the attacker has nothing opened.
//
// Members are revoked after section 7: see [Update].
var BBS04 = &Scheme{
	Name: "bbs04",
	Consts: []Const{{"g1", OfGroup}, {"h1", OfGroup}, {"h", OfLabel},
		{"u", OfOpener}, {"v", OfOpener}},
	Opener: Role{{Const: 3, Base: 2, Inverse: true}, {Const: 4, Base: 2, Inverse: true}},
	Base:   []int{1},

	Secrets: 6, // α, β, x, δ1, δ2, y
	Blinds:  2,
	Witness: func(w []bls12381.Scalar, x *bls12381.Scalar, y []bls12381.Scalar) {
		w[2].Set(x)
		w[3].Mul(x, &w[0])
		w[4].Mul(x, &w[1])
		w[5].Set(&y[0])
	},
	Points: []Terms{
		{{Secret: 0, Of: 3}},
		{{Secret: 1, Of: 4}},
		{{Secret: 0, Of: 2}, {Secret: 1, Of: 2}},
	},
	Carriers: []int{2},
	Relations: []Relation{
		{0, 0, Terms{{Secret: 2, Of: Point(0)}, {Secret: 3, Of: 3, Minus: true}}},
		{1, 1, Terms{{Secret: 2, Of: Point(1)}, {Secret: 4, Of: 4, Minus: true}}},
	},
	P2: Terms{{Secret: 2, Of: Point(2)}, {Secret: 3, Of: 2, Minus: true}, {Secret: 4, Of: 2, Minus: true},
		{Secret: 5, Of: 1, Minus: true}},
	W:       Terms{{Secret: 0, Of: 2, Minus: true}, {Secret: 1, Of: 2, Minus: true}},
	Open:    []int{0, 1},
	Moves:   []int{0, 1},
	Variant: bbs04Static,
}
