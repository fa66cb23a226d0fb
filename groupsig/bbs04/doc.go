// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package bbs04 is the group signature of Boneh, Boyen and Shacham, Short Group Signatures
// (CRYPTO 2004): 368 bytes that show nothing of the signer.
//
// Who can do what. The issuer admits members, and can't sign as one of them: the member
// chooses its secret, as in section 8 of the paper. The opener finds out who signed, with a
// proof that names exactly that member: in constant time, and once members have been
// revoked by a pairing for each member. Anonymity is proven against who gets nothing opened:
// package dp06 is the one for others.
//
// Members are revoked after section 7. The issuer signs an [Update], by which the group's
// key moves, and with it the keys of all members but the revoked ones: see
// [GroupKey.Current] and [MemberKey.Update]. A signature is valid under the key that it was
// made under alone. Verifiers need the newest update, and the first, which revokes nobody,
// before there is another: by an update anybody can sign under the keys before it, and an old
// signature proves something only to who knows when it was made. Old signatures stay
// anonymous. That fits small groups: each member takes in each step.
//
// With [Static] the issuer makes the members' whole keys, as in sections 4 to 6, which the
// literature measures: 336 bytes. The issuer can then sign in the name of each member. It makes
// keys in one step ([IssuerKey.MakeMember]), or by the protocol for joining, in which
// credentials and applications are then secret, and so are the records of its register. What
// the opener is given of them ([GroupKey.OpenerRecord]) is no key, and openings are none. By an
// update anybody can sign in the name of who is revoked, under the keys before it. An opener
// can't name another than whose key made a signature.
//
// Setting up: the roles enroll in a [Draft] and agree to it, which gives the
// [GroupKey]. Joining: [Sessions.Open], [GroupKey.NewJoin], [IssuerKey.Issue],
// [Pending.Finish]. The register, the sessions and the pending member have binary
// encodings, so that each step may be a program of its own.
//
// Signing and all that handles secret keys is constant time. Verifying isn't, and
// handles no secrets.
package bbs04
