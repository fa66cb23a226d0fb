// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package sdh is the core of the group signatures whose credentials are
// Boneh and Boyen's: a point and a number,
//
//	A = (1/(γ+x))·(g1 ± T),  T = Σ y_j·B_j
//
// for the issuer's γ with w = γ·P2, and secrets y_j that only the member knows. A
// signature encrypts A to the opener after ElGamal, in points of G1, and proves that the
// content is a credential:
//
//	e(g1, P2) / e(T_A, w) = e(T_A, P2)^x · Π e(B, P2)^u · Π e(B, w)^v
//
// where T_A is the point that carries A, and the exponents are linear in the secrets of
// the proof. What points, secrets and relations there are is a [Scheme], which is a
// table; all the rest is the same for all schemes. Those that there are: [DP06],
// [HLCCN11] and [BBS04].
//
// The signer computes the right side in GT, from combs of e(A, P2) and of constants, in
// constant time. The verifier multiplies in G1 and needs one product of two pairings:
//
//	R = e(Σ s·B + c·g1, P2) · e(Σ s·B - c·T_A, w)
//
// The other relations are linear ones in G1, as in package sigma.
package sdh
