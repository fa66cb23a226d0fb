// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package strongrsa is the group signatures of the strong RSA assumption, as tables of
// one core: ACJT00 (Ateniese, Camenisch, Joye and Tsudik 2000), KTY04 (Kiayias, Tsiounis
// and Yung 2004) and CG05 (Camenisch and Groth 2004). They are for comparison only.
//
// A member's credential is a root of a product of powers of its secrets,
//
//	A^e = c · prod b_j^(w_j),
//
// for a prime e that the issuer chooses, and a signature hides A and proves that. The
// statements are at the schemes' functions.
//
// # What differs from the papers
//
// All bases but the opener's are hashed from the group's label and its modulus, where
// the papers have the issuer publish them: no signature and no key holds any.
// Elements are signed quadratic residues, which a verifier can tell (see package
// qrn), and proofs have one-sided intervals, with an additive statistical parameter in
// place of the factor epsilon.
//
// Where a paper has issuer and member draw a secret together, by a commitment and two
// more messages, here it is w = low + u + v: the member sends b^u with a proof, the issuer
// answers with v, from an interval that is larger than the one that u is shown to be in
// by the statistical parameter. So w is uniform but for 2^-s whatever the member does,
// and no more than v is known to the issuer. The proof is Fiat's and Shamir's, and so
// there is one open session at a time: Fischlin's transform extracts from challenges
// that are close to each other, whose differences can't be divided by where the order
// isn't known.
//
// # Trust
//
// Who knows the factors of n issues credentials; that n is a product of safe primes
// isn't proved, so that a member trusts the issuer for its anonymity and for not being
// framed. In ACJT00 and KTY04 an issuer that could take logarithms modulo the factors,
// primes of half the size of n, could frame members in any case; in CG05 it would have
// to do so modulo a prime of the full size.
package strongrsa
