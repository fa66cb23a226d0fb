// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package tokens is the opening and the revocation that PS16 and KLAP20 have in
// common.
//
// A member of either scheme has a secret w, a registered point T = w·P1, and a
// token w·Q, where Q is a point of the group key. A signature gives a point A and a
// value K of GT with K = e(A, w·Q) for its signer's w, and only for that one. Who
// has the token therefore recognises all signatures of the member, past ones
// included. The opener keeps the tokens, sealed, in a [Register], and finds the
// signer by trying all of them; its [Opening] proves that it knows the token with
// both K = e(A, token) and e(T, Q) = e(P1, token). A [List] publishes the tokens of
// revoked members.
//
// # Side channels
//
// The pairing has no secret exponent, and its backend computes it in a fixed
// sequence of field operations, but it isn't constant time in its arguments. So an
// opener keeps a token in two parts, of which the pairing sees one that is random
// without the other, and tries all tokens of its register for every signature. Issuers
// of PS16 see tokens as well, and check them with pairings when members join.
package tokens
