// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/undersign/undersign/internal/bls12381"
)

// ErrRevoked is what the signature of a revoked member is refused for.
var ErrRevoked = errors.New("groupsig: the signer is revoked")

// A Revocation says who is revoked: by pseudonyms, each of which blocks its member
// in its own scope, and by tokens, which block members in all scopes, and betray
// their past signatures too. Members of groups with epochs are revoked by giving
// them no further credential.
//
// It may be used by several goroutines, but is complete before it is used.
type Revocation struct {
	expires int64
	id      [32]byte
	nyms    map[[bls12381.G1Size]byte]bool
	tokens  []*bls12381.Lines

	mu     sync.Mutex
	tables map[[32]byte]map[[32]byte]bool // by scope: digests of e(hs, tok)
}

// NewRevocation returns a state of the group in which nobody is revoked. Verifiers
// refuse it from the time it expires, in seconds since 1970.
func (k *GroupKey) NewRevocation(expires int64) *Revocation {
	return &Revocation{
		expires: expires, id: k.id,
		nyms: map[[bls12381.G1Size]byte]bool{}, tables: map[[32]byte]map[[32]byte]bool{},
	}
}

// AddPseudonym revokes the member that signed under a pseudonym.
func (r *Revocation) AddPseudonym(nym []byte) error {
	var p bls12381.G1
	if err := p.SetBytes(nym); err != nil {
		return fmt.Errorf("groupsig: pseudonym: %w", err)
	}
	r.nyms[[bls12381.G1Size]byte(nym)] = true
	return nil
}

// AddToken revokes the member with a token y·P2. See [OpenerKey.Token].
func (r *Revocation) AddToken(token []byte) error {
	var q bls12381.G2
	if err := q.SetBytes(token); err != nil {
		return fmt.Errorf("groupsig: token: %w", err)
	}
	lines := bls12381.NewLinesVarTime(&q)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tokens = append(r.tokens, lines)
	clear(r.tables) // which don't have it
	return nil
}

// current refuses a state that isn't of the group, or is stale.
func (r *Revocation) current(k *GroupKey, now int64) error {
	if r.id != k.id {
		return errors.New("groupsig: the revocation state is of another group")
	}
	if now <= 0 {
		return errors.New("groupsig: a revocation state without the time")
	}
	if now >= r.expires {
		return errors.New("groupsig: the revocation state is stale")
	}
	if !k.draft.Features.Has(Scope) && len(r.nyms)+len(r.tokens) > 0 {
		return errors.New("groupsig: revocation by pseudonyms in a group without")
	}
	return nil
}

// digestGT names an element of GT.
func digestGT(z *bls12381.GT) [32]byte { return sha256.Sum256(z.Bytes()) }

// check refuses a revoked member's signature: nym = y·hs, and e(nym, P2) = e(hs, tok).
// The table of a scope is made once.
func (r *Revocation) check(k *GroupKey, g *signature, scope []byte) error {
	if !k.draft.Features.Has(Scope) {
		return nil
	}
	nym := &g.p[ptNym]
	if r.nyms[[bls12381.G1Size]byte(nym.Bytes())] {
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
			table[digestGT(new(bls12381.GT).PairingProductVarTime(bls12381.PairWith(hs, l)))] = true
		}
		if len(r.tables) >= maxCached {
			clear(r.tables)
		}
		r.tables[key] = table
	}
	r.mu.Unlock()
	if table[digestGT(new(bls12381.GT).PairingProductVarTime(bls12381.PairWith(nym, k.linesP2)))] {
		return ErrRevoked
	}
	return nil
}
