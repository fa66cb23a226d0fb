// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"sync"
	"time"

	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/gen/undersign/aggregate/v1/aggregatev1connect"
	"github.com/undersign/undersign/internal/aggregate/frame"
	"github.com/undersign/undersign/internal/rpc"
)

// askTime is how long a validator may take for an answer.
const askTime = 10 * time.Second

// head tells all clients a certified height.
func (g *Gateway) head(now int64, h *distill.SignedHead) error {
	verified := false
	for id, m := range g.clients {
		if m.c.Head() >= h.Hgt.Height {
			continue
		}
		if !verified {
			// Once for all: the network remembers what was right, and each client would verify
			// again what is wrong.
			if err := g.cfg.Network.VerifyHead(h); err != nil {
				return err
			}
			verified = true
			g.headMoved = time.Now()
		}
		out, err := m.c.HandleHead(now, h)
		g.act(id, m, out, err)
	}
	return nil
}

// validator returns the way to a validator, or nil if it isn't known.
func (g *Gateway) validator(i int) (*rpc.Peer, aggregatev1connect.ValidatorServiceClient) {
	v := g.cfg.Validators[i]
	if v.Address == "" {
		return nil, nil
	}
	p := rpc.NewPeer(g.id, v.Fingerprint, v.Address)
	return p, aggregatev1connect.NewValidatorServiceClient(p.HTTP(), p.URL(), p.Options(0)...)
}

// each calls f for all validators at once, and waits.
func (g *Gateway) each(ctx context.Context, f func(context.Context, int, aggregatev1connect.ValidatorServiceClient)) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var group sync.WaitGroup
	for i := range g.cfg.Validators {
		peer, c := g.validator(i)
		if c == nil {
			continue
		}
		group.Go(func() {
			defer peer.Close()
			f(ctx, i, c)
		})
	}
	group.Wait()
}

// ask asks all validators what became of messages.
func (g *Gateway) ask(ctx context.Context, list []distill.Lookup) {
	req := &aggregatev1.LookupRequest{}
	for i := range list {
		frame.AddQuestion(req, &list[i])
	}
	g.each(ctx, func(ctx context.Context, i int, c aggregatev1connect.ValidatorServiceClient) {
		resp, err := c.Lookup(ctx, req)
		if err != nil {
			g.log.Info("a validator doesn't answer", "validator", i, "error", err)
			return
		}
		for _, l := range resp.GetLooks() {
			look, err := frame.Look(l)
			if err != nil {
				continue // it doesn't know the client
			}
			g.do(ctx, func(now int64) {
				if m := g.clients[look.Look.ID]; m != nil {
					out, err := m.c.HandleLook(now, look)
					g.act(look.Look.ID, m, out, err)
				}
			})
		}
	})
}

// While no aggregator tells a height, validators are asked, and now and then too if it
// stays the same: an aggregator may tell an old one for ever.
const (
	headSilence = 3 * time.Second
	headStands  = 30 * time.Second
)

// followHeads asks validators for the height while aggregators don't tell it: a client must
// learn that its message has expired, whatever aggregators do.
func (g *Gateway) followHeads(ctx context.Context) {
	var asked time.Time
	for {
		stale := make(chan bool, 1)
		if g.do(ctx, func(int64) {
			stale <- time.Since(g.headSeen) > headSilence || time.Since(g.headMoved) > headStands && time.Since(asked) > headStands
		}) != nil {
			return
		}
		isStale := false
		select {
		case isStale = <-stale:
		case <-ctx.Done():
			return
		}
		if isStale {
			asked = time.Now()
			if h := g.certifiedHead(ctx); h != nil {
				g.do(ctx, func(now int64) { g.head(now, h) }) // it is verified
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// certifiedHead returns a height that F+1 validators sign now, or nil. They are at
// different heights for moments only, so it may take another time.
func (g *Gateway) certifiedHead(ctx context.Context) *distill.SignedHead {
	var mu sync.Mutex
	heads := make(map[distill.Hgt][]distill.Share)
	g.each(ctx, func(ctx context.Context, i int, c aggregatev1connect.ValidatorServiceClient) {
		resp, err := c.Head(ctx, &aggregatev1.HeadRequest{})
		if err != nil {
			return
		}
		var h distill.Hgt
		share, err := frame.Share(resp.GetShare())
		if err != nil || h.UnmarshalBinary(resp.GetHgt()) != nil || share.Validator != uint32(i) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		heads[h] = append(heads[h], *share)
	})
	var best *distill.SignedHead
	for h, shares := range heads {
		cert, _, err := g.cfg.Network.Committee().Combine(h, shares)
		if err == nil && (best == nil || best.Hgt.Height < h.Height) {
			best = &distill.SignedHead{Hgt: h, Certificate: *cert}
		}
	}
	return best
}
