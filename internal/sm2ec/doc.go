// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package sm2ec is the arithmetic of batch verification on the SM2 curve
// (GB/T 32918.5-2017): y² = x³ - 3x + b over the field of
//
//	p = 2²⁵⁶ - 2²²⁴ - 2⁹⁶ + 2⁶⁴ - 1,
//
// with a prime number n of points, so that every point but infinity has order n.
//
// Nothing here is constant time. All of it is for public values: signatures,
// keys and messages. Signing, and whatever else needs secrets, is elsewhere.
//
// [VerifySingle] is the definition of a valid signature. All faster ways agree
// with it, or leave an item to it: [SumTables] adds entries of tables of many
// signatures by affine formulas with shared inversions, and flags the items in
// which those formulas don't hold.
//
// [Verify] is for batches: it chooses between tables, a sum of all with random
// weights, and single verification, by what they cost. What the sum refuses is
// verified singly.
//
// Which code does it is a tier, chosen at start by the processor: see [Tiers]. UNDERSIGN_SM2EC
// in the environment limits the choice: generic is Go alone, and adx has assembly for
// one product at a time (ADX and BMI2).
//
// The tier ifma takes eight residues at once, in limbs of 52 bits (AVX-512 IFMA): a lane is a
// signature in sums of tables and in single verification, a digit of the multipliers
// in weighted sums, a group of signatures where signs are recovered, and a root. Its kernels are written by tools/sm2gen, with twins in
// lanes_generic.go that tests hold against them to the bit. p = -1 mod 2⁵² makes a
// Montgomery step four vector multiplications, so that a product has 70 of them, a square
// 50, an affine addition with its share of an inversion 402, a Jacobian doubling 462
// and a mixed addition 692. That is the floor where one is started in a cycle, as on Zen 4.
// There they took, times the floor of one session, the product 1.1 to 1.25, the square 1.4, affine
// additions 1.4 (where divisors are multiplied, 1.3), doublings 1.4, mixed additions
// 1.3, and of another from 0.9 for the product to 1.1 for doublings: a loop of multiplications alone doesn't
// run at the same frequency. Doublings without any sum, carry and store take nine tenths.
package sm2ec
