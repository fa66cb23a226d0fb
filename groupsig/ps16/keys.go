// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

const (
	scheme  = "ps16"
	version = 1
	suite   = 1 // BLS12-381, SHA-256, SHAKE256, Ed25519, AES-256-GCM

)

// Domain separation tags.
var (
	dstSign  = transcript.DST(scheme, "sig")
	dstPoP   = transcript.DST(scheme, "pop")
	dstJoin  = transcript.DST(scheme, "join")
	dstIssue = transcript.DST(scheme, "issue")
)

// An IssuerKey admits members. It is used by one goroutine at a time.
//
// A key is for one group: its credentials are good in all groups that it makes, though
// the opener there knows nothing of the member.
type IssuerKey struct {
	x, y bls12381.Scalar
	pub  issuerPublic
}

type issuerPublic struct {
	x, y bls12381.G2
}

func (p *issuerPublic) encode() []byte {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(p.x.Bytes())
	e.Fixed(p.y.Bytes())
	return e.Data()
}

func (p *issuerPublic) decode(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	tokens.ReadG2(d, "X", &p.x)
	tokens.ReadG2(d, "Y", &p.y)
	return d.Finish()
}

// GenerateIssuerKey returns a new key.
func GenerateIssuerKey() *IssuerKey {
	k := new(IssuerKey)
	k.x.Random()
	k.y.Random()
	k.publish()
	return k
}

func (k *IssuerKey) publish() {
	k.pub.x.ScalarBaseMult(&k.x)
	k.pub.y.ScalarBaseMult(&k.y)
	bls12381.NormalizeG2(&k.pub.x, &k.pub.y)
}

// Public returns the encoding of the public half, for a [Proposal].
func (k *IssuerKey) Public() []byte { return k.pub.encode() }

// Wipe overwrites the secrets. The key is of no use afterwards.
func (k *IssuerKey) Wipe() {
	k.x.Wipe()
	k.y.Wipe()
}

func (k *IssuerKey) wiped() bool { return k.x.IsZero() || k.y.IsZero() }

// Equal reports whether x is the same key.
func (k *IssuerKey) Equal(x *IssuerKey) bool {
	return x != nil && !k.wiped() && k.x.Equal(&x.x) && k.y.Equal(&x.y)
}

// String shows nothing of the secrets. The receiver is a value, so that printing a
// dereferenced key shows no more.
func (k IssuerKey) String() string {
	return fmt.Sprintf("ps16.IssuerKey(%x)", digest(k.pub.encode()))
}

// GoString is String.
func (k IssuerKey) GoString() string { return k.String() }

// Format writes String, whatever the verb.
func (k IssuerKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

// MarshalBinary returns the canonical encoding, which is secret; clear it after use.
func (k *IssuerKey) MarshalBinary() ([]byte, error) {
	if k.wiped() {
		return nil, errWiped
	}
	var e wire.Encoder
	e.Grow(2 + 2*bls12381.ScalarSize)
	e.U8(version)
	e.U8(suite)
	tokens.PutSecret(&e, k.x.Bytes())
	tokens.PutSecret(&e, k.y.Bytes())
	return e.Data(), nil
}

// UnmarshalBinary decodes a key.
func (k *IssuerKey) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	var q IssuerKey
	tokens.ReadSecret(d, "x", &q.x)
	tokens.ReadSecret(d, "y", &q.y)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("ps16: issuer key: %w", err)
	}
	q.publish()
	*k = q
	return nil
}

// An OpenerKey opens signatures: it seals the tokens in the [Register], and signs
// lists of revoked members. It may be used by several goroutines.
type OpenerKey struct {
	k *tokens.Key
}

// GenerateOpenerKey returns a new key.
func GenerateOpenerKey() *OpenerKey {
	var seed [tokens.SeedSize]byte
	rand.Read(seed[:])
	defer clear(seed[:])
	return &OpenerKey{tokens.NewKey(&seed)}
}

// Public returns the encoding of the public half, for a [Proposal].
func (k *OpenerKey) Public() []byte {
	if k.wiped() {
		return nil
	}
	return encodeOpener(k.k.Public())
}

func encodeOpener(pub ed25519.PublicKey) []byte {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(pub)
	return e.Data()
}

func decodeOpener(data []byte) (ed25519.PublicKey, error) {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	pub := d.Fixed("Ed25519 key", ed25519.PublicKeySize)
	if err := d.Finish(); err != nil {
		return nil, err
	}
	return pub, join.CheckKey(pub)
}

// Wipe overwrites the secrets. The key is of no use afterwards.
func (k *OpenerKey) Wipe() {
	if k.k != nil {
		k.k.Wipe()
		k.k = nil
	}
}

func (k *OpenerKey) wiped() bool { return k.k == nil }

// Equal reports whether x is the same key.
func (k *OpenerKey) Equal(x *OpenerKey) bool {
	return x != nil && !k.wiped() && !x.wiped() && k.k.Equal(x.k)
}

// String shows nothing of the secrets.
func (k OpenerKey) String() string { return fmt.Sprintf("ps16.OpenerKey(%x)", digest(k.Public())) }

// GoString is String.
func (k OpenerKey) GoString() string { return k.String() }

// Format writes String, whatever the verb.
func (k OpenerKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

// MarshalBinary returns the canonical encoding, which is secret; clear it after use.
func (k *OpenerKey) MarshalBinary() ([]byte, error) {
	if k.wiped() {
		return nil, errWiped
	}
	var e wire.Encoder
	e.Grow(2 + tokens.SeedSize)
	e.U8(version)
	e.U8(suite)
	seed := k.k.Seed()
	e.Fixed(seed[:])
	clear(seed[:])
	return e.Data(), nil
}

// UnmarshalBinary decodes a key.
func (k *OpenerKey) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	var seed [tokens.SeedSize]byte
	defer clear(seed[:])
	d.Read("seed", seed[:])
	if err := d.Finish(); err != nil {
		return fmt.Errorf("ps16: opener key: %w", err)
	}
	k.k = tokens.NewKey(&seed)
	return nil
}

var errWiped = errors.New("ps16: the key has been wiped")

// secrets returns the statement X = x·P2, Y = y·P2.
func (p *issuerPublic) secrets() *sigma.Statement {
	base := bls12381.G2Generator()
	return &sigma.Statement{Secrets: 2, G2: []sigma.RelationG2{
		{Y: &p.x, Terms: []sigma.TermG2{{W: 0, P: base}}},
		{Y: &p.y, Terms: []sigma.TermG2{{W: 1, P: base}}},
	}}
}
