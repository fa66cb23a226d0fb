// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/undersign/undersign/internal/relay"
	"github.com/undersign/undersign/internal/relay/nats"
)

// A lateRelay is a queue that is opened once its servers are there, and are as they should
// be: a node starts without them, and waits.
type lateRelay struct {
	cfg    nats.Config
	log    *slog.Logger
	ready  chan struct{} // closed when r is there
	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup
	r      *nats.Relay

	mu      sync.Mutex
	trouble error // why it isn't there
}

// newLateRelay returns a queue whose files are in a folder. They have to be in order:
// waiting doesn't mend them.
func newLateRelay(cfg nats.Config, dir string, log *slog.Logger) (*lateRelay, error) {
	cfg, err := cfg.In(dir)
	if err != nil {
		return nil, err
	}
	cfg.Logger = log
	l := &lateRelay{cfg: cfg, log: log, ready: make(chan struct{}), trouble: errors.New("it isn't open yet")}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l, nil
}

// openTime is how long servers have to be there before it is said that they aren't.
const openTime = 10 * time.Second

// start begins to open the queue. Close ends that.
func (l *lateRelay) start() {
	l.group.Go(func() {
		said := ""
		for {
			err := l.open()
			if err == nil || l.ctx.Err() != nil {
				return
			}
			l.mu.Lock()
			l.trouble = err
			l.mu.Unlock()
			if s := err.Error(); s != said {
				l.log.Warn("the queue can't be used, and is waited for", "error", err)
				said = s
			}
			if !sleep(l.ctx, time.Second) {
				return
			}
		}
	})
}

func (l *lateRelay) open() error {
	ctx, cancel := context.WithTimeout(l.ctx, openTime)
	defer cancel()
	r, err := nats.Open(ctx, l.cfg)
	if err != nil {
		return err
	}
	l.r = r
	close(l.ready)
	return nil
}

// status returns why the queue can't be used at the moment.
func (l *lateRelay) status() error {
	select {
	case <-l.ready:
		return l.r.Status()
	default:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Errorf("it can't be opened: %w", l.trouble)
}

// Prune implements [pruner].
func (l *lateRelay) Prune(ctx context.Context, after uint64) error {
	if err := l.wait(ctx); err != nil {
		return err
	}
	return l.r.Prune(ctx, after)
}

func (l *lateRelay) wait(ctx context.Context) error {
	select {
	case <-l.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.ctx.Done():
		return relay.ErrClosed
	}
}

// Publish implements [relay.Relay].
func (l *lateRelay) Publish(ctx context.Context, e relay.Entry) error {
	if err := l.wait(ctx); err != nil {
		return err
	}
	return l.r.Publish(ctx, e)
}

// Read implements [relay.Relay].
func (l *lateRelay) Read(ctx context.Context, after uint64, max int) ([]relay.Entry, error) {
	if err := l.wait(ctx); err != nil {
		return nil, err
	}
	return l.r.Read(ctx, after, max)
}

// Close implements [relay.Relay].
func (l *lateRelay) Close() error {
	l.cancel()
	l.group.Wait()
	if l.r == nil {
		return nil
	}
	return l.r.Close()
}
