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
// Which code does it is a tier, chosen at start by the processor: see [Tiers].
package sm2ec
