// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig

import (
	"crypto/ed25519"

	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/groupsig/ps16"
)

var ps16Scheme = &tokenScheme[*ps16.GroupKey, *ps16.Signature]{ps16Package{}}

type ps16Package struct{}

func (ps16Package) Name() string       { return "ps16" }
func (ps16Package) SignatureSize() int { return ps16.SignatureSize }
func (ps16Package) Invalid() error     { return ps16.ErrSignature }
func (ps16Package) Summary() string {
	return "the smallest; an opener, but the issuer can open too; small groups"
}

func ps16Proposal(p *proposal) *ps16.Proposal {
	return &ps16.Proposal{Label: p.label, Issuer: p.issuer, Opener: p.opener}
}

func (ps16Package) ProposalID(p *proposal) ([32]byte, error) { return ps16Proposal(p).ID() }

func (ps16Package) GroupKey(p *proposal) (*ps16.GroupKey, error) {
	return ps16Proposal(p).GroupKey(p.consents[0], p.consents[1])
}

func (ps16Package) ParseGroupKey(data []byte) (*ps16.GroupKey, error) {
	k := new(ps16.GroupKey)
	return k, k.UnmarshalBinary(data)
}

type ps16Issuer struct{ *ps16.IssuerKey }

func (ps16Package) GenerateIssuer() tokenIssuerKey[*ps16.GroupKey] {
	return ps16Issuer{ps16.GenerateIssuerKey()}
}

func (ps16Package) ParseIssuer(data []byte) (tokenIssuerKey[*ps16.GroupKey], error) {
	k := ps16Issuer{new(ps16.IssuerKey)}
	return k, k.UnmarshalBinary(data)
}

func (k ps16Issuer) ConsentTo(p *proposal) ([]byte, error) { return k.Consent(ps16Proposal(p)) }

func (k ps16Issuer) InviteTo(s *Sessions, member string, key ed25519.PublicKey, now, lifetime int64) (*Challenge, error) {
	return k.Invite(s, member, key, ps16.Fischlin, now, lifetime)
}

func (k ps16Issuer) IssueTo(g *ps16.GroupKey, s *Sessions, register *Register, application []byte, now int64) ([]byte, error) {
	r := new(ps16.Request)
	if err := r.UnmarshalBinary(application); err != nil {
		return nil, err
	}
	c, err := k.Issue(g, s, register, r, now)
	if err != nil {
		return nil, err
	}
	return c.MarshalBinary()
}

type ps16Opener struct{ *ps16.OpenerKey }

func (ps16Package) GenerateOpener() tokenOpenerKey[*ps16.GroupKey, *ps16.Signature] {
	return ps16Opener{ps16.GenerateOpenerKey()}
}

func (ps16Package) ParseOpener(data []byte) (tokenOpenerKey[*ps16.GroupKey, *ps16.Signature], error) {
	k := ps16Opener{new(ps16.OpenerKey)}
	return k, k.UnmarshalBinary(data)
}

func (k ps16Opener) ConsentTo(p *proposal) ([]byte, error) { return k.Consent(ps16Proposal(p)) }

type ps16Join struct{ *ps16.Join }

func (ps16Package) NewJoin(k *ps16.GroupKey, fingerprint [32]byte, c *Challenge, member string, key ed25519.PrivateKey) (tokenJoin[*ps16.GroupKey], []byte, error) {
	j, err := ps16.NewJoin(k, fingerprint, c, member, key)
	if err != nil {
		return nil, nil, err
	}
	m2, err := j.Request().MarshalBinary()
	return ps16Join{j}, m2, err
}

func (ps16Package) ParseJoin(data []byte) (tokenJoin[*ps16.GroupKey], error) {
	j := ps16Join{new(ps16.Join)}
	return j, j.UnmarshalBinary(data)
}

func (j ps16Join) FinishWith(credential []byte) (tokenMemberKey[*ps16.GroupKey], error) {
	c := new(ps16.Credential)
	if err := c.UnmarshalBinary(credential); err != nil {
		return nil, err
	}
	m, err := j.Finish(c)
	return ps16Member{m}, err
}

type ps16Member struct{ *ps16.MemberKey }

func (ps16Package) ParseMember(data []byte) (tokenMemberKey[*ps16.GroupKey], error) {
	m := ps16Member{new(ps16.MemberKey)}
	return m, m.UnmarshalBinary(data)
}

func (m ps16Member) SignBytes(msg, context []byte, _ bool) ([]byte, error) {
	s, err := m.Sign(msg, &ps16.SignOptions{Context: context})
	if err != nil {
		return nil, err
	}
	return s.Bytes(), nil
}

// There is one layout.

func (ps16Package) Decode(_ *ps16.GroupKey, _, sig []byte, _ *tokens.VerifyOptions) (*ps16.Signature, error) {
	return ps16.ParseSignature(sig)
}

func (ps16Package) ForBatch(s *ps16.Signature) []byte { return s.Bytes() }

func (ps16Package) NewBatch(k *ps16.GroupKey, v *tokens.VerifyOptions) tokenBatchKey[*ps16.Signature] {
	return k.Batch(v)
}
