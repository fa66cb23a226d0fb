// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/undersign/undersign/thresholdrsa"
)

// Those who hold no share don't learn what is signed while those who do are only slow, and
// are asked all the same if these give nothing.
func TestWhoIsAsked(t *testing.T) {
	t.Parallel()
	priv, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	dealing, shares, err := thresholdrsa.Import(priv, 2, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := dealing.PublicKey()
	digest := sha256.Sum256([]byte("m"))
	r, err := thresholdrsa.NewRequest(p, digest[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	answer := func(i int, after time.Duration, err error) func(context.Context) ([]byte, error) {
		return func(ctx context.Context) ([]byte, error) {
			select {
			case <-time.After(after):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			if err != nil {
				return nil, err
			}
			s, err := shares[i].Sign(r)
			if err != nil {
				return nil, err
			}
			return s.MarshalBinary()
		}
	}
	absent := connect.NewError(connect.CodeNotFound, errors.New("no share"))
	for name, tt := range map[string]struct {
		second func(context.Context) ([]byte, error)
		asked  bool
	}{
		"slow":   {answer(1, 2*hedge, nil), false},
		"absent": {answer(1, 0, absent), true},
		"silent": {answer(1, time.Hour, nil), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Bool
			third := answer(2, 0, nil)
			sources := []*source{
				{party: "a", ask: answer(0, 0, nil)},
				{party: "b", ask: tt.second},
				{party: "c", unlikely: true, ask: func(ctx context.Context) ([]byte, error) {
					asked.Store(true)
					return third(ctx)
				}},
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			sig, _, _, _, err := collect(ctx, p, r, sources)
			if err != nil || r.Verify(p.RSA(), sig) != nil || asked.Load() != tt.asked {
				t.Errorf("asked: %v, %v", asked.Load(), err)
			}
		})
	}
}

// Shares are verified when they don't combine, or when they are too few, and then those are
// named that are wrong, and by whom they were sent.
func TestPile(t *testing.T) {
	t.Parallel()
	priv, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	dealing, shares, err := thresholdrsa.Import(priv, 2, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := dealing.PublicKey()
	digest := sha256.Sum256([]byte("m"))
	r, err := thresholdrsa.NewRequest(p, digest[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	other, err := thresholdrsa.NewRequest(p, make([]byte, 32), crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	signed := func(i int, r *thresholdrsa.Request, change func(data []byte)) func(context.Context) ([]byte, error) {
		return func(context.Context) ([]byte, error) {
			s, err := shares[i].Sign(r)
			if err != nil {
				return nil, err
			}
			data, err := s.MarshalBinary()
			if change != nil {
				change(data)
			}
			return data, err
		}
	}
	const index = 74 // of the holder, in a share
	good := func(i int) func(context.Context) ([]byte, error) { return signed(i, r, nil) }
	wrong := func(i int) func(context.Context) ([]byte, error) {
		return signed(i, r, func(data []byte) { data[128] ^= 1 })
	}
	as := func(i int, j byte) func(context.Context) ([]byte, error) {
		return signed(i, r, func(data []byte) { data[index] = j })
	}
	proof := signed(1, r, func(data []byte) { data[len(data)-1] ^= 1 })
	rubbish := func(context.Context) ([]byte, error) { return []byte("rubbish"), nil }
	absent := func(context.Context) ([]byte, error) {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("no share"))
	}
	type asks []func(context.Context) ([]byte, error)
	for name, tt := range map[string]struct {
		asks asks
		bad  string // parties who sent something wrong
		ok   bool
		have int
	}{
		"all good":                        {asks{good(0), good(1), good(2)}, "", true, 0},
		"right with a wrong proof":        {asks{good(0), proof}, "", true, 0},
		"one wrong":                       {asks{good(0), wrong(1), good(2)}, "b", true, 0},
		"two wrong":                       {asks{wrong(0), wrong(1), good(2), good(3)}, "ab", true, 0},
		"all but one wrong":               {asks{wrong(0), wrong(1), good(2), wrong(3)}, "abd", false, 1},
		"all wrong":                       {asks{wrong(0), wrong(1), wrong(2), wrong(3)}, "abcd", false, 0},
		"one in another's place, first":   {asks{as(1, 1), good(0), good(2)}, "a", true, 0},
		"one in another's place, second":  {asks{good(0), as(1, 1), good(2)}, "b", true, 0},
		"one in another's place, and few": {asks{good(0), as(1, 1), absent}, "b", false, 1},
		"two in another's place":          {asks{as(1, 1), as(2, 1), good(0), good(3)}, "ab", true, 0},
		"one twice":                       {asks{good(0), good(0), good(1)}, "", true, 0},
		"one twice, and no other":         {asks{good(0), good(0), absent}, "", false, 1},
		"holder 0":                        {asks{as(0, 0), good(1), good(2)}, "a", true, 0},
		"holder 255":                      {asks{as(0, 255), good(1), good(2)}, "a", true, 0},
		"of another request":              {asks{signed(0, other, nil), good(1), good(2)}, "a", true, 0},
		"no share at all":                 {asks{rubbish, good(1), good(2)}, "a", true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sources []*source
			for i, ask := range tt.asks {
				sources = append(sources, &source{party: string(rune('a' + i)), ask: ask})
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			sig, faults, from, _, err := collect(ctx, p, r, sources)
			bad := ""
			for _, f := range faults {
				if f.Kind == Bad {
					bad += f.Party
				}
			}
			for _, src := range from {
				if strings.Contains(tt.bad, src.party) {
					t.Errorf("%s is said to be good", src.party)
				}
			}
			if bad != tt.bad {
				t.Errorf("blamed %q, not %q", bad, tt.bad)
			}
			if tt.ok {
				if err != nil || r.Verify(p.RSA(), sig) != nil {
					t.Errorf("%x, %v", sig, err)
				}
				return
			}
			var q *QuorumError
			if !errors.As(err, &q) || q.Have != tt.have || q.Need != 2 || sig != nil {
				t.Errorf("%x, %v", sig, err)
			}
		})
	}

	// Too few are looked at too.
	l := pile{p: p, r: r, of: make(map[int]*reply)}
	for i, ask := range (asks{wrong(0), proof, good(2)}) {
		src := &source{party: string(rune('a' + i)), ask: ask}
		a := src.try(t.Context())
		if a.share == nil || l.add(&a) != nil {
			t.Fatal(i, a.fault)
		}
	}
	bad := ""
	for _, a := range l.verify() {
		bad += a.src.party
	}
	if from := l.sources(); len(from) != 1 || from[0].party != "c" || bad != "ab" && bad != "ba" || l.verify() != nil {
		t.Errorf("%q are blamed", bad)
	}
}
