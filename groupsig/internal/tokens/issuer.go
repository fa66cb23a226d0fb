// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/wire"
)

// An IssuerKey is x and y, with X = x·P2 and Y = y·P2.
type IssuerKey struct {
	scheme *Scheme
	xy     twoSecrets
}

var (
	issuerSecrets = [2]string{"x", "y"}
	issuerPoints  = [2]string{"X", "Y"}
)

// GenerateIssuerKey returns a new key.
func (s *Scheme) GenerateIssuerKey() *IssuerKey {
	k := &IssuerKey{scheme: s}
	k.xy.generate()
	return k
}

// Secrets returns x and y.
func (k *IssuerKey) Secrets() (x, y *bls12381.Scalar) { return &k.xy.w[0], &k.xy.w[1] }

// check returns an error if there is no key, or no more.
func (k *IssuerKey) check() error {
	if k == nil {
		return errNoKey
	}
	if k.xy.w[0].IsZero() || k.xy.w[1].IsZero() {
		return k.scheme.ErrWiped()
	}
	return nil
}

// Public returns the encoding of the public half.
func (k *IssuerKey) Public() []byte {
	if k == nil {
		return nil
	}
	return encodeIssuer(&k.xy.pub)
}

func encodeIssuer(p *twoPoints) []byte {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	p.append(&e)
	return e.Data()
}

func decodeIssuer(data []byte) (p twoPoints, err error) {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	p.read(d, issuerPoints)
	return p, d.Finish()
}

// Wipe overwrites the secrets.
func (k *IssuerKey) Wipe() {
	if k != nil {
		k.xy.wipe()
	}
}

// Equal reports whether x is the same key.
func (k *IssuerKey) Equal(x *IssuerKey) bool {
	return x != nil && k.check() == nil && k.xy.equal(&x.xy)
}

// Fingerprint shows nothing of the secrets.
func (k *IssuerKey) Fingerprint() string { return fingerprint(k.Public()) }

func fingerprint(public []byte) string {
	d := sha256.Sum256(public)
	return fmt.Sprintf("%x", d[:8])
}

// MarshalBinary returns the canonical encoding, which is secret.
func (k *IssuerKey) MarshalBinary() ([]byte, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	var e wire.Encoder
	e.Grow(2 + 2*bls12381.ScalarSize)
	e.U8(version)
	e.U8(suite)
	k.xy.append(&e)
	return e.Data(), nil
}

// ParseIssuerKey decodes a key.
func (s *Scheme) ParseIssuerKey(data []byte) (*IssuerKey, error) {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	k := &IssuerKey{scheme: s}
	k.xy.read(d, issuerSecrets)
	if err := d.Finish(); err != nil {
		return nil, s.errorf("issuer key: %w", err)
	}
	k.xy.publish()
	return k, nil
}

// Consent proves possession of the key for a proposed group.
func (k *IssuerKey) Consent(g *GroupKey) ([]byte, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	if !bytes.Equal(encodeIssuer(&g.issuer), k.Public()) {
		return nil, k.scheme.errorf("the proposal names another issuer")
	}
	return k.xy.prove(g.pop(), g.Items())
}

// Invite opens a session.
func (k *IssuerKey) Invite(s *join.Sessions, member string, key ed25519.PublicKey, kind join.Kind, now, lifetime int64) (*join.Challenge, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	c, err := s.Open(member, key, kind, now, lifetime)
	if err != nil {
		return nil, k.scheme.errorf("invite: %w", err)
	}
	return c, nil
}

// An Application is a member's request, with what its scheme does about it.
type Application struct {
	Session    join.SessionID
	Message    []byte                                               // the request's encoding
	Record     func(c *join.Challenge) *join.Record                 // what goes into the register
	Check      func(c *join.Challenge, key ed25519.PublicKey) error // the proof, and the registration
	Credential func() ([]byte, error)                               // the answer's encoding
}

// Issue answers an application. The record is in the register, and durable if the
// register's function says so, before the credential is made. The same application again
// gets the same answer.
func (k *IssuerKey) Issue(g *GroupKey, s *join.Sessions, register *join.Register, a *Application, now int64) ([]byte, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	if g == nil || !bytes.Equal(encodeIssuer(&g.issuer), k.Public()) {
		return nil, k.scheme.errorf("issue: the group has another issuer")
	}
	m3, err := s.Answer(a.Session, a.Message, now, func(c *join.Challenge, key ed25519.PublicKey) ([]byte, error) {
		rec := a.Record(c)
		if err := register.Check(c.Member, rec.Point, 0); err != nil {
			return nil, err
		}
		if err := a.Check(c, key); err != nil {
			return nil, err
		}
		if err := register.Admit(rec, 0); err != nil {
			return nil, err
		}
		return a.Credential()
	})
	if err != nil {
		return nil, k.scheme.errorf("issue: %w", err)
	}
	return m3, nil
}
