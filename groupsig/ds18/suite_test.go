// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ds18

import (
	"crypto/ed25519"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/groupsig/internal/tokentest"
	"github.com/undersign/undersign/internal/bls12381"
)

const now = tokentest.Now

type fixture = tokentest.Fixture[*Proposal, *GroupKey, *IssuerKey, *OpenerKey, *Join, *MemberKey, *Signature, *Request, *Credential]

var common = &tokentest.Suite[*Proposal, *GroupKey, *IssuerKey, *OpenerKey, *Join, *MemberKey, *Signature, *Request, *Credential]{
	Scheme: "ds18", SignatureSize: 352, ErrSignature: ErrSignature, Points: "11112", TokenAt: 32,

	NewIssuer: GenerateIssuerKey, NewOpener: GenerateOpenerKey, Setup: Setup, NewJoin: NewJoin, Parse: ParseSignature,
	Propose: func(label string, issuer, opener []byte) *Proposal { return &Proposal{label, issuer, opener} },
	Invite: func(i *IssuerKey, s *Sessions, member string, key ed25519.PublicKey, now, lifetime int64) (*Challenge, error) {
		return i.Invite(s, member, key, now, lifetime)
	},
	Sign: func(m *MemberKey, msg, context []byte) (*Signature, error) {
		return m.Sign(msg, &SignOptions{Context: context})
	},
	Batch:     func(g *GroupKey, o *VerifyOptions) tokentest.Batch[*Signature] { return g.Batch(o) },
	ZeroBatch: func() tokentest.Batch[*Signature] { return new(Batch) },
	Zero: func() (z tokentest.Zero[*Proposal, *GroupKey, *IssuerKey, *OpenerKey, *Join, *MemberKey, *Signature, *Request, *Credential]) {
		z.Proposal, z.GroupKey, z.Issuer, z.Opener = new(Proposal), new(GroupKey), new(IssuerKey), new(OpenerKey)
		z.Join, z.Member, z.Signature, z.Request, z.Credential = new(Join), new(MemberKey), new(Signature), new(Request), new(Credential)
		return z
	},

	Answer: func(j *Join, c *Challenge, key ed25519.PrivateKey) (*Request, error) {
		k := *j
		k.challenge = *c
		err := k.prepare(key)
		return k.Request(), err
	},
	Credential: func(i *IssuerKey, g *GroupKey, r *Request) *Credential { return i.credential(r) },
	Record:     func(j *Join) *Record { return j.request.record(&j.challenge) },
	Token:      func(j *Join) *bls12381.G2 { return new(bls12381.G2).ScalarBaseMult(&j.r) },
	Core: func(g *GroupKey, i *IssuerKey, o *OpenerKey) (*tokens.GroupKey, *tokens.IssuerKey, *tokens.OpenerKey) {
		return g.k, i.k, o.k
	},
	Secrets: func(m *MemberKey, j *Join) [][]byte {
		return [][]byte{m.r.Bytes(), m.q.Bytes(), m.inverse.Bytes(), j.r.Bytes(), j.q.Bytes()}
	},
}

// Two groups that tests don't change: of alice, bob and carol, and of alice.
var group, other = common.Group, common.Other

func TestCommon(t *testing.T) { common.Run(t) }

// inSession returns a credential for the session of another.
func inSession(c, to *Credential) *Credential {
	d := *c
	d.session = to.session
	return &d
}

func FuzzCodecs(f *testing.F)         { common.FuzzCodecs(f) }
func FuzzSignature(f *testing.F)      { common.FuzzSignature(f) }
func FuzzRevocationList(f *testing.F) { common.FuzzRevocationList(f) }

func BenchmarkSetup(b *testing.B)  { common.BenchmarkSetup(b) }
func BenchmarkJoin(b *testing.B)   { common.BenchmarkJoin(b) }
func BenchmarkSign(b *testing.B)   { common.BenchmarkSign(b) }
func BenchmarkVerify(b *testing.B) { common.BenchmarkVerify(b) }
func BenchmarkOpen(b *testing.B)   { common.BenchmarkOpen(b) }
