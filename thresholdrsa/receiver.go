// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"

	"github.com/undersign/undersign/internal/wire"
)

// A Receiver is what somebody who is to get a share publishes before a ceremony:
// a card with a name, an identity, the key that shares are sealed to in this one
// run, and a key for the next ceremony. The identity signs it.
type Receiver struct {
	name      string
	identity  ed25519.PublicKey
	run, next []byte // X25519
	sig       []byte // empty in a proposal that took the rest from the parent record
}

// Name returns the name on the card.
func (r *Receiver) Name() string { return r.name }

// Identity returns the key that signs the receiver's messages.
func (r *Receiver) Identity() ed25519.PublicKey { return bytes.Clone(r.identity) }

// Equal reports whether x is the same card.
func (r *Receiver) Equal(x *Receiver) bool { return x != nil && bytes.Equal(r.encode(), x.encode()) }

func (r *Receiver) signed() []byte {
	var e wire.Encoder
	e.Fixed([]byte("undersign/trsa/v1/receiver"))
	e.Bytes([]byte(r.name))
	e.Bytes(r.identity)
	e.Bytes(r.run)
	e.Bytes(r.next)
	return e.Data()
}

// check checks a card; unsigned ones are what proposals take from records.
func (r *Receiver) check(unsigned bool) error {
	if err := checkName(r.name); err != nil {
		return err
	}
	if len(r.identity) != ed25519.PublicKeySize || len(r.run) != encryptionKeySize {
		return fmt.Errorf("receiver %q: identity of %d bytes and key of %d", r.name, len(r.identity), len(r.run))
	}
	if unsigned && len(r.sig) == 0 && len(r.next) == 0 {
		return nil
	}
	if len(r.next) != encryptionKeySize {
		return fmt.Errorf("receiver %q: next key of %d bytes", r.name, len(r.next))
	}
	if len(r.sig) != ed25519.SignatureSize || !ed25519.Verify(r.identity, r.signed(), r.sig) {
		return fmt.Errorf("receiver %q: the card isn't signed by its identity", r.name)
	}
	return nil
}

func (r *Receiver) put(e *wire.Encoder) {
	e.Bytes([]byte(r.name))
	e.Bytes(r.identity)
	e.Bytes(r.run)
	e.Bytes(r.next)
	e.Bytes(r.sig)
}

func getReceiver(d *wire.Decoder) *Receiver {
	return &Receiver{
		name:     string(d.Bytes("name", maxNameBytes)),
		identity: d.Bytes("identity", ed25519.PublicKeySize),
		run:      d.Bytes("run key", encryptionKeySize),
		next:     d.Bytes("next key", encryptionKeySize),
		sig:      d.Bytes("signature", ed25519.SignatureSize),
	}
}

func (r *Receiver) encode() []byte {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	r.put(&e)
	return e.Data()
}

// MarshalBinary returns the canonical encoding. The error is always nil.
func (r *Receiver) MarshalBinary() ([]byte, error) { return r.encode(), nil }

// UnmarshalBinary decodes a card and checks its signature.
func (r *Receiver) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	q := getReceiver(d)
	err := d.Finish()
	if err == nil {
		err = q.check(false)
	}
	if err != nil {
		return fmt.Errorf("thresholdrsa: receiver: %w", err)
	}
	*r = *q
	return nil
}

// A ReceiverKey is the secret half of a Receiver. It serves one run of one
// ceremony; erase it when the run is committed or given up.
type ReceiverKey struct {
	name      string
	identity  ed25519.PrivateKey
	run, next []byte
	proposal  [32]byte // ID of the proposal it was used for, or zero
	record    [32]byte // ID of the record it acknowledged, or zero
	refused   bool     // it refused the run
}

// NewReceiver returns a key with a new identity, for somebody who holds no share.
func NewReceiver(name string) (*ReceiverKey, error) {
	var seed [ed25519.SeedSize]byte
	rand.Read(seed[:])
	defer clear(seed[:])
	return newReceiver(name, ed25519.NewKeyFromSeed(seed[:]))
}

// NewReceiver returns a key for the holder's part as a receiver in the next
// ceremony, under its name and identity.
func (s *KeyShare) NewReceiver() (*ReceiverKey, error) {
	if s.index == 0 {
		return nil, errWiped
	}
	return newReceiver(s.Name(), bytes.Clone(s.identity))
}

func newReceiver(name string, identity ed25519.PrivateKey) (*ReceiverKey, error) {
	if err := checkName(name); err != nil {
		return nil, fmt.Errorf("thresholdrsa: %w", err)
	}
	run, _, err1 := newEncryptionKey()
	next, _, err2 := newEncryptionKey()
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("thresholdrsa: %w", err)
	}
	return &ReceiverKey{name: name, identity: identity, run: run, next: next}, nil
}

// Name returns the name on the card.
func (k *ReceiverKey) Name() string { return k.name }

// Receiver returns the card to publish.
func (k *ReceiverKey) Receiver() (*Receiver, error) {
	run, err1 := publicOf(k.run)
	next, err2 := publicOf(k.next)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("thresholdrsa: receiver key: %w", err)
	}
	r := &Receiver{name: k.name, identity: k.identity.Public().(ed25519.PublicKey), run: run, next: next}
	r.sig = ed25519.Sign(k.identity, r.signed())
	return r, nil
}

func publicOf(priv []byte) ([]byte, error) {
	k, err := ecdh.X25519().NewPrivateKey(priv)
	if err != nil {
		return nil, err
	}
	return k.PublicKey().Bytes(), nil
}

// claim ties the key to one proposal.
func (k *ReceiverKey) claim(proposal [32]byte) error {
	if len(k.run) == 0 {
		return errors.New("thresholdrsa: the receiver key has been wiped")
	}
	if k.proposal != [32]byte{} && k.proposal != proposal {
		return errors.New("thresholdrsa: the receiver key was used in another run: make a new one")
	}
	k.proposal = proposal
	return nil
}

// Wipe overwrites the secrets.
func (k *ReceiverKey) Wipe() {
	clear(k.identity)
	clear(k.run)
	clear(k.next)
	k.run = nil
}

// String names the key and shows nothing of it. The receiver is a value, so that
// printing a dereferenced key shows no more.
func (k ReceiverKey) String() string { return fmt.Sprintf("thresholdrsa.ReceiverKey(%q)", k.name) }

// GoString is String.
func (k ReceiverKey) GoString() string { return k.String() }

// Format writes String, whatever the verb.
func (k ReceiverKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

// Equal reports, in constant time, whether x is the same key.
func (k *ReceiverKey) Equal(x *ReceiverKey) bool {
	if x == nil {
		return false
	}
	a, b := k.encode(), x.encode()
	defer clear(a)
	defer clear(b)
	return subtle.ConstantTimeCompare(a, b) == 1
}

func (k *ReceiverKey) encode() []byte {
	var e wire.Encoder
	e.Grow(len(k.name) + 32*8)
	e.U8(version)
	e.U8(suite)
	e.Bytes([]byte(k.name))
	putSecret(&e, k.identity.Seed())
	e.Fixed(k.run)
	e.Fixed(k.next)
	e.Fixed(k.proposal[:])
	e.Fixed(k.record[:])
	var flags uint8
	if k.refused {
		flags = 1
	}
	e.U8(flags)
	return e.Data()
}

// MarshalBinary returns the canonical encoding, which is secret.
func (k *ReceiverKey) MarshalBinary() ([]byte, error) {
	if len(k.run) == 0 {
		return nil, errors.New("thresholdrsa: the receiver key has been wiped")
	}
	return k.encode(), nil
}

// UnmarshalBinary decodes a receiver key.
func (k *ReceiverKey) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	q := ReceiverKey{name: string(d.Bytes("name", maxNameBytes))}
	seed := d.Fixed("identity", ed25519.SeedSize)
	q.run = d.Fixed("run key", encryptionKeySize)
	q.next = d.Fixed("next key", encryptionKeySize)
	d.Read("proposal", q.proposal[:])
	d.Read("record", q.record[:])
	flags := d.U8("flags")
	if flags > 1 {
		d.Fail("flags", "unknown bits %#x", flags)
	}
	q.refused = flags == 1
	err := d.Finish()
	if err == nil {
		err = checkName(q.name)
	}
	if err != nil {
		return fmt.Errorf("thresholdrsa: receiver key: %w", err)
	}
	q.identity = ed25519.NewKeyFromSeed(seed)
	clear(seed)
	*k = q
	return nil
}
