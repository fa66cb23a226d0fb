// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ds18

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
	scheme  = "ds18"
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
	return fmt.Sprintf("ds18.IssuerKey(%x)", digest(k.pub.encode()))
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
		return fmt.Errorf("ds18: issuer key: %w", err)
	}
	q.publish()
	*k = q
	return nil
}

// An OpenerKey opens signatures: it decrypts the tokens of new members, seals them in
// the [Register], and signs lists of revoked members. It may be used by several
// goroutines.
type OpenerKey struct {
	z   [2]bls12381.Scalar
	k   *tokens.Key
	pub openerPublic
}

type openerPublic struct {
	z    [2]bls12381.G2
	list ed25519.PublicKey
}

// GenerateOpenerKey returns a new key.
func GenerateOpenerKey() *OpenerKey {
	var seed [tokens.SeedSize]byte
	rand.Read(seed[:])
	defer clear(seed[:])
	k := &OpenerKey{k: tokens.NewKey(&seed)}
	k.z[0].Random()
	k.z[1].Random()
	k.publish()
	return k
}

func (k *OpenerKey) publish() {
	k.pub.z[0].ScalarBaseMult(&k.z[0])
	k.pub.z[1].ScalarBaseMult(&k.z[1])
	bls12381.NormalizeG2(&k.pub.z[0], &k.pub.z[1])
	k.pub.list = k.k.Public()
}

// Public returns the encoding of the public half, for a [Proposal].
func (k *OpenerKey) Public() []byte { return k.pub.encode() }

func (p *openerPublic) encode() []byte {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	p.append(&e)
	return e.Data()
}

func (p *openerPublic) append(e *wire.Encoder) {
	e.Fixed(p.z[0].Bytes())
	e.Fixed(p.z[1].Bytes())
	e.Fixed(p.list)
}

func (p *openerPublic) decode(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	p.read(d)
	return d.Finish()
}

// read refuses equal points: one key would decrypt both encryptions.
func (p *openerPublic) read(d *wire.Decoder) {
	tokens.ReadG2(d, "Z0", &p.z[0])
	tokens.ReadG2(d, "Z1", &p.z[1])
	p.list = d.Fixed("Ed25519 key", ed25519.PublicKeySize)
	if d.Err() == nil && p.z[0].Equal(&p.z[1]) {
		d.Fail("Z1", "equals Z0")
	}
	if d.Err() == nil && join.CheckKey(p.list) != nil {
		d.Fail("Ed25519 key", "it isn't one")
	}
}

// secrets returns the statement Z0 = z0·P2, Z1 = z1·P2.
func (p *openerPublic) secrets() *sigma.Statement { return twoLogs(&p.z[0], &p.z[1]) }

// Wipe overwrites the secrets. The key is of no use afterwards.
func (k *OpenerKey) Wipe() {
	k.z[0].Wipe()
	k.z[1].Wipe()
	if k.k != nil {
		k.k.Wipe()
		k.k = nil
	}
}

func (k *OpenerKey) wiped() bool { return k.k == nil }

// Equal reports whether x is the same key.
func (k *OpenerKey) Equal(x *OpenerKey) bool {
	return x != nil && !k.wiped() && !x.wiped() && k.k.Equal(x.k) && k.z[0].Equal(&x.z[0]) && k.z[1].Equal(&x.z[1])
}

// String shows nothing of the secrets.
func (k OpenerKey) String() string {
	return fmt.Sprintf("ds18.OpenerKey(%x)", digest(k.pub.encode()))
}

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
	e.Grow(2 + tokens.SeedSize + 2*bls12381.ScalarSize)
	e.U8(version)
	e.U8(suite)
	tokens.PutSecret(&e, k.z[0].Bytes())
	tokens.PutSecret(&e, k.z[1].Bytes())
	seed := k.k.Seed()
	e.Fixed(seed[:])
	clear(seed[:])
	return e.Data(), nil
}

// UnmarshalBinary decodes a key.
func (k *OpenerKey) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	var q OpenerKey
	tokens.ReadSecret(d, "z0", &q.z[0])
	tokens.ReadSecret(d, "z1", &q.z[1])
	if d.Err() == nil && q.z[0].Equal(&q.z[1]) {
		d.Fail("z1", "equals z0")
	}
	var seed [tokens.SeedSize]byte
	defer clear(seed[:])
	d.Read("seed", seed[:])
	if err := d.Finish(); err != nil {
		return fmt.Errorf("ds18: opener key: %w", err)
	}
	q.k = tokens.NewKey(&seed)
	q.publish()
	*k = q
	return nil
}

var errWiped = errors.New("ds18: the key has been wiped")

// secrets returns the statement X = x·P2, Y = y·P2.
func (p *issuerPublic) secrets() *sigma.Statement { return twoLogs(&p.x, &p.y) }

// twoLogs is the statement that the logarithms of both points are known.
func twoLogs(p, q *bls12381.G2) *sigma.Statement {
	base := bls12381.G2Generator()
	return &sigma.Statement{Secrets: 2, G2: []sigma.RelationG2{
		{Y: p, Terms: []sigma.TermG2{{W: 0, P: base}}},
		{Y: q, Terms: []sigma.TermG2{{W: 1, P: base}}},
	}}
}
