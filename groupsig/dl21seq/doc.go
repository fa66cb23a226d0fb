// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package dl21seq is the group signature with sequential linkability of Diaz and
// Lehmann 2021, section 6: signatures as in package dl21, and with each of them three
// digests, by which the member can prove that a set is in order and has no gaps.
//
// Who can do what. As in package dl21. A sequence link shows what the member committed
// to when signing. A member that prepares for it can have two branches, or a second
// chain; that is seen only by who has signatures of both. Going back, or two devices
// with one key, repeat a digest: those signatures are linked, and provable in no
// sequence.
//
// The digests are part of what is signed, and a link has as many values as
// signatures.
//
// Setting up: the roles enroll in a [Draft] and agree to it, which gives the
// [GroupKey]. Joining: [Sessions.Open], [GroupKey.NewJoin], [IssuerKey.Issue],
// [Pending.Finish]. The register, the sessions and the pending member have binary
// encodings, so that each step may be a program of its own.
//
// Signing and all that handles secret keys is constant time. Verifying isn't, and
// handles no secrets.
package dl21seq
