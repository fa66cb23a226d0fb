// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package sigma proves linear relations between secret scalars and points, the one
// kind of statement that all schemes of this module are made of:
//
//	Y = sum w_j·G_j
//
// in G1 and in G2, over one list of secrets. A secret has one response in all
// relations where it occurs; that is what ties the relations together.
//
// Convention: commitments are T = sum k_j·G_j, responses s_j = k_j - c·w_j, and the
// verifier computes T = c·Y + sum s_j·G_j. A proof is compact (c and responses), or
// has the commitments in place of c, so that a verifier can merge the relations of
// many proofs in one sum: see [Sum].
//
// The prover's side is constant time in secrets. Statements, proofs and all that
// ends in VarTime are public.
package sigma

import (
	"errors"

	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// A Term is a summand w·P, where w is the secret of index W.
type Term struct {
	W     int
	P     *bls12381.G1
	Comb  *bls12381.G1Comb  // of P, if the prover has one
	Table *bls12381.G1Table // of P, if the verifier has one
}

// A Relation is Y = sum of its terms.
type Relation struct {
	Y      *bls12381.G1
	Terms  []Term
	YTable *bls12381.G1Table // of Y, if the verifier has one
	Parts  [2]*bls12381.G1   // if they aren't nil, Y is the first less the second
}

// A TermG2 is a summand in G2.
type TermG2 struct {
	W    int
	P    *bls12381.G2
	Comb *bls12381.G2Comb
}

// A RelationG2 is a relation in G2.
type RelationG2 struct {
	Y     *bls12381.G2
	Terms []TermG2
}

// A Statement is a list of relations over secrets with indices from 0 to
// Secrets-1. Its points should be normalised.
type Statement struct {
	Secrets int
	G1      []Relation
	G2      []RelationG2
}

// errBase is what a statement is refused for.
var errBase = errors.New("sigma: a base is the identity")

// Check refuses a statement with a base that is the identity: it would leave a
// secret free that a relation seems to fix.
func (st *Statement) Check() error {
	for _, r := range st.G1 {
		for _, t := range r.Terms {
			if t.P.IsIdentity() {
				return errBase
			}
		}
	}
	for _, r := range st.G2 {
		for _, t := range r.Terms {
			if t.P.IsIdentity() {
				return errBase
			}
		}
	}
	return nil
}

// AppendTo appends every point of the statement to items, and how they belong
// together.
func (st *Statement) AppendTo(items *transcript.Items) *transcript.Items {
	items.Uint64("secrets", uint64(st.Secrets))
	for _, r := range st.G1 {
		var rel transcript.Items
		rel.G1("Y", r.Y)
		for _, t := range r.Terms {
			rel.Uint64("w", uint64(t.W)).G1("G", t.P)
		}
		items.List("relation", &rel)
	}
	for _, r := range st.G2 {
		var rel transcript.Items
		rel.G2("Y", r.Y)
		for _, t := range r.Terms {
			rel.Uint64("w", uint64(t.W)).G2("G", t.P)
		}
		items.List("relation", &rel)
	}
	return items
}

// Commitments are the points T of a proof, one for each relation.
type Commitments struct {
	G1 []bls12381.G1
	G2 []bls12381.G2
}

// AppendTo appends the commitments to items.
func (t *Commitments) AppendTo(items *transcript.Items) *transcript.Items {
	for i := range t.G1 {
		items.G1("T", &t.G1[i])
	}
	for i := range t.G2 {
		items.G2("T", &t.G2[i])
	}
	return items
}

// Commit returns sum k_j·G_j for all relations, normalised. It is constant time.
func (st *Statement) Commit(k []bls12381.Scalar) *Commitments {
	t := &Commitments{make([]bls12381.G1, len(st.G1)), make([]bls12381.G2, len(st.G2))}
	var p bls12381.G1
	norm := make([]*bls12381.G1, len(st.G1))
	for i, r := range st.G1 {
		for _, term := range r.Terms {
			if term.Comb != nil {
				p.CombMult(&k[term.W], term.Comb)
			} else {
				p.ScalarMult(&k[term.W], term.P)
			}
			t.G1[i].Add(&t.G1[i], &p)
		}
		norm[i] = &t.G1[i]
	}
	var q bls12381.G2
	norm2 := make([]*bls12381.G2, len(st.G2))
	for i, r := range st.G2 {
		for _, term := range r.Terms {
			if term.Comb != nil {
				q.CombMult(&k[term.W], term.Comb)
			} else {
				q.ScalarMult(&k[term.W], term.P)
			}
			t.G2[i].Add(&t.G2[i], &q)
		}
		norm2[i] = &t.G2[i]
	}
	bls12381.NormalizeG1(norm...)
	bls12381.NormalizeG2(norm2...)
	p.Wipe()
	q.Wipe()
	return t
}

// Respond returns the responses s_j = k_j - c·w_j. It is constant time.
func Respond(c *bls12381.Scalar, k, w []bls12381.Scalar) []bls12381.Scalar {
	s := make([]bls12381.Scalar, len(k))
	var cw bls12381.Scalar
	for j := range k {
		cw.Mul(c, &w[j])
		s[j].Sub(&k[j], &cw)
	}
	cw.Wipe()
	return s
}

// RecomputeVarTime returns the commitments that belong to a challenge and its
// responses, c·Y + sum s_j·G_j, normalised in G1.
func (st *Statement) RecomputeVarTime(c *bls12381.Scalar, s []bls12381.Scalar) *Commitments {
	t := &Commitments{G2: make([]bls12381.G2, len(st.G2))}
	sums := make([][]bls12381.G1Term, len(st.G1))
	for i, r := range st.G1 {
		terms := make([]bls12381.G1Term, 0, 4)
		if r.YTable != nil {
			terms = append(terms, bls12381.MulG1Table(c, r.YTable))
		} else {
			terms = append(terms, bls12381.MulG1(c, r.Y))
		}
		for _, term := range r.Terms {
			if term.Table != nil {
				terms = append(terms, bls12381.MulG1Table(&s[term.W], term.Table))
			} else {
				terms = append(terms, bls12381.MulG1(&s[term.W], term.P))
			}
		}
		sums[i] = terms
	}
	t.G1 = bls12381.G1SumsVarTime(sums...)
	for i, r := range st.G2 {
		terms := make([]bls12381.G2Term, 0, 4)
		terms = append(terms, bls12381.MulG2(c, r.Y))
		for _, term := range r.Terms {
			terms = append(terms, bls12381.MulG2(&s[term.W], term.P))
		}
		t.G2[i].MultiMultVarTime(terms...)
	}
	return t
}

// wipe clears scalars.
func wipe(ks []bls12381.Scalar) {
	for i := range ks {
		ks[i].Wipe()
	}
}
