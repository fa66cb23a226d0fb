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
