// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package join is what the join protocols of all schemes have in common: one-use
// sessions, proofs of the member's secret, the registration that a member signs,
// and the register that issuer and openers keep.
//
// A run has four steps. The issuer opens a session for an identity that it admits
// (M1). The member answers with a registration point T, a proof that it knows the
// secret behind it, and a signature by its long-term key on both (M2). The issuer
// checks it all, puts the record into the register, and only then makes the
// credential (M3). The member checks that.
//
// Registers, records and sessions are public or the issuer's business: nothing here
// is secret but what a proof is made from, and the evidence in records of schemes whose
// members show their tokens to the issuer.
package join

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
	"github.com/undersign/undersign/internal/zip215"
)

const (
	version = 1
	suite   = 1

	// SessionIDSize is the length of a session's ID.
	SessionIDSize = 16
	// maxScheme is the length of the longest name of a scheme.
	maxScheme = 32
	// MaxMember is the length of the longest identity.
	MaxMember = 255
	// MaxPoint bounds the encoding of a registration point.
	MaxPoint = 512
	// MaxEvidence bounds what a record keeps for openers.
	MaxEvidence = 1 << 14
)

// A SessionID names a run of the join protocol.
type SessionID [SessionIDSize]byte

// A Record says that a member took part in the group with the registration point
// T, and is signed by the member. An opening that ties a signature to T thereby
// names the member, and nobody can make one that names somebody else.
type Record struct {
	Scheme    string
	GroupID   [32]byte
	Session   SessionID
	Member    string            // identity
	Point     []byte            // T, canonical encoding
	Key       ed25519.PublicKey // the member's long-term key
	Signature []byte            // by that key
	Evidence  []byte            // what an opener needs to check the join again; not signed
}

// message is what the member signs: (DST, gid, sid, member, T).
func (r *Record) message() []byte {
	var items transcript.Items
	items.Bytes("dst", transcript.DST(r.Scheme, "reg"))
	items.Bytes("gid", r.GroupID[:])
	items.Bytes("sid", r.Session[:])
	items.Bytes("member", []byte(r.Member))
	items.Bytes("T", r.Point)
	return items.Data()
}

// Sign signs the record by the member's long-term key.
func (r *Record) Sign(key ed25519.PrivateKey) error {
	if len(key) != ed25519.PrivateKeySize {
		return errors.New("join: the long-term key isn't an Ed25519 private key")
	}
	if err := CheckScheme(r.Scheme); err != nil {
		return err
	}
	r.Key = key.Public().(ed25519.PublicKey)
	r.Signature = ed25519.Sign(key, r.message())
	return nil
}

// Verify checks the record's signature under the key that its reader knows as the
// member's. That the record belongs to a group and a scheme is the caller's to compare.
func (r *Record) Verify(key ed25519.PublicKey) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	if err := CheckScheme(r.Scheme); err != nil {
		return err
	}
	if !key.Equal(r.Key) {
		return fmt.Errorf("join: the record of %q is signed by another key", r.Member)
	}
	if !ed25519.Verify(key, r.message(), r.Signature) {
		return fmt.Errorf("join: the registration signature of %q is wrong", r.Member)
	}
	return nil
}

// CheckKey refuses what isn't a long-term key: among others, a point of small order, for
// which anybody can sign, so that its owner could deny what it registered.
func CheckKey(key ed25519.PublicKey) error {
	if zip215.CheckRegistration(key) != nil {
		return errors.New("join: the long-term key isn't an Ed25519 key")
	}
	return nil
}

// CheckScheme refuses the name of a scheme that no domain separation tag is made of.
func CheckScheme(scheme string) error {
	if scheme == "" || len(scheme) > maxScheme || strings.Contains(scheme, "/") {
		return fmt.Errorf("join: %q isn't a scheme", scheme)
	}
	return nil
}

// CheckMember refuses an identity that isn't UTF-8, or is empty or too long.
func CheckMember(member string) error {
	if member == "" || len(member) > MaxMember || !utf8.ValidString(member) {
		return fmt.Errorf("join: an identity is UTF-8 of 1 to %d bytes", MaxMember)
	}
	return nil
}

// MaxLabel is the length of the longest label of a group.
const MaxLabel = 255

// CheckLabel refuses the label of a group that isn't UTF-8, or is empty or too long.
func CheckLabel(label string) error {
	if label == "" || len(label) > MaxLabel || !utf8.ValidString(label) {
		return fmt.Errorf("the label isn't UTF-8 of 1 to %d bytes", MaxLabel)
	}
	return nil
}

// MarshalBinary returns the canonical encoding.
func (r *Record) MarshalBinary() ([]byte, error) {
	if err := errors.Join(CheckScheme(r.Scheme), CheckMember(r.Member)); err != nil {
		return nil, err
	}
	if len(r.Key) != ed25519.PublicKeySize || len(r.Signature) != ed25519.SignatureSize ||
		len(r.Point) > MaxPoint || len(r.Evidence) > MaxEvidence {
		return nil, errors.New("join: incomplete record")
	}
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Bytes([]byte(r.Scheme))
	e.Fixed(r.GroupID[:])
	e.Fixed(r.Session[:])
	e.Bytes([]byte(r.Member))
	e.Bytes(r.Point)
	e.Fixed(r.Key)
	e.Fixed(r.Signature)
	e.Bytes(r.Evidence)
	return e.Data(), nil
}

// UnmarshalBinary decodes a record. It doesn't check the signature: see Verify.
func (r *Record) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	var q Record
	q.Scheme = string(d.Bytes("scheme", maxScheme))
	d.Read("group", q.GroupID[:])
	d.Read("session", q.Session[:])
	q.Member = string(d.Bytes("member", MaxMember))
	q.Point = d.Bytes("point", MaxPoint)
	q.Key = d.Fixed("key", ed25519.PublicKeySize)
	q.Signature = d.Fixed("signature", ed25519.SignatureSize)
	q.Evidence = d.Bytes("evidence", MaxEvidence)
	if err := CheckMember(q.Member); err != nil {
		d.Fail("member", "%v", err)
	}
	if err := CheckScheme(q.Scheme); err != nil {
		d.Fail("scheme", "%v", err)
	}
	if err := d.Finish(); err != nil {
		return fmt.Errorf("join: record: %w", err)
	}
	*r = q
	return nil
}

// UnmarshalBare decodes a record without evidence, as openings and keys have it, and refuses
// one that has some.
func (r *Record) UnmarshalBare(data []byte) error {
	var q Record
	if err := q.UnmarshalBinary(data); err != nil {
		return err
	}
	if len(q.Evidence) != 0 {
		return errors.New("join: the record has evidence")
	}
	*r = q
	return nil
}
