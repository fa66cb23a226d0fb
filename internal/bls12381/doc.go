// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package bls12381 is the pairing e: G1 × G2 -> GT on the curve BLS12-381, in three
// groups of prime order r, with r of 255 bits.
//
// It is the only package that imports the backend, gnark-crypto, whose own
// products are of variable time and which accepts more encodings than it should.
// What has no VarTime in its name is for secrets too: its time and the addresses
// it touches depend on no value. It computes on the backend's field elements, but
// with complete formulas and branch-free sums, reads whole tables, and blinds
// scalars in addition. The exceptions are errors, for which the verdict shows, and
// encodings of points that come in, which are public. The tests check that with
// valgrind.
//
// Types: [Scalar], [G1], [G2], [GT]. Methods set their receiver and return it.
// Groups G1 and G2 are written additively, GT multiplicatively. Zero values are
// the identity. Elements are in the subgroup of order r, because decoders, hashes
// and operations give no others; the one way around that ends in Unsafe.
//
// For secret scalars: ScalarMult and Exp for any element, CombMult and CombExp for
// one that is used often. For public ones: MultiMultVarTime and ExpVarTime. Results
// are projective; [NormalizeG1] and [NormalizeG2] divide several at once, before
// they are encoded.
//
// On amd64 with ADX and AVX2 the backend's products, our sums of points in G1 and our
// reading of tables are assembly, on arm64 the first; elsewhere, and with the tag
// purego, all are Go, and secrets don't go through the backend's products, which
// branch there. Final exponentiations use AVX-512 IFMA where the processor has it.
//
// Encodings: 32 bytes for scalars, 48 and 96 for points (compressed, ZCash's
// flags), 576 for GT, all big-endian, of one form each.
package bls12381
