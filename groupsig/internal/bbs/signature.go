// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// A signature's parts, in the order of its encoding: points, then the challenge or
// in the layout for batches the commitments, responses, epoch, sequence.
type signature struct {
	p     []bls12381.G1 // AA, A_, D, [nym], [nym1, nym2], [E1, E2, [E3]]
	batch bool
	c     bls12381.Scalar    // compact
	t     *sigma.Commitments // batch
	s     []bls12381.Scalar
	epoch uint64
	seq   []byte
}

// indices of points.
const (
	ptAA = iota
	ptABar
	ptD
	ptNym // if there is one
)

func (f Features) ptConvert() int {
	if f.Has(Scope) {
		return 4
	}
	return 3
}

func (f Features) ptE() int {
	if f.Has(Convert) {
		return f.ptConvert() + 2
	}
	return f.ptConvert()
}

var errSize = errors.New("groupsig: signature of a wrong length")

// parse decodes a signature of either layout. Every point is in the subgroup, and
// none of those outside the proof is the identity.
func (k *GroupKey) parse(b []byte) (*signature, error) {
	if k.empty() {
		return nil, errEmpty
	}
	f := k.draft.Features
	g := &signature{p: make([]bls12381.G1, k.l.points), s: make([]bls12381.Scalar, k.l.secrets)}
	switch len(b) {
	case f.SignatureSize():
	case f.BatchSignatureSize():
		g.batch = true
	default:
		return nil, errSize
	}
	next := func(n int) []byte {
		out := b[:n]
		b = b[n:]
		return out
	}
	// Scalars first: they are cheap to refuse. AA is checked before all other points.
	points := next(k.l.points * bls12381.G1Size)
	var commitments []byte
	if g.batch {
		commitments = next(k.l.relations * bls12381.G1Size)
	} else if err := g.c.SetBytes(next(bls12381.ScalarSize)); err != nil {
		return nil, fmt.Errorf("groupsig: signature: challenge: %w", err)
	}
	for i := range g.s {
		if err := g.s[i].SetBytes(next(bls12381.ScalarSize)); err != nil {
			return nil, fmt.Errorf("groupsig: signature: response %d: %w", i, err)
		}
	}
	if f.Has(Epoch) {
		g.epoch = binary.BigEndian.Uint64(next(8))
	}
	if f.Has(Sequence) {
		g.seq = append(g.seq, next(seqSize)...)
	}
	for i := range g.p {
		if err := g.p[i].SetBytes(points[i*bls12381.G1Size : (i+1)*bls12381.G1Size]); err != nil {
			return nil, fmt.Errorf("groupsig: signature: point %d: %w", i, err)
		}
	}
	if g.batch {
		g.t = &sigma.Commitments{G1: make([]bls12381.G1, k.l.relations)}
		for i := range g.t.G1 {
			if err := g.t.G1[i].SetBytesOrIdentity(commitments[i*bls12381.G1Size : (i+1)*bls12381.G1Size]); err != nil {
				return nil, fmt.Errorf("groupsig: signature: commitment %d: %w", i, err)
			}
		}
	}
	return g, nil
}

// encode is the inverse of parse.
func (k *GroupKey) encode(g *signature) []byte {
	b := make([]byte, 0, k.draft.Features.BatchSignatureSize())
	for i := range g.p {
		b = g.p[i].Append(b)
	}
	if g.batch {
		for i := range g.t.G1 {
			b = g.t.G1[i].Append(b)
		}
	} else {
		b = g.c.Append(b)
	}
	for i := range g.s {
		b = g.s[i].Append(b)
	}
	if k.draft.Features.Has(Epoch) {
		b = binary.BigEndian.AppendUint64(b, g.epoch)
	}
	return append(b, g.seq...)
}

// items are all that the challenge absorbs but the commitments.
func (k *GroupKey) items(g *signature, scope []byte, m transcript.Message) *transcript.Items {
	f := k.draft.Features
	t := new(transcript.Items).Grow(2048).Bytes("gid", k.id[:]).Bytes("ver", nil)
	if f.Has(Epoch) {
		t.Uint64("epoch", g.epoch)
	}
	if f.Has(Scope) {
		t.Bytes("scope", scope)
	}
	t.Message("m", m)
	if f.Has(Sequence) {
		t.Bytes("seq", g.seq)
	}
	t.G1("AA", &g.p[ptAA]).G1("A_", &g.p[ptABar]).G1("D", &g.p[ptD])
	if f.Has(Scope) {
		t.G1("nym", &g.p[ptNym])
	}
	if f.Has(Convert) {
		i := f.ptConvert()
		t.G1("nym1", &g.p[i]).G1("nym2", &g.p[i+1])
	}
	if f.Has(Escrow) {
		i := f.ptE()
		t.G1("E1", &g.p[i]).G1("E2", &g.p[i+1])
		if !f.Has(SingleOpener) {
			t.G1("E3", &g.p[i+2])
		}
	}
	return t
}
