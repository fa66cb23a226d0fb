// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package cpy06 is the group signature of Choi, Park and Yung, The Security and Efficiency of
// Short Traceable Signatures (2006): 752 bytes that show nothing of the signer, until the
// opener reveals what traces one member, or the member claims what it signed.
//
// Who can do what. The issuer admits members, and can't sign as one of them. It sees what
// traces them, and so which of them signed: nobody is anonymous to the issuer. The opener
// finds out who signed, in constant time, with a proof that names exactly that member. It
// can reveal a member, and then everybody sees what that one signed, in the past too, and
// nothing of the others; anybody can check that it is the member's. Revealed members can be
// put on a list, and verifiers refuse them, for a pairing each. A member can prove that
// signatures are its own, and of one member, for a purpose, without opening any other.
//
// Anonymity is proven against who gets nothing opened. For new groups that need neither
// revelations nor claims afterwards, package bbsgs has shorter signatures that the issuer
// can't trace.
//
// Other than in the paper the numbers u and v that make a member's secret one that nobody
// has chosen are hashed from the issuer's challenge and from what the member commits to, so
// that joining takes three messages; a member registers a hash of what traces it; and an
// element of GT is sent by one coordinate on the torus.
//
// Setting up: the roles enroll in a [Draft] and agree to it, which gives the
// [GroupKey]. Joining: [Sessions.Open], [GroupKey.NewJoin], [IssuerKey.Issue],
// [Pending.Finish]. The register, the sessions and the pending member have binary
// encodings, so that each step may be a program of its own.
//
// Signing and all that handles secret keys is constant time. Verifying isn't, and
// handles no secrets.
package cpy06
