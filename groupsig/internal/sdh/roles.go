// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

var errWiped = errors.New("groupsig: the key has been wiped")

// A RoleKeys is the secret key of the issuer, the opener or the linker.
type RoleKeys struct {
	s       *Scheme
	role    int
	secrets []bls12381.Scalar
}

// GenerateIssuerKey, GenerateOpenerKey and GenerateLinkerKey return new keys. The latter
// is nil in schemes without linker.
func GenerateIssuerKey(s *Scheme) *RoleKeys { return generate(s, issuerRole, 1) }
func GenerateOpenerKey(s *Scheme) *RoleKeys { return generate(s, openerRole, len(s.Opener)) }
func GenerateLinkerKey(s *Scheme) *RoleKeys {
	if len(s.Linker) == 0 {
		return nil
	}
	return generate(s, linkerRole, len(s.Linker))
}

func generate(s *Scheme, role, n int) *RoleKeys {
	k := &RoleKeys{s, role, make([]bls12381.Scalar, n)}
	for i := range k.secrets {
		k.secrets[i].Random()
	}
	return k
}

func (k *RoleKeys) wiped() bool { return k == nil || len(k.secrets) == 0 }

// Enroll puts the public key into a draft.
func (k *RoleKeys) Enroll(d *Draft) error {
	b, err := k.public(d)
	if err != nil {
		return err
	}
	*k.field(d) = b
	return nil
}

func (k *RoleKeys) field(d *Draft) *[]byte {
	return [3]*[]byte{&d.Issuer, &d.Opener, &d.Linker}[k.role]
}

// public returns the public key for a draft's label.
func (k *RoleKeys) public(d *Draft) ([]byte, error) {
	if k.wiped() {
		return nil, errWiped
	}
	if d == nil || d.Scheme == nil || d.Scheme.Name != k.s.Name {
		return nil, errors.New("groupsig: the draft is of another scheme")
	}
	if k.role == issuerRole {
		return new(bls12381.G2).ScalarBaseMult(&k.secrets[0]).Bytes(), nil
	}
	g := &GroupKey{draft: *d, s: d.Scheme} // the variant of k.s
	var out []byte
	for i, key := range g.s.secrets(k.role) {
		var e bls12381.Scalar
		e.Set(&k.secrets[i])
		if key.Inverse {
			e.Inverse(&e)
		}
		out = new(bls12381.G1).ScalarMult(&e, g.generator(key.Base)).Append(out)
		e.Wipe()
	}
	return out, nil
}

// as refuses a key of another role, and a group that has another key in the role.
func (k *RoleKeys) as(role int, g *GroupKey) error {
	switch {
	case k.wiped():
		return errWiped
	case k.role != role:
		return fmt.Errorf("groupsig: it is the %s's key, and not the %s's", roleNames[k.role], roleNames[role])
	case g.empty():
		return errEmpty
	}
	return k.in(&g.draft)
}

func (k *RoleKeys) in(d *Draft) error {
	b, err := k.public(d)
	if err != nil {
		return err
	}
	if string(b) != string(*k.field(d)) {
		return fmt.Errorf("groupsig: the group has another %s", roleNames[k.role])
	}
	return nil
}

// Consent agrees to a draft that has the key.
func (k *RoleKeys) Consent(d *Draft) error {
	if err := k.in(d); err != nil {
		return err
	}
	c, err := agree(d, k.role, k.secrets)
	if err == nil {
		d.Consents[k.role] = c
	}
	return err
}

// MarshalBinary returns the canonical encoding, which is secret.
func (k *RoleKeys) MarshalBinary() ([]byte, error) {
	if k.wiped() {
		return nil, errWiped
	}
	var e wire.Encoder
	e.Grow(8 + maxName + len(k.secrets)*bls12381.ScalarSize)
	e.U8(version)
	e.U8(suite)
	e.Bytes([]byte(k.s.Name))
	e.U8(uint8(k.role))
	for i := range k.secrets {
		codec.PutSecret(&e, k.secrets[i].Bytes())
	}
	return e.Data(), nil
}

// ParseIssuerKey, ParseOpenerKey and ParseLinkerKey decode a key.
func ParseIssuerKey(s *Scheme, data []byte) (*RoleKeys, error) {
	return parseKey(s, issuerRole, 1, data)
}
func ParseOpenerKey(s *Scheme, data []byte) (*RoleKeys, error) {
	return parseKey(s, openerRole, len(s.Opener), data)
}
func ParseLinkerKey(s *Scheme, data []byte) (*RoleKeys, error) {
	return parseKey(s, linkerRole, len(s.Linker), data)
}

func parseKey(s *Scheme, role, n int, data []byte) (*RoleKeys, error) {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	if name := d.Bytes("scheme", maxName); d.Err() == nil && string(name) != s.Name {
		d.Fail("scheme", "%q, not %s", name, s.Name)
	}
	if r := d.U8("role"); d.Err() == nil && (int(r) != role || n == 0) {
		d.Fail("role", "%d, not %d", r, role)
	}
	k := &RoleKeys{s, role, make([]bls12381.Scalar, n)}
	for i := range k.secrets {
		codec.ReadSecret(d, "secret", &k.secrets[i])
	}
	if err := d.Finish(); err != nil {
		k.Wipe()
		return nil, fmt.Errorf("groupsig: %s's key: %w", roleNames[role], err)
	}
	return k, nil
}

// Wipe overwrites the key.
func (k *RoleKeys) Wipe() {
	if k != nil {
		wipe(k.secrets)
		k.secrets = nil
	}
}

// items are the secrets, for nonces.
func (k *RoleKeys) items() *transcript.Items {
	t := new(transcript.Items).Grow(64 * len(k.secrets))
	for i := range k.secrets {
		t.Scalar("secret", &k.secrets[i])
	}
	return t
}

func wipe(ks []bls12381.Scalar) {
	for i := range ks {
		ks[i].Wipe()
	}
}
