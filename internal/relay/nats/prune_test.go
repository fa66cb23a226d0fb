// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package nats

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/undersign/undersign/internal/relay"
	"github.com/undersign/undersign/internal/relay/nats/natstest"
)

// fill puts n entries into the stream, faster than one after another.
func fill(t testing.TB, c *testCluster, from, n int) {
	t.Helper()
	nc, err := client.Connect(c.URLs("nats")[0], client.UserInfo("admin", "admin"))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(1<<15))
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		e := relay.NewTick(uint64(from + i))
		m := &client.Msg{Subject: "undersign.entry", Data: e.Data, Header: client.Header{"Nats-Msg-Id": {hex.EncodeToString(e.ID[:])}}}
		if _, err := js.PublishMsgAsync(m); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-js.PublishAsyncComplete():
	case <-time.After(time.Minute):
		t.Fatal("entries aren't acknowledged")
	}
}

// TestPrune removes what all have read: who reads on doesn't notice, and who would have to
// read what is gone is told.
func TestPrune(t *testing.T) {
	t.Parallel()
	c := newCluster(t, natstest.Config{N: 1, JetStream: "sync_interval: 1m"}) // to be filled soon
	cfg := c.config(t)
	cfg.Prune, cfg.InsecureAssumeSyncAlways = true, true
	r := open(t, cfg)
	const extra = 100
	fill(t, c, 0, window+2*extra)
	position := func() uint64 {
		s, err := r.js.Stream(t.Context(), "undersign")
		if err != nil {
			t.Fatal(err)
		}
		return s.CachedInfo().State.FirstSeq
	}
	// Nothing goes that has an effect on what is read.
	for _, after := range []uint64{0, 1, window} {
		if err := r.Prune(t.Context(), after); err != nil || position() != 1 {
			t.Fatalf("after %d: %v, and it begins at %d", after, err, position())
		}
	}
	another := func() *Relay {
		cfg := cfg
		cfg.Prune = false
		return open(t, cfg)
	}
	reader := another()
	readAll(t, reader, window+extra/2, extra, 10) // it is at a place, and reads on from there
	if err := r.Prune(t.Context(), window+extra); err != nil {
		t.Fatal(err)
	}
	if got := position(); got != extra+1 {
		t.Fatalf("it begins at %d, and not %d", got, extra+1)
	}
	for _, after := range []uint64{1, window, window + extra} { // again, and for less
		if err := r.Prune(t.Context(), after); err != nil || position() != extra+1 {
			t.Errorf("after %d: %v, and it begins at %d", after, err, position())
		}
	}
	if err := r.Prune(t.Context(), 3*window); err == nil || position() != extra+1 {
		t.Errorf("past the end: %v, and it begins at %d", err, position())
	}
	same(t, readAll(t, reader, window+extra, extra, 10), readAll(t, another(), window+extra, extra, 64))
	for _, after := range []uint64{0, 1, extra, window + extra - 1} {
		_, err := another().Read(limit(t, 20*time.Second), after, 1)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("begins at %d", extra+1)) {
			t.Errorf("after %d: %v", after, err)
		}
	}
	// What is published goes on from there, and an ID that is gone is kept apart by servers.
	publishAll(t, r, relay.NewTick(1), relay.NewTick(1<<20))
	if list := readAll(t, reader, window+2*extra, 1, 10); list[0].ID != relay.NewTick(1<<20).ID {
		t.Errorf("%x at %d", list[0].Data, list[0].Position)
	}
	// A stream that was emptied.
	_, js := admin(t, c)
	s, err := js.Stream(t.Context(), "undersign")
	if err == nil {
		err = s.Purge(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := another().Read(limit(t, 20*time.Second), window+extra, 1); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("read from a queue that was emptied: %v", err)
	}
}

func TestPruneRefused(t *testing.T) {
	t.Parallel()
	c := newCluster(t, natstest.Config{N: 1, NoPurge: true, JetStream: "sync_interval: 1m"})
	cfg := c.config(t)
	cfg.InsecureAssumeSyncAlways = true
	if err := open(t, cfg).Prune(t.Context(), 1<<20); err == nil || !strings.Contains(err.Error(), "isn't set") {
		t.Errorf("prune isn't set: %v", err)
	}
	cfg.Prune = true
	r := open(t, cfg)
	fill(t, c, 0, window+10)
	if err := r.Prune(limit(t, 20*time.Second), window+5); err == nil || !strings.Contains(err.Error(), "may the user publish") {
		t.Errorf("a user who may not: %v", err)
	}
	readAll(t, r, 0, 10, 10)

	_, js := admin(t, c)
	if err := js.DeleteStream(t.Context(), "undersign"); err != nil {
		t.Fatal(err)
	}
	stream := r.wanted()
	stream.DenyPurge = true
	if _, err := js.CreateStream(t.Context(), stream); err != nil {
		t.Fatal(err)
	}
	wantUnsafe(t, "deny_purge", cfg, "deny_purge")
	cfg.Prune = false
	open(t, cfg) // without prune it is as good as another
}
