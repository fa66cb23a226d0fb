// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package bbsgs is a group signature with BBS credentials in the form of Tessaro and
// Zhu 2023 and features to choose: pseudonyms within a scope and an opener in the
// manner of Camenisch, Drijvers and Lehmann 2016, sequences after Diaz and Lehmann
// 2021, and epochs. It is the scheme for new groups.
//
// Who can do what. Nobody can sign as a member but the member, not even issuer and
// opener together. With [Escrow] the opener, and only the opener, finds out who
// signed, and proves it. With [Scope] anyone sees which signatures of one scope are
// of one member, and the member can prove that signatures of several scopes are its
// own. Without either nobody can tell members apart. Who gets a member's secret can
// recognise what it signed.
//
// Setting up: the roles enroll in a [Draft] and agree to it, which gives the
// [GroupKey]. Joining: [Sessions.Open], [GroupKey.NewJoin], [IssuerKey.Issue],
// [Pending.Finish]. The register, the sessions and the pending member have binary
// encodings, so that each step may be a program of its own.
//
// Signing and all that handles secret keys is constant time. Verifying isn't, and
// handles no secrets.
package bbsgs
