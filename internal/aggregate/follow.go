// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/internal/aggregate/frame"
)

// A collector puts what validators say together, until F+1 of them have said the same.
type collector struct {
	a         *aggregator
	committee *distill.Committee
	quorum    int

	mu       sync.Mutex
	head     uint64 // certified
	heads    map[distill.Hgt][]distill.Share
	receipts map[distill.Rcpt]*collected
	progress []uint64 // of each validator
	saved    uint64
}

// collected is what was said of a batch.
type collected struct {
	seq     uint64
	shares  []distill.Share
	results [][]byte // different ones, if somebody lies
	done    bool
}

// What a collector has at most of what isn't certified: who makes things up pushes out
// other things, which come again when streams are begun anew.
const (
	maxHeads    = 1024
	maxReceipts = 256
)

// cursorKey is where the height is up to which all receipts were seen.
var cursorKey = []byte("cursor")

// follow follows all validators until ctx ends.
func (a *aggregator) follow(ctx context.Context) {
	journal := a.s.host.Store.Journal("aggregate.follow")
	from, _, err := readPair(journal, cursorKey)
	if err != nil {
		a.s.host.Fail(err)
		return
	}
	c := &collector{
		a: a, committee: a.s.network.Committee(), quorum: a.s.genesis.Quorum(), saved: from,
		heads: make(map[distill.Hgt][]distill.Share), receipts: make(map[distill.Rcpt]*collected),
		progress: make([]uint64, len(a.remotes)),
	}
	for i := range c.progress {
		c.progress[i] = from
	}
	var group sync.WaitGroup
	for _, r := range a.remotes {
		group.Go(func() {
			for pause := 50 * time.Millisecond; ctx.Err() == nil; pause = min(2*pause, 2*time.Second) {
				err := r.subscribe(ctx, c.next(r.index), a.id, func(e *aggregatev1.SubscribeResponse) error {
					pause = 50 * time.Millisecond
					return c.take(ctx, r.index, e)
				})
				if ctx.Err() == nil {
					a.log.Info("a validator's stream ended", "validator", r.index, "error", err)
				}
				sleep(ctx, pause)
			}
		})
	}
	group.Go(func() {
		for sleep(ctx, 2*time.Second) {
			if height := c.cursor(); height > c.saved {
				if err := journal.Commit([]distill.Record{pairRecord(cursorKey, height, 0)}); err != nil {
					a.s.host.Fail(err)
					return
				}
				c.saved = height
			}
		}
	})
	group.Wait()
}

// next returns the height from which a validator is to be followed on. While receipts of
// others are open, what it said before is heard again.
func (c *collector) next(validator int) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.progress[validator] + 1
}

// cursor returns the height up to which 2F+1 validators have said all, so that F+1 honest
// ones have.
func (c *collector) cursor() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := slices.Sorted(slices.Values(c.progress))
	height := p[len(p)-1-2*int(c.a.s.genesis.F)]
	for rcpt, r := range c.receipts {
		if !r.done && rcpt.Height > 0 {
			height = min(height, rcpt.Height-1)
		}
	}
	return height
}

// take notes what a validator says about a height.
func (c *collector) take(ctx context.Context, validator int, e *aggregatev1.SubscribeResponse) error {
	for _, o := range e.GetOutcomes() {
		if distill.RecordKind(o.GetKind()) != distill.RecordBatch || o.GetAggregator() != c.a.id {
			continue
		}
		if err := c.receipt(ctx, validator, o); err != nil {
			return err
		}
	}
	if len(e.GetHgt()) > 0 {
		if err := c.hgt(ctx, validator, e); err != nil {
			return err
		}
	}
	c.mu.Lock()
	c.progress[validator] = max(c.progress[validator], e.GetHeight())
	c.mu.Unlock()
	return nil
}

func ownShare(validator int, s *aggregatev1.Share) (*distill.Share, error) {
	share, err := frame.Share(s)
	if err == nil && share.Validator != uint32(validator) {
		err = errOther
	}
	return share, err
}

var errOther = errors.New("aggregate: a share in another validator's name")

func addShare(list []distill.Share, s *distill.Share) []distill.Share {
	for i := range list {
		if list[i].Validator == s.Validator {
			list[i] = *s
			return list
		}
	}
	return append(list, *s)
}

func (c *collector) hgt(ctx context.Context, validator int, e *aggregatev1.SubscribeResponse) error {
	share, err := ownShare(validator, e.GetShare())
	if err != nil {
		return err
	}
	var h distill.Hgt
	if err := h.UnmarshalBinary(e.GetHgt()); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if h.Height <= c.head || h.Height != e.GetHeight() {
		return nil
	}
	if len(c.heads) >= maxHeads {
		clear(c.heads)
	}
	shares := addShare(c.heads[h], share)
	c.heads[h] = shares
	if len(shares) < c.quorum {
		return nil
	}
	cert, bad, err := c.committee.Combine(h, shares)
	if err != nil {
		c.drop(bad, shares, "height")
		kept := shares[:0]
		for i := range shares {
			if !slices.Contains(bad, i) {
				kept = append(kept, shares[i])
			}
		}
		c.heads[h] = kept
		return nil
	}
	c.head = h.Height
	for k := range c.heads {
		if k.Height <= c.head {
			delete(c.heads, k)
		}
	}
	signed := &distill.SignedHead{Hgt: h, Certificate: *cert}
	c.mu.Unlock()
	c.a.setHead(ctx, signed)
	c.mu.Lock()
	return nil
}

// drop notes who gave shares that aren't valid.
func (c *collector) drop(bad []int, shares []distill.Share, what string) {
	for _, i := range bad {
		c.a.log.Warn("a validator's signature isn't valid", "validator", shares[i].Validator, "of", what)
	}
}

func (c *collector) receipt(ctx context.Context, validator int, o *aggregatev1.Outcome) error {
	share, err := ownShare(validator, o.GetShare())
	if err != nil {
		return err
	}
	var rcpt distill.Rcpt
	if err := rcpt.UnmarshalBinary(o.GetRcpt()); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.receipts[rcpt]
	if x == nil {
		if len(c.receipts) >= maxReceipts {
			c.makeRoom()
		}
		x = &collected{seq: o.GetSeq()}
		c.receipts[rcpt] = x
	}
	if x.done {
		return nil
	}
	x.shares = addShare(x.shares, share)
	if !slices.ContainsFunc(x.results, func(b []byte) bool { return sameBytes(b, o.GetResults()) }) {
		x.results = append(x.results, o.GetResults())
	}
	if len(x.shares) < c.quorum {
		return nil
	}
	cert, bad, err := c.committee.Combine(&rcpt, x.shares)
	if err != nil {
		c.drop(bad, x.shares, "receipt")
		kept := x.shares[:0]
		for i := range x.shares {
			if !slices.Contains(bad, i) {
				kept = append(kept, x.shares[i])
			}
		}
		x.shares = kept
		return nil
	}
	for _, b := range x.results {
		results, err := frame.Results(b)
		if err != nil || uint64(len(results)) != rcpt.N || len(results) == 0 || distill.ResultRoot(results) != rcpt.ResultRoot {
			continue
		}
		x.done, x.shares, x.results = true, nil, nil
		br := &distill.BatchReceipt{Seq: x.seq, SignedRcpt: distill.SignedRcpt{Rcpt: rcpt, Certificate: *cert}, Results: results}
		c.mu.Unlock()
		c.a.do(ctx, func(now int64) error {
			out, err := c.a.machine.HandleBatchReceipt(now, br)
			if rule := distill.RuleOf(err); rule != 0 && rule != distill.RuleNoBatch {
				c.a.log.Warn("a receipt isn't one", "batch", br.Seq, "error", err)
			}
			return c.a.done(out, err)
		})
		c.mu.Lock()
		return nil
	}
	return nil
}

// makeRoom forgets what is done, or else everything.
func (c *collector) makeRoom() {
	for k, x := range c.receipts {
		if x.done {
			delete(c.receipts, k)
		}
	}
	if len(c.receipts) >= maxReceipts {
		clear(c.receipts)
	}
}
