// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package dl21 is the group signature with user-controlled linkability of Diaz and
// Lehmann 2021: a BBS+ credential, and a pseudonym within a scope.
//
// Who can do what. Anyone sees which signatures of one scope are of one member;
// those of different scopes nobody can link but the member, who can prove to anyone
// that some are its own. Nobody can open, but for groups with [Escrow], where the
// opener can.
//
// It differs from the paper where that leaves things open. One secret is in the
// pseudonym and in the credential, by one response. Scopes are hashed together with
// the group, so that equal scopes of two groups aren't linked. A link commits to
// every scope by itself: a batched link over equal scopes could be made by two
// colluders.
//
// Setting up: the roles enroll in a [Draft] and agree to it, which gives the
// [GroupKey]. Joining: [Sessions.Open], [GroupKey.NewJoin], [IssuerKey.Issue],
// [Pending.Finish]. The register, the sessions and the pending member have binary
// encodings, so that each step may be a program of its own.
//
// Signing and all that handles secret keys is constant time. Verifying isn't, and
// handles no secrets.
package dl21
