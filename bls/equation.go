// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"fmt"

	"github.com/undersign/undersign/internal/bls12381"
)

// An equation is the left side of
//
//	Π e(w_i pk_i, H(m_i)) = e(P1, S)
//
// with keys and texts held once each. Terms of one key are gathered in
// e(pk, Σ w_i H(m_i)), or those of one text in e(Σ w_i pk_i, H(m)), whichever costs
// less: aggregates of real transactions have few keys, or few texts.
type equation struct {
	keys   table[point]
	texts  table[string]
	hashes []point // of the first texts
	terms  []term
}

type term struct{ key, text int }

// A table holds values once each.
type table[T any] struct {
	list  []T
	index map[string]int
}

// add returns the index of the value with an encoding, which it keeps a copy of.
func (t *table[T]) add(encoding []byte, value func(encoding string) T) int {
	i, ok := t.index[string(encoding)]
	if !ok {
		kept := string(encoding)
		i = len(t.list)
		t.list = append(t.list, value(kept))
		if t.index == nil {
			t.index = map[string]int{}
		}
		t.index[kept] = i
	}
	return i
}

// addAll adds the terms of an aggregate.
func (e *equation) addAll(u *suite, keys []*PublicKey, msgs [][]byte, distinct bool) error {
	if len(keys) != len(msgs) {
		return fmt.Errorf("%w: %d of them for %d keys", ErrMessages, len(msgs), len(keys))
	}
	if len(keys) == 0 && u.kind != Augmented {
		return errNoMessages
	}
	if distinct {
		seen := make(map[string]bool, len(msgs))
		for _, m := range msgs {
			seen[string(m)] = true
		}
		if len(seen) != len(msgs) {
			return errEqual
		}
	}
	points := make([]point, len(keys))
	for i, k := range keys {
		var err error
		if points[i], err = u.key(k); err != nil {
			return err
		}
	}
	for i, p := range points {
		e.add(p, u.text(p, msgs[i]))
	}
	return nil
}

func (e *equation) add(key point, text []byte) {
	e.terms = append(e.terms, term{
		key:  e.keys.add(key.bytes(), func(string) point { return key }),
		text: e.texts.add(text, func(kept string) string { return kept }),
	})
}

// hash hashes the texts that haven't been.
func (e *equation) hash(u *suite, dst string) {
	for _, text := range e.texts.list[len(e.hashes):] {
		e.hashes = append(e.hashes, u.hash([]byte(text), dst))
	}
}

// holds reports whether the equation holds for the signature s, without weights.
func (e *equation) holds(u *suite, dst string, s point) bool {
	e.hash(u, dst)
	pairs := e.pairs(e.terms, nil)
	return bls12381.PairingCheckVarTime(append(pairs, pairGenerator(s))...)
}

// pairs returns the pairings of some terms, with their weights if there are any. The
// texts must have been hashed, and there must be a term.
func (e *equation) pairs(terms []term, weights []bls12381.Scalar) []bls12381.Pair {
	byKey, keys := gather(terms, func(t term) int { return t.key })
	byText, texts := gather(terms, func(t term) int { return t.text })
	pairs := make([]bls12381.Pair, 0, min(len(keys), len(texts))+1)
	if cheaperByKey(e.keys.list[keys[0]].inG2(), len(keys), len(texts), len(terms), weights != nil) {
		for _, k := range keys {
			s := combine(byKey[k], weights, func(i int) point { return e.hashes[terms[i].text] })
			pairs = append(pairs, pair(e.keys.list[k], s))
		}
		return pairs
	}
	for _, m := range texts {
		s := combine(byText[m], weights, func(i int) point { return e.keys.list[terms[i].key] })
		pairs = append(pairs, pair(s, e.hashes[m]))
	}
	return pairs
}

// cheaperByKey compares the costs of both ways to gather terms, in Miller loops. A weight
// costs a multiplication of 128 bits, in G1 or in G2.
func cheaperByKey(keysInG2 bool, keys, texts, terms int, weighted bool) bool {
	byKey, byText := float64(keys), float64(texts)
	if weighted {
		inKeys, inHashes := 0.2, 0.5
		if keysInG2 {
			inKeys, inHashes = inHashes, inKeys
		}
		byKey += inHashes * float64(terms)
		byText += inKeys * float64(terms)
	}
	return byKey < byText
}

// gather sorts the indices of terms by what of gives, in order of appearance.
func gather(terms []term, of func(term) int) (groups map[int][]int, order []int) {
	groups = make(map[int][]int)
	for i, t := range terms {
		at := of(t)
		if groups[at] == nil {
			order = append(order, at)
		}
		groups[at] = append(groups[at], i)
	}
	return groups, order
}

// combine returns the sum of the points of some terms, times their weights.
func combine(indices []int, weights []bls12381.Scalar, of func(int) point) point {
	points := make([]point, len(indices))
	for j, i := range indices {
		points[j] = of(i)
	}
	if weights == nil {
		return sum(points)
	}
	ks := make([]bls12381.Scalar, len(indices))
	for j, i := range indices {
		ks[j] = weights[i]
	}
	return weightedSum(ks, points)
}
