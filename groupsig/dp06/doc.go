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
// Members can't be revoked, since the constants that would have to move are the opener's
// keys. With [Rekey] credentials have a constant of their own, signatures 384 bytes, and
// members are revoked as in section 7 of Boneh, Boyen and Shacham's paper. The issuer signs an
// [Update], by which the group's key moves, and with it the keys of all members but the
// revoked ones: see [GroupKey.Current] and [MemberKey.Update]. A signature is valid under the
// key that it was made under alone. Verifiers need the newest update, and the first, which
// revokes nobody, before there is another: by an update anybody can sign under the keys before
// it, and an old signature proves something only to who knows when it was made. They stay
// anonymous. That fits small groups: each member takes in each step.
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
