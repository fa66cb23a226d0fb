// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"errors"
	"fmt"
	"slices"

	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// kinds of secret keys in their encodings.
const (
	kindIssuer = 1 + iota
	kindOpener
	kindTokenOpener
	kindConverter
	kindMember
	kindPending
	kindBlinding
)

// marshalScalars encodes a secret key that consists of scalars.
func marshalScalars(kind uint8, ks []bls12381.Scalar) []byte {
	var e wire.Encoder
	e.Grow(4 + bls12381.ScalarSize*len(ks))
	e.U8(version)
	e.U8(suite)
	e.U8(kind)
	e.U8(uint8(len(ks)))
	for i := range ks {
		codec.PutSecret(&e, ks[i].Bytes())
	}
	return e.Data()
}

func unmarshalScalars(kind uint8, data []byte, max int) ([]bls12381.Scalar, error) {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	if v := d.U8("kind"); d.Err() == nil && v != kind {
		d.Fail("kind", "%d, want %d", v, kind)
	}
	n := int(d.U8("count"))
	if d.Err() == nil && (n < 1 || n > max) {
		d.Fail("count", "%d", n)
	}
	if d.Err() != nil {
		n = 0
	}
	ks := make([]bls12381.Scalar, n)
	for i := range ks {
		codec.ReadSecret(d, "secret", &ks[i])
	}
	if err := d.Finish(); err != nil {
		wipeScalars(ks)
		return nil, err
	}
	return ks, nil
}

func wipeScalars(ks []bls12381.Scalar) {
	for i := range ks {
		ks[i].Wipe()
	}
}

var errWiped = errors.New("groupsig: the key has been wiped")

// An IssuerKey makes credentials. Who has it can make members that nobody can trace,
// but can't sign as a member.
type IssuerKey struct {
	isk []bls12381.Scalar
}

// GenerateIssuerKey returns a new key.
func GenerateIssuerKey() *IssuerKey {
	k := &IssuerKey{make([]bls12381.Scalar, 1)}
	k.isk[0].Random()
	return k
}

func (k *IssuerKey) wiped() bool { return k == nil || len(k.isk) == 0 }

// Public returns the key for [Draft.Issuer].
func (k *IssuerKey) Public() []byte {
	if k.wiped() {
		return nil
	}
	return new(bls12381.G2).ScalarBaseMult(&k.isk[0]).Bytes()
}

// Consent agrees to a draft that has the issuer's key.
func (k *IssuerKey) Consent(d *Draft) error {
	if k.wiped() {
		return errWiped
	}
	return consentTo(d, issuerRole, k.Public(), d.Issuer, k.isk)
}

// consentTo puts a role's consent into a draft that has its key.
func consentTo(d *Draft, role int, public, in []byte, secrets []bls12381.Scalar) error {
	if len(secrets) == 0 {
		return errWiped
	}
	if string(public) != string(in) {
		return fmt.Errorf("groupsig: the draft has another key for the %s", roleNames[role])
	}
	c, err := agree(d, role, secrets)
	if err != nil {
		return err
	}
	d.Consents[role] = c
	return nil
}

// MarshalBinary returns the canonical encoding, which is secret.
func (k *IssuerKey) MarshalBinary() ([]byte, error) {
	if k.wiped() {
		return nil, errWiped
	}
	return marshalScalars(kindIssuer, k.isk), nil
}

// UnmarshalBinary decodes a key.
func (k *IssuerKey) UnmarshalBinary(data []byte) error {
	ks, err := unmarshalScalars(kindIssuer, data, 1)
	if err != nil {
		return fmt.Errorf("groupsig: issuer key: %w", err)
	}
	k.isk = ks
	return nil
}

// Wipe overwrites the key.
func (k *IssuerKey) Wipe() {
	if !k.wiped() {
		wipeScalars(k.isk)
		k.isk = nil
	}
}

// matches refuses a group of another issuer.
func (k *IssuerKey) matches(gk *GroupKey) error {
	if k.wiped() {
		return errWiped
	}
	if gk.empty() || string(k.Public()) != string(gk.draft.Issuer) {
		return errors.New("groupsig: the group has another issuer")
	}
	return nil
}

// generator derives a generator from the group's label. Those of credentials depend on
// the whole group as well, so that a credential of one group isn't one of another, even
// if an issuer has the same key in both. The roles' own keys are made before the group.
func generator(d *Draft, name string) *bls12381.G1 {
	items := new(transcript.Items).Bytes("label", []byte(d.Label)).Bytes("name", []byte(name))
	switch name {
	case "g1", "h1", "h2", "h3":
		id := d.ID()
		items.Bytes("gid", id[:])
	}
	return items.HashToG1(transcript.DST(d.Scheme, "h2c/gen"))
}

// An OpenerKey opens signatures, and finds the tokens of members to be revoked.
type OpenerKey struct {
	z     []bls12381.Scalar // z_1, [z_2]
	token []bls12381.Scalar // zt, with tokens
}

// GenerateOpenerKey returns a new key for a group with some features.
func GenerateOpenerKey(f Features) (*OpenerKey, error) {
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("groupsig: %w", err)
	}
	if !f.Has(Escrow) {
		return nil, errors.New("groupsig: the group has no opener")
	}
	k := &OpenerKey{z: make([]bls12381.Scalar, f.openers())}
	if f.Has(Token) {
		k.token = make([]bls12381.Scalar, 1)
	}
	for _, ks := range [][]bls12381.Scalar{k.z, k.token} {
		for i := range ks {
			ks[i].Random()
		}
	}
	return k, nil
}

func (k *OpenerKey) wiped() bool { return k == nil || len(k.z) == 0 }

// secrets are the scalars of the consent.
func (k *OpenerKey) secrets() []bls12381.Scalar { return slices.Concat(k.z, k.token) }

// Public returns the key for [Draft.Opener], which depends on the draft's scheme and
// label.
func (k *OpenerKey) Public(d *Draft) []byte {
	if k.wiped() {
		return nil
	}
	var b []byte
	g := generator(d, "g")
	for i := range k.z {
		b = new(bls12381.G1).ScalarMult(&k.z[i], g).Append(b)
	}
	for i := range k.token {
		b = new(bls12381.G2).ScalarBaseMult(&k.token[i]).Append(b)
	}
	return b
}

// Consent agrees to a draft that has the opener's key.
func (k *OpenerKey) Consent(d *Draft) error {
	if k.wiped() {
		return errWiped
	}
	ks := k.secrets()
	defer wipeScalars(ks)
	return consentTo(d, openerRole, k.Public(d), d.Opener, ks)
}

// MarshalBinary returns the canonical encoding, which is secret.
func (k *OpenerKey) MarshalBinary() ([]byte, error) {
	if k.wiped() {
		return nil, errWiped
	}
	ks := k.secrets()
	defer wipeScalars(ks)
	kind := uint8(kindOpener)
	if len(k.token) > 0 {
		kind = kindTokenOpener
	}
	return marshalScalars(kind, ks), nil
}

// UnmarshalBinary decodes a key.
func (k *OpenerKey) UnmarshalBinary(data []byte) error {
	kind, tokens := uint8(kindOpener), 0
	if len(data) > 2 && data[2] == kindTokenOpener {
		kind, tokens = kindTokenOpener, 1
	}
	ks, err := unmarshalScalars(kind, data, 2+tokens)
	if err == nil && len(ks) <= tokens {
		err = errors.New("too short")
	}
	if err != nil {
		return fmt.Errorf("groupsig: opener key: %w", err)
	}
	n := len(ks) - tokens
	*k = OpenerKey{z: ks[:n:n], token: ks[n:]}
	return nil
}

// Wipe overwrites the key.
func (k *OpenerKey) Wipe() {
	if k.wiped() {
		return
	}
	wipeScalars(k.z)
	wipeScalars(k.token)
	*k = OpenerKey{}
}

// matches refuses a group of another opener.
func (k *OpenerKey) matches(gk *GroupKey) error {
	if k.wiped() {
		return errWiped
	}
	if gk.empty() || string(k.Public(&gk.draft)) != string(gk.draft.Opener) {
		return errors.New("groupsig: the group has another opener")
	}
	return nil
}

// A ConverterKey makes pseudonyms linkable, within one query.
type ConverterKey struct {
	csk []bls12381.Scalar
}

// GenerateConverterKey returns a new key.
func GenerateConverterKey() *ConverterKey {
	k := &ConverterKey{make([]bls12381.Scalar, 1)}
	k.csk[0].Random()
	return k
}

func (k *ConverterKey) wiped() bool { return k == nil || len(k.csk) == 0 }

// Public returns the key for [Draft.Converter], which depends on the draft's scheme
// and label.
func (k *ConverterKey) Public(d *Draft) []byte {
	if k.wiped() {
		return nil
	}
	return new(bls12381.G1).ScalarMult(&k.csk[0], generator(d, "g")).Bytes()
}

// Consent agrees to a draft that has the converter's key.
func (k *ConverterKey) Consent(d *Draft) error {
	if k.wiped() {
		return errWiped
	}
	return consentTo(d, converterRole, k.Public(d), d.Converter, k.csk)
}

// MarshalBinary returns the canonical encoding, which is secret.
func (k *ConverterKey) MarshalBinary() ([]byte, error) {
	if k.wiped() {
		return nil, errWiped
	}
	return marshalScalars(kindConverter, k.csk), nil
}

// UnmarshalBinary decodes a key.
func (k *ConverterKey) UnmarshalBinary(data []byte) error {
	ks, err := unmarshalScalars(kindConverter, data, 1)
	if err != nil {
		return fmt.Errorf("groupsig: converter key: %w", err)
	}
	k.csk = ks
	return nil
}

// Wipe overwrites the key.
func (k *ConverterKey) Wipe() {
	if !k.wiped() {
		wipeScalars(k.csk)
		k.csk = nil
	}
}

// matches refuses a group of another converter.
func (k *ConverterKey) matches(gk *GroupKey) error {
	if k.wiped() {
		return errWiped
	}
	if gk.empty() || string(k.Public(&gk.draft)) != string(gk.draft.Converter) {
		return errors.New("groupsig: the group has another converter")
	}
	return nil
}

// What is printed of secret keys.

const redacted = "groupsig: secret key"

func (k IssuerKey) String() string                { return redacted }
func (k IssuerKey) GoString() string              { return redacted }
func (k IssuerKey) Format(f fmt.State, _ rune)    { fmt.Fprint(f, redacted) }
func (k OpenerKey) String() string                { return redacted }
func (k OpenerKey) GoString() string              { return redacted }
func (k OpenerKey) Format(f fmt.State, _ rune)    { fmt.Fprint(f, redacted) }
func (k ConverterKey) String() string             { return redacted }
func (k ConverterKey) GoString() string           { return redacted }
func (k ConverterKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, redacted) }
