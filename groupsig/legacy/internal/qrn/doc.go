// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package qrn proves relations between secret integers and elements of groups of
// unknown order, for the group signatures of the strong RSA assumption.
//
// # Groups
//
// The group of a modulus n = pq, of safe primes, is that of the signed quadratic
// residues (Hofheinz and Kiltz 2009): the numbers with Jacobi symbol 1 modulo n, with
// x and -x taken for one. It is isomorphic to QR(n), so that it is cyclic, of order
// (p-1)(q-1)/4, and has no elements of small order; and other than for QR(n), anybody
// can tell its members. An element is encoded as the one of x and n-x that is below
// n/2. The other kind of group is the subgroup of prime order of the integers modulo
// a prime.
//
// # Proofs
//
// A secret w lies in an interval [low, low+2^m), and v = w - low is what is proved.
// With a challenge c of k bits and a statistical parameter s, the nonce t is below
// 2^(m+k+s), and the response is
//
//	z = t + c·v,   verified as 0 <= z < 2^(m+k+s).
//
// The prover begins again in the rare case, of probability 2^-s, that it isn't. Two
// responses to one commitment give |v| < 2^(m+k+s) under the strong RSA assumption
// (Fujisaki and Okamoto 1997; Damgård and Fujisaki 2002), which is what [Range.Outer]
// says and schemes check their inequalities with. The usual form of these proofs takes
// signed nonces; this one has no signs, which would be hard to hide, and an interval
// that is half as long.
//
// The prover's side is constant time in secrets, by internal/modexp; statements,
// responses and all that ends in VarTime are public.
package qrn
