// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig

import (
	"crypto/ed25519"

	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/groupsig/klap20"
)

var klap20Scheme = &tokenScheme[*klap20.GroupKey, *klap20.Signature]{klap20Package{}}

type klap20Package struct{}

func (klap20Package) Name() string       { return "klap20" }
func (klap20Package) SignatureSize() int { return klap20.SignatureSize }
func (klap20Package) Invalid() error     { return klap20.ErrSignature }
func (klap20Package) Summary() string {
	return "small and fastest, in batches above all; an opener, small groups"
}

func klap20Proposal(p *proposal) *klap20.Proposal {
	return &klap20.Proposal{Label: p.label, Issuer: p.issuer, Opener: p.opener}
}

func (klap20Package) ProposalID(p *proposal) ([32]byte, error) { return klap20Proposal(p).ID() }

func (klap20Package) GroupKey(p *proposal) (*klap20.GroupKey, error) {
	return klap20Proposal(p).GroupKey(p.consents[0], p.consents[1])
}

func (klap20Package) ParseGroupKey(data []byte) (*klap20.GroupKey, error) {
	k := new(klap20.GroupKey)
	return k, k.UnmarshalBinary(data)
}

type klap20Issuer struct{ *klap20.IssuerKey }

func (klap20Package) GenerateIssuer() tokenIssuerKey[*klap20.GroupKey] {
	return klap20Issuer{klap20.GenerateIssuerKey()}
}

func (klap20Package) ParseIssuer(data []byte) (tokenIssuerKey[*klap20.GroupKey], error) {
	k := klap20Issuer{new(klap20.IssuerKey)}
	return k, k.UnmarshalBinary(data)
}

func (k klap20Issuer) ConsentTo(p *proposal) ([]byte, error) { return k.Consent(klap20Proposal(p)) }

func (k klap20Issuer) InviteTo(s *Sessions, member string, key ed25519.PublicKey, now, lifetime int64) (*Challenge, error) {
	return k.Invite(s, member, key, now, lifetime)
}

func (k klap20Issuer) IssueTo(g *klap20.GroupKey, s *Sessions, register *Register, application []byte, now int64) ([]byte, error) {
	r := new(klap20.Request)
	if err := r.UnmarshalBinary(application); err != nil {
		return nil, err
	}
	c, err := k.Issue(g, s, register, r, now)
	if err != nil {
		return nil, err
	}
	return c.MarshalBinary()
}

type klap20Opener struct{ *klap20.OpenerKey }

func (klap20Package) GenerateOpener() tokenOpenerKey[*klap20.GroupKey, *klap20.Signature] {
	return klap20Opener{klap20.GenerateOpenerKey()}
}

func (klap20Package) ParseOpener(data []byte) (tokenOpenerKey[*klap20.GroupKey, *klap20.Signature], error) {
	k := klap20Opener{new(klap20.OpenerKey)}
	return k, k.UnmarshalBinary(data)
}

func (k klap20Opener) ConsentTo(p *proposal) ([]byte, error) { return k.Consent(klap20Proposal(p)) }

type klap20Join struct{ *klap20.Join }

func (klap20Package) NewJoin(k *klap20.GroupKey, fingerprint [32]byte, c *Challenge, member string, key ed25519.PrivateKey) (tokenJoin[*klap20.GroupKey], []byte, error) {
	j, err := klap20.NewJoin(k, fingerprint, c, member, key)
	if err != nil {
		return nil, nil, err
	}
	m2, err := j.Request().MarshalBinary()
	return klap20Join{j}, m2, err
}

func (klap20Package) ParseJoin(data []byte) (tokenJoin[*klap20.GroupKey], error) {
	j := klap20Join{new(klap20.Join)}
	return j, j.UnmarshalBinary(data)
}

func (j klap20Join) FinishWith(credential []byte) (tokenMemberKey[*klap20.GroupKey], error) {
	c := new(klap20.Credential)
	if err := c.UnmarshalBinary(credential); err != nil {
		return nil, err
	}
	m, err := j.Finish(c)
	return klap20Member{m}, err
}

type klap20Member struct{ *klap20.MemberKey }

func (klap20Package) ParseMember(data []byte) (tokenMemberKey[*klap20.GroupKey], error) {
	m := klap20Member{new(klap20.MemberKey)}
	return m, m.UnmarshalBinary(data)
}

func (m klap20Member) SignBytes(msg, context []byte, batch bool) ([]byte, error) {
	s, err := m.Sign(msg, &klap20.SignOptions{Context: context})
	if err != nil {
		return nil, err
	}
	if batch {
		return s.BatchBytes(), nil
	}
	return s.Bytes(), nil
}

func (klap20Package) Decode(k *klap20.GroupKey, msg, sig []byte, v *tokens.VerifyOptions) (*klap20.Signature, error) {
	if len(sig) == klap20.BatchSignatureSize {
		return k.ParseBatchSignature(sig, msg, v)
	}
	return klap20.ParseSignature(sig)
}

func (klap20Package) ForBatch(s *klap20.Signature) []byte { return s.BatchBytes() }

func (klap20Package) NewBatch(k *klap20.GroupKey, v *tokens.VerifyOptions) tokenBatchKey[*klap20.Signature] {
	return k.Batch(v)
}
