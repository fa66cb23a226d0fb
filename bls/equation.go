// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"bytes"
	"encoding/binary"
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
//
// H may be under different tags, which are independent oracles: terms of different
// schemes stand side by side.
type equation struct {
	keys   table[point]
	texts  table[signedText]
	hashes []point // of the first texts
	terms  []term
}

type term struct{ key, text int }

// A signedText is what hashes to the sum of the hashes of parts, of which there is
// mostly one.
type signedText struct {
	dst   string
	g2    bool
	parts [][]byte
}

// encode appends an encoding of t, which no other text has.
func (t *signedText) encode(b []byte) []byte {
	b = append(append(b, t.dst...), 0)
	for _, part := range t.parts {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(part))), part...)
	}
	return b
}

// A table holds values once each.
type table[T any] struct {
	list      []T
	encodings []string
	index     map[string]int
}

// add returns the index of the value with an encoding.
func (t *table[T]) add(encoding []byte, value func() T) int {
	i, ok := t.index[string(encoding)]
	if !ok {
		kept := string(encoding)
		i = len(t.list)
		t.list = append(t.list, value())
		t.encodings = append(t.encodings, kept)
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
	if u.kind == Augmented {
		e.addAugmented(u, points, msgs)
		return nil
	}
	for i, p := range points {
		e.add(u, p, u.dst, msgs[i])
	}
	return nil
}

// addAugmented adds a term for each key. An augmented text belongs to one key, so that
// the texts of a key are never needed apart, and their hashes can be summed up before
// the cofactor is cleared.
func (e *equation) addAugmented(u *suite, keys []point, msgs [][]byte) {
	var seen table[point]
	var texts [][][]byte
	for i, p := range keys {
		at := seen.add(p.bytes(), func() point { return p })
		if at == len(texts) {
			texts = append(texts, nil)
		}
		texts[at] = append(texts[at], u.text(p, msgs[i]))
	}
	for i, p := range seen.list {
		e.add(u, p, u.dst, texts[i]...)
	}
}

// add adds a term of the hash of a text, or of the sum of the hashes of several.
func (e *equation) add(u *suite, key point, dst string, texts ...[]byte) {
	t := signedText{dst, !u.minSig, texts}
	e.terms = append(e.terms, term{
		key: e.keys.add(key.bytes(), func() point { return key }),
		text: e.texts.add(t.encode(nil), func() signedText {
			for i, b := range texts {
				texts[i] = bytes.Clone(b)
			}
			return t
		}),
	})
}

// hash hashes the texts that haven't been.
func (e *equation) hash() {
	for _, t := range e.texts.list[len(e.hashes):] {
		e.hashes = append(e.hashes, hashTo(t.g2, t.dst, t.parts...))
	}
}

// holds reports whether the equation holds for the signature s, without weights.
func (e *equation) holds(s point) bool {
	e.hash()
	pairs := e.pairs(e.terms, nil)
	return bls12381.PairingCheckVarTime(append(pairs, pairGenerator(s))...)
}

// holdsUnchecked reports whether s is in the group, and the equation holds for it.
func (e *equation) holdsUnchecked(s *bls12381.G2) bool {
	e.hash()
	return bls12381.PairingCheckUncheckedVarTime(minusP1(), s, e.pairs(e.terms, nil)...)
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
	sums := e.sumKeys(byText, texts, terms, weights)
	for i, m := range texts {
		pairs = append(pairs, pair(sums[i], e.hashes[m]))
	}
	return pairs
}

// sumKeys returns the sum of each text's keys.
func (e *equation) sumKeys(byText map[int][]int, texts []int, terms []term, weights []bls12381.Scalar) []point {
	key := func(i int) point { return e.keys.list[terms[i].key] }
	sums := make([]point, len(texts))
	if weights == nil || key(byText[texts[0]][0]).inG2() || len(terms) > fewTerms*len(texts) {
		for i, m := range texts {
			sums[i] = combine(byText[m], weights, key)
		}
		return sums
	}
	// Many short sums share their inversions.
	lists := make([][]bls12381.G1Term, len(texts))
	for i, m := range texts {
		for _, j := range byText[m] {
			lists[i] = append(lists[i], bls12381.MulG1(&weights[j], key(j).one))
		}
	}
	list := bls12381.G1SumsVarTime(lists...)
	for i := range list {
		sums[i] = point{one: &list[i]}
	}
	return sums
}

// fewTerms is how many terms the sums may have, on average, that are computed together.
const fewTerms = 8

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
