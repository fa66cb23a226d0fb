// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/thresholdrsa"
)

// A loneSigner is a service with a key of one holder.
type loneSigner struct {
	*Service
	t   testing.TB
	key *key
}

func newLoneSigner(t testing.TB, slots int) *loneSigner {
	t.Helper()
	dir := t.TempDir()
	st, err := store.Open(filepath.Join(dir, "store.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	_, signing, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	log, err := audit.Open(filepath.Join(dir, "audit.jsonl"), signing, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	priv, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	dealing, shares, err := thresholdrsa.Import(priv, 1, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	k := &key{name: "code", policy: KeyName(dealing.PublicKey()), root: dealing.PublicKey(), record: dealing.PublicKey(), share: shares[0]}
	return &loneSigner{&Service{
		opt:   Options{Store: st, Audit: log, Now: time.Now},
		slots: make(chan struct{}, slots), flights: make(map[[32]byte]*flight),
	}, t, k}
}

// ask has a party ask for a share.
func (s *loneSigner) ask(ctx context.Context, party, m string) error {
	digest := sha256.Sum256([]byte(m))
	r, err := thresholdrsa.NewRequest(s.key.record, digest[:], crypto.SHA256)
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = s.share(ctx, party, s.key, r, false, 0)
	return err
}

// A party that asks and goes away, again and again, takes its own places and not those of
// others: what was begun goes on without it.
func TestFlightsOfOne(t *testing.T) {
	t.Parallel()
	s := newLoneSigner(t, 1)
	s.slots <- struct{}{} // it is taken
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	limited := 0
	for i := range maxFlights + 1 {
		var limit *policy.LimitError
		switch err := s.ask(gone, "us1mallory", fmt.Sprint(i)); {
		case errors.As(err, &limit):
			limited++
		case !errors.Is(err, context.Canceled):
			t.Fatal(err)
		}
	}
	if want := maxFlights + 1 - maxFlightsOfParty; limited != want {
		t.Errorf("%d calls are refused, want %d", limited, want)
	}
	<-s.slots
	if err := s.ask(t.Context(), "us1alice", "m"); err != nil {
		t.Errorf("another party: %v", err)
	}
	s.running.Wait()
	if len(s.flights) != 0 {
		t.Errorf("%d are left", len(s.flights))
	}
}
