// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/undersign/undersign/internal/store"
)

func newLocal(t *testing.T, path string) *Local {
	t.Helper()
	s, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return NewLocal(s)
}

func TestLocal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	l := newLocal(t, path)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()

	// Several publish the same, and two readers see one order.
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 50 {
				for _, e := range []Entry{NewTick(uint64(i)), NewOrder([32]byte{byte(i), 1}, []byte("order")), NewChange(fmt.Append(nil, i))} {
					if err := l.Publish(ctx, e); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	read := func() (list []Entry) {
		after := uint64(0)
		for len(list) < 150 {
			more, err := l.Read(ctx, after, 7)
			if err != nil {
				t.Error(err)
				return nil
			}
			list = append(list, more...)
			after = more[len(more)-1].Position
		}
		return list
	}
	var a, b []Entry
	wg.Go(func() { a = read() })
	wg.Go(func() { b = read() })
	wg.Wait()
	seen := make(map[[32]byte]bool)
	for i := range a {
		if a[i].ID != b[i].ID || !bytes.Equal(a[i].Data, b[i].Data) || a[i].Position != b[i].Position {
			t.Fatalf("entry %d differs", i)
		}
		if seen[a[i].ID] {
			t.Fatalf("entry %d is there twice", i)
		}
		seen[a[i].ID] = true
	}

	// Everything is there again, and what was forgotten stays away, also by its position.
	if err := l.Forget(a[99].Position); err != nil {
		t.Fatal(err)
	}
	l = newLocal(t, path)
	list, err := l.Read(ctx, 0, 1000)
	if err != nil || len(list) != 50 || list[0].Position != a[100].Position || list[49].ID != a[149].ID {
		t.Fatalf("%d entries, %v", len(list), err)
	}
	last := a[149].Position
	if err := l.Forget(last); err != nil {
		t.Fatal(err)
	}
	if err := l.Publish(ctx, NewTick(1000)); err != nil {
		t.Fatal(err)
	}
	if list, err := l.Read(ctx, 0, 1); err != nil || list[0].Position <= last {
		t.Fatalf("a position is used again: %v, %v", list, err)
	}
}

func TestLocalWaits(t *testing.T) {
	l := newLocal(t, filepath.Join(t.TempDir(), "x.db"))
	got := make(chan error)
	read := func(ctx context.Context) {
		_, err := l.Read(ctx, 0, 1)
		got <- err
	}
	short, cancel := context.WithCancel(t.Context())
	go read(short)
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("read until it was cancelled: %v", err)
	}
	go read(t.Context())
	if err := l.Publish(t.Context(), NewTick(1)); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
	go func() {
		_, err := l.Read(t.Context(), 1, 1)
		got <- err
	}()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; !errors.Is(err, ErrClosed) {
		t.Errorf("read until it was closed: %v", err)
	}
	if err := l.Publish(t.Context(), NewTick(2)); !errors.Is(err, ErrClosed) {
		t.Errorf("published after it was closed: %v", err)
	}
}

func TestEntryRefuses(t *testing.T) {
	l := newLocal(t, filepath.Join(t.TempDir(), "x.db"))
	for _, e := range []Entry{{}, {Data: []byte{0}}, {Data: []byte{9, 1}}, NewChange(make([]byte, MaxEntry))} {
		if err := l.Publish(t.Context(), e); err == nil {
			t.Errorf("an entry of %d bytes is published", len(e.Data))
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Publish(cancelled, NewTick(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("published after it was cancelled: %v", err)
	}
	for _, e := range []Entry{NewChange(make([]byte, 8)), {Data: []byte{1, 2}}, {Data: make([]byte, 10)}} {
		if _, err := e.Height(); err == nil {
			t.Errorf("%x is a tick", e.Data)
		}
	}
	tick := NewTick(7)
	if h, err := tick.Height(); h != 7 || err != nil {
		t.Errorf("%d, %v", h, err)
	}
}
