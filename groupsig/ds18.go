// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig

import (
	"crypto/ed25519"

	"github.com/undersign/undersign/groupsig/ds18"
	"github.com/undersign/undersign/groupsig/internal/tokens"
)

var ds18Scheme = &tokenScheme[*ds18.GroupKey, *ds18.Signature]{ds18Package{}}

type ds18Package struct{}

func (ds18Package) Name() string       { return "ds18" }
func (ds18Package) SignatureSize() int { return ds18.SignatureSize }
func (ds18Package) Invalid() error     { return ds18.ErrSignature }
func (ds18Package) Summary() string {
	return "on equivalence classes: the issuer learns nothing that opens; an opener, small groups"
}

func ds18Proposal(p *proposal) *ds18.Proposal {
	return &ds18.Proposal{Label: p.label, Issuer: p.issuer, Opener: p.opener}
}

func (ds18Package) ProposalID(p *proposal) ([32]byte, error) { return ds18Proposal(p).ID() }

func (ds18Package) GroupKey(p *proposal) (*ds18.GroupKey, error) {
	return ds18Proposal(p).GroupKey(p.consents[0], p.consents[1])
}

func (ds18Package) ParseGroupKey(data []byte) (*ds18.GroupKey, error) {
	k := new(ds18.GroupKey)
	return k, k.UnmarshalBinary(data)
}

type ds18Issuer struct{ *ds18.IssuerKey }

func (ds18Package) GenerateIssuer() tokenIssuerKey[*ds18.GroupKey] {
	return ds18Issuer{ds18.GenerateIssuerKey()}
}

func (ds18Package) ParseIssuer(data []byte) (tokenIssuerKey[*ds18.GroupKey], error) {
	k := ds18Issuer{new(ds18.IssuerKey)}
	return k, k.UnmarshalBinary(data)
}

func (k ds18Issuer) ConsentTo(p *proposal) ([]byte, error) { return k.Consent(ds18Proposal(p)) }

func (k ds18Issuer) InviteTo(s *Sessions, member string, key ed25519.PublicKey, now, lifetime int64) (*Challenge, error) {
	return k.Invite(s, member, key, now, lifetime)
}

func (k ds18Issuer) IssueTo(g *ds18.GroupKey, s *Sessions, register *Register, application []byte, now int64) ([]byte, error) {
	r := new(ds18.Request)
	if err := r.UnmarshalBinary(application); err != nil {
		return nil, err
	}
	c, err := k.Issue(g, s, register, r, now)
	if err != nil {
		return nil, err
	}
	return c.MarshalBinary()
}

type ds18Opener struct{ *ds18.OpenerKey }

func (ds18Package) GenerateOpener() tokenOpenerKey[*ds18.GroupKey, *ds18.Signature] {
	return ds18Opener{ds18.GenerateOpenerKey()}
}

func (ds18Package) ParseOpener(data []byte) (tokenOpenerKey[*ds18.GroupKey, *ds18.Signature], error) {
	k := ds18Opener{new(ds18.OpenerKey)}
	return k, k.UnmarshalBinary(data)
}

func (k ds18Opener) ConsentTo(p *proposal) ([]byte, error) { return k.Consent(ds18Proposal(p)) }

type ds18Join struct{ *ds18.Join }

func (ds18Package) NewJoin(k *ds18.GroupKey, fingerprint [32]byte, c *Challenge, member string, key ed25519.PrivateKey) (tokenJoin[*ds18.GroupKey], []byte, error) {
	j, err := ds18.NewJoin(k, fingerprint, c, member, key)
	if err != nil {
		return nil, nil, err
	}
	m2, err := j.Request().MarshalBinary()
	return ds18Join{j}, m2, err
}

func (ds18Package) ParseJoin(data []byte) (tokenJoin[*ds18.GroupKey], error) {
	j := ds18Join{new(ds18.Join)}
	return j, j.UnmarshalBinary(data)
}

func (j ds18Join) FinishWith(credential []byte) (tokenMemberKey[*ds18.GroupKey], error) {
	c := new(ds18.Credential)
	if err := c.UnmarshalBinary(credential); err != nil {
		return nil, err
	}
	m, err := j.Finish(c)
	return ds18Member{m}, err
}

type ds18Member struct{ *ds18.MemberKey }

func (ds18Package) ParseMember(data []byte) (tokenMemberKey[*ds18.GroupKey], error) {
	m := ds18Member{new(ds18.MemberKey)}
	return m, m.UnmarshalBinary(data)
}

func (m ds18Member) SignBytes(msg, context []byte, batch bool) ([]byte, error) {
	s, err := m.Sign(msg, &ds18.SignOptions{Context: context})
	if err != nil {
		return nil, err
	}
	if batch {
		return s.BatchBytes(), nil
	}
	return s.Bytes(), nil
}

func (ds18Package) Decode(k *ds18.GroupKey, msg, sig []byte, v *tokens.VerifyOptions) (*ds18.Signature, error) {
	if len(sig) == ds18.BatchSignatureSize {
		return k.ParseBatchSignature(sig, msg, v)
	}
	return ds18.ParseSignature(sig)
}

func (ds18Package) ForBatch(s *ds18.Signature) []byte { return s.BatchBytes() }

func (ds18Package) NewBatch(k *ds18.GroupKey, v *tokens.VerifyOptions) tokenBatchKey[*ds18.Signature] {
	return k.Batch(v)
}
