// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package undersign is the root of a toolkit for signatures that are made by
// many. It holds no code; the packages below it do the work.
//
// # Which package to use
//
// Package thresholdrsa splits an RSA key among L holders so that any K of them
// sign and fewer cannot. What comes out is an ordinary RSA signature, which
// OpenSSL, crypto/rsa and every other verifier accepts; a [crypto.Signer] made
// by it plugs into crypto/x509, crypto/tls and JWS libraries.
//
// Package sm2 verifies SM2 signatures in batches, many times faster than one by
// one, and says for each whether it is valid. Keys and signatures are those of
// github.com/emmansun/gmsm.
//
// Package bls makes and verifies BLS signatures on BLS12-381, those of Ethereum,
// Chia and drand, which add up: many signatures become one.
//
// Package keyfile reads and writes the files of every capability: strict PEM
// for public objects, and the same PEM inside an age file for secrets.
//
// The command in cmd/undersign does all of this from a shell.
//
// # What is constant time
//
// Functions that touch secrets run in time that depends on sizes only. What
// doesn't carries the suffix VarTime, and is given public values only. Every
// package says in its own comment where the line runs.
//
// # Compatibility
//
// Before v1.0.0 the API and the file formats may change between minor
// versions, and the changelog says so. From v1.0.0 on, the API follows the
// rules of Go 1, and what any v1.x wrote every later v1 reads. Packages under
// internal, the modules in bench and tools, and the text that the command
// prints without --json are outside that promise.
package undersign
