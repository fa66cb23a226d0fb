// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package nats

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/undersign/undersign/internal/relay"
	"github.com/undersign/undersign/internal/relay/nats/natstest"
)

// A load publishes until it is stopped, and knows what was acknowledged.
type load struct {
	wg     sync.WaitGroup
	cancel context.CancelFunc

	mu    sync.Mutex
	acked map[[32]byte]bool
}

func newLoad(t testing.TB, name string, relays ...*Relay) *load {
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{cancel: cancel, acked: make(map[[32]byte]bool)}
	for w, r := range relays {
		l.wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				e := relay.NewChange(fmt.Appendf(nil, "%s %d", name, i)) // the same from all
				if err := r.Publish(ctx, e); err == nil {
					l.mu.Lock()
					l.acked[e.ID] = true
					l.mu.Unlock()
				} else if ctx.Err() == nil {
					t.Logf("publisher %d: %v", w, err)
				}
			}
		})
	}
	return l
}

func (l *load) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acked)
}

// more waits until n more entries are acknowledged.
func (l *load) more(t testing.TB, n int) {
	t.Helper()
	start, want := time.Now(), l.count()+n
	for l.count() < want {
		if time.Since(start) > time.Minute {
			t.Fatal("nothing is acknowledged any more")
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Logf("%d acknowledged after %v", n, time.Since(start).Round(10*time.Millisecond))
}

// stop ends the load and looks for what it published.
func (l *load) stop(t testing.TB, r *Relay) []relay.Entry {
	t.Helper()
	l.cancel()
	l.wg.Wait()
	last := relay.NewChange(fmt.Append(nil, "last", time.Now().UnixNano()))
	publishAll(t, r, last)
	list := until(t, r, last)
	for _, e := range list {
		delete(l.acked, e.ID)
	}
	if n := len(l.acked); n > 0 {
		t.Errorf("%d entries that were acknowledged are lost", n)
	}
	return list
}

// TestCluster takes one server of three away: killed, or silent.
func TestCluster(t *testing.T) {
	t.Parallel()
	c := newCluster(t, natstest.Config{N: 3})
	a, b := c.open(t), c.open(t)
	l := newLoad(t, "one", a, b)
	l.more(t, 20)

	// The leader is killed, and comes back with its disk.
	leader, _ := c.Find(t, leaderOf(t, a))
	leader.Kill()
	l.more(t, 20)
	// A validator that starts anew doesn't need all three.
	c.open(t).Close()
	leader.Start()
	l.more(t, 20)

	// A follower is cut off, while the others go on, and comes back behind.
	waitCurrent(t, a)
	_, others := c.Find(t, leaderOf(t, a))
	others[0].Pause()
	l.more(t, 20)
	others[0].Wake()
	l.more(t, 20)

	first := l.stop(t, a)
	same(t, first, until(t, b, first[len(first)-1]))
	same(t, first, until(t, c.open(t), first[len(first)-1]))
}

// TestNoQuorum takes two servers of three away: nothing is acknowledged then, and nothing
// that was is lost.
func TestNoQuorum(t *testing.T) {
	t.Parallel()
	c := newCluster(t, natstest.Config{N: 3})
	a, b := c.open(t), c.open(t)
	publishAll(t, a, ticks(0, 50)...)
	first := until(t, b, relay.NewTick(49))
	waitCurrent(t, a)
	leader, others := c.Find(t, leaderOf(t, a))
	others[0].Kill()
	others[1].Kill()
	if err := a.Publish(limit(t, 2*time.Second), relay.NewTick(99)); err == nil {
		t.Error("one of three acknowledges")
	}
	others[0].Start()
	publishAll(t, a, relay.NewTick(99), relay.NewTick(100))
	leader.Kill()
	others[1].Start()
	publishAll(t, b, relay.NewTick(100), relay.NewTick(101))
	list := until(t, b, relay.NewTick(101))
	same(t, first, list[:len(first)])
	leader.Start()
	same(t, list, until(t, c.open(t), relay.NewTick(101)))
}

// TestOneServerDoesNotSync finds the one of three that is set up differently.
func TestOneServerDoesNotSync(t *testing.T) {
	t.Parallel()
	c := newCluster(t, natstest.Config{N: 3})
	r := c.open(t)
	waitCurrent(t, r)
	_, others := c.Find(t, leaderOf(t, r))
	others[0].Kill()
	others[0].Edit("sync_interval: always", "sync_interval: 2m")
	others[0].Start()
	waitCurrent(t, r)
	wantUnsafe(t, "one of three", c.config(t), "server "+others[0].Name)
	r.lookAgain()
	if err := r.Publish(t.Context(), relay.NewTick(1)); err == nil {
		t.Error("published")
	}
}

func leaderOf(t testing.TB, r *Relay) string {
	t.Helper()
	ctx := limit(t, time.Minute)
	for {
		s, err := r.js.Stream(ctx, "undersign")
		if err == nil && s.CachedInfo().Cluster.Leader != "" {
			return s.CachedInfo().Cluster.Leader
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// waitCurrent waits until all servers have the stream.
func waitCurrent(t testing.TB, r *Relay) {
	t.Helper()
	ctx := limit(t, time.Minute)
	for {
		s, err := r.js.Stream(ctx, "undersign")
		current := 0
		if err == nil {
			for _, p := range s.CachedInfo().Cluster.Replicas {
				if p.Current && !p.Offline {
					current++
				}
			}
		}
		if current == 2 {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("%d replicas are current, %v", current, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
