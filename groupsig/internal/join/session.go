// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package join

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// Limits of a table of sessions.
const (
	MaxSessions  = 4096    // open and answered ones together
	MaxSchnorr   = 1       // open ones whose proof is Schnorr's
	MaxAnswer    = 1 << 14 // bytes of a stored answer
	MaxLifetime  = 30 * 24 * 3600
	sessionsSize = 1 << 28
)

// A Challenge is the issuer's first message, M1, to a member. It is public.
type Challenge struct {
	Scheme  string
	GroupID [32]byte
	Session SessionID
	Nonce   [32]byte
	Member  string
	Kind    Kind
	Expiry  int64 // seconds since 1970
}

// Context returns what the member's proof absorbs before the statement: gid, ver,
// sid, nonce and identity.
func (c *Challenge) Context(ver []byte) *transcript.Items {
	return new(transcript.Items).
		Bytes("gid", c.GroupID[:]).
		Bytes("ver", ver).
		Bytes("sid", c.Session[:]).
		Bytes("nonce", c.Nonce[:]).
		Bytes("member", []byte(c.Member))
}

// MarshalBinary returns the canonical encoding.
func (c *Challenge) MarshalBinary() ([]byte, error) {
	if err := errors.Join(CheckScheme(c.Scheme), CheckMember(c.Member)); err != nil {
		return nil, err
	}
	var e wire.Encoder
	c.encode(&e)
	return e.Data(), nil
}

func (c *Challenge) encode(e *wire.Encoder) {
	e.U8(version)
	e.U8(suite)
	e.Bytes([]byte(c.Scheme))
	e.Fixed(c.GroupID[:])
	e.Fixed(c.Session[:])
	e.Fixed(c.Nonce[:])
	e.Bytes([]byte(c.Member))
	e.U8(uint8(c.Kind))
	e.U64(uint64(c.Expiry))
}

// UnmarshalBinary decodes a challenge.
func (c *Challenge) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	q := decodeChallenge(d)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("join: challenge: %w", err)
	}
	*c = *q
	return nil
}

func decodeChallenge(d *wire.Decoder) *Challenge {
	q := new(Challenge)
	d.Header(version, suite)
	q.Scheme = string(d.Bytes("scheme", maxScheme))
	d.Read("group", q.GroupID[:])
	d.Read("session", q.Session[:])
	d.Read("nonce", q.Nonce[:])
	q.Member = string(d.Bytes("member", MaxMember))
	q.Kind = Kind(d.U8("kind"))
	expiry := d.U64("expiry")
	q.Expiry = int64(expiry)
	if err := CheckMember(q.Member); err != nil {
		d.Fail("challenge", "%v", err)
	}
	if err := CheckScheme(q.Scheme); err != nil {
		d.Fail("challenge", "%v", err)
	}
	if q.Kind > Schnorr {
		d.Fail("kind", "%d is unknown", q.Kind)
	}
	if expiry >= 1<<62 {
		d.Fail("expiry", "out of range")
	}
	return q
}

// A session is what the issuer remembers of a challenge.
type session struct {
	challenge *Challenge
	key       ed25519.PublicKey // that the member must sign by
	m2        [32]byte          // SHA-256 of the message that was answered
	answer    []byte            // nil while the session is open
}

// Sessions are an issuer's runs of the join protocol. Each gives one credential at
// most. It may be used by several goroutines.
type Sessions struct {
	scheme  string
	groupID [32]byte

	mu   sync.Mutex
	runs map[SessionID]*session
}

// NewSessions returns an empty table.
func NewSessions(scheme string, groupID [32]byte) *Sessions {
	return &Sessions{scheme: scheme, groupID: groupID, runs: map[SessionID]*session{}}
}

// Open opens a session for a member whose long-term key the issuer knows. The
// times are seconds since 1970, and seconds.
func (s *Sessions) Open(member string, key ed25519.PublicKey, kind Kind, now, lifetime int64) (*Challenge, error) {
	if err := errors.Join(CheckScheme(s.scheme), CheckMember(member)); err != nil {
		return nil, err
	}
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	if kind > Schnorr {
		return nil, errors.New("join: unknown kind of proof")
	}
	if now < 0 || now >= 1<<61 || lifetime <= 0 || lifetime > MaxLifetime {
		return nil, errors.New("join: time out of range")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.purge(now)
	if len(s.runs) >= MaxSessions {
		return nil, errors.New("join: too many sessions")
	}
	if kind == Schnorr {
		open := 0
		for _, r := range s.runs {
			if r.answer == nil && r.challenge.Kind == Schnorr {
				open++
			}
		}
		if open >= MaxSchnorr {
			return nil, errors.New("join: too many open sessions with proofs of this kind")
		}
	}
	c := &Challenge{Scheme: s.scheme, GroupID: s.groupID, Member: member, Kind: kind, Expiry: now + lifetime}
	rand.Read(c.Session[:])
	rand.Read(c.Nonce[:])
	s.runs[c.Session] = &session{challenge: c, key: slices.Clone(key)}
	d := *c
	return &d, nil
}

// purge forgets sessions that expired, answered ones too.
func (s *Sessions) purge(now int64) {
	for id, r := range s.runs {
		if now >= r.challenge.Expiry {
			delete(s.runs, id)
		}
	}
}

// Purge forgets sessions that expired.
func (s *Sessions) Purge(now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.purge(now)
}

// Cancel forgets a session, so that it gives no credential any more.
func (s *Sessions) Cancel(id SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.runs, id)
}

// Len returns the number of sessions, open and answered.
func (s *Sessions) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.runs)
}

// Answer returns the answer to the message m2 of a session. The first time it calls
// issue, which checks m2 and makes the credential. If issue succeeds the session is
// used up: the same message again gets the stored answer, and another one an error.
// No two calls of issue run at once.
func (s *Sessions) Answer(id SessionID, m2 []byte, now int64, issue func(c *Challenge, key ed25519.PublicKey) ([]byte, error)) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.runs[id]
	if !ok {
		return nil, errors.New("join: unknown session")
	}
	if now >= r.challenge.Expiry {
		return nil, errors.New("join: the session has expired")
	}
	sum := sha256.Sum256(m2)
	if r.answer != nil {
		if sum != r.m2 {
			return nil, errors.New("join: the session was used with another message")
		}
		return slices.Clone(r.answer), nil
	}
	c := *r.challenge
	answer, err := issue(&c, slices.Clone(r.key))
	if err != nil {
		return nil, err
	}
	if len(answer) == 0 || len(answer) > MaxAnswer {
		return nil, errors.New("join: answer of a wrong length")
	}
	r.m2, r.answer = sum, slices.Clone(answer)
	return answer, nil
}

// MarshalBinary returns the canonical encoding, in the order of the IDs. It holds
// credentials that were issued, which are of no use without the members' secrets.
func (s *Sessions) MarshalBinary() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]SessionID, 0, len(s.runs))
	for id := range s.runs {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b SessionID) int { return slices.Compare(a[:], b[:]) })
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.U32(uint32(len(ids)))
	for _, id := range ids {
		r := s.runs[id]
		r.challenge.encode(&e)
		e.Fixed(r.key)
		e.Fixed(r.m2[:])
		e.Bytes(r.answer)
	}
	return e.Data(), nil
}

// UnmarshalBinary decodes a table, which must have been made with NewSessions for
// the same group.
func (s *Sessions) UnmarshalBinary(data []byte) error {
	if len(data) > sessionsSize {
		return errors.New("join: sessions: too long")
	}
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	n := d.U32("sessions")
	if n > MaxSessions {
		d.Fail("sessions", "%d, at most %d", n, MaxSessions)
		n = 0
	}
	runs := map[SessionID]*session{}
	var last SessionID
	for i := range n {
		r := &session{challenge: decodeChallenge(d)}
		r.key = d.Fixed("key", ed25519.PublicKeySize)
		d.Read("message", r.m2[:])
		r.answer = d.Bytes("answer", MaxAnswer)
		if err := d.Err(); err != nil {
			return fmt.Errorf("join: sessions: %w", err)
		}
		if len(r.answer) == 0 {
			r.answer = nil
			if r.m2 != [32]byte{} {
				d.Fail("message", "without an answer")
			}
		}
		id := r.challenge.Session
		if i > 0 && slices.Compare(last[:], id[:]) >= 0 {
			d.Fail("session", "out of order")
		}
		if r.challenge.Scheme != s.scheme || r.challenge.GroupID != s.groupID {
			d.Fail("session", "of another group")
		}
		last = id
		runs[id] = r
	}
	if err := d.Finish(); err != nil {
		return fmt.Errorf("join: sessions: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = runs
	return nil
}
