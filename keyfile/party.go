// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"crypto/ed25519"
	"errors"

	"github.com/undersign/undersign/internal/wire"
)

// A PartyKey is a node's or a client's own Ed25519 key, by which it is known on the
// network.
type PartyKey struct {
	Key ed25519.PrivateKey
}

// A Party is the public part of a [PartyKey]. Its fingerprint is the party's name.
type Party struct {
	Key ed25519.PublicKey
}

const (
	partyVersion = 1
	suiteEd25519 = 1
)

var errNoParty = errors.New("keyfile: no Ed25519 key of the right length")

// Party returns the public part.
func (k *PartyKey) Party() *Party {
	if len(k.Key) != ed25519.PrivateKeySize {
		return new(Party)
	}
	return &Party{k.Key.Public().(ed25519.PublicKey)}
}

// Wipe overwrites the secret.
func (k *PartyKey) Wipe() { clear(k.Key) }

// String returns the fingerprint of the public part, and nothing of the secret.
func (k PartyKey) String() string { return "party " + Fingerprint(k.Party()) }

// GoString returns what String does.
func (k PartyKey) GoString() string { return k.String() }

// MarshalBinary returns the canonical encoding, which is secret.
func (k *PartyKey) MarshalBinary() ([]byte, error) {
	if len(k.Key) != ed25519.PrivateKeySize {
		return nil, errNoParty
	}
	seed := k.Key.Seed()
	defer clear(seed)
	return encodeParty(seed), nil
}

// UnmarshalBinary decodes a secret key.
func (k *PartyKey) UnmarshalBinary(data []byte) error {
	seed, err := decodeParty(data)
	if err != nil {
		return err
	}
	defer clear(seed)
	k.Key = ed25519.NewKeyFromSeed(seed)
	return nil
}

// MarshalBinary returns the canonical encoding.
func (p *Party) MarshalBinary() ([]byte, error) {
	if len(p.Key) != ed25519.PublicKeySize {
		return nil, errNoParty
	}
	return encodeParty(p.Key), nil
}

// UnmarshalBinary decodes a public key.
func (p *Party) UnmarshalBinary(data []byte) error {
	key, err := decodeParty(data)
	if err != nil {
		return err
	}
	p.Key = key
	return nil
}

func encodeParty(key []byte) []byte {
	var e wire.Encoder
	e.Grow(2 + len(key))
	e.U8(partyVersion)
	e.U8(suiteEd25519)
	e.Fixed(key)
	return e.Data()
}

func decodeParty(data []byte) ([]byte, error) {
	d := wire.NewDecoder(data)
	d.Header(partyVersion, suiteEd25519)
	key := d.Fixed("key", ed25519.PublicKeySize)
	return key, d.Finish()
}
