// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package nats

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/undersign/undersign/internal/relay"
	"github.com/undersign/undersign/internal/relay/nats/natstest"
)

func limit(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// readAll reads n entries, and fails the test if they aren't in order or not different.
func readAll(t testing.TB, r relay.Relay, after uint64, n, max int) (list []relay.Entry) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	seen := make(map[[32]byte]bool)
	for len(list) < n {
		more, err := r.Read(ctx, after, max)
		if err != nil {
			t.Errorf("after %d entries: %v", len(list), err)
			return list
		}
		for _, e := range more {
			if e.Position <= after || seen[e.ID] {
				t.Errorf("entry %d, after %d, there before: %v", e.Position, after, seen[e.ID])
			}
			after, seen[e.ID] = e.Position, true
		}
		list = append(list, more...)
	}
	return list
}

func same(t testing.TB, a, b []relay.Entry) {
	t.Helper()
	if len(a) != len(b) {
		t.Fatalf("%d entries, and %d", len(a), len(b))
	}
	for i := range a {
		if a[i].ID != b[i].ID || a[i].Position != b[i].Position || !bytes.Equal(a[i].Data, b[i].Data) {
			t.Fatalf("entry %d differs", i)
		}
	}
}

func publishAll(t testing.TB, r relay.Relay, list ...relay.Entry) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, e := range list {
		if err := r.Publish(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
}

func ticks(from, to int) (list []relay.Entry) {
	for i := from; i < to; i++ {
		list = append(list, relay.NewTick(uint64(i)))
	}
	return list
}

func TestRelay(t *testing.T) {
	t.Parallel()
	c := newCluster(t, natstest.Config{N: 1})
	a, b := c.open(t), c.open(t)

	// Several publish the same, and several read one order.
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			r := []*Relay{a, b}[i%2]
			for i := range 50 {
				publishAll(t, r, relay.NewTick(uint64(i)), relay.NewOrder([32]byte{byte(i), 1}, []byte("order")), relay.NewChange(fmt.Append(nil, i)))
			}
		})
	}
	var lists [3][]relay.Entry
	for i := range lists {
		wg.Go(func() { lists[i] = readAll(t, []*Relay{a, b}[i%2], 0, 150, 7) })
	}
	wg.Wait()
	same(t, lists[0], lists[1])
	same(t, lists[0], lists[2])

	// From the middle, by another client, and back again.
	r := c.open(t)
	same(t, lists[0][100:], readAll(t, r, lists[0][99].Position, 50, 1000))
	same(t, lists[0][10:], readAll(t, r, lists[0][9].Position, 140, 3))
	same(t, lists[0], readAll(t, r, 0, 150, 0))
}

func TestWaits(t *testing.T) {
	t.Parallel()
	r := newCluster(t, natstest.Config{N: 1}).open(t)
	got := make(chan error)
	read := func(ctx context.Context, after uint64) {
		_, err := r.Read(ctx, after, 1)
		got <- err
	}
	short, cancel := context.WithCancel(t.Context())
	go read(short, 0)
	time.Sleep(100 * time.Millisecond)
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("read until it was cancelled: %v", err)
	}
	go read(limit(t, 300*time.Millisecond), 0)
	if err := <-got; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("read until the deadline: %v", err)
	}
	go read(t.Context(), 0)
	time.Sleep(100 * time.Millisecond)
	publishAll(t, r, relay.NewTick(1))
	if err := <-got; err != nil {
		t.Error(err)
	}
	go read(t.Context(), 1)
	time.Sleep(100 * time.Millisecond)
	start := time.Now()
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	if err := <-got; !errors.Is(err, relay.ErrClosed) {
		t.Errorf("read until it was closed: %v", err)
	}
	if d := time.Since(start); d > 30*time.Second {
		t.Errorf("closed after %v", d)
	}
	if err := r.Publish(t.Context(), relay.NewTick(2)); !errors.Is(err, relay.ErrClosed) {
		t.Errorf("published after it was closed: %v", err)
	}
	if _, err := r.Read(t.Context(), 0, 1); !errors.Is(err, relay.ErrClosed) {
		t.Errorf("read after it was closed: %v", err)
	}
}

func TestPublishRefuses(t *testing.T) {
	t.Parallel()
	r := newCluster(t, natstest.Config{N: 1}).open(t)
	for _, e := range []relay.Entry{{}, {Data: []byte{0}}, {Data: []byte{9, 1}}, relay.NewChange(make([]byte, relay.MaxEntry))} {
		if err := r.Publish(t.Context(), e); err == nil {
			t.Errorf("an entry of %d bytes is published", len(e.Data))
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Publish(cancelled, relay.NewTick(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("published after it was cancelled: %v", err)
	}
	// The longest gets through.
	longest := relay.NewChange(make([]byte, relay.MaxEntry-1))
	publishAll(t, r, longest)
	if list := readAll(t, r, 0, 1, 1); len(list) != 1 || list[0].ID != longest.ID || list[0].Position != 1 {
		t.Errorf("%d entries", len(list))
	}
}

// TestKilled kills a server while entries are published, again and again: what was
// acknowledged is there, once, and in one order.
func TestKilled(t *testing.T) {
	t.Parallel()
	c := newCluster(t, natstest.Config{N: 1})
	r := c.open(t)
	rounds := 3
	if long() {
		rounds = 50
	}
	var mu sync.Mutex
	acked := make(map[[32]byte]bool)
	var first []relay.Entry
	for round := range rounds {
		var wg sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		for w := range 4 {
			wg.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					e := relay.NewChange(fmt.Appendf(nil, "%d %d %d", round, w, i/2)) // each twice
					if r.Publish(ctx, e) == nil {
						mu.Lock()
						acked[e.ID] = true
						mu.Unlock()
					}
				}
			})
		}
		time.Sleep(time.Duration(100+37*round%100) * time.Millisecond)
		c.Servers[0].Kill()
		time.Sleep(50 * time.Millisecond)
		c.Servers[0].Start()
		time.Sleep(200 * time.Millisecond)
		cancel()
		wg.Wait()
		if len(first) > 0 {
			same(t, first, readAll(t, r, 0, len(first), 1000)[:len(first)])
		}
		publishAll(t, r, relay.NewTick(uint64(round)))
		first = until(t, r, relay.NewTick(uint64(round)))
	}
	for _, e := range first {
		delete(acked, e.ID)
	}
	if len(acked) > 0 {
		t.Errorf("%d entries that were acknowledged are lost", len(acked))
	}
	t.Logf("%d entries in %d rounds", len(first), rounds)
}

// until reads from the beginning up to an entry.
func until(t testing.TB, r relay.Relay, last relay.Entry) (list []relay.Entry) {
	t.Helper()
	ctx := limit(t, time.Minute)
	seen := make(map[[32]byte]bool)
	for after := uint64(0); ; {
		more, err := r.Read(ctx, after, 64)
		if err != nil {
			t.Fatalf("after %d entries: %v", len(list), err)
		}
		for _, e := range more {
			if seen[e.ID] || e.Position <= after {
				t.Fatalf("entry %d is there twice, or not in order", e.Position)
			}
			seen[e.ID], after = true, e.Position
			list = append(list, e)
			if e.ID == last.ID {
				return list
			}
		}
	}
}

// TestDuplicateAcrossRestart publishes again what a server had before it was killed.
func TestDuplicateAcrossRestart(t *testing.T) {
	t.Parallel()
	c := newCluster(t, natstest.Config{N: 1})
	r := c.open(t)
	publishAll(t, r, ticks(0, 20)...)
	before := readAll(t, r, 0, 20, 100)
	c.Servers[0].Kill()
	c.Servers[0].Start()
	publishAll(t, r, ticks(0, 21)...)
	after := readAll(t, r, 0, 21, 100)
	if len(after) != 21 {
		t.FailNow()
	}
	same(t, before, after[:20])
	if after[20].Position != 21 {
		t.Errorf("the next has position %d", after[20].Position)
	}
}

// admin returns a client that may do everything with the stream.
func admin(t testing.TB, c *testCluster) (*client.Conn, jetstream.JetStream) {
	t.Helper()
	nc, err := client.Connect(c.config(t).Servers[0], client.UserInfo("admin", "admin"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return nc, js
}

// TestReadersPassOver puts into the stream what doesn't belong there: all readers make the
// same of it, wherever they begin.
func TestReadersPassOver(t *testing.T) {
	t.Parallel()
	c := newCluster(t, natstest.Config{N: 1})
	_, js := admin(t, c)
	ctx := limit(t, 30*time.Second)
	cfg := (&Relay{cfg: c.config(t).complete()}).wanted()
	cfg.Duplicates = 100 * time.Millisecond // over when the next comes
	if _, err := js.CreateStream(ctx, cfg); err != nil {
		t.Fatal(err)
	}
	put := func(id string, data []byte) {
		t.Helper()
		m := &client.Msg{Subject: "undersign.entry", Data: data, Header: client.Header{}}
		if id != "" {
			m.Header.Set("Nats-Msg-Id", id)
		}
		ack, err := js.PublishMsg(ctx, m)
		if err != nil || ack.Duplicate {
			t.Fatalf("%+v, %v", ack, err)
		}
	}
	proper := func(e relay.Entry) { t.Helper(); put(hex.EncodeToString(e.ID[:]), e.Data) }
	one, two, order := relay.NewTick(1), relay.NewTick(2), relay.NewOrder([32]byte{7}, []byte("order"))
	proper(one) // 1
	proper(order)
	other := relay.NewOrder([32]byte{7}, []byte("the same batch by other words"))
	time.Sleep(300 * time.Millisecond)
	proper(one) // 3: again
	proper(other)
	put("", two.Data) // 5: no ID
	put("x", two.Data)
	put(hex.EncodeToString(two.ID[:])[1:], two.Data)
	put(hex.EncodeToString(two.ID[:])+"00", two.Data)
	put(hex.EncodeToString(two.ID[:]), []byte{byte(relay.Change), 1}) // 9: not its ID
	time.Sleep(300 * time.Millisecond)
	put(hex.EncodeToString(order.ID[:]), []byte{})
	put(hex.EncodeToString([]byte("another ID, also of 32 bytes ...")), two.Data)
	time.Sleep(300 * time.Millisecond)
	proper(two) // 12: what came before hasn't taken its ID
	proper(relay.NewTick(3))
	cfg.Duplicates = duplicates
	if _, err := js.UpdateStream(ctx, cfg); err != nil {
		t.Fatal(err)
	}
	r := c.open(t)
	for after := range uint64(13) {
		var want []uint64
		for _, p := range []uint64{1, 2, 12, 13} {
			if p > after {
				want = append(want, p)
			}
		}
		list := readAll(t, r, after, len(want), 100)
		for i, e := range list {
			if e.Position != want[i] {
				t.Errorf("after %d comes %d, want %d", after, e.Position, want[i])
			}
		}
	}
}

// TestAnotherQueue puts another stream in the place of the one that was read.
func TestAnotherQueue(t *testing.T) {
	t.Parallel()
	c := newCluster(t, natstest.Config{N: 1})
	r := c.open(t)
	publishAll(t, r, ticks(0, 5)...)
	readAll(t, r, 0, 5, 100)
	_, js := admin(t, c)
	ctx := limit(t, time.Minute)
	if err := js.DeleteStream(ctx, "undersign"); err != nil {
		t.Fatal(err)
	}
	r.lookAgain()
	if err := r.Publish(ctx, relay.NewTick(9)); !errors.Is(err, ErrUnsafe) {
		t.Errorf("published where no stream is: %v", err)
	}
	if _, err := r.Read(ctx, 5, 1); !errors.Is(err, ErrUnsafe) {
		t.Errorf("read where no stream is: %v", err)
	}
	r2 := c.open(t)
	publishAll(t, r2, relay.NewTick(9))
	r.lookAgain()
	short := limit(t, 2*time.Second)
	if list, err := r.Read(short, 5, 1); err == nil {
		t.Errorf("%d entries after the end of another stream", len(list))
	}

	// One whose beginning is gone isn't read from the beginning.
	if err := js.DeleteStream(ctx, "undersign"); err != nil {
		t.Fatal(err)
	}
	s, err := js.CreateStream(ctx, r.wanted())
	if err != nil {
		t.Fatal(err)
	}
	publishAll(t, r2, ticks(0, 5)...)
	if err := s.Purge(ctx, jetstream.WithPurgeSequence(4)); err != nil {
		t.Fatal(err)
	}
	if _, err := r2.Read(ctx, 0, 1); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("read what was purged: %v", err)
	}
}

// TestSlowReader doesn't read while much is published: it isn't sent, and nothing is lost.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	c := newCluster(t, natstest.Config{N: 1})
	r, slow := c.open(t), c.open(t)
	publishAll(t, r, relay.NewTick(0))
	first := readAll(t, slow, 0, 1, 1)
	payload := make([]byte, 256<<10)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 25 {
				publishAll(t, r, relay.NewChange(fmt.Appendf(payload[:len(payload):len(payload)], "%d %d", w, i)))
			}
		})
	}
	wg.Wait()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	list, err := slow.Read(t.Context(), first[0].Position, 1)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 40<<20 {
		t.Errorf("%d MiB are in memory for one entry", grown>>20)
	}
	if got := readAll(t, slow, list[0].Position, 199, 10); len(got) != 199 {
		t.Errorf("%d entries", len(got))
	}
}

// TestNoGoroutines counts them after everything is closed.
func TestNoGoroutines(t *testing.T) {
	c := newCluster(t, natstest.Config{N: 1})
	before := runtime.NumGoroutine()
	for range 3 {
		r, err := Open(limit(t, 30*time.Second), c.config(t))
		if err != nil {
			t.Fatal(err)
		}
		publishAll(t, r, ticks(0, 5)...)
		readAll(t, r, 0, 5, 2)
		done := make(chan error)
		go func() { _, err := r.Read(t.Context(), 5, 1); done <- err }()
		time.Sleep(50 * time.Millisecond)
		r.Close()
		<-done
		if _, err := Open(limit(t, 100*time.Millisecond), Config{Servers: []string{"nats://127.0.0.1:1"}, InsecureAssumeSyncAlways: true}); err == nil {
			t.Fatal("connected to nobody")
		}
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("%d goroutines, and %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}

func TestRecent(t *testing.T) {
	r := newRecent()
	id := [32]byte{1}
	if !r.add(1, id) || r.add(2, id) {
		t.Error("an ID that comes twice")
	}
	// What was passed over counts for those after it.
	if r.add(2+window, id) {
		t.Error("at the window's end")
	}
	for p := uint64(3 + window); p < 3+2*window; p++ {
		other := [32]byte{2}
		other[8], other[9], other[10] = byte(p), byte(p>>8), byte(p>>16)
		if !r.add(p, other) {
			t.Fatalf("position %d", p)
		}
	}
	if !r.add(3+2*window, id) {
		t.Error("past the window's end")
	}
	if len(r.at) > window {
		t.Errorf("%d IDs are in memory", len(r.at))
	}
}
