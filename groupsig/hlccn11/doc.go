// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package hlccn11 is the group signature of Hwang, Lee, Chung, Cho and Nyang, Short Group
// Signatures with Controllable Linkability (LightSec 2011): 304 bytes that show nothing of
// the signer, and a linker to whom they show which are of one member.
//
// Who can do what. The issuer admits members, and can't sign as one of them, nor link: it
// sees the members' secrets only behind a blind. The opener finds out who signed, in
// constant time, with a proof that names exactly that member. The linker sees which
// signatures are of one member, by one multiplication each, and proves it to anybody, but
// not of which member, and can't open. The opener can link, by opening.
//
// Members who agree on one secret, against the protocol, pass for one to the linker. The
// opener tells them apart.
//
// Anonymity is proven against who gets nothing opened.
//
// Members can't be revoked, since a constant that would have to move is the opener's key.
// With [Rekey] credentials have a constant of their own, signatures 336 bytes, and members
// are revoked as in section 7 of Boneh, Boyen and Shacham's paper. The issuer signs an
// [Update], by which the group's key moves, and with it the keys of all members but the
// revoked ones: see [GroupKey.Current] and [MemberKey.Update]. A signature is valid under the
// key that it was made under alone. Verifiers need the newest update, and the first, which
// revokes nobody, before there is another: by an update anybody can sign under the keys before
// it, and an old signature proves something only to who knows when it was made. They stay
// anonymous, and linked. That fits small groups: each member takes in each step.
//
// Other than in the paper the linker's key is the number ξ, and links are compared in G1.
//
// Setting up: the roles enroll in a [Draft] and agree to it, which gives the
// [GroupKey]. Joining: [Sessions.Open], [GroupKey.NewJoin], [IssuerKey.Issue],
// [Pending.Finish]. The register, the sessions and the pending member have binary
// encodings, so that each step may be a program of its own.
//
// Signing and all that handles secret keys is constant time. Verifying isn't, and
// handles no secrets.
package hlccn11
