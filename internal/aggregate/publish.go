// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/aggregate/frame"
	"github.com/undersign/undersign/internal/failpoint"
)

// publish hands a batch to the validators, unless that is under way. It is called again
// until they have it.
func (a *aggregator) publish(p distill.Publish) {
	if a.publishing[p.Seq] {
		return
	}
	a.publishing[p.Seq] = true
	a.group.Go(func() {
		err := a.handOff(a.ctx, p)
		if err != nil {
			a.log.Warn("a batch wasn't handed over", "batch", p.Seq, "error", err)
		}
		a.do(a.ctx, func(now int64) error {
			delete(a.publishing, p.Seq)
			if err != nil {
				return nil
			}
			if err := failpoint.Hit("aggregate.handoff.before"); err != nil {
				return err
			}
			return a.done(nil, a.machine.HandedOff(now, p.Seq))
		})
	})
}

// handOff gets a witness of F+1 validators for a batch, and has F+1 of them put it into
// the order: one of those is honest.
func (a *aggregator) handOff(ctx context.Context, p distill.Publish) error {
	quorum := a.s.genesis.Quorum()
	o := &frame.Order{Aggregator: a.id, Seq: p.Seq, Digest: p.Digest}
	wit := o.Wit(a.s.network.ID())
	var shares []distill.Share
	err := a.ask(ctx, quorum, func(ctx context.Context, r *remote) (any, error) {
		share, err := r.witness(ctx, p.Encoded)
		if err == nil {
			err = a.s.network.Committee().VerifyShare(&wit, share)
		}
		return share, err
	}, func(v any) { shares = append(shares, *v.(*distill.Share)) })
	if err != nil {
		return err
	}
	cert, _, err := a.s.network.Committee().Combine(&wit, shares)
	if err != nil {
		return err
	}
	o.Witness = *cert
	order := o.Bytes()
	return a.ask(ctx, quorum, func(ctx context.Context, r *remote) (any, error) { return nil, r.submit(ctx, order) }, nil)
}

// ask asks all validators at once, and returns as soon as so many have answered well. What
// the others are at then ends.
func (a *aggregator) ask(ctx context.Context, need int, call func(context.Context, *remote) (any, error), each func(any)) error {
	return a.askUntil(ctx, call, func(v any) bool {
		if each != nil {
			each(v)
		}
		need--
		return need <= 0
	})
}

// askUntil asks all validators at once, and returns as soon as what they have answered is
// enough. That is for where an answer may be wrong without being seen to be: those of
// liars come first.
func (a *aggregator) askUntil(ctx context.Context, call func(context.Context, *remote) (any, error), enough func(any) bool) error {
	type answer struct {
		index int
		value any
		err   error
	}
	ctx, cancel := context.WithCancel(ctx)
	answers := make(chan answer, len(a.remotes))
	var group sync.WaitGroup
	for _, r := range a.remotes {
		group.Go(func() {
			v, err := call(ctx, r)
			answers <- answer{r.index, v, err}
		})
	}
	defer group.Wait()
	defer cancel()
	var errs []error
	for range a.remotes {
		x := <-answers
		if x.err != nil {
			errs = append(errs, fmt.Errorf("validator %d: %w", x.index, x.err))
		} else if enough(x.value) {
			return nil
		}
	}
	return errors.Join(append(errs, errors.New("aggregate: too few validators say the same"))...)
}
