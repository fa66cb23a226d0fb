// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"crypto/ed25519"
	"errors"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/wire"
)

// CheckChallenge is what a member checks before it answers an issuer's challenge.
func (s *Scheme) CheckChallenge(g *GroupKey, fingerprint [32]byte, c *join.Challenge, member string) error {
	if g == nil || g.id != fingerprint {
		return s.errorf("join: the group key isn't the published one")
	}
	if c.Scheme != s.Name || c.GroupID != g.id {
		return s.errorf("join: the challenge is for another group")
	}
	if c.Member != member {
		return s.errorf("join: the challenge is for %q", c.Member)
	}
	return nil
}

// A Registration is by whom, and in which session, a request registers points.
type Registration struct {
	Session join.SessionID
	Key     ed25519.PublicKey
	Sig     []byte
}

// Complete reports whether there are a key and a signature.
func (r *Registration) Complete() bool {
	return len(r.Key) == ed25519.PublicKeySize && len(r.Sig) == ed25519.SignatureSize
}

// AppendKey appends the key and the signature.
func (r *Registration) AppendKey(e *wire.Encoder) {
	e.Fixed(r.Key)
	e.Fixed(r.Sig)
}

// ReadKey reads what AppendKey appended.
func (r *Registration) ReadKey(d *wire.Decoder) {
	r.Key = d.Fixed("key", ed25519.PublicKeySize)
	r.Sig = d.Fixed("signature", ed25519.SignatureSize)
}

// Record returns what the member signed, with evidence, from which an opener can check the
// request again.
func (r *Registration) Record(c *join.Challenge, point, evidence []byte) *join.Record {
	return &join.Record{Scheme: c.Scheme, GroupID: c.GroupID, Session: c.Session, Member: c.Member,
		Point: point, Key: r.Key, Signature: r.Sig, Evidence: evidence}
}

// RegistrationOf is the inverse of Record. The challenge lacks what is in the evidence.
func RegistrationOf(rec *join.Record) (Registration, *join.Challenge) {
	return Registration{rec.Session, rec.Key, rec.Signature},
		&join.Challenge{Scheme: rec.Scheme, GroupID: rec.GroupID, Session: rec.Session, Member: rec.Member}
}

// Sign signs a record with the member's long-term key.
func (r *Registration) Sign(rec *join.Record, key ed25519.PrivateKey) error {
	if err := rec.Sign(key); err != nil {
		return err
	}
	r.Key, r.Sig = rec.Key, rec.Signature
	return nil
}

// Answers returns an error unless a request of a session answers a challenge of the group.
func (g *GroupKey) Answers(c *join.Challenge, session join.SessionID) error {
	if c.Scheme != g.scheme.Name || c.GroupID != g.id || c.Session != session {
		return errors.New("the request is for another group or session")
	}
	return nil
}

// Owns returns an error unless a member registered a point for the group.
func (g *GroupKey) Owns(r *join.Record, point []byte) error {
	if r.Scheme != g.scheme.Name || r.GroupID != g.id || string(r.Point) != string(point) {
		return errors.New("the record isn't that of the key")
	}
	return r.Verify(r.Key)
}

// Bounds of what is inside the encodings of members.
const (
	maxGroupKey  = 1024
	maxChallenge = 1024
	maxRequest   = 3072
)

// EncodeJoin returns the encoding of a member's side of the join protocol, of which secrets
// appends the last part, of some bytes.
func EncodeJoin(g *GroupKey, c *join.Challenge, request []byte, size int, secrets func(*wire.Encoder)) ([]byte, error) {
	challenge, err := c.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return encodeSecret(size, secrets, g.encode(), challenge, request), nil
}

// EncodeMember returns the encoding of a member's key, of which secrets appends the last
// part, of some bytes.
func EncodeMember(g *GroupKey, r *join.Record, size int, secrets func(*wire.Encoder)) ([]byte, error) {
	record, err := r.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return encodeSecret(size, secrets, g.encode(), record), nil
}

// encodeSecret makes room for all before it appends secrets, so that no copy is left.
func encodeSecret(size int, secrets func(*wire.Encoder), parts ...[]byte) []byte {
	n := 2 + size
	for _, p := range parts {
		n += 4 + len(p)
	}
	var e wire.Encoder
	e.Grow(n)
	e.U8(version)
	e.U8(suite)
	for _, p := range parts {
		e.Bytes(p)
	}
	secrets(&e)
	return e.Data()
}

// DecodeJoin decodes what EncodeJoin returned. The request is for the caller to decode.
func (s *Scheme) DecodeJoin(data []byte, secrets func(*wire.Decoder)) (*GroupKey, *join.Challenge, []byte, error) {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	group := d.Bytes("group key", maxGroupKey)
	challenge := d.Bytes("challenge", maxChallenge)
	request := d.Bytes("request", maxRequest)
	secrets(d)
	if err := d.Finish(); err != nil {
		return nil, nil, nil, s.errorf("join: %w", err)
	}
	c := new(join.Challenge)
	g, err := s.ParseGroupKey(group)
	if err := errors.Join(err, c.UnmarshalBinary(challenge)); err != nil {
		return nil, nil, nil, s.errorf("join: %w", err)
	}
	return g, c, request, nil
}

// DecodeMember decodes what EncodeMember returned, and checks the group key again. The
// record is for the caller to check.
func (s *Scheme) DecodeMember(data []byte, secrets func(*wire.Decoder)) (*GroupKey, *join.Record, error) {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	group := d.Bytes("group key", maxGroupKey)
	record := d.Bytes("record", maxRecord)
	secrets(d)
	if err := d.Finish(); err != nil {
		return nil, nil, s.errorf("member key: %w", err)
	}
	r := new(join.Record)
	g, err := s.ParseGroupKey(group)
	if err := errors.Join(err, r.UnmarshalBare(record)); err != nil {
		return nil, nil, s.errorf("member key: %w", err)
	}
	return g, r, nil
}
