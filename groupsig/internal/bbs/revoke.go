// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/groupsig/internal/state"
	"github.com/undersign/undersign/internal/bls12381"
)

// ErrRevoked is what the signature of a revoked member is refused for.
var ErrRevoked = state.ErrRevoked

// What all schemes say alike of states.
type (
	Terms      = state.Terms
	StaleError = state.StaleError
	BatchError = state.BatchError
)

// Limits of a list. A token costs a verifier 24 KiB, and a pairing for each new scope.
const (
	MaxPseudonyms = 1 << 20
	MaxTokens     = 1 << 12
)

// sections of a list.
const (
	nymSection = iota
	tokenSection
)

// A Revocation says who is revoked: by pseudonyms, each of which blocks its member
// in its own scope, and by tokens, which block members in all scopes, and betray
// their past signatures too. Members of groups with epochs are revoked by giving
// them no further credential as well.
//
// It is signed by the opener, and in groups without one by the issuer. It is
// immutable, and may be used by several goroutines.
type Revocation struct {
	state.State
	tokens []*bls12381.Lines

	mu     sync.Mutex
	tables map[[32]byte]map[[32]byte]bool // by scope: digests of e(hs, tok)
}

// Len returns the number of pseudonyms and tokens.
func (r *Revocation) Len() int { return len(r.Entries(nymSection)) + len(r.tokens) }

// revoker is the role that signs lists.
func (k *GroupKey) revoker() int {
	if k.draft.Features.Has(Escrow) {
		return openerRole
	}
	return issuerRole
}

// authority returns the statement that a role signs states by: it knows its secret,
// of the opener the first.
func (k *GroupKey) authority(role int) *sigma.Statement {
	if role == openerRole {
		return sigma.Dlog(&k.g.p, &k.opk[0].p)
	}
	return sigma.DlogG2(bls12381.G2Generator(), &k.ipk)
}

// format returns how a role signs states, by a proof of its secret that absorbs what
// it signs (Schnorr 1991).
func (k *GroupKey) format(what, op string, role int, sections ...state.Section) *state.Format {
	dst := k.dst(op)
	return &state.Format{
		What: what, DST: dst, Group: k.id, Sections: sections, SigSize: sigma.Size(1),
		Verify: func(msg, sig []byte) error {
			if k.authority(role).VerifyBytesVarTime(dst, k.context(op).Bytes("state", msg), sig) != nil {
				return errors.New("wrong signature")
			}
			return nil
		},
	}
}

// signer signs states of a format.
func (k *GroupKey) signer(op string, role int, secret *bls12381.Scalar) func([]byte) ([]byte, error) {
	return func(msg []byte) ([]byte, error) {
		w := make([]bls12381.Scalar, 1)
		w[0].Set(secret)
		defer wipeScalars(w)
		return k.authority(role).ProveBytes(k.dst(op), k.context(op).Bytes("state", msg), w)
	}
}

const listOp = "revocation"

func (k *GroupKey) listFormat() *state.Format {
	return k.format("revocation list", listOp, k.revoker(),
		state.Section{Name: "pseudonyms", Size: bls12381.G1Size, Max: MaxPseudonyms},
		state.Section{Name: "tokens", Size: bls12381.G2Size, Max: MaxTokens})
}

// ParseRevocation decodes a list and checks its signature. Whether it is in force is
// checked by each verification.
func (k *GroupKey) ParseRevocation(data []byte) (*Revocation, error) {
	if k.empty() {
		return nil, errEmpty
	}
	s, err := k.listFormat().Parse(data)
	if err != nil {
		return nil, fmt.Errorf("groupsig: %w", err)
	}
	return k.newRevocation(s)
}

// newRevocation makes a list of what is signed. Pseudonyms are compared as bytes:
// one that isn't a point is nobody's.
func (k *GroupKey) newRevocation(s *state.State) (*Revocation, error) {
	r := &Revocation{State: *s, tables: map[[32]byte]map[[32]byte]bool{}}
	tokens := s.Entries(tokenSection)
	switch f := k.draft.Features; {
	case !f.Has(Scope) && r.Len()+len(tokens) > 0:
		return nil, errScope
	case !f.Has(Token) && len(tokens) > 0:
		return nil, errNoTokens
	}
	for i, b := range tokens {
		var q bls12381.G2
		if err := q.SetBytes(b); err != nil {
			return nil, fmt.Errorf("groupsig: revocation list: token %d: %w", i, err)
		}
		r.tokens = append(r.tokens, bls12381.NewLinesVarTime(&q))
	}
	return r, nil
}

var errNoTokens = errors.New("groupsig: the group has no tokens")

// Revoked says whom a list revokes.
type Revoked struct {
	// Base is the list before, whose entries are kept, and whose number is lower.
	Base *Revocation
	// Register is the opener's, in groups with tokens. The tokens of those who are
	// revoked in it are listed, each compared with its record again.
	Register *join.Register
	// Pseudonyms are those of signatures, in groups with scopes.
	Pseudonyms [][]byte
}

// sign makes a list. The role has been checked.
func (k *GroupKey) sign(terms Terms, v *Revoked, tokens [][]byte, secret *bls12381.Scalar) (*Revocation, error) {
	if !k.draft.Features.Has(Scope) {
		return nil, errScope
	}
	nyms := slices.Clone(v.Pseudonyms)
	for i, b := range nyms {
		var p bls12381.G1
		if err := p.SetBytes(b); err != nil {
			return nil, fmt.Errorf("groupsig: pseudonym %d: %w", i, err)
		}
	}
	if v.Base != nil {
		if _, err := k.ParseRevocation(v.Base.data()); err != nil {
			return nil, err
		}
		if err := v.Base.Follows(terms); err != nil {
			return nil, err
		}
		nyms = append(nyms, v.Base.Entries(nymSection)...)
		tokens = append(tokens, v.Base.Entries(tokenSection)...)
	}
	s, err := k.listFormat().Sign(terms, [][][]byte{distinct(nyms), distinct(tokens)}, k.signer(listOp, k.revoker(), secret))
	if err != nil {
		return nil, fmt.Errorf("groupsig: %w", err)
	}
	return k.newRevocation(s)
}

// data returns the encoding, or nil if there is none.
func (r *Revocation) data() []byte {
	b, err := r.MarshalBinary()
	if err != nil {
		return nil
	}
	return b
}

// distinct returns the list in ascending order, each entry once.
func distinct(list [][]byte) [][]byte {
	slices.SortFunc(list, bytes.Compare)
	return slices.CompactFunc(list, bytes.Equal)
}

// RevocationList signs a list of revoked pseudonyms, in a group without an opener.
func (k *IssuerKey) RevocationList(gk *GroupKey, terms Terms, v Revoked) (*Revocation, error) {
	if err := k.matches(gk); err != nil {
		return nil, err
	}
	if gk.revoker() != issuerRole {
		return nil, errors.New("groupsig: lists of the group are signed by its opener")
	}
	if v.Register != nil {
		return nil, errNoTokens
	}
	return gk.sign(terms, &v, nil, &k.isk[0])
}

// RevocationList signs a list of revoked members. Where it has tokens it shows
// everybody what they signed, in the past too.
func (z *OpenerKey) RevocationList(gk *GroupKey, terms Terms, v Revoked) (*Revocation, error) {
	if err := z.matches(gk); err != nil {
		return nil, err
	}
	var tokens [][]byte
	if v.Register != nil {
		if !gk.draft.Features.Has(Token) {
			return nil, errNoTokens
		}
		for r := range v.Register.Revoked() {
			b, err := z.Token(gk, r)
			if err != nil {
				return nil, err
			}
			tokens = append(tokens, b)
		}
	}
	return gk.sign(terms, &v, tokens, &z.z[0])
}

// MarkListed marks in an issuer's register those revoked members whose tokens a list
// in force has, e(H, P2) = e(h1, tok), and returns their number. Their identities may
// join anew. A pseudonym on a list blocks its own scope, and marks nobody.
func (k *GroupKey) MarkListed(register *join.Register, r *Revocation, now int64) (int, error) {
	if k.empty() {
		return 0, errEmpty
	}
	if r == nil {
		return 0, errors.New("groupsig: no revocation list")
	}
	if err := r.Fresh(k.id, now, 0); err != nil {
		return 0, err
	}
	known := map[[32]byte]bool{}
	for _, l := range r.tokens {
		known[digestPair(&k.h1.p, l)] = true
	}
	return register.Listed(func(rec *join.Record) bool {
		m, err := k.readApplication(rec.Session, rec.Point, rec.Evidence)
		return err == nil && known[digestPair(&m.h, k.linesP2)]
	}), nil
}

// digestPair names the pairing of two points.
func digestPair(p *bls12381.G1, q *bls12381.Lines) [32]byte {
	return sha256.Sum256(new(bls12381.GT).PairingProductVarTime(bls12381.PairWith(p, q)).Bytes())
}

// check refuses a revoked member's signature: nym = y·hs, and e(nym, P2) = e(hs, tok).
// The table of a scope is made once.
func (r *Revocation) check(k *GroupKey, g *signature, scope []byte) error {
	if !k.draft.Features.Has(Scope) {
		return nil
	}
	nym := &g.p[ptNym]
	if _, ok := slices.BinarySearchFunc(r.Entries(nymSection), nym.Bytes(), bytes.Compare); ok {
		return ErrRevoked
	}
	if len(r.tokens) == 0 {
		return nil
	}
	key := sha256.Sum256(scope)
	r.mu.Lock()
	table, ok := r.tables[key]
	if !ok {
		table = map[[32]byte]bool{}
		hs := &k.scope(scope).p
		for _, l := range r.tokens {
			table[digestPair(hs, l)] = true
		}
		if len(r.tables) >= maxCached {
			clear(r.tables)
		}
		r.tables[key] = table
	}
	r.mu.Unlock()
	if table[digestPair(nym, k.linesP2)] {
		return ErrRevoked
	}
	return nil
}
