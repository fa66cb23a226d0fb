// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

const (
	version = 1
	suite   = 1 // BLS12-381, SHA-256, SHAKE256, Ed25519, AES-256-GCM
)

// MaxListed is how many tokens a list may hold. Each costs every verification a
// pairing, and the verifier 24 KiB.
const MaxListed = 1024

// maxListBytes is the length of the longest list.
const maxListBytes = 2 + 32 + 3*8 + 4 + MaxListed*bls12381.G2Size + ed25519.SignatureSize

// ErrRevoked: a signature is valid, and its signer's token is listed.
var ErrRevoked = errors.New("groupsig: the signer is revoked")

// A StaleError says why a list can't be used now.
type StaleError struct {
	Reason string
}

func (e *StaleError) Error() string { return "groupsig: revocation list: " + e.Reason }

// A List holds the tokens of the revoked members of one group, in ascending order,
// signed by the opener. It is immutable.
type List struct {
	group   [32]byte
	number  uint64
	issued  int64
	expires int64
	tokens  []*bls12381.Lines
	data    []byte
}

// Number returns the number of the list. Each list of a group has a higher one than
// the lists before.
func (l *List) Number() uint64 { return l.number }

// Issued returns the time from which the list holds, in seconds since 1970.
func (l *List) Issued() int64 { return l.issued }

// Expires returns the last second in which the list may be used.
func (l *List) Expires() int64 { return l.expires }

// Len returns the number of tokens.
func (l *List) Len() int { return len(l.tokens) }

// MarshalBinary returns the canonical encoding.
func (l *List) MarshalBinary() ([]byte, error) { return bytes.Clone(l.data), nil }

// Terms are a list's number and validity, in seconds since 1970.
type Terms struct {
	Number          uint64
	Issued, Expires int64
}

// sign makes a list of tokens, which it sorts.
func (g *Group) sign(terms Terms, tokens []*bls12381.G2, key ed25519.PrivateKey) (*List, error) {
	if terms.Issued < 0 || terms.Expires < terms.Issued {
		return nil, errors.New("issued before 1970, or expires before it is issued")
	}
	if len(tokens) > MaxListed {
		return nil, fmt.Errorf("%d tokens, at most %d", len(tokens), MaxListed)
	}
	var all [][]byte
	for _, q := range tokens {
		all = append(all, q.Bytes())
	}
	slices.SortFunc(all, bytes.Compare)
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(g.ID[:])
	e.U64(terms.Number)
	e.U64(uint64(terms.Issued))
	e.U64(uint64(terms.Expires))
	e.U32(uint32(len(all)))
	for _, b := range all {
		e.Fixed(b)
	}
	e.Fixed(ed25519.Sign(key, g.listMessage(e.Data())))
	return g.ParseList(e.Data())
}

func (g *Group) listMessage(body []byte) []byte {
	return new(transcript.Items).Bytes("dst", g.dst("list")).Bytes("list", body).Data()
}

// ParseList decodes a list and checks its signature.
func (g *Group) ParseList(data []byte) (*List, error) {
	if len(data) > maxListBytes {
		return nil, fmt.Errorf("list: %d bytes, at most %d", len(data), maxListBytes)
	}
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	l := &List{data: bytes.Clone(data)}
	d.Read("group", l.group[:])
	l.number = d.U64("number")
	l.issued = int64(d.U64("issued"))
	l.expires = int64(d.U64("expires"))
	n := d.U32("count")
	if d.Err() == nil {
		switch {
		case l.group != g.ID:
			d.Fail("group", "the list is of another group")
		case l.issued < 0 || l.expires < l.issued:
			d.Fail("expires", "issued before 1970, or expires before it is issued")
		case uint64(d.Remaining()) != uint64(n)*bls12381.G2Size+ed25519.SignatureSize:
			d.Fail("count", "%d tokens don't fit the length", n)
		}
	}
	if err := d.Err(); err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	raw := d.Fixed("tokens", int(n)*bls12381.G2Size)
	sig := d.Fixed("signature", ed25519.SignatureSize)
	if err := d.Finish(); err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	// The signature comes first: nobody else makes us decode points.
	if !ed25519.Verify(g.Opener, g.listMessage(data[:len(data)-len(sig)]), sig) {
		return nil, errors.New("list: wrong signature")
	}
	for b := range slices.Chunk(raw, bls12381.G2Size) {
		if n := len(l.tokens); n > 0 && bytes.Compare(l.tokens[n-1].Point().Bytes(), b) >= 0 {
			return nil, errors.New("list: tokens aren't in ascending order")
		}
		var q bls12381.G2
		if err := q.SetBytes(b); err != nil {
			return nil, fmt.Errorf("list: token %d: %w", len(l.tokens), err)
		}
		l.tokens = append(l.tokens, bls12381.NewLinesVarTime(&q))
	}
	return l, nil
}

// Fresh returns a *[StaleError] unless the list is one of the group, in force now,
// and not older than a list that the verifier has seen.
func (l *List) Fresh(g *Group, now int64, minNumber uint64) error {
	switch {
	case g == nil || l.group != g.ID:
		return &StaleError{"it is of another group"}
	case l.number < minNumber:
		return &StaleError{fmt.Sprintf("number %d, and there has been %d", l.number, minNumber)}
	case now <= 0:
		return &StaleError{"the time isn't given"}
	case now < l.issued:
		return &StaleError{"it isn't in force yet"}
	case now > l.expires:
		return &StaleError{"it has expired"}
	}
	return nil
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
