// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

import (
	"crypto/ed25519"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/tokens"
)

// The errors that callers act on, beside [ErrSignature].
var (
	// ErrRevoked: the signature is valid, and its signer is revoked.
	ErrRevoked = tokens.ErrRevoked
	// ErrUnknown: the signature is valid, and fits no member of the register.
	ErrUnknown = tokens.ErrUnknown
)

// MaxRevoked is how many tokens a revocation list holds at the most.
const MaxRevoked = tokens.MaxListed

// What opening and revocation have in common with KLAP20.
type (
	// An Opening names the signer of a signature, with a proof for judges.
	Opening = tokens.Opening
	// OpenOptions are what an opening is bound to beside the signature. The zero value,
	// or nil, is nothing.
	OpenOptions = tokens.OpenOptions
	// A RevocationList holds the tokens of the revoked members, signed by the opener.
	RevocationList = tokens.List
	// RevocationTerms are the number and the validity of a list.
	RevocationTerms = tokens.Terms
	// A StaleError says why a list can't be used now.
	StaleError = tokens.StaleError
	// A RejoinError says that an identity was revoked, and joins again before its token
	// is listed.
	RejoinError = join.RejoinError
)

// Record checks the record of a new member, from the issuer's register, and puts it
// into the opener's. It doesn't rely on the issuer: the key is the member's long-term
// one, as the opener knows it, and all that the issuer checked is checked again.
func (k *OpenerKey) Record(g *GroupKey, register *Register, r *Record, key ed25519.PublicKey) error {
	if err := k.k.Of(g.k); err != nil {
		return err
	}
	req, c, err := requestOf(r)
	if err == nil {
		err = g.check(c, req, key)
	}
	if err == nil {
		err = k.k.Key.Add(g.k.Tokens, register, r, &req.ttau)
	}
	if err != nil {
		return fmt.Errorf("ps16: record: %w", err)
	}
	return nil
}

// Open verifies a signature and finds its signer, trying all members on all
// processors.
func (k *OpenerKey) Open(g *GroupKey, register *Register, msg []byte, sig *Signature, opts *OpenOptions) (*Opening, error) {
	if opts == nil {
		opts = &OpenOptions{}
	}
	if !g.valid(msg, sig, opts.SignatureContext) {
		return nil, ErrSignature
	}
	return k.k.Open(g.k, register, g.target(sig), opts.Context)
}

// VerifyOpening is what a judge does: it returns nil if the signature is valid, the
// opening shows that the member registered in it has signed, and the registration is
// signed by the key, which is the long-term one that the judge knows of Opening.Member.
func (g *GroupKey) VerifyOpening(msg []byte, sig *Signature, o *Opening, key ed25519.PublicKey, opts *OpenOptions) error {
	if opts == nil {
		opts = &OpenOptions{}
	}
	if !g.valid(msg, sig, opts.SignatureContext) {
		return ErrSignature
	}
	return g.k.VerifyOpening(g.target(sig), o, key, opts.Context)
}

// RevocationList makes the list of all members that are revoked in the opener's
// register (see its method Revoke). It shows their signatures, past ones too, to
// everybody who has it.
func (k *OpenerKey) RevocationList(g *GroupKey, register *Register, terms RevocationTerms) (*RevocationList, error) {
	return k.k.RevocationList(g.k, register, terms)
}

// ParseRevocationList decodes a list and checks the opener's signature. Whether it is
// fresh is checked by each verification.
func (g *GroupKey) ParseRevocationList(data []byte) (*RevocationList, error) {
	return g.k.ParseRevocationList(data)
}

// MarkListed marks those records in the issuer's register that are revoked there, and
// whose tokens a list in force has, and returns their number. Their identities may join
// anew: see [Register].
func (g *GroupKey) MarkListed(register *Register, l *RevocationList, now int64) (int, error) {
	return g.k.MarkListed(register, l, now)
}
