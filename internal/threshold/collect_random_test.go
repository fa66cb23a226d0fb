// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/undersign/undersign/internal/policy"
)

// Whatever L-K nodes do, in whatever order they answer, there is a signature, and nobody is
// named who sent its own share in time.
func TestCollectRandom(t *testing.T) {
	t.Parallel()
	const k, l = 3, 6
	names := []string{"a", "b", "c", "d", "e", "f"}
	p, shares, r := dealt(t, k, l, names)
	var good [][]byte
	for _, share := range shares {
		s, err := share.Sign(r)
		if err != nil {
			t.Fatal(err)
		}
		data, err := s.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		good = append(good, data)
	}
	spoil := func(data []byte, at int) []byte {
		data = slices.Clone(data)
		data[at] ^= 1
		return data
	}
	// What the others do, of whom i is one.
	deeds := []func(ctx context.Context, rnd *rand.Rand, i int) ([]byte, error){
		func(context.Context, *rand.Rand, int) ([]byte, error) { return []byte("rubbish"), nil },
		func(_ context.Context, _ *rand.Rand, i int) ([]byte, error) { return spoil(good[i], 128), nil },
		func(_ context.Context, _ *rand.Rand, i int) ([]byte, error) {
			return spoil(good[i], len(good[i])-1), nil
		},
		func(_ context.Context, rnd *rand.Rand, _ int) ([]byte, error) { return good[rnd.IntN(l)], nil },
		func(_ context.Context, rnd *rand.Rand, _ int) ([]byte, error) {
			return spoil(good[rnd.IntN(l)], 128), nil
		},
		func(_ context.Context, rnd *rand.Rand, _ int) ([]byte, error) {
			data := good[rnd.IntN(l)]
			return spoil(data, len(data)-1), nil
		},
		func(ctx context.Context, _ *rand.Rand, _ int) ([]byte, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		func(context.Context, *rand.Rand, int) ([]byte, error) { return nil, ErrSuperseded },
		func(context.Context, *rand.Rand, int) ([]byte, error) { return nil, &policy.LimitError{} },
		func(context.Context, *rand.Rand, int) ([]byte, error) { return nil, &errPending{time.Now()} },
		func(context.Context, *rand.Rand, int) ([]byte, error) {
			return nil, connect.NewError(codeLater, errors.New("later"))
		},
		func(context.Context, *rand.Rand, int) ([]byte, error) {
			return nil, connect.NewError(connect.CodeNotFound, errors.New("no share"))
		},
		func(context.Context, *rand.Rand, int) ([]byte, error) { return nil, errors.New("failed") },
	}
	rounds := 25
	if os.Getenv("UNDERSIGN_LONG") != "" {
		rounds = 2000
	}
	for round := range rounds {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(uint64(round), 1))
			order := rnd.Perm(l)
			honest := make(map[string]bool)
			var sources []*source
			for n, i := range rnd.Perm(l) {
				src := &source{party: names[i], name: names[i]}
				honest[src.party] = order[i] < k
				own, delay := rand.New(rand.NewPCG(uint64(round), uint64(n+2))), time.Duration(rnd.IntN(20))*time.Millisecond
				deed := deeds[rnd.IntN(len(deeds))]
				src.ask = func(ctx context.Context) ([]byte, error) {
					time.Sleep(delay)
					if honest[src.party] {
						return good[i], nil
					}
					return deed(ctx, own, i)
				}
				sources = append(sources, src)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			sig, faults, from, _, err := collect(ctx, p, r, sources)
			if err != nil || r.Verify(p.RSA(), sig) != nil {
				t.Errorf("%v", err)
			}
			for _, f := range faults {
				if honest[f.Party] {
					t.Errorf("%v is named", f)
				}
			}
			if len(from) != k {
				t.Errorf("%d shares are of use", len(from))
			}
		})
	}
}
