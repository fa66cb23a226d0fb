// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"

	"github.com/undersign/undersign/internal/wire"
)

// A Refusal is a receiver's signed statement that it takes no share from a run,
// and from whose contribution that comes. It binds the receiver: it acknowledges
// nothing of that run any more.
type Refusal struct {
	proposal    [32]byte
	index       int      // of the receiver
	contributor int      // index of the one it complains of, in the parent record; 0 if of nobody
	digest      [32]byte // of the contribution it complains of: a contributor may show others another one
	reason      string
	opening     []byte // g(j) || salt as received, where it matches the contributor's hash; else empty
	sig         []byte
}

const maxReason = 512

// Index returns the receiver's index.
func (f *Refusal) Index() int { return f.index }

// ProposalID returns the ID of the proposal it refuses.
func (f *Refusal) ProposalID() [32]byte { return f.proposal }

// Contributor returns the index of the holder it complains of, 0 for nobody.
func (f *Refusal) Contributor() int { return f.contributor }

// Reason returns the receiver's words.
func (f *Refusal) Reason() string { return f.reason }

// Equal reports whether x is the same refusal.
func (f *Refusal) Equal(x *Refusal) bool { return x != nil && bytes.Equal(f.encode(), x.encode()) }

// refuse makes a refusal of the whole run.
func (pl *plan) refuse(identity ed25519.PrivateKey, j int, e *CeremonyError, opening []byte) *Refusal {
	f := &Refusal{proposal: pl.id, index: j, contributor: e.Index, digest: e.digest, reason: e.Reason, opening: opening}
	if len(f.reason) > maxReason {
		f.reason = strings.ToValidUTF8(f.reason[:maxReason], "")
	}
	f.sig = ed25519.Sign(identity, f.signed())
	return f
}

// A Verdict says who is at fault.
type Verdict uint8

const (
	// Undecided: one of the two lies, and what was published doesn't show which.
	// Start again without either. It is the verdict too if the refusal is about
	// another version of the contribution than the one given.
	Undecided Verdict = iota
	// ContributorAtFault: the contributor sent what its commitments don't allow.
	ContributorAtFault
	// ReceiverAtFault: what the contributor sent is right.
	ReceiverAtFault
)

func (v Verdict) String() string {
	switch v {
	case ContributorAtFault:
		return "the contributor is at fault"
	case ReceiverAtFault:
		return "the receiver is at fault"
	}
	return "undecided"
}

// Judge says whether a refusal is justified, from what everybody has: the parent
// record, the proposal and the contribution it complains of. The error says that
// the refusal or the contribution isn't evidence at all.
func (f *Refusal) Judge(parent *PublicKey, pr *Proposal, c *Contribution) (Verdict, error) {
	pl, err := pr.plan(parent)
	if err != nil {
		return Undecided, err
	}
	if err := f.verify(pl); err != nil {
		return Undecided, err
	}
	if f.contributor != c.index {
		return Undecided, fmt.Errorf("thresholdrsa: refusal: it complains of holder %d, not %d", f.contributor, c.index)
	}
	b, e := pl.check(c)
	if e != nil {
		if e.signed {
			return ContributorAtFault, nil
		}
		return Undecided, e
	}
	if len(f.opening) == 0 {
		return Undecided, nil
	}
	if pl.openingHash(c.index, f.index, f.opening) == c.parts[f.index-1].hash {
		if _, err := pl.checkOpening(b, f.index, f.opening); err != nil {
			return ContributorAtFault, nil
		}
	}
	if f.digest != b.digest {
		return Undecided, nil
	}
	return ReceiverAtFault, nil
}

// verify checks that a receiver of the run made the refusal.
func (f *Refusal) verify(pl *plan) error {
	if f.proposal != pl.id {
		return fmt.Errorf("thresholdrsa: refusal: of another proposal (%x, not %x)", f.proposal[:8], pl.id[:8])
	}
	return f.verifyBy(pl.next.holders)
}

// verifyBy checks the signature against the receivers.
func (f *Refusal) verifyBy(receivers []Holder) error {
	if f.index < 1 || f.index > len(receivers) {
		return fmt.Errorf("thresholdrsa: refusal: no receiver %d", f.index)
	}
	if !ed25519.Verify(receivers[f.index-1].Identity, f.signed(), f.sig) {
		return errors.New("thresholdrsa: refusal: the signature is wrong")
	}
	return nil
}

func (f *Refusal) put(e *wire.Encoder) {
	e.Fixed(f.proposal[:])
	e.U8(uint8(f.index))
	e.U8(uint8(f.contributor))
	e.Fixed(f.digest[:])
	e.Bytes([]byte(f.reason))
	e.Bytes(f.opening)
}

func (f *Refusal) signed() []byte {
	var e wire.Encoder
	e.Fixed([]byte("undersign/trsa/v1/refusal"))
	f.put(&e)
	return e.Data()
}

func (f *Refusal) encode() []byte {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	f.put(&e)
	e.Fixed(f.sig)
	return e.Data()
}

// MarshalBinary returns the canonical encoding. The error is always nil.
func (f *Refusal) MarshalBinary() ([]byte, error) { return f.encode(), nil }

// UnmarshalBinary decodes a refusal. Judge checks it.
func (f *Refusal) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	var q Refusal
	d.Read("proposal", q.proposal[:])
	q.index = int(d.U8("index"))
	q.contributor = int(d.U8("contributor"))
	d.Read("contribution", q.digest[:])
	q.reason = string(d.Bytes("reason", maxReason))
	if !printable(q.reason) {
		d.Fail("reason", "has a character that can't be printed")
	}
	q.opening = d.Bytes("opening", maxIntBytes+openingSaltSize)
	q.sig = d.Fixed("signature", ed25519.SignatureSize)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("thresholdrsa: refusal: %w", err)
	}
	*f = q
	return nil
}
