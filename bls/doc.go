// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package bls makes, aggregates and verifies BLS signatures on BLS12-381, after
// draft-irtf-cfrg-bls-signature-06 and RFC 9380. Its signatures are those of
// Ethereum, Chia, drand and every other user of these suites.
//
// # What most callers should use
//
// A [Scheme] says how messages are signed, and what keeps an attacker from making
// up a key that cancels the keys of others (a rogue key):
//
//   - [Basic]: one aggregate holds no message twice.
//   - [Augmented]: what is signed is the key and the message. It is Chia's
//     AugSchemeMPL.
//   - [ProofOfPossession]: whoever registers a key proves to have its secret. Then
//     many may sign one message, and the aggregate is verified at the price of
//     one signature, by [Scheme.FastAggregateVerify]. That takes a [ProvenKey],
//     which comes from [Scheme.PopVerify] and can't be had by mistake.
//
// Keys are in G1, with 48 bytes, and signatures in G2, with 96 bytes. The schemes
// whose names begin with MinSig have it the other way round.
//
// Keys without a proof may sign one message as well, if the aggregate is weighted
// after Boneh, Drijvers and Neven 2018: [Scheme.BDNAggregate]. Signatures of other
// messages can be folded into either: [Scheme.FoldedVerify]. Many independent
// signatures are verified together by a [Batch], which finds the bad ones.
// [Keys] is a list of proven keys, in 96 bytes each, for sums of thousands of them.
//
// # What an aggregate doesn't prove
//
// That each of its parts was valid: signers who collude can offset errors. It
// proves that each of them signed. So no part may be taken for verified because a
// sum was, and after a signer is taken out the rest is to be verified again.
//
// # Side channels
//
// Key generation, derivation and signing are constant time in the secret key.
// Everything else sees public values, messages among them, and is variable time.
package bls
