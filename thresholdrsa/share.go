// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/subtle"
	"errors"
	"fmt"

	"github.com/undersign/undersign/internal/modexp"
	"github.com/undersign/undersign/internal/wire"
)

const (
	maxPending = 8  // successors of its record that a holder keeps shares of
	maxRefused = 64 // runs that it remembers to have refused
)

// A KeyShare is a holder's secret: its share of one epoch, and what it needs in
// ceremonies. During a ceremony it also keeps the shares of the next epoch that
// it acknowledged, until a certificate says which one holds.
//
// It may be used by several goroutines, but not while Receive, Finish or Wipe runs.
type KeyShare struct {
	key         *PublicKey
	index       int
	s           modexp.Nat
	seed        [32]byte // hedges the proofs' nonces
	identity    ed25519.PrivateKey
	decryption  []byte      // X25519 private key of the record's Encryption, or nil
	provisional bool        // acknowledged, and not committed yet
	proposal    [32]byte    // of a provisional share: the ID of the run it comes from
	pending     []*KeyShare // acknowledged successors
	refused     [][32]byte  // IDs of proposals the holder has refused
}

// Index returns i, from 1 to L.
func (s *KeyShare) Index() int { return s.index }

// Name returns the holder's name in the record.
func (s *KeyShare) Name() string { return s.key.holderName(s.index) }

// PublicKey returns the record the share belongs to.
func (s *KeyShare) PublicKey() *PublicKey { return s.key }

// Provisional reports whether the share was received in a ceremony that hasn't
// been committed: it doesn't sign before Finish.
func (s *KeyShare) Provisional() bool { return s.provisional }

// Pending returns the records of the successors that the holder acknowledged.
func (s *KeyShare) Pending() []*PublicKey {
	var out []*PublicKey
	for _, q := range s.pending {
		out = append(out, q.key)
	}
	return out
}

// String names the share and shows nothing of it. The receiver is a value, so that
// printing a dereferenced share shows no more.
func (s KeyShare) String() string {
	if s.key == nil {
		return "thresholdrsa.KeyShare(empty)"
	}
	return fmt.Sprintf("thresholdrsa.KeyShare(holder %d, epoch %d, record %x)", s.index, s.key.epoch, s.key.id[:8])
}

// GoString is String.
func (s KeyShare) GoString() string { return s.String() }

// Format writes String, whatever the verb, so that no verb shows the secret.
func (s KeyShare) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

var errWiped = errors.New("thresholdrsa: the share has been wiped")

// ready returns nil if the share can be used: it isn't wiped, and its epoch has begun.
func (s *KeyShare) ready() error {
	if s.index == 0 {
		return errWiped
	}
	if s.provisional {
		return fmt.Errorf("thresholdrsa: the share of epoch %d awaits the ceremony's certificate", s.key.epoch)
	}
	return nil
}

// Wipe overwrites the secrets. The share is of no use afterwards.
func (s *KeyShare) Wipe() {
	s.s.Wipe()
	clear(s.seed[:])
	clear(s.identity)
	clear(s.decryption)
	for _, q := range s.pending {
		q.Wipe()
	}
	s.index, s.pending = 0, nil
}

// Equal reports, in constant time, whether x is the same share of the same record,
// with the same pending ones.
func (s *KeyShare) Equal(x *KeyShare) bool {
	if x == nil || s.index == 0 || x.index == 0 { // wiped
		return false
	}
	a, b := s.encode(), x.encode()
	defer clear(a)
	defer clear(b)
	return subtle.ConstantTimeCompare(a, b) == 1
}

// Check recomputes v^(s_i) and compares it with the record's v_i. It takes about
// as long as a signature.
func (s *KeyShare) Check() error {
	if s.index == 0 {
		return errWiped
	}
	a := s.key.arith()
	y := a.mod.NewElement()
	a.table.Exp(y, s.s)
	if a.mod.BigVarTime(y).Cmp(s.key.vi[s.index-1]) != 0 {
		return &DealingError{s.index, "the share doesn't belong to its verification key"}
	}
	return nil
}

func (s *KeyShare) encode() []byte {
	pending := make([][]byte, len(s.pending))
	size := len(s.key.encoding) + s.key.shareSize() + 32*(len(s.refused)+8)
	for i, q := range s.pending {
		pending[i] = q.encode()
		defer clear(pending[i])
		size += 4 + len(pending[i])
	}
	var e wire.Encoder
	e.Grow(size)
	e.U8(version)
	e.U8(suite)
	var flags uint8
	if s.provisional {
		flags = 1
	}
	e.U8(flags)
	e.U8(uint8(s.index))
	e.Bytes(s.key.encoding)
	putSecret(&e, fill(s.s, s.key.shareSize()))
	e.Fixed(s.seed[:])
	putSecret(&e, s.identity.Seed())
	e.Bytes(s.decryption)
	if s.provisional {
		e.Fixed(s.proposal[:])
	}
	e.U8(uint8(len(pending)))
	for _, q := range pending {
		e.Bytes(q)
	}
	e.U8(uint8(len(s.refused)))
	for _, id := range s.refused {
		e.Fixed(id[:])
	}
	return e.Data()
}

// putSecret appends b and clears it.
func putSecret(e *wire.Encoder, b []byte) {
	e.Fixed(b)
	clear(b)
}

// MarshalBinary returns the canonical encoding, which is secret; clear it after use.
func (s *KeyShare) MarshalBinary() ([]byte, error) {
	if s.index == 0 {
		return nil, errWiped
	}
	return s.encode(), nil
}

// UnmarshalBinary decodes a share. It doesn't compute v^(s_i): see Check.
func (s *KeyShare) UnmarshalBinary(data []byte) error {
	q, err := decodeShare(data, true)
	if err != nil {
		return fmt.Errorf("thresholdrsa: share: %w", err)
	}
	*s = *q
	return nil
}

func decodeShare(data []byte, outer bool) (*KeyShare, error) {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	q := new(KeyShare)
	flags := d.U8("flags")
	if flags > 1 {
		d.Fail("flags", "unknown bits %#x", flags)
	}
	q.provisional = flags == 1
	q.index = int(d.U8("index"))
	record := d.Bytes("record", maxRecordBytes)
	if err := d.Err(); err != nil {
		return nil, err
	}
	q.key = new(PublicKey)
	if err := q.key.UnmarshalBinary(record); err != nil {
		return nil, err
	}
	if q.index < 1 || q.index > q.key.l {
		d.Fail("index", "%d isn't a holder from 1 to %d", q.index, q.key.l)
	}
	b := d.Fixed("secret", q.key.shareSize())
	defer clear(b)
	d.Read("seed", q.seed[:])
	if seed := d.Fixed("identity", ed25519.SeedSize); seed != nil {
		q.identity = ed25519.NewKeyFromSeed(seed)
		clear(seed)
	}
	q.decryption = d.Bytes("decryption key", encryptionKeySize)
	if q.provisional {
		d.Read("proposal", q.proposal[:])
	}
	n := int(d.U8("pending"))
	if n > maxPending {
		d.Fail("pending", "%d shares, at most %d", n, maxPending)
		n = 0
	} else if n > 0 && !outer {
		d.Fail("pending", "pending shares inside a pending share")
	}
	for range n {
		b := d.Bytes("pending share", d.Remaining())
		if d.Err() != nil {
			break
		}
		next, err := decodeShare(b, false)
		clear(b)
		if err != nil {
			return nil, fmt.Errorf("pending share: %w", err)
		}
		if !next.provisional || next.key.parent != q.key.id {
			d.Fail("pending share", "isn't a provisional share of a successor")
		}
		q.pending = append(q.pending, next)
	}
	n = int(d.U8("refused"))
	if n > maxRefused {
		d.Fail("refused", "%d runs, at most %d", n, maxRefused)
		n = 0
	}
	q.refused = make([][32]byte, n)
	for i := range q.refused {
		d.Read("refused run", q.refused[i][:])
	}
	if err := d.Finish(); err != nil {
		return nil, err
	}
	q.s = modexp.NewNat(q.key.ShareBits())
	mustSet(q.s, b)
	if q.s.Less(natOf(q.key.smax, q.key.ShareBits())) != 1 {
		return nil, errors.New("the secret isn't below Smax")
	}
	return q, q.checkKeys()
}

// checkKeys compares the private keys with the record's public ones.
func (s *KeyShare) checkKeys() error {
	h := s.key.holders[s.index-1]
	if !bytes.Equal(h.Identity, s.identity.Public().(ed25519.PublicKey)) {
		return errors.New("the identity key isn't the one in the record")
	}
	if len(s.decryption) == 0 {
		s.decryption = nil
		return nil // erased, or never announced
	}
	k, err := ecdh.X25519().NewPrivateKey(s.decryption)
	if err != nil || !bytes.Equal(k.PublicKey().Bytes(), h.Encryption) {
		return errors.New("the decryption key isn't the one in the record")
	}
	return nil
}
