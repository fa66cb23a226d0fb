// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/sigma"
)

var errSequence = errors.New("groupsig: the group has no sequences")

// SequenceIndex returns the index that the member's next signature has, from 1.
func (m *MemberKey) SequenceIndex() uint64 {
	if m == nil || m.mu == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seq.next
}

// findSequence returns the index of the member's signature with n_i, from hint on.
func (q *seqKeys) find(n [32]byte, hint uint64) (uint64, bool) {
	if hint > 0 && hint < q.next && q.n(hint) == n {
		return hint, true
	}
	for i := uint64(1); i < q.next; i++ {
		if q.n(i) == n {
			return i, true
		}
	}
	return 0, false
}

// seqParts are the digests of a signature's place.
func seqParts(g *signature) (s1, s2, n [32]byte) {
	copy(s1[:], g.seq[:32])
	copy(s2[:], g.seq[32:64])
	copy(n[:], g.seq[64:])
	return
}

// SequenceLink proves to anyone that the member made a set of signatures in this
// order, one after the other with none in between, and if first is set that the first
// of them is its first of all. It shows order and completeness as they were committed
// to when signing: whoever deviated then can have two successors of one signature.
// Links of ranges that adjoin become linked.
func (m *MemberKey) SequenceLink(set []Signed, context []byte, first bool) ([]byte, error) {
	if m.wiped() {
		return nil, errWiped
	}
	k := m.gk
	if !k.draft.Features.Has(Sequence) {
		return nil, errSequence
	}
	op := seqOperation(first)
	l, err := k.newLinks(op, context, set)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	seq := m.seq
	m.mu.Unlock()
	defer seq.wipe()
	var xs []byte
	var last uint64
	for j, g := range l.g {
		_, _, n := seqParts(g)
		i, ok := seq.find(n, last+1)
		if !ok {
			return nil, fmt.Errorf("groupsig: signature %d isn't in the member's sequence", j)
		}
		if j > 0 && i != last+1 || j == 0 && first && i != 1 {
			return nil, fmt.Errorf("groupsig: signature %d isn't the next in the sequence", j)
		}
		last = i
		x := seq.x(i)
		xs = append(xs, x[:]...)
	}
	l.context.Bytes("x", xs)
	proof, err := m.prove(op, l, set)
	if err != nil {
		return nil, err
	}
	link := append(proof, xs...)
	if err := k.verifySequence(l, link, first); err != nil {
		return nil, err
	}
	return link, nil
}

func seqOperation(first bool) string {
	if first {
		return "seqlink/first"
	}
	return "seqlink"
}

// VerifySequenceLink checks a sequence link, and all signatures in it. There are as
// many values x as signatures; first says whether the link must show that it starts
// with the first signature of all.
func (k *GroupKey) VerifySequenceLink(set []Signed, context, link []byte, first bool) error {
	if !k.Features().Has(Sequence) {
		return errSequence
	}
	op := seqOperation(first)
	if len(link) != sigma.Size(1)+32*len(set) {
		return errors.New("groupsig: sequence link of a wrong length")
	}
	l, err := k.newLinks(op, context, set)
	if err != nil {
		return err
	}
	l.context.Bytes("x", link[sigma.Size(1):])
	if err := k.verifyLink(op, l, link[:sigma.Size(1)]); err != nil {
		return err
	}
	return k.verifySequence(l, link, first)
}

// verifySequence checks seq1 of every signature, and seq2 of every one that has a
// predecessor in the set, or is the first.
func (k *GroupKey) verifySequence(l *links, link []byte, first bool) error {
	xs := link[sigma.Size(1):]
	if len(xs) != 32*len(l.g) {
		return errors.New("groupsig: sequence link of a wrong length")
	}
	before := k.seqZero()
	for j, g := range l.g {
		x := [32]byte(xs[32*j:])
		s1, s2, _ := seqParts(g)
		if s1 != seq1(x) {
			return fmt.Errorf("groupsig: sequence link: signature %d has another place", j)
		}
		if (j > 0 || first) && s2 != seq2(x, before) {
			return fmt.Errorf("groupsig: sequence link: signature %d doesn't follow", j)
		}
		before = x
	}
	return nil
}
