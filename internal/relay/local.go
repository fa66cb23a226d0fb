// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"sync"

	"github.com/undersign/undersign/internal/store"
)

// Local is a [Relay] in a node's store.
type Local struct {
	s *store.Store

	mu     sync.Mutex
	closed bool
	news   chan struct{} // closed when something was published
}

// NewLocal returns the relay in a store.
func NewLocal(s *store.Store) *Local { return &Local{s: s, news: make(chan struct{})} }

// Publish implements [Relay].
func (l *Local) Publish(ctx context.Context, e Entry) error {
	if err := e.Check(); err != nil {
		return err
	}
	if _, closed := l.state(); closed {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	added := int64(0)
	err := l.s.Update(func(tx *store.Tx) (err error) {
		added, err = tx.Exec("INSERT INTO relay (id, data) VALUES (?, ?) ON CONFLICT DO NOTHING", e.ID[:], e.Data)
		return err
	})
	if err == nil && added > 0 {
		l.announce(false)
	}
	return err
}

// announce wakes those who wait.
func (l *Local) announce(closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = l.closed || closed
	close(l.news)
	l.news = make(chan struct{})
}

func (l *Local) state() (news <-chan struct{}, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.news, l.closed
}

// Read implements [Relay].
func (l *Local) Read(ctx context.Context, after uint64, max int) ([]Entry, error) {
	for {
		news, closed := l.state()
		if closed {
			return nil, ErrClosed
		}
		list, err := l.read(after, max)
		if err != nil || len(list) > 0 {
			return list, err
		}
		select {
		case <-news:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (l *Local) read(after uint64, max int) (list []Entry, err error) {
	err = l.s.View(func(tx *store.Tx) error {
		var position int64
		var id, data []byte
		return tx.Rows([]any{&position, &id, &data}, func() error {
			e := Entry{Position: uint64(position), Data: append([]byte(nil), data...)}
			copy(e.ID[:], id)
			list = append(list, e)
			return nil
		}, "SELECT position, id, data FROM relay WHERE position > ? ORDER BY position LIMIT ?", int64(after), int64(max))
	})
	return list, err
}

// Forget deletes entries up to a position, which nobody reads any more.
func (l *Local) Forget(to uint64) error {
	return l.s.Update(func(tx *store.Tx) error {
		_, err := tx.Exec("DELETE FROM relay WHERE position <= ?", int64(to))
		return err
	})
}

// Close wakes those who wait. The store stays open.
func (l *Local) Close() error {
	l.announce(true)
	return nil
}
