// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package tokens is what PS16, KLAP20 and DS18 have in common: keys of issuers, openers and
// groups, what frames the messages of a join, openings, revocation, and the search for bad
// signatures in a batch. Each scheme's package has types of its own around these, and what
// is particular to the scheme: its [Scheme], credentials, proofs and equations.
//
// # Tokens
//
// A member of the first two has a secret w, a registered point T = w·P1, and a
// token w·Q, where Q is a point of the group key. A signature gives a point A and a
// value K of GT with K = e(A, w·Q) for its signer's w, and only for that one. Who
// has the token therefore recognises all signatures of the member, past ones
// included. The opener keeps the tokens, sealed, in a [Register], and finds the
// signer by trying all of them; its [Opening] proves that it knows the token with
// both K = e(A, token) and e(T, Q) = e(P1, token). A [List] publishes the tokens of
// revoked members.
//
// In DS18 the registered point is w·B with a base B of each record's own. Then the point doesn't
// determine the token, and the opener marks tokens in its register, so that none is there
// twice: a list with one twice can't be made, and signatures would be opened as the
// first member's that has it.
//
// # Side channels
//
// The pairing has no secret exponent, and its backend computes it in a fixed
// sequence of field operations, but it isn't constant time in its arguments. So an
// opener keeps a token in two parts, of which the pairing sees one that is random
// without the other, and tries all tokens of its register for every signature. Issuers
// of PS16 see tokens as well, and check them with pairings when members join.
package tokens
