// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package ds18 is the group signature of Derler and Slamanig, Highly-Efficient Fully-
// Anonymous Dynamic Group Signatures (AsiaCCS 2018; IACR ePrint 2015/1050), on the
// equivalence-class signatures of Fuchsbauer, Hanser and Slamanig (2014/944): 352 bytes,
// without a random oracle for its credentials, and anonymous as long as the opener's key
// is, even towards who knows the members' own keys' registrations and the issuer's key.
//
// # What most callers should use
//
// The issuer and the opener make their keys ([GenerateIssuerKey],
// [GenerateOpenerKey]) and agree on a [GroupKey] ([Setup], or [Proposal] if they
// are apart). A member joins: [IssuerKey.Invite], [NewJoin], [IssuerKey.Issue],
// [Join.Finish]; the opener records the member's [Record] from the issuer's
// [Register] ([OpenerKey.Record]). The [MemberKey] signs, [GroupKey.Verify] checks
// one signature and [GroupKey.Batch] many, [OpenerKey.Open] finds the signer, and
// [GroupKey.VerifyOpening] is how a judge checks that.
//
// # Who can do what
//
// The issuer signs the class of (U, Q) = (r·q·P1, q·P1), and learns nothing of the
// member's token r·P2, which is encrypted to the opener, twice, for security against
// chosen ciphertexts. It can't open, and can't sign for a member: nobody but the member
// knows r·P1, whose multiples by a known number it would take. The opener can't admit,
// and an opening counts only with the registration that the member signed. To open, the
// opener tries the tokens of all members, one pairing each. Many pairs (U, Q) have one
// token: the opener refuses a record with a token that it has.
//
// Members are revoked by a [RevocationList] of their tokens, at a pairing for each
// entry in every verification, up to [MaxRevoked]. A published token shows all
// signatures of its member, those from before included: revocation ends the privacy
// of the past as well.
//
// # Names
//
//	x, y; X, Y           the issuer's key, X = x·P2, Y = y·P2 (x1, x2 in the paper)
//	z0, z1; Z0, Z1       the opener's key, Z0 = z0·P2, Z1 = z1·P2
//	r, q, U, Q, token    a member's secrets, its registered points and r·P2
//	Z, W, WW             a credential: Z = t·(x·U + y·Q), W = (1/t)·P1, WW = (1/t)·P2
//	S0, F0, S1, F1       the token's encryptions: S = s·P2, F = r·P2 + s·Z
//	M1, M2, Z, W, WW     a signature's points: the credential for ρ·(r·P1, P1), with a
//	c, s                 fresh t, and a proof of ρ with M2 = ρ·P1
//
// The equations of a credential for (M1, M2) are
//
//	e(M1, X)·e(M2, Y) = e(Z, WW),  e(W, P2) = e(P1, WW)
//
// and a verifier checks both in one product of four pairings, the second multiplied by a
// random number of its own.
//
// A signature has two layouts, compact with c ([Signature.Bytes]) and batch with the
// commitment R in place of c ([Signature.BatchBytes], 16 bytes more). Anybody turns one
// into the other, and [Signature.ID] is the same.
//
// # Side channels
//
// Secrets go through constant-time code. The opener keeps each token in two parts, of
// which the pairing, which isn't constant time, sees one that is random without the other.
// Verification is variable time.
package ds18
