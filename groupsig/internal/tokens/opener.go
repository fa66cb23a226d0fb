// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"errors"

	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// An OpenerKey is a [Key], and z0 and z1 in schemes with encrypted tokens.
type OpenerKey struct {
	scheme *Scheme
	z      twoSecrets
	Key    *Key // nil if it has been wiped
	pub    openerPublic
}

type openerPublic struct {
	z    twoPoints // Z0 = z0·P2, Z1 = z1·P2
	list ed25519.PublicKey
}

var (
	openerSecrets = [2]string{"z0", "z1"}
	openerPoints  = [2]string{"Z0", "Z1"}
)

// GenerateOpenerKey returns a new key.
func (s *Scheme) GenerateOpenerKey() *OpenerKey {
	var seed [SeedSize]byte
	rand.Read(seed[:])
	defer clear(seed[:])
	k := &OpenerKey{scheme: s, Key: NewKey(&seed)}
	if s.Encrypted {
		k.z.generate()
	}
	k.publish()
	return k
}

func (k *OpenerKey) publish() { k.pub = openerPublic{k.z.pub, k.Key.Public()} }

// Secrets returns z0 and z1.
func (k *OpenerKey) Secrets() (z0, z1 *bls12381.Scalar) { return &k.z.w[0], &k.z.w[1] }

// check returns an error if there is no key, or no more.
func (k *OpenerKey) check() error {
	if k == nil {
		return errNoKey
	}
	if k.Key == nil {
		return k.scheme.ErrWiped()
	}
	return nil
}

// Of returns an error unless the key is that of the group.
func (k *OpenerKey) Of(g *GroupKey) error {
	if err := k.check(); err != nil {
		return err
	}
	if g == nil || !bytes.Equal(g.opener.encode(k.scheme), k.Public()) {
		return k.scheme.errorf("the group has another opener")
	}
	return nil
}

// Public returns the encoding of the public half.
func (k *OpenerKey) Public() []byte {
	if k == nil {
		return nil
	}
	return k.pub.encode(k.scheme)
}

func (p *openerPublic) encode(s *Scheme) []byte {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	p.append(s, &e)
	return e.Data()
}

func decodeOpener(s *Scheme, data []byte) (p openerPublic, err error) {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	p.read(s, d)
	return p, d.Finish()
}

func (p *openerPublic) append(s *Scheme, e *wire.Encoder) {
	if s.Encrypted {
		p.z.append(e)
	}
	e.Fixed(p.list)
}

// read refuses equal points: one key would decrypt both encryptions. It refuses a key of
// small order, for which anybody can sign.
func (p *openerPublic) read(s *Scheme, d *wire.Decoder) {
	if s.Encrypted {
		p.z.read(d, openerPoints)
	}
	p.list = d.Fixed("Ed25519 key", ed25519.PublicKeySize)
	if d.Err() == nil && s.Encrypted && p.z[0].Equal(&p.z[1]) {
		d.Fail("Z1", "equals Z0")
	}
	if d.Err() == nil && join.CheckKey(p.list) != nil {
		d.Fail("Ed25519 key", "it isn't one")
	}
}

// items are what the group's ID has of it.
func (p *openerPublic) items(s *Scheme, items *transcript.Items) *transcript.Items {
	if s.Encrypted {
		items.G2("Z0", &p.z[0]).G2("Z1", &p.z[1])
	}
	return items.Bytes("opener", p.list)
}

// Wipe overwrites the secrets.
func (k *OpenerKey) Wipe() {
	if k == nil {
		return
	}
	k.z.wipe()
	if k.Key != nil {
		k.Key.Wipe()
		k.Key = nil
	}
}

// Equal reports whether x is the same key.
func (k *OpenerKey) Equal(x *OpenerKey) bool {
	return k.check() == nil && x.check() == nil && k.Key.Equal(x.Key) && k.z.equal(&x.z)
}

// Fingerprint shows nothing of the secrets.
func (k *OpenerKey) Fingerprint() string { return fingerprint(k.Public()) }

// MarshalBinary returns the canonical encoding, which is secret.
func (k *OpenerKey) MarshalBinary() ([]byte, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	var e wire.Encoder
	e.Grow(2 + 2*bls12381.ScalarSize + SeedSize)
	e.U8(version)
	e.U8(suite)
	if k.scheme.Encrypted {
		k.z.append(&e)
	}
	seed := k.Key.Seed()
	codec.PutSecret(&e, seed[:])
	return e.Data(), nil
}

// ParseOpenerKey decodes a key.
func (s *Scheme) ParseOpenerKey(data []byte) (*OpenerKey, error) {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	k := &OpenerKey{scheme: s}
	if s.Encrypted {
		k.z.read(d, openerSecrets)
		if d.Err() == nil && k.z.w[0].Equal(&k.z.w[1]) {
			d.Fail("z1", "equals z0")
		}
	}
	var seed [SeedSize]byte
	defer clear(seed[:])
	d.Read("seed", seed[:])
	if err := d.Finish(); err != nil {
		return nil, s.errorf("opener key: %w", err)
	}
	k.Key = NewKey(&seed)
	if s.Encrypted {
		k.z.publish()
	}
	k.publish()
	return k, nil
}

// Consent proves possession of all keys for a proposed group: by a proof of z0 and z1, and
// a signature by the key that signs lists.
func (k *OpenerKey) Consent(g *GroupKey) ([]byte, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	if !bytes.Equal(g.opener.encode(k.scheme), k.Public()) {
		return nil, k.scheme.errorf("the proposal names another opener")
	}
	var proof []byte
	if k.scheme.Encrypted {
		var err error
		if proof, err = k.z.prove(g.pop(), g.Items()); err != nil {
			return nil, err
		}
	}
	return append(proof, k.Key.Sign(g.consent())...), nil
}

// openerProofSize is the length of the opener's consent.
func (s *Scheme) openerProofSize() int {
	if s.Encrypted {
		return twoProofSize + ed25519.SignatureSize
	}
	return ed25519.SignatureSize
}

// verifyOpener checks the opener's consent.
func (g *GroupKey) verifyOpener() error {
	proof := g.openerProof
	if len(proof) != g.scheme.openerProofSize() {
		return errors.New("wrong length")
	}
	if g.scheme.Encrypted {
		if err := g.opener.z.verify(g.pop(), g.Items(), proof[:twoProofSize]); err != nil {
			return err
		}
		proof = proof[twoProofSize:]
	}
	if !ed25519.Verify(g.opener.list, g.consent(), proof) {
		return errors.New("wrong signature")
	}
	return nil
}

// Open finds the signer of a signature that the caller has verified.
func (k *OpenerKey) Open(g *GroupKey, register *join.Register, t *Target, context []byte) (*Opening, error) {
	if err := k.Of(g); err != nil {
		return nil, err
	}
	o, err := k.Key.Open(g.Tokens, register, t, context)
	if err != nil {
		return nil, k.scheme.errorf("open: %w", err)
	}
	return o, nil
}

// RevocationList makes the list of all members that are revoked in the opener's register.
func (k *OpenerKey) RevocationList(g *GroupKey, register *join.Register, terms Terms) (*List, error) {
	if err := k.Of(g); err != nil {
		return nil, err
	}
	l, err := k.Key.List(g.Tokens, register, terms)
	if err != nil {
		return nil, k.scheme.errorf("revocation list: %w", err)
	}
	return l, nil
}
