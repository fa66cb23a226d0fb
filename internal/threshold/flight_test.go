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

// A party that asks and goes away, again and again, takes its own places and not those of
// others: what was begun goes on without it.
func TestFlightsOfOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st, err := store.Open(filepath.Join(dir, "store.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	_, signing, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	log, err := audit.Open(filepath.Join(dir, "audit.jsonl"), signing, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	priv, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	dealing, shares, err := thresholdrsa.Import(priv, 1, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	k := &key{name: "code", policy: KeyName(dealing.PublicKey()), root: dealing.PublicKey(), record: dealing.PublicKey(), share: shares[0]}
	s := &Service{
		opt:   Options{Store: st, Audit: log, Now: time.Now},
		slots: make(chan struct{}, 1), flights: make(map[[32]byte]*flight),
	}
	s.slots <- struct{}{} // a processor that is busy
	ask := func(ctx context.Context, party, m string) error {
		digest := sha256.Sum256([]byte(m))
		r, err := thresholdrsa.NewRequest(k.record, digest[:], crypto.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.share(ctx, party, k, r, false, 0)
		return err
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	limited := 0
	for i := range maxFlights + 1 {
		var limit *policy.LimitError
		switch err := ask(gone, "us1mallory", fmt.Sprint(i)); {
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
	if err := ask(t.Context(), "us1alice", "m"); err != nil {
		t.Errorf("another party: %v", err)
	}
	s.running.Wait()
	if len(s.flights) != 0 {
		t.Errorf("%d are left", len(s.flights))
	}
}
