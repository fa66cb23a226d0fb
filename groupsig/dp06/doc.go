// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package dp06 is the group signature of Delerablée and Pointcheval, Dynamic Fully
// Anonymous Short Group Signatures (VIETCRYPT 2006), known as XSGS: 352 bytes that show
// nothing of the signer.
//
// Who can do what. The issuer admits members, and can't sign as one of them: the member
// chooses its secret. The opener finds out who signed, in constant time, with a proof that
// names exactly that member, so that opener and issuer together can't name another. The
// credential is encrypted twice in each signature, with a proof that both are one, so that
// signers stay anonymous even to who gets other signatures opened.
//
// Members can't be revoked: the constants that would have to move are the opener's keys.
// A group of package bbs04 can revoke, and is less anonymous; groupsig/bbsgs has both.
//
// Other than in the paper the member signs its registration before anything is issued,
// and proves its secret by Fischlin's transform, so that any number may join at once. The
// opening shows the credential's x, by which a judge checks that it is made of what the
// member signed.
//
// Setting up: the roles enroll in a [Draft] and agree to it, which gives the
// [GroupKey]. Joining: [Sessions.Open], [GroupKey.NewJoin], [IssuerKey.Issue],
// [Pending.Finish]. The register, the sessions and the pending member have binary
// encodings, so that each step may be a program of its own.
//
// Signing and all that handles secret keys is constant time. Verifying isn't, and
// handles no secrets.
package dp06
