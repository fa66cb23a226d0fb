// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package ring makes linkable ring signatures: one of the holders of a list of keys
// signed, and nobody can tell which; but two signatures of one holder in one scope are
// linked by their key images. There is no issuer, no opener and no joining: whoever has
// the public keys makes the ring.
//
// The scheme is LSAG (Liu, Wei and Wong 2004, Linkable Spontaneous Anonymous Group
// Signature for Ad Hoc Groups, section 4) over ristretto255 or the group G1 of
// BLS12-381. For a ring of keys P_0, ..., P_{n-1} and a holder of x with P_j = x·G:
//
//	H = hash to the group of the scope, and of the ring unless the scope is AcrossRings
//	Y = x·H                                 the key image
//	L_i = s_i·G + c_i·P_i,  R_i = s_i·H + c_i·Y
//	c_{i+1} = Hash(ring, scope, Y, message, i+1, L_i, R_i), with n for 0
//
// The holder begins with L_j = k·G and R_j = k·H, goes round with random s_i, and closes
// with s_j = k - c_j·x. The signature is Y, c_0 and all s_i, or in the layout for batches
// Y and all L_i, R_i and s_i: anybody can turn one into the other. The ring isn't in it,
// only its digest, so that large rings don't travel.
//
// The discrete logarithm of H is known to nobody. Where it is known, as with a power of
// the generator by a hash, Y = h·P_j shows the signer.
//
// # What most callers should use
//
// [GenerateKey], [NewRing], [PrivateKey.Sign], [Ring.ParseSignature] and [Ring.Verify];
// for many signatures [Ring.Batch]. A verifier of one scope keeps the key images that it has accepted, and
// refuses a second signature with one of them.
//
// # Keys
//
// A ring key signs in rings and nowhere else. In G1 that is vital: a BLS signature x·M
// by the same secret, or x·P2, names the signer, by e(Y, M) = e(H, x·M).
//
// # Side channels
//
// Signing is constant time in the secret and in the signer's place: the ring is turned
// with masks until the signer is last. Verification is variable time.
package ring
