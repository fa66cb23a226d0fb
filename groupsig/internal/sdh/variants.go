// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import "github.com/undersign/undersign/internal/bls12381"

// Members can't be revoked by moving the key where credentials are made of an opener's
// constant, which can't move: v of HLCCN11, and h of DP06, where z = x·α + y stands for two
// exponents. The variants that rekey have constants of their own in those places. Then the
// exponent of the opener's constant is δ = x·α by itself, and the relation 0 = x·T1 - δ·k
// says so, as in BBS04: else a proof would be about g1 ± T + ε·h with any ε, of which h
// stays where it is when the rest moves.

// dp06Rekey is DP06 with h1 in place of h in credentials:
//
//	e(g1, P2)/e(T2, w) = e(T2, P2)^x · e(h, P2)^-δ · e(h1, P2)^-y · e(h, w)^-α
var dp06Rekey = &Scheme{
	Name:  "dp06",
	Rekey: true,
	Consts: []Const{{"g1", OfGroup}, {"h1", OfGroup}, {"k", OfLabel},
		{"h", OfOpener}, {"g", OfOpener}},
	Opener: Role{{Const: 3, Base: 2}, {Const: 4, Base: 2}},
	Base:   []int{1},

	Secrets: 5, // α, β, x, δ, y
	Blinds:  2,
	Witness: func(w []bls12381.Scalar, x *bls12381.Scalar, y []bls12381.Scalar) {
		w[2].Set(x)
		w[3].Mul(x, &w[0])
		w[4].Set(&y[0])
	},
	Points: []Terms{
		{{Secret: 0, Of: 2}},
		{{Secret: 0, Of: 3}},
		{{Secret: 1, Of: 2}},
		{{Secret: 1, Of: 4}},
	},
	Carriers: []int{1, 3},
	Relations: []Relation{
		{1, 3, Terms{{Secret: 0, Of: 3}, {Secret: 1, Of: 4, Minus: true}}},
		{0, 0, Terms{{Secret: 2, Of: Point(0)}, {Secret: 3, Of: 2, Minus: true}}},
	},
	P2: Terms{{Secret: 2, Of: Point(1)}, {Secret: 3, Of: 3, Minus: true},
		{Secret: 4, Of: 1, Minus: true}},
	W:     Terms{{Secret: 0, Of: 3, Minus: true}},
	Open:  []int{0},
	Moves: []int{0, 1},
}

// hlccn11Rekey is HLCCN11 with h2 in place of v in credentials, over g1 - y·h - z·h2:
//
//	e(g1, P2)/e(D2, w) = e(D2, P2)^x · e(v, P2)^-δ · e(h, P2)^y · e(h2, P2)^z · e(v, w)^-α
var hlccn11Rekey = &Scheme{
	Name:  "hlccn11",
	Rekey: true,
	Consts: []Const{{"g1", OfGroup}, {"h", OfGroup}, {"h2", OfGroup}, {"g", OfGroup}, {"u", OfLabel},
		{"v", OfOpener}, {"d", OfLinker}},
	Opener: Role{{Const: 5, Base: 4}},
	Linker: Role{{Const: 6, Base: 4}},
	Base:   []int{1, 2},
	Minus:  true,

	Secrets: 5, // α, x, δ, y, z
	Blinds:  1,
	Witness: func(w []bls12381.Scalar, x *bls12381.Scalar, y []bls12381.Scalar) {
		w[1].Set(x)
		w[2].Mul(x, &w[0])
		w[3].Set(&y[0])
		w[4].Set(&y[1])
	},
	Points: []Terms{
		{{Secret: 0, Of: 4}},
		{{Secret: 0, Of: 5}},
		{{Secret: 3, Of: 3}, {Secret: 0, Of: 6}},
	},
	Carriers: []int{1},
	Relations: []Relation{
		{0, 0, Terms{{Secret: 1, Of: Point(0)}, {Secret: 2, Of: 4, Minus: true}}},
	},
	P2: Terms{{Secret: 1, Of: Point(1)}, {Secret: 2, Of: 5, Minus: true}, {Secret: 3, Of: 1},
		{Secret: 4, Of: 2}},
	W:     Terms{{Secret: 0, Of: 5, Minus: true}},
	Open:  []int{0},
	Link:  [2]int{0, 2},
	Moves: []int{0, 1, 2},
}

// bbs04Static is BBS04 as sections 4 to 6 have it: no y and no h1, and the issuer makes
// the whole key of a member, and so can sign in its name.
var bbs04Static = &Scheme{
	Name:   "bbs04",
	Static: true,
	Consts: []Const{{"g1", OfGroup}, {"h", OfLabel}, {"u", OfOpener}, {"v", OfOpener}},
	Opener: Role{{Const: 2, Base: 1, Inverse: true}, {Const: 3, Base: 1, Inverse: true}},

	Secrets: 5, // α, β, x, δ1, δ2
	Blinds:  2,
	Witness: func(w []bls12381.Scalar, x *bls12381.Scalar, _ []bls12381.Scalar) {
		w[2].Set(x)
		w[3].Mul(x, &w[0])
		w[4].Mul(x, &w[1])
	},
	Points: []Terms{
		{{Secret: 0, Of: 2}},
		{{Secret: 1, Of: 3}},
		{{Secret: 0, Of: 1}, {Secret: 1, Of: 1}},
	},
	Carriers: []int{2},
	Relations: []Relation{
		{0, 0, Terms{{Secret: 2, Of: Point(0)}, {Secret: 3, Of: 2, Minus: true}}},
		{1, 1, Terms{{Secret: 2, Of: Point(1)}, {Secret: 4, Of: 3, Minus: true}}},
	},
	P2:    Terms{{Secret: 2, Of: Point(2)}, {Secret: 3, Of: 1, Minus: true}, {Secret: 4, Of: 1, Minus: true}},
	W:     Terms{{Secret: 0, Of: 1, Minus: true}, {Secret: 1, Of: 1, Minus: true}},
	Open:  []int{0, 1},
	Moves: []int{0},
}
