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

// dealt returns a key that k of l holders have, with a request.
func dealt(t *testing.T, k, l int, names []string) (*thresholdrsa.PublicKey, []*thresholdrsa.KeyShare, *thresholdrsa.Request) {
	t.Helper()
	priv, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	dealing, shares, err := thresholdrsa.Import(priv, k, l, &thresholdrsa.DealOptions{Names: names})
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte("m"))
	r, err := thresholdrsa.NewRequest(dealing.PublicKey(), digest[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return dealing.PublicKey(), shares, r
}

// Those who hold no share don't learn what is signed while those who do are only slow, and
// are asked all the same if these give nothing.
func TestWhoIsAsked(t *testing.T) {
	t.Parallel()
	p, shares, r := dealt(t, 2, 3, nil)
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
	p, shares, r := dealt(t, 2, 4, nil)
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
		same string // parties of whom one sent the other's
	}{
		"all good":                        {asks{good(0), good(1), good(2)}, "", true, 0, ""},
		"right with a wrong proof":        {asks{good(0), proof}, "", true, 0, ""},
		"one wrong":                       {asks{good(0), wrong(1), good(2)}, "b", true, 0, ""},
		"two wrong":                       {asks{wrong(0), wrong(1), good(2), good(3)}, "ab", true, 0, ""},
		"all but one wrong":               {asks{wrong(0), wrong(1), good(2), wrong(3)}, "abd", false, 1, ""},
		"all wrong":                       {asks{wrong(0), wrong(1), wrong(2), wrong(3)}, "abcd", false, 0, ""},
		"one in another's place, first":   {asks{as(1, 1), good(0), good(2)}, "a", true, 0, ""},
		"one in another's place, second":  {asks{good(0), as(1, 1), good(2)}, "b", true, 0, ""},
		"one in another's place, and few": {asks{good(0), as(1, 1), absent}, "b", false, 1, ""},
		"two in another's place":          {asks{as(1, 1), as(2, 1), good(0), good(3)}, "ab", true, 0, ""},
		"one twice":                       {asks{good(0), good(0), good(1)}, "", true, 0, "ab"},
		"one twice, and no other":         {asks{good(0), good(0), absent}, "", false, 1, "ab"},
		"holder 0":                        {asks{as(0, 0), good(1), good(2)}, "a", true, 0, ""},
		"holder 255":                      {asks{as(0, 255), good(1), good(2)}, "a", true, 0, ""},
		"of another request":              {asks{signed(0, other, nil), good(1), good(2)}, "a", true, 0, ""},
		"no share at all":                 {asks{rubbish, good(1), good(2)}, "a", true, 0, ""},
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
			bad, same := "", ""
			for _, f := range faults {
				switch {
				case f.Kind == Bad:
					bad += f.Party
				case f.Kind == Failed && f.Index == 1:
					same += f.Party
				case f.Kind != Absent:
					t.Error(f)
				}
			}
			for _, src := range from {
				if strings.Contains(tt.bad, src.party) {
					t.Errorf("%s is said to be good", src.party)
				}
			}
			if bad != tt.bad || same != tt.same {
				t.Errorf("blamed %q and %q, not %q and %q", bad, same, tt.bad, tt.same)
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
		if a.share == nil {
			t.Fatal(i, a.fault)
		}
		if bad, twice := l.add(&a); bad != nil || twice {
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

// A node that sends the share of another one is named, and the other one isn't, as far as
// this node can tell them apart. Both have answered, whatever comes of it.
func TestShareOfAnother(t *testing.T) {
	t.Parallel()
	p, shares, r := dealt(t, 2, 3, []string{"alice", "bob", "carol"})
	share := func(i int, proof bool) []byte {
		s, err := shares[i].Sign(r)
		if err != nil {
			t.Fatal(err)
		}
		data, err := s.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if !proof {
			data[len(data)-1] ^= 1
		}
		return data
	}
	alices, again, spoilt := share(0, true), share(0, true), share(0, false)
	type answer struct {
		name string
		data []byte
	}
	for what, tt := range map[string]struct {
		first, second answer
		faults        string // names and kinds
		kept          string // whose share, if that matters
	}{
		"after the holder":          {answer{"alice", alices}, answer{"mallory", alices}, "mallory: failed", "alice"},
		"before the holder":         {answer{"mallory", alices}, answer{"alice", alices}, "mallory: failed", "alice"},
		"with another proof":        {answer{"mallory", again}, answer{"alice", alices}, "mallory: failed", "alice"},
		"spoilt, before the holder": {answer{"mallory", spoilt}, answer{"alice", alices}, "mallory: bad share", "alice"},
		"spoilt, after the holder":  {answer{"alice", alices}, answer{"mallory", spoilt}, "mallory: bad share", "alice"},
		"by another holder":         {answer{"bob", alices}, answer{"alice", alices}, "bob: failed", "alice"},
		"of nobody known":           {answer{"mallory", alices}, answer{"trent", alices}, "mallory: failed, trent: failed", ""},
		"of this node":              {answer{"alice", alices}, answer{"this node", alices}, "alice: failed", "this node"},
		"of this node, later":       {answer{"this node", alices}, answer{"alice", again}, "alice: failed", "this node"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			came := make(chan bool)
			from := func(a answer, then func(context.Context)) *source {
				return &source{party: a.name, name: a.name, own: a.name == "this node", ask: func(ctx context.Context) ([]byte, error) {
					then(ctx)
					return a.data, nil
				}}
			}
			sources := []*source{
				from(tt.first, func(context.Context) {}),
				from(tt.second, func(context.Context) { time.Sleep(20 * time.Millisecond) }),
				from(answer{"dave", nil}, func(ctx context.Context) { close(came); <-ctx.Done() }),
			}
			go func() {
				<-came // who is asked since there is one too few
				cancel()
			}()
			_, faults, good, _, err := collect(ctx, p, r, sources)
			var list []string
			for _, f := range faults {
				if f.Name != "dave" {
					list = append(list, f.Name+": "+f.Kind.String())
				}
			}
			if got := strings.Join(list, ", "); got != tt.faults {
				t.Errorf("faults %q, not %q", got, tt.faults)
			}
			if len(good) != 1 || tt.kept != "" && good[0].name != tt.kept {
				t.Errorf("%d are kept, not that of %s", len(good), tt.kept)
			}
			var q *QuorumError
			if !errors.As(err, &q) || q.Have != 1 {
				t.Error(err)
			}
		})
	}
}

// One liar after the other doesn't have those verified again who were right.
func TestLiarsInARow(t *testing.T) {
	t.Parallel()
	const k, n = 4, 12
	p, shares, r := dealt(t, k, n, nil)
	l := pile{p: p, r: r, of: make(map[int]*reply)}
	bad := 0
	for i, share := range shares {
		s, err := share.Sign(r)
		if err != nil {
			t.Fatal(err)
		}
		if i >= k-1 && i < n-1 {
			data, err := s.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			data[128] ^= 1
			if err := s.UnmarshalBinary(data); err != nil {
				t.Fatal(err)
			}
		}
		if worse, twice := l.add(&reply{share: s}); worse != nil || twice {
			t.Fatal(i)
		}
		if len(l.of) < k {
			continue
		}
		sig, worse, err := l.combine()
		bad += len(worse)
		if i < n-1 {
			if len(worse) != 1 || worse[0].share != s || sig != nil {
				t.Errorf("share %d: %d are bad", i, len(worse))
			}
		} else if err != nil || r.Verify(p.RSA(), sig) != nil {
			t.Error(err)
		}
	}
	if bad != n-k || l.failed != 1 {
		t.Errorf("%d are bad, and it was tried in vain %d times", bad, l.failed)
	}
}
