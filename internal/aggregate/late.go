// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"context"
	"log/slog"
	"path/filepath"
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
	r      relay.Relay
}

func newLateRelay(cfg nats.Config, dir string, log *slog.Logger) *lateRelay {
	for _, file := range []*string{&cfg.Credentials, &cfg.Nkey, &cfg.SystemCredentials, &cfg.SystemNkey, &cfg.CA, &cfg.Certificate, &cfg.Key} {
		if *file != "" && !filepath.IsAbs(*file) {
			*file = filepath.Join(dir, *file)
		}
	}
	cfg.Logger = log
	l := &lateRelay{cfg: cfg, log: log, ready: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// start begins to open the queue. Close ends that.
func (l *lateRelay) start() {
	l.group.Go(func() {
		for {
			r, err := nats.Open(l.ctx, l.cfg)
			if err == nil {
				l.r = r
				close(l.ready)
				return
			}
			if l.ctx.Err() != nil {
				return
			}
			l.log.Warn("the queue can't be used", "error", err)
			if !sleep(l.ctx, 5*time.Second) {
				return
			}
		}
	})
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
