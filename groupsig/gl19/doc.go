// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package gl19 is the group signature with selective linkability of Garms and Lehmann
// 2019: signatures show nothing of their signers, and a converter makes the
// pseudonyms of a query linkable, for who asks, without seeing them or their messages.
//
// Who can do what. Who collects signatures asks the converter, and learns which of
// those in one query are of one member; two queries aren't linked. The converter
// learns how many there are. Both together can link everything. With [Escrow] an
// opener, with a key and a base of its own, finds out who signed. Credentials hold
// for an epoch.
//
// One secret is in the credential and in both encryptions, by one response. Escrow
// and conversion have different bases: the converter could open otherwise. The escrow
// has one key, so that anonymity isn't proven against who gets signatures opened.
//
// Setting up: the roles enroll in a [Draft] and agree to it, which gives the
// [GroupKey]. Joining: [Sessions.Open], [GroupKey.NewJoin], [IssuerKey.Issue],
// [Pending.Finish]. The register, the sessions and the pending member have binary
// encodings, so that each step may be a program of its own.
//
// Signing and all that handles secret keys is constant time. Verifying isn't, and
// handles no secrets.
package gl19
