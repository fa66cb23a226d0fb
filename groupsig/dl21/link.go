// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package dl21

import (
	"github.com/undersign/undersign/groupsig/internal/bbs"
	"github.com/undersign/undersign/internal/transcript"
)

// A Signed is a signature, with the message and the options that it is verified by.
type Signed struct {
	Message   []byte
	Signature []byte
	Options   VerifyOptions
}

func (s Signed) core() bbs.Signed {
	return bbs.Signed{Message: transcript.MessageOf(s.Message), Signature: s.Signature, Options: s.Options}
}

func coreSet(set []Signed) []bbs.Signed {
	out := make([]bbs.Signed, len(set))
	for i, s := range set {
		out[i] = s.core()
	}
	return out
}

// Pseudonym returns the signer's pseudonym in the signature's scope. It doesn't verify
// the signature.
func (k *GroupKey) Pseudonym(sig []byte) ([]byte, error) { return k.k.Pseudonym(sig) }

// Identify reports whether a valid signature is the member's own.
func (m *MemberKey) Identify(s Signed) (bool, error) { return m.m.Identify(s.core()) }

// Claim proves to anyone that the member made a signature. The context says what the
// claim is for.
func (m *MemberKey) Claim(s Signed, context []byte) ([]byte, error) {
	return m.m.Claim(s.core(), context)
}

// VerifyClaim checks a claim, and the signature.
func (k *GroupKey) VerifyClaim(s Signed, context, claim []byte) error {
	return k.k.VerifyClaim(s.core(), context, claim)
}

// Link proves to anyone that the member made all signatures of a set.
func (m *MemberKey) Link(set []Signed, context []byte) ([]byte, error) {
	return m.m.Link(coreSet(set), context)
}

// VerifyLink checks a link, and the signatures.
func (k *GroupKey) VerifyLink(set []Signed, context, link []byte) error {
	return k.k.VerifyLink(coreSet(set), context, link)
}

// LimitedScope returns the scope for the use of number index of limit, counted from 0,
// within a scope, for signing and for verifying: who may sign limit times uses each
// index once. It refuses an index that isn't below the limit.
func LimitedScope(scope []byte, index, limit uint64) ([]byte, error) {
	return bbs.LimitedScope(scope, index, limit)
}
