// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package legacy has group signatures of the literature for comparison only: ACJT00,
// KTY04 and CG05 in groups of unknown order, and CL04. They are at parameters that are
// honest today, 128 bits of security where the scheme gives it, and with the checks that
// implementations lacked. Who wants group signatures takes package groupsig, whose
// schemes are shorter and faster, and have ways to revoke members: here there is none.
//
//	ACJT00  Ateniese, Camenisch, Joye and Tsudik 2000
//	CG05    Camenisch and Groth 2004
//	KTY04   Kiayias, Tsiounis and Yung 2004: a member's signatures can be traced, and claimed
//	CL04    Camenisch and Lysyanskaya 2004, moved to BLS12-381
//
// A [Group] has the keys of all roles in one place, and joins run within a process: the
// protocol's messages aren't part of the interface. In the schemes of unknown order
// whoever has made the modulus is trusted not only to issue: see docs/legacy-schemes.md.
//
// Secrets are computed with in constant time, but for the search for primes.
package legacy
