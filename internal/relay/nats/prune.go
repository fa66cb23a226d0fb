// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package nats

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Prune removes entries that nobody reads any more, who reads on after a position: all
// before it but those that have an effect on entries after it.
func (r *Relay) Prune(ctx context.Context, after uint64) error {
	if !r.cfg.Prune {
		return errors.New("nats: prune isn't set")
	}
	if after <= window {
		return nil
	}
	ctx, done, err := r.begin(ctx)
	if err != nil {
		return err
	}
	return done(r.prune(ctx, after-window+1))
}

// prune removes entries up to one that stays.
func (r *Relay) prune(ctx context.Context, first uint64) error {
	ctx, cancel := context.WithTimeout(ctx, 2*attempt)
	defer cancel()
	s, err := r.js.Stream(ctx, r.cfg.Stream)
	if err != nil {
		return unlessLasting(err)
	}
	state := s.CachedInfo().State
	if state.FirstSeq >= first {
		return nil
	}
	if state.LastSeq < first {
		return fmt.Errorf("nats: the queue ends at %d, and should be removed up to %d: it isn't the same", state.LastSeq, first)
	}
	if err := s.Purge(ctx, jetstream.WithPurgeSequence(first)); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			// What a user isn't allowed to ask isn't answered.
			return fmt.Errorf("nats: no answer: may the user publish to $JS.API.STREAM.PURGE.%s?", r.cfg.Stream)
		}
		return unlessLasting(err)
	}
	return nil
}
