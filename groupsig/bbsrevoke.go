// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/undersign/undersign/groupsig/internal/bbs"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/wire"
)

const (
	version = 1
	suite   = 1 // BLS12-381

	// A token costs a verifier 24 KiB, and a pairing for each new scope.
	maxTokens = 1 << 12
	maxNyms   = 1 << 20
	maxTime   = 1 << 62
)

// A bbsRevocation is a state of the core with a number and an encoding. It isn't
// signed.
type bbsRevocation struct {
	group        [32]byte
	terms        Terms
	nyms, tokens [][]byte // in ascending order
	state        *bbs.Revocation
}

func (r *bbsRevocation) Number() uint64 { return r.terms.Number }
func (r *bbsRevocation) Issued() int64  { return r.terms.Issued }
func (r *bbsRevocation) Expires() int64 { return r.terms.Expires }
func (r *bbsRevocation) Len() int       { return len(r.nyms) + len(r.tokens) }

// fresh refuses a state as lists of PS16 and KLAP20 are refused.
func (r *bbsRevocation) fresh(g *bbsGroup, now int64, minNumber uint64) error {
	switch {
	case r.group != g.k.ID():
		return &StaleError{Reason: "it is of another group"}
	case now <= 0:
		return &StaleError{Reason: "the time isn't given"}
	case r.terms.Number < minNumber:
		return &StaleError{Reason: fmt.Sprintf("number %d, and there has been %d", r.terms.Number, minNumber)}
	case now < r.terms.Issued:
		return &StaleError{Reason: "it isn't in force yet"}
	case now > r.terms.Expires:
		return &StaleError{Reason: "it has expired"}
	}
	return nil
}

// sorted returns the list in ascending order, each entry once.
func sorted(list [][]byte) [][]byte {
	list = slices.Clone(list)
	slices.SortFunc(list, bytes.Compare)
	return slices.CompactFunc(list, bytes.Equal)
}

// newRevocation makes a state of pseudonyms and tokens, each checked to be a point.
func (g *bbsGroup) newRevocation(terms Terms, nyms, tokens [][]byte) (Revocation, error) {
	if terms.Issued < 0 || terms.Expires < terms.Issued || terms.Expires >= maxTime {
		return nil, errors.New("groupsig: revocation: issued before 1970, or expires before it is issued")
	}
	r := &bbsRevocation{group: g.k.ID(), terms: terms, nyms: sorted(nyms), tokens: sorted(tokens)}
	if len(r.nyms) > maxNyms || len(r.tokens) > maxTokens {
		return nil, fmt.Errorf("groupsig: revocation: more than %d pseudonyms, or %d tokens", maxNyms, maxTokens)
	}
	r.state = g.k.NewRevocation(terms.Expires + 1)
	for _, b := range r.nyms {
		if err := r.state.AddPseudonym(b); err != nil {
			return nil, err
		}
	}
	for _, b := range r.tokens {
		if err := r.state.AddToken(b); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (g *bbsGroup) RevokePseudonyms(terms Terms, base Revocation, nyms ...[]byte) (Revocation, error) {
	if !g.Features().Has(Scope) {
		return nil, errScope
	}
	var tokens [][]byte
	if base != nil {
		b, ok := base.(*bbsRevocation)
		if !ok || b.group != g.k.ID() {
			return nil, errors.New("groupsig: the revocation state is of another group")
		}
		nyms, tokens = append(slices.Clone(nyms), b.nyms...), b.tokens
	}
	return g.newRevocation(terms, nyms, tokens)
}

// MarshalBinary returns the canonical encoding.
func (r *bbsRevocation) MarshalBinary() ([]byte, error) {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(r.group[:])
	e.U64(r.terms.Number)
	e.U64(uint64(r.terms.Issued))
	e.U64(uint64(r.terms.Expires))
	for _, list := range [][][]byte{r.nyms, r.tokens} {
		e.U32(uint32(len(list)))
		for _, b := range list {
			e.Fixed(b)
		}
	}
	return e.Data(), nil
}

// ParseRevocation decodes a state. It isn't signed.
func (g *bbsGroup) ParseRevocation(data []byte) (Revocation, error) {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	var group [32]byte
	d.Read("group", group[:])
	number, issued, expires := d.U64("number"), d.U64("issued"), d.U64("expires")
	if d.Err() == nil {
		switch {
		case group != g.k.ID():
			d.Fail("group", "it is of another group")
		case issued >= maxTime || expires >= maxTime:
			d.Fail("expires", "out of range")
		}
	}
	list := func(field string, size, limit int) (out [][]byte) {
		n := int(d.U32(field))
		if d.Err() == nil && (n > limit || n > d.Remaining()/size) {
			d.Fail(field, "%d of them are too many", n)
		}
		for i := 0; i < n && d.Err() == nil; i++ {
			b := d.Fixed(field, size)
			if d.Err() == nil && i > 0 && bytes.Compare(out[i-1], b) >= 0 {
				d.Fail(field, "not in ascending order")
			}
			out = append(out, b)
		}
		return out
	}
	nyms := list("pseudonyms", bls12381.G1Size, maxNyms)
	tokens := list("tokens", bls12381.G2Size, maxTokens)
	if err := d.Finish(); err != nil {
		return nil, fmt.Errorf("groupsig: revocation: %w", err)
	}
	return g.newRevocation(Terms{Number: number, Issued: int64(issued), Expires: int64(expires)}, nyms, tokens)
}
