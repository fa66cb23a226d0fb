// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package ps16 is the group signature of Pointcheval and Sanders, Short Randomizable
// Signatures (CT-RSA 2016; IACR ePrint 2015/525), section on group signatures: 160
// bytes, and the smallest key of all schemes here.
//
// # What most callers should use
//
// The issuer and the opener make their keys ([GenerateIssuerKey],
// [GenerateOpenerKey]) and agree on a [GroupKey] ([Setup], or [Proposal] if they
// are apart). A member joins: [IssuerKey.Invite], [NewJoin], [IssuerKey.Issue],
// [Join.Finish]; the issuer hands the member's [Record] to the opener, who records it
// ([OpenerKey.Record]). The [MemberKey] signs, [GroupKey.Verify] checks,
// [OpenerKey.Open] finds the signer, and [GroupKey.VerifyOpening] is how a judge
// checks that.
//
// # Who can do what
//
// The issuer sees every member's token while it joins, so in this scheme the issuer
// can open signatures too, and so can everyone who reads the member's [Request] or the
// issuer's [Register]: they travel and are kept encrypted. KLAP20 keeps the token from
// all but the opener. Neither can sign for a member:
// a member's secret stays with it, and an opening counts only with the registration
// that the member signed. The opener recognises signatures by trying the tokens of
// all members, one pairing each: small groups only.
//
// Members are revoked by a [RevocationList] of their tokens, at a pairing for each
// entry in every verification, up to [MaxRevoked]. A published token shows all signatures
// of its member, those from before included: revocation ends the privacy of the past
// as well. That is a property of the scheme. A group that can't accept it uses
// epochs or pseudonyms (the packages of the BBS family).
//
// # Names
//
//	x, y; X, Y        the issuer's key, X = x·P2, Y = y·P2
//	sk, tau, ttau     a member's secret, its registered point sk·P1 and its token sk·Y
//	sigma1, sigma2    its credential: sigma2 = (x + y·sk)·sigma1
//	s1, s2, c, s      a signature
//
// # Side channels
//
// Secrets go through constant-time code, with the exception that the opener's search
// computes pairings with tokens: the backend's pairing runs through a fixed sequence
// of field operations, but that isn't tested. Verification is variable time.
package ps16
