// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package libgroupsig reads what the C library libgroupsig wrote: its group keys, its
// signatures and its lists of members, for the schemes BBS04, PS16, KLAP20, DL21 and
// DL21SEQ over BLS12-381. It verifies what was signed with them once, so that archives
// outlive the library. It signs nothing: new groups are for the packages beside it.
//
// # What is checked
//
// Besides the schemes' equations, all that the library leaves out. Without the first, two
// of the schemes take signatures that need no key:
//
//   - no element of a key or a signature is the identity;
//   - all are in the subgroup of order r, those of GT too;
//   - every encoding is the only one of its value: no coordinate or scalar that isn't
//     reduced, no bytes that follow, no length but the right one;
//   - powers that a group key has precomputed are computed again and compared;
//   - a message of DL21 has a scope and a text, once each, and nothing that the
//     signature doesn't cover.
//
// # What a valid signature means
//
// Less than in the packages beside this one, and in each scheme something else:
// [Scheme.Flaws] says what, and so does every [Result]. Proofs of openings and links are
// checked too ([GroupKey.VerifyOpening], [GroupKey.VerifyLink]). CPY06, KTY04 and GL19 are named and
// refused ([ErrUnsupported]): the first two accept signatures of people who never joined,
// and of the third nothing remains but that. Docs/libgroupsig.md has the reasons.
//
// The library's own hashes are used as it uses them, SHA-1 in KLAP20 among them.
//
// # Encodings
//
// Elements are those of mcl, the library's backend, and little-endian: a point is its x
// coordinate, and the highest bit says whether y (in G2 its first half) is odd. In files
// each follows its length in four bytes. Nothing tells which group key a signature is for,
// nor the other way round.
//
// Everything here is public, and takes variable time.
package libgroupsig
