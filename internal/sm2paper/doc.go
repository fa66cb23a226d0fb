// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package sm2paper is the batch verification of SM2 signatures of S. Li, Z. Bai,
// Y. Tu and Z. Zhang (Netinfo Security 22(5), 2022), called the paper here, as a
// reference to measure against. It is no way to verify signatures: package sm2 is.
//
// A signature (r, s) for the digest e and the key P is valid if the point
// R = sG + tP, t = r+s, has the x-coordinate r-e. The y-coordinate isn't known,
// and the paper does without: t signatures, 2 to 9 of them, with randomisers z
// of some bits each, are taken for valid if for some signs
//
//	±z₁R₁ ± … ± z_tR_t = ±L,   L = (Σ z_i s_i) G + Σ z_i t_i P_i.
//
// The steps are
//
//  1. c = x³+ax+b for each x = r-e;
//  2. seminumeric multiplication: h = x(zR), without y;
//  3. L, by joint binary multiplication with tables of subset sums;
//  4. one inversion for the tables and for step 2, which comes before L;
//  5. the decision, by summation polynomials in h and x(L) and a resultant.
//
// Since the signs are chosen after the randomisers, of l bits, an invalid batch
// is accepted with a probability of up to 2^(t-l): see [SoundnessBits].
//
// One step isn't in the cost table of the paper: whether x is the coordinate of
// a point of the curve at all. All of the above goes through for an x that
// belongs to the quadratic twist, whose order is divisible by 7, so that
// randomisers of any length leave only 7 cases. [Verify] makes that test, and
// counts it apart.
//
// All field multiplications are counted where they happen, in the arithmetic:
// no cost is a constant but those of the paper in [PaperTable].
//
// Nothing here is constant time. All of it is for public values.
package sm2paper
