// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package groupsig lets a service choose a scheme of group signatures at run time.
// A program that knows its scheme uses the scheme's own package: ps16, klap20, ds18, dl21,
// dl21seq, gl19, bbsgs, dp06, hlccn11, bbs04 or cpy06. Keys, messages and signatures are the
// same in both.
//
// # Roles
//
// An issuer admits members. A member signs for the group, and a signature doesn't
// say who signed. Where the group has an opener, it finds that out, with a proof for
// judges. Where it has a converter, it makes the signatures of a query linkable; where it
// has a linker, that sees which are of one member. Each has a key of its own.
//
// The roles Enroll in a [Draft] and then Consent to it, which gives the [GroupKey].
// To admit a member, the issuer makes an invitation ([IssuerKey].Invite), the member
// an application (GroupKey.NewJoin), the issuer a credential (Issue), and the member
// its key ([Pending].Finish). All that passes between them, and all that anyone
// keeps in between, has a binary encoding. The opener records what the issuer
// registered ([Opener].Record). In static groups the issuer makes members' keys, and can
// sign with them ([StaticIssuer]).
//
// # Features
//
// Schemes differ in what they can do, and groups of one scheme as well: see
// [Features]. What not all can do is in optional interfaces, which [As] finds:
//
//	if linker, ok := groupsig.As[groupsig.Linker](member); ok {
//		link, err := linker.Link(set, context)
//
// # Revocation
//
// There are four ways. A group with epochs gives no credential for the next one
// ([Reissuer]): nothing is published, and it takes an epoch. A group with tokens
// publishes those of revoked members ([Revoker]): it holds at once, and everybody
// recognises all that they signed, in the past too; where there are traces, one member can be
// revealed by itself ([Revealer], [Tracer]). Where there are pseudonyms, those
// of misusers may be listed, each for its own scope ([PseudonymRevoker]). A group that
// rekeys moves its key, and all members but the revoked follow ([Rekeyer]). A verifier
// refuses a state that isn't in force at the time that it is told.
//
// # Time
//
// Times are seconds since 1970. Nothing here reads a clock.
package groupsig
