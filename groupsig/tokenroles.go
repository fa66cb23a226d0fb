// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig

import (
	"crypto/ed25519"
	"errors"

	"github.com/undersign/undersign/groupsig/internal/tokens"
)

// What the keys of issuers and openers of PS16 and KLAP20 do.
type (
	tokenRole interface {
		tokenSecret
		Public() []byte
		ConsentTo(p *proposal) ([]byte, error)
	}
	tokenIssuerKey[K any] interface {
		tokenRole
		InviteTo(s *Sessions, member string, key ed25519.PublicKey, now, lifetime int64) (*Challenge, error)
		IssueTo(k K, s *Sessions, register *Register, application []byte, now int64) ([]byte, error)
	}
	tokenOpenerKey[K, S any] interface {
		tokenRole
		Record(k K, register *Register, r *Record, key ed25519.PublicKey) error
		Open(k K, register *Register, msg []byte, sig S, opts *tokens.OpenOptions) (*tokens.Opening, error)
		RevocationList(k K, register *Register, terms Terms) (*tokens.List, error)
	}
)

// proposalOf returns what is behind a draft of the scheme.
func (s *tokenScheme[K, S]) proposalOf(x Draft) (*proposal, error) {
	p, ok := x.(*proposal)
	if !ok || p.scheme != Scheme(s) {
		return nil, errForeign
	}
	return p, nil
}

// groupOf returns what is behind a group key of the scheme.
func (s *tokenScheme[K, S]) groupOf(x GroupKey) (*tokenGroup[K, S], error) {
	g, ok := x.(*tokenGroup[K, S])
	if !ok || g == nil {
		return nil, errForeign
	}
	return g, nil
}

// enroll puts a role's public key into a draft.
func (s *tokenScheme[K, S]) enroll(x Draft, role int, k tokenRole) error {
	p, err := s.proposalOf(x)
	if err != nil {
		return err
	}
	field := &p.issuer
	if role == 1 {
		field = &p.opener
	}
	return p.enroll(field, k.Public())
}

// consent puts a role's consent into a draft.
func (s *tokenScheme[K, S]) consent(x Draft, role int, k tokenRole) error {
	p, err := s.proposalOf(x)
	if err != nil {
		return err
	}
	c, err := k.ConsentTo(p)
	if err == nil {
		p.consents[role] = c
	}
	return err
}

type tokenIssuer[K tokenKey[S], S tokenSignature] struct {
	hidden
	s *tokenScheme[K, S]
	k tokenIssuerKey[K]
}

func (i *tokenIssuer[K, S]) MarshalBinary() ([]byte, error) { return i.k.MarshalBinary() }
func (i *tokenIssuer[K, S]) Wipe()                          { i.k.Wipe() }
func (i *tokenIssuer[K, S]) Enroll(x Draft) error           { return i.s.enroll(x, 0, i.k) }
func (i *tokenIssuer[K, S]) Consent(x Draft) error          { return i.s.consent(x, 0, i.k) }

func (i *tokenIssuer[K, S]) Invite(x GroupKey, s *Sessions, member string, key ed25519.PublicKey, now, lifetime int64) (*Challenge, error) {
	if _, err := i.s.groupOf(x); err != nil {
		return nil, err
	}
	return i.k.InviteTo(s, member, key, now, lifetime)
}

func (i *tokenIssuer[K, S]) Issue(x GroupKey, s *Sessions, register *Register, application []byte, now int64, epoch uint64) ([]byte, error) {
	g, err := i.s.groupOf(x)
	if err != nil {
		return nil, err
	}
	if epoch != 0 {
		return nil, errEpoch
	}
	return i.k.IssueTo(g.k, s, register, application, now)
}

type tokenOpener[K tokenKey[S], S tokenSignature] struct {
	hidden
	s *tokenScheme[K, S]
	k tokenOpenerKey[K, S]
}

func (o *tokenOpener[K, S]) MarshalBinary() ([]byte, error) { return o.k.MarshalBinary() }
func (o *tokenOpener[K, S]) Wipe()                          { o.k.Wipe() }
func (o *tokenOpener[K, S]) Enroll(x Draft) error           { return o.s.enroll(x, 1, o.k) }
func (o *tokenOpener[K, S]) Consent(x Draft) error          { return o.s.consent(x, 1, o.k) }

func (o *tokenOpener[K, S]) Record(x GroupKey, register *Register, r *Record, key ed25519.PublicKey) error {
	g, err := o.s.groupOf(x)
	if err != nil {
		return err
	}
	if r == nil {
		return errors.New("groupsig: no record")
	}
	return o.k.Record(g.k, register, r, key)
}

func (o *tokenOpener[K, S]) Open(x GroupKey, register *Register, msg, sig []byte, opts VerifyOptions, context []byte) (Opening, error) {
	g, err := o.s.groupOf(x)
	if err != nil {
		return nil, err
	}
	opts.Revocation = nil
	v, s, err := g.parse(msg, sig, opts)
	if err != nil {
		return nil, err
	}
	out, err := o.k.Open(g.k, register, msg, s, &tokens.OpenOptions{SignatureContext: v.Context, Context: context})
	if err != nil {
		return nil, g.verdict(err)
	}
	return out, nil
}

func (o *tokenOpener[K, S]) RevocationList(x GroupKey, register *Register, terms Terms, base Revocation) (Revocation, error) {
	g, err := o.s.groupOf(x)
	if err != nil {
		return nil, err
	}
	// What is on the list before is in the opener's register.
	if base != nil {
		l, err := tokenList(base)
		if err == nil {
			err = l.Follows(terms)
		}
		if err != nil {
			return nil, err
		}
	}
	l, err := o.k.RevocationList(g.k, register, terms)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// tokenList returns what is behind a list of PS16 or KLAP20.
func tokenList(x Revocation) (*tokens.List, error) {
	l, ok := x.(*tokens.List)
	if !ok || l == nil {
		return nil, &StaleError{What: "revocation list", Reason: "it is of another scheme"}
	}
	return l, nil
}
