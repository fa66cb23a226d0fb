// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/undersign/undersign/groupsig/internal/state"
	"github.com/undersign/undersign/internal/bls12381"
)

const (
	version = 1
	suite   = 1 // BLS12-381, SHA-256, SHAKE256, Ed25519, AES-256-GCM
)

// MaxListed is how many tokens a list may hold. Each costs every verification a
// pairing, and the verifier 24 KiB.
const MaxListed = 1024

// What all schemes say alike.
type (
	StaleError = state.StaleError
	BatchError = state.BatchError
	Terms      = state.Terms
)

// ErrRevoked: a signature is valid, and its signer's token is listed.
var ErrRevoked = state.ErrRevoked

// A List holds the tokens of the revoked members of one group, in ascending order,
// signed by the opener. It is immutable.
type List struct {
	state.State
	tokens []*bls12381.Lines
}

// Len returns the number of tokens.
func (l *List) Len() int { return len(l.tokens) }

// format is that of the group's lists.
func (g *Group) format() *state.Format {
	return &state.Format{
		What: "revocation list", DST: g.dst("list"), Group: g.ID,
		Sections: []state.Section{{Name: "tokens", Size: bls12381.G2Size, Max: MaxListed}},
		SigSize:  ed25519.SignatureSize,
		Verify: func(msg, sig []byte) error {
			if !ed25519.Verify(g.Opener, msg, sig) {
				return errors.New("wrong signature")
			}
			return nil
		},
	}
}

// sign makes a list of tokens.
func (g *Group) sign(terms Terms, tokens []*bls12381.G2, key ed25519.PrivateKey) (*List, error) {
	if len(tokens) > MaxListed {
		return nil, fmt.Errorf("%d tokens, at most %d", len(tokens), MaxListed)
	}
	all := make([][]byte, len(tokens))
	for i, q := range tokens {
		all[i] = q.Bytes()
	}
	s, err := g.format().Sign(terms, [][][]byte{all}, func(msg []byte) ([]byte, error) { return ed25519.Sign(key, msg), nil })
	if err != nil {
		return nil, err
	}
	return newList(s)
}

// ParseList decodes a list and checks its signature.
func (g *Group) ParseList(data []byte) (*List, error) {
	s, err := g.format().Parse(data)
	if err != nil {
		return nil, err
	}
	return newList(s)
}

func newList(s *state.State) (*List, error) {
	l := &List{State: *s}
	for i, b := range s.Entries(0) {
		var q bls12381.G2
		if err := q.SetBytes(b); err != nil {
			return nil, fmt.Errorf("token %d: %w", i, err)
		}
		l.tokens = append(l.tokens, bls12381.NewLinesVarTime(&q))
	}
	return l, nil
}

// Fresh returns a *[StaleError] unless the list is one of the group, in force now,
// and not older than a list that the verifier has seen.
func (l *List) Fresh(g *Group, now int64, minNumber uint64) error {
	if g == nil {
		return l.State.Fresh([32]byte{}, now, 1<<64-1)
	}
	return l.State.Fresh(g.ID, now, minNumber)
}

// Check returns [ErrRevoked] if the target belongs to a token of the list.
func (l *List) Check(t *Target) error {
	if len(l.tokens) == 0 {
		return nil
	}
	k := t.k()
	if search(len(l.tokens), func(i int) bool {
		return new(bls12381.GT).PairingProductVarTime(bls12381.PairWith(t.A, l.tokens[i])).Equal(k)
	}) >= 0 {
		return ErrRevoked
	}
	return nil
}

// search returns an i below n with f(i), or -1. It calls f from several goroutines,
// and stops at the first that is found.
func search(n int, f func(int) bool) int {
	var next, found atomic.Int64
	found.Store(-1)
	work := func() {
		for found.Load() < 0 {
			i := next.Add(1) - 1
			if i >= int64(n) {
				return
			}
			if f(int(i)) {
				found.Store(i)
			}
		}
	}
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers <= 1 {
		work()
		return int(found.Load())
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(work)
	}
	wg.Wait()
	return int(found.Load())
}
