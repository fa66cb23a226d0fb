// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package klap20 is the group signature of Kim, Lee, Abdalla and Park, Practical
// Dynamic Group Signature with Efficient Concurrent Joins and Batch Verifications
// (2021; IACR ePrint 2020/921): 208 bytes, the fastest to sign, and by far the
// fastest to verify in batches.
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
// The issuer admits members and can't open: what it sees of a member's token is
// encrypted to the opener, twice, for the proof of anonymity under chosen-ciphertext
// attack. The opener can't admit. Neither can sign for a member: a member's secret
// stays with it, and an opening counts only with the registration that the member
// signed. The opener decrypts when it records a member, once, and keeps the token
// sealed; to open it tries the tokens of all members, one pairing each.
//
// Members are revoked by a [RevocationList] of their tokens, at a pairing for each
// entry in every verification, up to [MaxRevoked]. A published token shows all
// signatures of its member, those from before included: revocation ends the privacy
// of the past as well. That is a property of the scheme. A group that can't accept it
// uses epochs or pseudonyms (the packages of the BBS family).
//
// # Names
//
//	x, y; X, Y        the issuer's key, X = x·P2, Y = y·P2 (XX, YY in the paper)
//	z0, z1; Z0, Z1    the opener's key, Z0 = z0·P2, Z1 = z1·P2
//	alpha, f, token   a member's secret, its registered point alpha·P1 and alpha·P2
//	u, v, w           its credential: u = hash(f), w = alpha·u, v = x·u + y·w
//	S0, F0, S1, F1    the token's encryptions: S = s·P2, F = alpha·P2 + s·Z
//	uu, vv, ww, c, s  a signature
//
// A signature has two layouts, compact with c ([Signature.Bytes]) and batch with the
// commitment R in place of c ([Signature.BatchBytes], 16 bytes more), which batches
// verify faster. Anybody turns one into the other, and [Signature.ID] is the same.
//
// # Side channels
//
// Secrets go through constant-time code, with the exception that the opener's search
// computes pairings with tokens: the backend's pairing runs through a fixed sequence
// of field operations, but that isn't tested. Verification is variable time.
package klap20
