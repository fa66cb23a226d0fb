// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/gen/undersign/aggregate/v1/aggregatev1connect"
	"github.com/undersign/undersign/internal/aggregate/frame"
	"github.com/undersign/undersign/internal/rpc"
)

// A link is a gateway's session with an aggregator, which is begun again when it breaks.
type link struct {
	g     *Gateway
	aggID uint64
	peer  *rpc.Peer

	// Of the gateway's loop.
	out     chan *aggregatev1.SessionRequest // of the session, or nil
	subs    *aggregatev1.Submissions
	reds    map[uint64]*aggregatev1.Reductions
	held    time.Time // nothing new is sent before, as the aggregator wants
	welcome bool
}

type sessionStream = connect.BidiStreamForClientSimple[aggregatev1.SessionRequest, aggregatev1.SessionResponse]

func (l *link) run(ctx context.Context) {
	for pause := 100 * time.Millisecond; ctx.Err() == nil; pause = min(2*pause, 5*time.Second) {
		start := time.Now()
		err := l.session(ctx)
		if ctx.Err() != nil {
			return
		}
		l.g.log.Info("the session ended", "aggregator", l.aggID, "error", rpc.DecodeError(l.g.id.Fingerprint(), err))
		if time.Since(start) > 10*time.Second {
			pause = 100 * time.Millisecond
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// maxFrame is the largest frame of an aggregator.
const maxFrame = 16 << 20

// session runs one session to its end.
func (l *link) session(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	c := aggregatev1connect.NewAggregatorServiceClient(l.peer.HTTP(), l.peer.URL(), l.peer.Options(maxFrame)...)
	stream, err := c.Session(ctx)
	if err != nil {
		return err
	}
	// While nothing is sent the transport waits for it, and doesn't see that ctx has ended.
	stop := context.AfterFunc(ctx, func() { stream.CloseRequest() })
	defer stop()
	defer stream.CloseRequest()
	net := l.g.cfg.Network.ID()
	if err := stream.Send(&aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Hello{Hello: &aggregatev1.Hello{Network: net[:]}}}); err != nil {
		return receiveError(stream, err)
	}
	var challenge *aggregatev1.Challenge
	for challenge == nil {
		first, err := stream.Receive()
		if err != nil {
			return err
		}
		if challenge = first.GetChallenge(); challenge == nil && first.GetHead() == nil {
			break
		}
	}
	if len(challenge.GetChallenge()) != 32 {
		return errors.New("client: the aggregator didn't begin with a challenge")
	}
	out := make(chan *aggregatev1.SessionRequest, 256)
	group.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case f := <-out:
				if err := stream.Send(f); err != nil {
					cancel()
					return
				}
			}
		}
	})
	auth := &frame.Session{Net: net, Aggregator: l.aggID, Party: l.g.id.Fingerprint(), Challenge: [32]byte(challenge.Challenge)}
	if err := l.g.do(ctx, func(now int64) { l.begin(now, out, auth) }); err != nil {
		return err
	}
	defer l.g.do(l.g.ctx, func(int64) {
		if l.out == out {
			l.out = nil
		}
	})
	for {
		resp, err := stream.Receive()
		if err != nil {
			return err
		}
		if w := resp.GetWelcome(); w != nil && len(w.Refused) > 0 {
			// Keys that the aggregator doesn't know yet: it may learn of them.
			ids := slices.Clone(w.Refused)
			group.Go(func() {
				select {
				case <-ctx.Done():
				case <-time.After(time.Second):
					l.g.do(ctx, func(int64) { l.authenticate(auth, ids) })
				}
			})
		}
		done := make(chan error, 1)
		if err := l.g.do(ctx, func(now int64) { done <- l.take(now, resp) }); err != nil {
			return err
		}
		select {
		case err := <-done:
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// receiveError returns what the other end says, if a send has failed: only the receiving
// side knows.
func receiveError(stream *sessionStream, err error) error {
	if _, rerr := stream.Receive(); rerr != nil {
		return rerr
	}
	return err
}

// begin has all clients show that they are there.
func (l *link) begin(_ int64, out chan *aggregatev1.SessionRequest, auth *frame.Session) {
	l.out, l.subs, l.reds = out, nil, nil
	ids := make([]uint64, 0, len(l.g.clients))
	for id := range l.g.clients {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	l.authenticate(auth, ids)
}

func (l *link) authenticate(auth *frame.Session, ids []uint64) {
	for part := range slices.Chunk(ids, 1024) {
		f := &aggregatev1.Auth{}
		for _, id := range part {
			if m := l.g.clients[id]; m != nil {
				auth.Sign(f, id, m.ed)
			}
		}
		l.send(&aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Auth{Auth: f}})
	}
}

// send hands a frame to the session. If it has too many already, the frame is lost, as on
// a network: clients send again.
func (l *link) send(f *aggregatev1.SessionRequest) {
	if l.out == nil {
		return
	}
	select {
	case l.out <- f:
	default:
	}
}

func (l *link) submission(s *distill.Submission) {
	if time.Now().Before(l.held) {
		return // it comes again
	}
	if l.subs == nil {
		l.subs = &aggregatev1.Submissions{}
	}
	frame.AddSubmission(l.subs, s)
	if len(l.subs.Ids) >= 1024 || len(l.subs.Payloads) > 1<<20 {
		l.flush()
	}
}

func (l *link) reduction(r *distill.Reduction) {
	if l.reds == nil {
		l.reds = make(map[uint64]*aggregatev1.Reductions)
	}
	f := l.reds[r.Seq]
	if f == nil {
		f = &aggregatev1.Reductions{}
		l.reds[r.Seq] = f
	}
	frame.AddReduction(f, r)
	if len(f.Ids) >= 1024 {
		delete(l.reds, r.Seq)
		l.send(&aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Reductions{Reductions: f}})
	}
}

func (l *link) flush() {
	if l.subs != nil {
		l.send(&aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Submissions{Submissions: l.subs}})
		l.subs = nil
	}
	for _, f := range l.reds {
		l.send(&aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Reductions{Reductions: f}})
	}
	l.reds = nil
}

// take hands what an aggregator says to the clients it is for.
func (l *link) take(now int64, resp *aggregatev1.SessionResponse) error {
	g := l.g
	with := func(id uint64, f func(c *distill.Client) ([]distill.ClientAction, error)) {
		if m := g.clients[id]; m != nil {
			out, err := f(m.c)
			g.act(id, m, out, err)
		}
	}
	switch f := resp.GetFrame().(type) {
	case *aggregatev1.SessionResponse_Head:
		h, err := frame.Head(f.Head)
		if err != nil {
			return err
		}
		if err := g.head(now, h); err != nil {
			return err
		}
		g.headSeen = time.Now()
	case *aggregatev1.SessionResponse_Welcome:
		for _, id := range f.Welcome.GetIds() {
			if m := g.clients[id]; m != nil {
				m.refused = false
			}
		}
		for _, id := range f.Welcome.GetRefused() {
			if m := g.clients[id]; m != nil {
				m.refused = true
			}
		}
		// What is in flight is sent now, and not only when its time has come again.
		if len(f.Welcome.GetIds()) > 0 && !l.welcome {
			l.welcome = true
			for id := range g.clients {
				g.tick(now, id)
			}
		}
	case *aggregatev1.SessionResponse_Acks:
		n, err := frame.Pairs(f.Acks.GetIds(), f.Acks.GetNonces())
		if err != nil {
			return err
		}
		for i := range n {
			with(f.Acks.Ids[i], func(c *distill.Client) ([]distill.ClientAction, error) {
				return nil, c.HandleAck(now, l.aggID, f.Acks.Nonces[i])
			})
		}
	case *aggregatev1.SessionResponse_Refusals:
		return frame.Refusals(f.Refusals, func(r *distill.Refusal) {
			with(r.ID, func(c *distill.Client) ([]distill.ClientAction, error) { return nil, c.HandleRefusal(now, l.aggID, r) })
		})
	case *aggregatev1.SessionResponse_Proposals:
		return frame.Proposals(f.Proposals, func(id uint64, p *distill.Proposal) {
			with(id, func(c *distill.Client) ([]distill.ClientAction, error) { return c.HandleProposal(now, l.aggID, p) })
		})
	case *aggregatev1.SessionResponse_Receipts:
		return frame.Receipts(f.Receipts, func(r *distill.Receipt) {
			with(r.Result.ID, func(c *distill.Client) ([]distill.ClientAction, error) {
				out, err := c.HandleReceipt(now, r)
				if g.cfg.Receipt != nil && settles(out, r) {
					g.cfg.Receipt(r)
				}
				return out, err
			})
		})
	case *aggregatev1.SessionResponse_Requests:
		n, err := frame.Pairs(f.Requests.GetIds(), f.Requests.GetNonces())
		if err != nil {
			return err
		}
		for i := range n {
			with(f.Requests.Ids[i], func(c *distill.Client) ([]distill.ClientAction, error) {
				return c.HandleSignatureRequest(now, l.aggID, f.Requests.Nonces[i])
			})
		}
	case *aggregatev1.SessionResponse_Throttle:
		l.held = time.Now().Add(time.Duration(min(f.Throttle.GetRetryAfterMs(), 60_000)) * time.Millisecond)
	}
	return nil
}

// settles reports whether a client has believed a receipt, and it was the end of the message.
func settles(out []distill.ClientAction, r *distill.Receipt) bool {
	for _, x := range out {
		if s, ok := x.(distill.Settled); ok && s.ID == r.Result.ID && s.Nonce == r.Result.Nonce {
			return true
		}
	}
	return false
}
