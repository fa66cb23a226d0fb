// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package thresholdrsa shares an RSA key among L holders so that any K of them
// sign and fewer learn nothing. What comes out is an ordinary RSA signature
// (RFC 8017, PKCS #1 v1.5 or PSS) that crypto/rsa, OpenSSL or anybody verifies.
//
// It follows V. Shoup, Practical Threshold Signatures, Eurocrypt 2000 (the
// second protocol's shares), with a proof in every signature share, verifiable
// dealing, and ceremonies that renew the shares (refresh) or hand them to
// another set of holders (reshare) without a dealer.
//
// # What most callers should use
//
// A dealer calls [GenerateKey] and [Deal] (or [Import] for an existing key),
// hands every holder its [KeyShare], publishes the [Dealing] and forgets the
// private key. Every holder calls [KeyShare.CheckDealing]. To sign, anybody makes
// a [Request], K holders answer with [KeyShare.Sign], and anybody calls
// [PublicKey.Combine]. [NewSigner] makes a crypto.Signer of that, for
// x509.CreateCertificate, TLS and JWS.
//
// # Names
//
//	n, e     the RSA modulus and public exponent; m = p'q' for safe primes 2p'+1, 2q'+1
//	K, L     threshold and number of holders; Delta = L!
//	s_i      the share of holder i, 0 <= s_i < Smax; B = BitLen(Smax)
//	v, v_i   a square modulo n, and v^(s_i), the verification key of holder i
//	Gamma    sum over a quorum of lambda_j s_j = Gamma d, modulo the order of the squares
//
// A [PublicKey] is the public half of one sharing, an epoch. Its shares never
// combine with those of another epoch.
//
// # Side channels
//
// A holder's secrets (its share, the nonce of its proof, what it sends and gets
// in a ceremony) only go through code whose time and addresses don't depend on
// them. The dealer's reading of p, q and d uses math/big, which isn't constant
// time; the polynomial, the shares and the powers it publishes are. Verification
// and combining see public values and are variable time.
package thresholdrsa
