// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

// CPY06 is the scheme of Choi, Park and Yung, The Security and Efficiency of Short
// Traceable Signatures (2006): BBS04, in which who signs can be traced when the trapdoor
// C = y·h1 of a member is published, see [Trace], and a member can claim what it signed.
// The paper's Q, P1, Z, X and Y are g1, h1, h, u and v here, and its t and x are x and y.
//
// The member commits to a y' of its own, and y is one that neither it nor the issuer has
// chosen.
var CPY06 = &Scheme{
	Name:   "cpy06",
	Consts: BBS04.Consts,
	Opener: BBS04.Opener,
	Base:   BBS04.Base,

	Secrets:   BBS04.Secrets,
	Blinds:    BBS04.Blinds,
	Witness:   BBS04.Witness,
	Points:    BBS04.Points,
	Carriers:  BBS04.Carriers,
	Relations: BBS04.Relations,
	P2:        BBS04.P2,
	W:         BBS04.W,
	Open:      BBS04.Open,

	Trace: &Trace{Const: 1, Secret: 5, Hide: 0},
}
