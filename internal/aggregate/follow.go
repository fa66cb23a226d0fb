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

// A collector puts what validators say together, until F+1 of them have said the same. Of
// each it has a bounded number of things, so that who makes things up, or is far behind,
// pushes out nothing that others say.
type collector struct {
	a         *aggregator
	committee *distill.Committee
	quorum    int

	mu       sync.Mutex
	head     uint64 // certified
	heads    map[distill.Hgt][]distill.Share
	said     [][]distill.Hgt // of each validator, those in heads, the oldest first
	receipts map[[32]byte][]*heard
	handing  map[uint64]int // receipts of a height that the machine is about to get
	progress []uint64       // of each validator
	saved    uint64
}

// A heard is what a validator says of a batch: of each it says one thing.
type heard struct {
	rcpt    distill.Rcpt
	share   *distill.Share
	results []byte
}

// maxSaid is how many heights of a validator wait for others who say the same.
const maxSaid = feedEvents

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
		heads: make(map[distill.Hgt][]distill.Share), said: make([][]distill.Hgt, len(a.remotes)),
		receipts: make(map[[32]byte][]*heard), handing: make(map[uint64]int), progress: make([]uint64, len(a.remotes)),
	}
	for i := range c.progress {
		c.progress[i] = from
	}
	var group sync.WaitGroup
	for _, r := range a.remotes {
		group.Go(func() {
			for pause := 50 * time.Millisecond; ctx.Err() == nil; pause = min(2*pause, 2*time.Second) {
				err := r.subscribe(ctx, c.next(r.index), a.id, func(e *aggregatev1.SubscribeResponse) error {
					err := c.take(ctx, r.index, e)
					if err == nil {
						pause = 50 * time.Millisecond
					}
					return err
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

// next returns the height from which a validator is to be followed on.
func (c *collector) next(validator int) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.progress[validator] + 1
}

// cursor returns the height up to which 2F+1 validators have said all, so that F+1 honest
// ones have, and the machine has what they said on disk.
func (c *collector) cursor() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := slices.Sorted(slices.Values(c.progress))
	height := p[len(p)-1-2*int(c.a.s.genesis.F)]
	for h := range c.handing {
		height = min(height, max(h, 1)-1)
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
	c.addHead(h, share)
	shares := c.heads[h]
	if len(shares) < c.quorum {
		return nil
	}
	cert, bad, err := c.committee.Combine(h, shares)
	if err != nil {
		c.heads[h] = slices.DeleteFunc(slices.Clone(shares), func(x distill.Share) bool { return isBad(bad, shares, x.Validator) })
		return c.drop(validator, bad, shares, "height")
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

// addHead notes that a validator says a height, and forgets the oldest that it has said.
func (c *collector) addHead(h distill.Hgt, share *distill.Share) {
	own := func(x distill.Share) bool { return x.Validator == share.Validator }
	if i := slices.IndexFunc(c.heads[h], own); i >= 0 {
		c.heads[h][i] = *share
		return
	}
	c.heads[h] = append(c.heads[h], *share)
	said := append(c.said[share.Validator], h)
	if len(said) > maxSaid {
		if left := slices.DeleteFunc(c.heads[said[0]], own); len(left) > 0 {
			c.heads[said[0]] = left
		} else {
			delete(c.heads, said[0])
		}
		said = slices.Delete(said, 0, 1)
	}
	c.said[share.Validator] = said
}

func isBad(bad []int, shares []distill.Share, validator uint32) bool {
	return slices.ContainsFunc(bad, func(i int) bool { return shares[i].Validator == validator })
}

// drop notes who gave shares that aren't valid, and returns an error, which ends the
// stream, if it is who has spoken last: it may not go on so as fast as it can.
func (c *collector) drop(validator int, bad []int, shares []distill.Share, what string) error {
	for _, i := range bad {
		c.a.log.Warn("a validator's signature isn't valid", "validator", shares[i].Validator, "of", what)
	}
	if isBad(bad, shares, uint32(validator)) {
		return errInvalid
	}
	return nil
}

var errInvalid = errors.New("aggregate: a signature that isn't valid")

// receipt notes what a validator says of a batch that is waited for. Of others nothing
// need be known.
func (c *collector) receipt(ctx context.Context, validator int, o *aggregatev1.Outcome) error {
	share, err := ownShare(validator, o.GetShare())
	if err != nil {
		return err
	}
	x := &heard{share: share, results: o.GetResults()}
	if err := x.rcpt.UnmarshalBinary(o.GetRcpt()); err != nil {
		return err
	}
	awaited := *c.a.awaited.Load()
	seq, ok := awaited[x.rcpt.BatchDigest]
	if !ok {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for digest := range c.receipts {
		if _, ok := awaited[digest]; !ok {
			delete(c.receipts, digest)
		}
	}
	list := slices.DeleteFunc(c.receipts[x.rcpt.BatchDigest], func(y *heard) bool { return y.share.Validator == share.Validator })
	list = append(list, x)
	c.receipts[x.rcpt.BatchDigest] = list
	var shares []distill.Share
	for _, y := range list {
		if y.rcpt == x.rcpt {
			shares = append(shares, *y.share)
		}
	}
	if len(shares) < c.quorum {
		return nil
	}
	cert, bad, err := c.committee.Combine(&x.rcpt, shares)
	if err != nil {
		c.receipts[x.rcpt.BatchDigest] = slices.DeleteFunc(list, func(y *heard) bool {
			return y.rcpt == x.rcpt && isBad(bad, shares, y.share.Validator)
		})
		return c.drop(validator, bad, shares, "receipt")
	}
	for _, y := range list {
		results, err := frame.Results(y.results)
		if err != nil || uint64(len(results)) != x.rcpt.N || len(results) == 0 || distill.ResultRoot(results) != x.rcpt.ResultRoot {
			continue
		}
		delete(c.receipts, x.rcpt.BatchDigest)
		c.handing[x.rcpt.Height]++
		br := &distill.BatchReceipt{Seq: seq, SignedRcpt: distill.SignedRcpt{Rcpt: x.rcpt, Certificate: *cert}, Results: results}
		c.mu.Unlock()
		c.a.do(ctx, func(now int64) error { return c.hand(now, br) })
		c.mu.Lock()
		return nil
	}
	return nil
}

// hand gives the machine a receipt. The cursor is behind it until it is on disk.
func (c *collector) hand(now int64, br *distill.BatchReceipt) error {
	out, err := c.a.machine.HandleBatchReceipt(now, br)
	if rule := distill.RuleOf(err); rule != 0 && rule != distill.RuleNoBatch {
		c.a.log.Warn("a receipt isn't one", "batch", br.Seq, "error", err)
	}
	if err == nil || distill.RuleOf(err) != 0 {
		c.a.await()
		c.mu.Lock()
		if c.handing[br.Rcpt.Height]--; c.handing[br.Rcpt.Height] == 0 {
			delete(c.handing, br.Rcpt.Height)
		}
		c.mu.Unlock()
	}
	return c.a.done(out, err)
}
