// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package bbs is the core of the group signatures that are made of a BBS
// credential, a proof about it, and features: pseudonyms within a scope (Camenisch,
// Drijvers and Lehmann 2016; Diaz and Lehmann 2021), pseudonyms that a converter
// links (Garms and Lehmann 2019), sequences, epochs, and openers.
//
// The credential of a member with the secret y is
//
//	A = 1/(isk + x)·B,  B = g1 + y·h1 [+ s·h2] [+ epoch·h3]
//
// with x of its own for every A. A signature is a proof of knowledge of it, in one of
// two forms. In the BBS form (Tessaro and Zhu 2023) D = r2·B, AA = r1·r2·A,
// A_ = r1·D - x·AA, and
//
//	A_ = r1·D - x·AA,  g1 + epoch·h3 = r3·D - y·h1
//
// In the BBS+ form (Camenisch, Drijvers and Lehmann 2016) D = r1·B - r2·h2,
// AA = r1·A, A_ = r1·B - x·AA, and
//
//	A_ - D = -x·AA + r2·h2,  g1 + epoch·h3 = r3·D - s'·h2 - y·h1
//
// In both the verifier checks AA != 0 and e(AA, ipk) = e(A_, P2). Features add
// relations about the same y: nym = y·hs; E1 = a·g, E2 = a·opk1 + y·h,
// E3 = a·opk2 + y·h; nym1 = a'·g, nym2 = a'·cpk + y·hc.
//
// A group's features are part of its ID. The member's side is constant time in
// secrets; verifying isn't.
package bbs

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/internal/bls12381"
)

// Features say what the signatures of a group hold.
type Features uint16

const (
	// Plus is the BBS+ form.
	Plus Features = 1 << iota
	// Scope is a pseudonym nym = y·hs, one for each scope.
	Scope
	// Escrow is an encryption of y·h to an opener with two keys.
	Escrow
	// Sequence is a chain through the signatures of one member.
	Sequence
	// Epoch is the number of the epoch for which the credential holds.
	Epoch
	// Token is an encryption of y·P2 to the opener when joining, for revocation in
	// all scopes. It needs Scope and Escrow.
	Token
	// Convert is an encryption of y·hc to the converter.
	Convert
	// SingleOpener lets Escrow have one key, and signatures no E3: anonymity
	// then isn't proven against who gets signatures opened.
	SingleOpener

	allFeatures = 1<<iota - 1
)

// Has reports whether f has all of g.
func (f Features) Has(g Features) bool { return f&g == g }

func (f Features) check() error {
	switch {
	case f > allFeatures:
		return fmt.Errorf("unknown features %#x", uint16(f))
	case f.Has(Token) && !f.Has(Scope|Escrow):
		return errors.New("tokens need pseudonyms and an opener")
	case f.Has(SingleOpener) && !f.Has(Escrow):
		return errors.New("one key for no opener")
	}
	return nil
}

// openers is the number of keys of the opener.
func (f Features) openers() int {
	switch {
	case f.Has(SingleOpener):
		return 1
	case f.Has(Escrow):
		return 2
	}
	return 0
}

// A layout says where a signature of some features has what. Fields are indices
// in the list of responses.
type layout struct {
	points, relations, secrets int

	x, y, r1, r2, r3, s, a, aConvert int
}

func (f Features) layout() (l layout) {
	next := func() int { l.secrets++; return l.secrets - 1 }
	l.points, l.relations = 3, 2
	if f.Has(Plus) {
		l.x, l.y, l.r2, l.r3, l.s = next(), next(), next(), next(), next()
	} else {
		l.r1, l.x, l.r3, l.y = next(), next(), next(), next()
	}
	if f.Has(Scope) {
		l.points++
		l.relations++
	}
	if f.Has(Convert) {
		l.aConvert = next()
		l.points += 2
		l.relations += 2
	}
	if f.Has(Escrow) {
		l.a = next()
		l.points += 1 + f.openers()
		l.relations += 1 + f.openers()
	}
	return l
}

// extra is the length of what isn't points and scalars.
func (f Features) extra() (n int) {
	if f.Has(Epoch) {
		n += 8
	}
	if f.Has(Sequence) {
		n += seqSize
	}
	return n
}

// SignatureSize returns the length of a compact signature.
func (f Features) SignatureSize() int {
	l := f.layout()
	return f.extra() + l.points*bls12381.G1Size + (1+l.secrets)*bls12381.ScalarSize
}

// BatchSignatureSize returns the length of a signature in the layout for batches.
func (f Features) BatchSignatureSize() int {
	l := f.layout()
	return f.SignatureSize() - bls12381.ScalarSize + l.relations*bls12381.G1Size
}
