// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/aggregate/frame"
)

// batch returns the batch of an order, from wherever it is: one of F+1 validators who
// witnessed it is honest and has it. Passing it over would make this validator's log
// another than the others', so it waits.
func (v *validator) batch(ctx context.Context, o *frame.Order) (distill.Entry, error) {
	if c := v.cached(o.Digest); c != nil {
		return distill.Entry{Data: c.Data(), Checked: c}, nil
	}
	data, ok, err := v.store.Batch(o.Digest)
	if err != nil || ok {
		return distill.Entry{Data: data}, err
	}
	pause := 50 * time.Millisecond
	defer v.setWaiting("")
	for {
		for _, p := range v.peers {
			data, err := p.fetch(ctx, o.Digest)
			if err == nil && distill.BatchDigest(data) != o.Digest {
				err = errors.New("it is another one")
			}
			if err == nil {
				return distill.Entry{Data: data}, nil
			}
			v.log.Debug("a batch isn't there", "validator", p.index, "error", err)
		}
		v.setWaiting(fmt.Sprintf("batch %d of aggregator %d, %s", o.Seq, o.Aggregator, hex.EncodeToString(o.Digest[:4])))
		if !sleep(ctx, pause) {
			return distill.Entry{}, ctx.Err()
		}
		pause = min(2*pause, 2*time.Second)
	}
}

func (v *validator) cached(digest [32]byte) *distill.Checked {
	v.cacheMu.Lock()
	defer v.cacheMu.Unlock()
	return v.cache[digest]
}

func (v *validator) addCache(c *distill.Checked) {
	v.cacheMu.Lock()
	defer v.cacheMu.Unlock()
	d := c.Digest()
	if v.cache[d] != nil {
		return
	}
	v.cache[d] = c
	v.order = append(v.order, d)
	for len(v.order) > maxCache {
		delete(v.cache, v.order[0])
		v.order = v.order[1:]
	}
}

func (v *validator) uncache(digest [32]byte) {
	v.cacheMu.Lock()
	defer v.cacheMu.Unlock()
	delete(v.cache, digest)
	if i := slices.Index(v.order, digest); i >= 0 {
		v.order = slices.Delete(v.order, i, i+1)
	}
}

// collectEvery is how often what nobody needs is deleted. Tests change it.
var collectEvery = 10 * time.Second

// collect deletes batches that all validators have applied, and results that nobody asks
// for any more, a part at a time.
func (v *validator) collect(ctx context.Context) {
	for sleep(ctx, collectEvery) {
		height, _ := v.now()
		lowest := height
		heads := v.heads(ctx)
		for _, p := range v.peers {
			if slices.Contains(v.s.cfg.Validator.Exclude, p.index) {
				continue
			}
			lowest = min(lowest, heads[p.index].Height) // 0 if it doesn't answer
		}
		p := &v.s.params
		kept := p.ValidFor + p.MaxAhead + p.KeepResults + 1 // no execution is kept longer
		stays := behind(lowest, v.keep())
		if err := v.store.Collect(stays, behind(height, kept), 256); err != nil {
			v.log.Warn("old batches stay", "error", err)
		}
		if v.places != nil {
			if err := v.places.prune(ctx, behind(stays, savedEvery)); err != nil && ctx.Err() == nil {
				v.log.Warn("old entries of the queue stay", "error", err)
			}
		}
	}
}

// keep returns for how many heights batches stay that all have applied. With a queue that
// keeps entries for longer batches stay as long: who reads the one needs the others.
func (v *validator) keep() uint64 {
	keep := v.s.params.ValidFor
	if v.s.cfg.NATS != nil {
		keep = max(keep, v.s.cfg.NATS.Keep())
	}
	return keep
}

func behind(height, by uint64) uint64 {
	if height < by {
		return 0
	}
	return height - by
}
