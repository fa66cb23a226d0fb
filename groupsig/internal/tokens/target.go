// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"crypto/ed25519"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// A Group is what this package needs to know of a group key.
type Group struct {
	Scheme string            // name in domain separation tags
	ID     [32]byte          // gid
	Q      *bls12381.Lines   // the token of T = w·P1 is w·Q
	Opener ed25519.PublicKey // signs lists

	// Points returns the points of a record with w between them, w·Base and Base: the
	// token is w·Q. If it is nil, the record has w·P1.
	Points func(r *join.Record) (Points, error)
}

// Points are a base and a multiple of it.
type Points struct {
	Base, Multiple bls12381.G1
}

// points returns a record's points.
func (g *Group) points(r *join.Record) (Points, error) {
	if g.Points != nil {
		return g.Points(r)
	}
	p, err := decodePoint(r)
	if err != nil {
		return Points{}, err
	}
	return Points{*bls12381.G1Generator(), *p}, nil
}

// dst returns the tag of an operation.
func (g *Group) dst(operation string) []byte { return transcript.DST(g.Scheme, operation) }

// Belongs reports whether token = w·Q for the w of point = w·P1, and isn't zero:
// e(point, Q) = e(P1, token). It isn't constant time in the token.
func (g *Group) Belongs(token *bls12381.G2, point *bls12381.G1) bool {
	return g.belongs(token, &Points{*bls12381.G1Generator(), *point})
}

func (g *Group) belongs(token *bls12381.G2, p *Points) bool {
	var neg bls12381.G1
	return !token.IsIdentity() && !p.Multiple.IsIdentity() && bls12381.PairingCheckVarTime(
		bls12381.PairWith(neg.Neg(&p.Multiple), g.Q), bls12381.PairOf(&p.Base, token))
}

// A Target is what a signature says of its signer: K = e(A, token), where K is the
// product of pairings of points from the signature and the group key.
type Target struct {
	A     *bls12381.G1
	Pairs []bls12381.Pair
	ID    [32]byte // of the signature

	value *bls12381.GT // K, when it has been computed
}

// k returns the product of the target's pairings. A target is of one goroutine.
func (t *Target) k() *bls12381.GT {
	if t.value == nil {
		t.value = new(bls12381.GT).PairingProductVarTime(t.Pairs...)
	}
	return t.value
}
