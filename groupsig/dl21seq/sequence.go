// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package dl21seq

// SequenceIndex returns the index that the member's next signature has, from 1.
func (m *MemberKey) SequenceIndex() uint64 { return m.m.SequenceIndex() }

// SequenceLink proves to anyone that the member made the signatures of a set in this
// order with none in between, and if first is set that it starts with its first of
// all. It shows what was committed to when signing: two branches of one sequence are
// seen only by who has both. Links of ranges that adjoin become linked.
func (m *MemberKey) SequenceLink(set []Signed, context []byte, first bool) ([]byte, error) {
	return m.m.SequenceLink(coreSet(set), context, first)
}

// VerifySequenceLink checks a sequence link, and the signatures.
func (k *GroupKey) VerifySequenceLink(set []Signed, context, link []byte, first bool) error {
	return k.k.VerifySequenceLink(coreSet(set), context, link, first)
}
