// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import (
	"bytes"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
)

// A sequencer is the total order: one tick after the other, each with what has come in.
type sequencer struct {
	node
	ticks   [][]distill.Entry // from the height after the registrations on
	pending [][]byte
	heights map[[32]byte]uint64 // where a batch stands first
	heads   map[uint64]bool     // of which heights there is to be a certificate
	last    uint64              // the last of those
	old     [][]byte            // batches that were in the log
}

// maxEntries bounds a tick.
const maxEntries = 8

// add takes an entry. What waits already, or is in the log, is most often recognised.
func (q *sequencer) add(s *sim, entry []byte) {
	for _, p := range q.pending {
		if bytes.Equal(p, entry) {
			return
		}
	}
	if _, ok := q.heights[distill.BatchDigest(entry)]; ok && !s.one(8) {
		return
	}
	q.pending = append(q.pending, entry)
	s.watch.batch(s, entry)
}

func (q *sequencer) init() {
	q.heights, q.heads, q.last = make(map[[32]byte]uint64), make(map[uint64]bool), registered
}

// cut makes the next tick.
func (q *sequencer) cut(s *sim) {
	var tick []distill.Entry
	for len(q.pending) > 0 && len(tick) < maxEntries {
		tick = append(tick, distill.Entry{Data: q.pending[0]})
		q.pending = q.pending[1:]
	}
	q.ticks = append(q.ticks, tick)
	height := q.height()
	for _, e := range tick {
		if digest := distill.BatchDigest(e.Data); q.heights[digest] == 0 {
			q.heights[digest] = height
			q.old = append(q.old, e.Data)
		}
	}
	interval := uint64(3)
	if !s.busy() {
		interval = 6
	}
	if height >= q.last+interval {
		q.last = height
		q.heads[height] = true
	}
}

func (q *sequencer) height() uint64                   { return uint64(len(q.ticks)) + registered }
func (q *sequencer) at(height uint64) []distill.Entry { return q.ticks[height-registered-1] }
func (q *sequencer) wanted(height uint64) bool        { return q.heads[height] }

// A relay puts the signatures of validators under heads together and spreads them.
type relay struct {
	node
	best   *distill.SignedHead
	groups []*headGroup
}

type headGroup struct {
	hgt    distill.Hgt
	shares []distill.Share
}

// newest returns the newest head.
func (r *relay) newest() *distill.SignedHead { return r.best }

// add takes a validator's signature, which is made if it is wanted.
func (r *relay) add(s *sim, hgt distill.Hgt, sign func() *distill.Share) {
	if r.best != nil && hgt.Height <= r.best.Hgt.Height {
		return
	}
	share := sign()
	if share == nil {
		return
	}
	s.watch.hgt(s, hgt, share)
	var g *headGroup
	for _, x := range r.groups {
		if x.hgt == hgt {
			g = x
		}
	}
	if g == nil {
		g = &headGroup{hgt: hgt}
		r.groups = append(r.groups, g)
	}
	g.shares = addShare(g.shares, share)
	cert := s.certify(hgt, g.shares)
	if cert == nil {
		return
	}
	s.oracle.certified(s, &hgt)
	r.best, r.groups = &distill.SignedHead{Hgt: hgt, Certificate: *cert}, nil
	h := r.best
	for _, c := range s.clients {
		s.send(&r.node, &c.node, "a head", func() { c.head(h) })
	}
	for _, a := range s.aggs {
		s.send(&r.node, &a.node, "a head", func() { a.head(h) })
	}
}

// addShare adds a share, in place of an earlier one of the same validator.
func addShare(list []distill.Share, share *distill.Share) []distill.Share {
	for i := range list {
		if list[i].Validator == share.Validator {
			list[i] = *share
			return list
		}
	}
	return append(list, *share)
}

// certify returns the certificate of a statement, or nil if there aren't enough valid
// shares. The sum is verified first, by what remembers it for all others.
func (s *sim) certify(st distill.Statement, shares []distill.Share) *distill.Certificate {
	committee := s.w.network.Committee()
	if len(shares) < committee.Quorum() {
		return nil
	}
	cert := &distill.Certificate{Bitmap: make([]byte, (committee.Len()+7)/8)}
	var sigs []*bls.Signature
	for i := range shares {
		sig, err := bls.ParseSignature(shares[i].Signature[:])
		if err != nil {
			sigs = nil
			break
		}
		at := shares[i].Validator
		cert.Bitmap[at/8] |= 1 << (at % 8)
		sigs = append(sigs, sig)
	}
	if len(sigs) > 0 {
		if sum, err := bls.Aggregate(sigs...); err == nil {
			copy(cert.Signature[:], sum.Bytes())
			if s.verifies(st, cert) {
				return cert
			}
		}
	}
	// One of them cheats: who, the committee finds out.
	cert, _, err := committee.Combine(st, shares)
	if err != nil {
		return nil
	}
	return cert
}

// forge returns a certificate that is said to be of f+1 validators, and is of one.
func (s *sim) forge(h distill.Hgt, share *distill.Share) *distill.SignedHead {
	cert := distill.Certificate{Bitmap: make([]byte, (len(s.vals)+7)/8)}
	for i := range s.w.network.Committee().Quorum() {
		at := (int(share.Validator) + i) % len(s.vals)
		cert.Bitmap[at/8] |= 1 << (at % 8)
	}
	cert.Signature = share.Signature
	return &distill.SignedHead{Hgt: h, Certificate: cert}
}

func (s *sim) verifies(st distill.Statement, cert *distill.Certificate) bool {
	switch st := st.(type) {
	case distill.Hgt:
		return s.w.network.VerifyHead(&distill.SignedHead{Hgt: st, Certificate: *cert}) == nil
	case distill.Rcpt:
		return s.w.network.VerifyRcpt(&distill.SignedRcpt{Rcpt: st, Certificate: *cert}) == nil
	}
	return s.w.network.Committee().Verify(st, cert) == nil
}
