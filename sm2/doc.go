// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package sm2 verifies SM2 signatures (GB/T 32918.2-2016) in batches: many times
// faster than one by one, and with the same verdict for each of them.
//
// Keys, signing and single verification are those of github.com/emmansun/gmsm,
// whose keys and signatures are passed in as they are. A signature is good here
// if and only if gmsm v0.41.1 says so.
//
// # What most callers should use
//
// Make a [Batch], [Batch.Add] what is to be verified, and call [Batch.Verify]. If
// anything is bad, the error is a [*BatchError] with the index of every bad item
// and a [Reason]. What is wrong with an item, be it nil, malformed or made to do
// harm, changes nothing for the others.
//
// Who verifies without end shares a [Cache] between batches. It keeps tables of
// the keys that recur, within a budget.
//
// # How
//
// Signatures of keys that recur are verified exactly, by sums of table entries in
// affine coordinates whose inversions are shared. Those of many different keys
// are verified together by random linear combinations, with weights of 128
// bits that are drawn when everything else is fixed, so that each passes in spite of
// a bad signature with a probability of at most 2⁻¹²⁸; what doesn't pass is
// searched by combinations of fewer, and confirmed one by one. That needs the sign of y(R), which a standard signature doesn't
// hold: it comes as a [Hint], or is recovered for a dozen signatures at a time. A
// wrong hint costs time, and changes no verdict. The planner picks what is
// fastest, and for a single signature that is to verify it singly.
//
// # Side channels
//
// Verification sees public values only, and is variable time. The one function
// that sees a secret is [SignHinted], which leaves it to gmsm.
package sm2
