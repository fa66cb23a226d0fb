// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package cl04 is the group signatures of Camenisch and Lysyanskaya 2004 ("Signature
// schemes and anonymous credentials from bilinear maps"), section 5, for comparison
// only: PS16 and KLAP20 have the same idea and shorter signatures.
//
// # Moved to a pairing of two groups
//
// The paper has e: G × G -> GT. Here a credential (a, b, c) is in G1, and the issuer's
// key X = x·P2, Y = y·P2 in G2:
//
//	b = y·a,  c = x·a + x·y·k·a,
//	e(a, Y) = e(b, P2),  e(a + k·b, X) = e(c, P2),
//
// for the member's secret k, of which the issuer sees P = k·P1. That is unforgeable under
// the LRSW assumption in that setting. The paper encrypts e(P, g) to the opener in GT, since
// the problem of Diffie and Hellman is easy to decide in its G. It isn't believed to be
// in G1, as all schemes of this module need, and so P itself is encrypted, in G1.
//
// # A signature
//
// For random r1, r2, u it has the credential, blinded, and Cramer's and Shoup's
// encryption of P,
//
//	T1 = u·P1  T2 = u·h  T3 = u·y1 + P  T4 = u·(y2 + H·y3),  H = hash(T1, T2, T3)
//	T5 = r2·a  T6 = r2·b  T7 = r1·r2·c
//	y1 = x1·P1 + x2·h  y2 = x3·P1 + x4·h  y3 = x5·P1 + x6·h
//
// and a proof of k, u and rho = 1/r1 with
//
//	T1 = u·P1, T2 = u·h, T3 = u·y1 + k·P1, T4 = u·(y2 + H·y3),
//	e(T7, P2)^rho · e(T6, X)^-k = e(T5, X).
//
// The verifier also checks e(T5, Y) = e(T6, P2). The challenge absorbs the group, the
// message, T1 to T7 and all commitments; an implementation that left the T out can be
// forged for by anybody. The same one had y3 = x5·P1 alone, which isn't Cramer's and
// Shoup's encryption.
package cl04
