// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

import (
	"crypto/ed25519"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/tokentest"
)

var common = &tokentest.Suite[*Proposal, *GroupKey, *IssuerKey, *OpenerKey, *Join, *MemberKey, *Signature, *Request, *Credential]{
	Scheme: "ps16", SignatureSize: SignatureSize, ErrSignature: ErrSignature,
	NewIssuer: GenerateIssuerKey, NewOpener: GenerateOpenerKey, Setup: Setup, NewJoin: NewJoin, Parse: ParseSignature,
	Propose: func(label string, issuer, opener []byte) *Proposal { return &Proposal{label, issuer, opener} },
	Invite: func(i *IssuerKey, s *Sessions, member string, key ed25519.PublicKey, now, lifetime int64) (*Challenge, error) {
		return i.Invite(s, member, key, Fischlin, now, lifetime)
	},
	Sign: func(m *MemberKey, msg, context []byte) (*Signature, error) {
		return m.Sign(msg, &SignOptions{Context: context})
	},
	Batch: func(g *GroupKey, o *VerifyOptions) tokentest.Batch[*Signature] { return g.Batch(o) },
	Zero: func() tokentest.Zero[*GroupKey, *IssuerKey, *OpenerKey, *Join, *MemberKey, *Signature, *Request, *Credential] {
		return tokentest.Zero[*GroupKey, *IssuerKey, *OpenerKey, *Join, *MemberKey, *Signature, *Request, *Credential]{
			GroupKey: new(GroupKey), Issuer: new(IssuerKey), Opener: new(OpenerKey), Join: new(Join), Member: new(MemberKey),
			Signature: new(Signature), Request: new(Request), Credential: new(Credential),
		}
	},
}

func TestStored(t *testing.T) { common.Stored(t) }
