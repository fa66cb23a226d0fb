// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"

	"github.com/undersign/undersign/internal/wire"
)

// A Certificate makes a record the successor of another: the proposal, the hash and
// signature of every contribution, the new record, and acknowledgements by a
// quorum of the receivers.
type Certificate struct {
	proposal      *Proposal
	contributions []signedDigest // in the order of the contributors
	key           *PublicKey
	acks          []*Ack // ascending indices
}

type signedDigest struct {
	digest [32]byte
	sig    []byte
}

// CommitOptions are for a ceremony that too few receivers acknowledged.
type CommitOptions struct {
	// InsecureQuorum accepts that many acknowledgements, K' or more, instead of
	// min(L', 2K'-1). A contributor may have cheated a receiver that was away, and
	// then fewer than K' receivers can be left with shares that sign, with the old
	// ones gone. 0 means the full number.
	InsecureQuorum int
}

func (o *CommitOptions) quorum(pr *Proposal) (int, error) {
	if o == nil || o.InsecureQuorum == 0 {
		return pr.Quorum(), nil
	}
	if o.InsecureQuorum < pr.k {
		return 0, fmt.Errorf("thresholdrsa: ceremony: %d acknowledgements can't commit a threshold of %d", o.InsecureQuorum, pr.k)
	}
	return min(o.InsecureQuorum, pr.Quorum()), nil
}

// Commit makes the certificate from a run's messages. It names receivers whose
// acknowledgement is of another record: they were shown other contributions.
func Commit(parent *PublicKey, pr *Proposal, contributions []*Contribution, acks []*Ack, opts *CommitOptions) (*Certificate, error) {
	pl, err := pr.plan(parent)
	if err != nil {
		return nil, err
	}
	bs, e := pl.gather(contributions)
	if e != nil {
		return nil, e
	}
	key, err := pl.successor(bs)
	if err != nil {
		return nil, fmt.Errorf("thresholdrsa: ceremony: %w", err)
	}
	c := &Certificate{proposal: pr, key: key}
	for _, b := range bs {
		c.contributions = append(c.contributions, signedDigest{b.digest, b.sig})
	}
	for _, a := range acks {
		if slices.ContainsFunc(c.acks, func(o *Ack) bool { return o.index == a.index }) {
			continue
		}
		if err := key.checkAck(pl.id, a); err != nil {
			return nil, err
		}
		c.acks = append(c.acks, a)
	}
	slices.SortFunc(c.acks, func(a, b *Ack) int { return a.index - b.index })
	if _, err := c.Verify(parent, opts); err != nil {
		return nil, err
	}
	return c, nil
}

// checkAck checks one acknowledgement of the record p.
func (p *PublicKey) checkAck(proposal [32]byte, a *Ack) error {
	e := &CeremonyError{Role: "receiver", Index: a.index, Name: p.holderName(a.index)}
	switch {
	case e.Name == "":
		e.Reason = fmt.Sprintf("no such receiver: indices go from 1 to %d", p.l)
	case a.proposal != proposal:
		e.Reason = "acknowledges another run"
	case !ed25519.Verify(p.holders[a.index-1].Identity, ackSigned(a.proposal, a.record, a.index), a.sig):
		e.Reason = "the signature of its acknowledgement is wrong"
	case a.record != p.id:
		e.Reason = "acknowledges another record: it was shown other contributions"
	default:
		return nil
	}
	return e
}

// PublicKey returns the record that the certificate is for. Verify first.
func (c *Certificate) PublicKey() *PublicKey { return c.key }

// Proposal returns the ceremony's proposal.
func (c *Certificate) Proposal() *Proposal { return c.proposal }

// Acks returns the indices of the receivers that acknowledged.
func (c *Certificate) Acks() []int {
	var out []int
	for _, a := range c.acks {
		out = append(out, a.index)
	}
	return out
}

// Equal reports whether x is the same certificate.
func (c *Certificate) Equal(x *Certificate) bool {
	return x != nil && bytes.Equal(c.encode(), x.encode())
}

// Verify checks the certificate against the trusted parent record, and returns the
// new one. A quorum below the full one must be accepted here too.
func (c *Certificate) Verify(parent *PublicKey, opts *CommitOptions) (*PublicKey, error) {
	pl, err := c.proposal.plan(parent)
	if err != nil {
		return nil, err
	}
	if len(c.contributions) != len(c.proposal.contributors) {
		return nil, errors.New("thresholdrsa: certificate: the contributions aren't those of the proposal")
	}
	var digests [][32]byte
	for i, s := range c.contributions {
		index := c.proposal.contributors[i]
		if !ed25519.Verify(parent.holders[index-1].Identity, contributionSigned(pl.id, index, s.digest), s.sig) {
			return nil, pl.blame(index, "the signature of its contribution is wrong")
		}
		digests = append(digests, s.digest)
	}
	if c.key.n.Cmp(parent.n) != 0 { // v_i have the length of n
		return nil, errors.New("thresholdrsa: certificate: the record is of another modulus")
	}
	want := pl.next // what everybody computes alike, and the rest as the receivers acknowledged it
	want.vi, want.ceremony = c.key.vi, pl.ceremony(digests)
	if !bytes.Equal(want.encode(), c.key.encoding) {
		return nil, errors.New("thresholdrsa: certificate: the record isn't the one that the proposal leads to")
	}
	for i, a := range c.acks {
		if i > 0 && c.acks[i-1].index >= a.index {
			return nil, errors.New("thresholdrsa: certificate: acknowledgements out of order")
		}
		if err := c.key.checkAck(pl.id, a); err != nil {
			return nil, err
		}
	}
	need, err := opts.quorum(c.proposal)
	if err != nil {
		return nil, err
	}
	if len(c.acks) < need {
		return nil, &QuorumError{len(c.acks), need}
	}
	return c.key, nil
}

// Finish ends a ceremony at a holder: it checks the certificate against parent, the
// record the ceremony succeeds, and returns the share of the new epoch. The old
// share is wiped: erase it from storage, backups too, once the new one is stored.
//
// A holder that gets no share in the new epoch gets nil. One that was away must
// Receive first.
func (s *KeyShare) Finish(c *Certificate, parent *PublicKey, opts *CommitOptions) (*KeyShare, error) {
	if s.index == 0 {
		return nil, errWiped
	}
	key, err := c.Verify(parent, opts)
	if err != nil {
		return nil, err
	}
	if s.provisional {
		if s.key.id != key.id {
			return nil, &KeyError{"certificate", key.id, s.key.id, key.epoch, s.key.epoch}
		}
		out := *s
		out.provisional, out.proposal = false, [32]byte{}
		*s = KeyShare{key: s.key}
		return &out, nil
	}
	if s.key.id != parent.id {
		return nil, &KeyError{"certificate", parent.id, s.key.id, parent.epoch, s.key.epoch}
	}
	var out *KeyShare
	for i, q := range s.pending {
		if q.key.id == key.id {
			out = q
			s.pending = slices.Delete(s.pending, i, i+1)
			break
		}
	}
	if out == nil && c.proposal.receiverOf(s.identity.Public().(ed25519.PublicKey)) != 0 {
		return nil, errors.New("thresholdrsa: the holder hasn't received its new share: the run's contributions are needed first")
	}
	s.Wipe()
	if out != nil {
		out.provisional, out.proposal = false, [32]byte{}
	}
	return out, nil
}

func (c *Certificate) encode() []byte {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Bytes(c.proposal.encode())
	e.U8(uint8(len(c.contributions)))
	for _, s := range c.contributions {
		e.Fixed(s.digest[:])
		e.Fixed(s.sig)
	}
	e.Bytes(c.key.encoding)
	e.U8(uint8(len(c.acks)))
	for _, a := range c.acks {
		e.Bytes(a.encode())
	}
	return e.Data()
}

// MarshalBinary returns the canonical encoding. The error is always nil.
func (c *Certificate) MarshalBinary() ([]byte, error) { return c.encode(), nil }

// UnmarshalBinary decodes a certificate. Verify checks it.
func (c *Certificate) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	proposal := d.Bytes("proposal", maxRecordBytes)
	q := Certificate{proposal: new(Proposal), key: new(PublicKey)}
	for range d.U8("contributions") {
		var s signedDigest
		d.Read("digest", s.digest[:])
		s.sig = d.Fixed("signature", ed25519.SignatureSize)
		q.contributions = append(q.contributions, s)
	}
	record := d.Bytes("record", maxRecordBytes)
	for range d.U8("acknowledgements") {
		b := d.Bytes("acknowledgement", 256)
		if d.Err() != nil {
			break
		}
		a := new(Ack)
		if err := a.UnmarshalBinary(b); err != nil {
			return fmt.Errorf("thresholdrsa: certificate: %w", err)
		}
		q.acks = append(q.acks, a)
	}
	err := d.Finish()
	if err == nil {
		err = q.proposal.UnmarshalBinary(proposal)
	}
	if err == nil {
		err = q.key.UnmarshalBinary(record)
	}
	if err != nil {
		return fmt.Errorf("thresholdrsa: certificate: %w", err)
	}
	*c = q
	return nil
}
