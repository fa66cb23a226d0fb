// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package killtest

import (
	"context"
	"crypto/ed25519"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/gen/undersign/aggregate/v1/aggregatev1connect"
	"github.com/undersign/undersign/internal/aggregate/frame"
)

// A submitter sends each message once, and never again. So what the aggregator has
// acknowledged is executed only if the aggregator hasn't forgotten it.
type submitter struct {
	w    *world
	who  signer
	ed   ed25519.PrivateKey
	head atomic.Uint64

	mu       sync.Mutex
	acked    map[uint64]bool
	receipts map[uint64]distill.Result
	sent     uint64 // the last nonce
}

func newSubmitter(w *world, who signer) *submitter {
	return &submitter{w: w, who: who, ed: who.keys(w.t).Ed, acked: make(map[uint64]bool), receipts: make(map[uint64]distill.Result)}
}

const (
	sendEvery = 250 * time.Millisecond
	lifetime  = 3000 // heights
)

// run goes on until ctx ends. What goes wrong is the aggregator's death.
func (s *submitter) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := s.session(ctx); err != nil && ctx.Err() == nil {
			time.Sleep(50 * time.Millisecond)
		}
	}
}

var errSession = errors.New("the session doesn't begin as it should")

func (s *submitter) session(ctx context.Context) error {
	p := s.w.peer(roleAggregator)
	defer p.Close()
	c := aggregatev1connect.NewAggregatorServiceClient(p.HTTP(), p.URL(), p.Options(32<<20)...)
	call := func(token []byte, f *aggregatev1.SessionRequest) (*aggregatev1.SubmitResponse, error) {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		return c.Submit(ctx, &aggregatev1.SubmitRequest{Token: token, Frame: f})
	}
	poll := func(token []byte) error {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		resp, err := c.Poll(ctx, &aggregatev1.PollRequest{Token: token, WaitMs: 100})
		for _, f := range resp.GetFrames() {
			s.take(f)
		}
		return err
	}
	net := s.w.genesis.ID()
	resp, err := call(nil, &aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Hello{Hello: &aggregatev1.Hello{Network: net[:]}}})
	if err != nil {
		return err
	}
	token := resp.Token
	frames := resp.Frames
	if len(frames) == 0 {
		first, err := c.Poll(ctx, &aggregatev1.PollRequest{Token: token, WaitMs: 1000})
		if err != nil {
			return err
		}
		frames = first.Frames
	}
	var challenge []byte
	for _, f := range frames {
		if x := f.GetChallenge(); x != nil {
			challenge = x.Challenge
		}
		s.take(f)
	}
	if len(challenge) != 32 {
		return errSession
	}
	a := &frame.Session{Net: net, Aggregator: 1, Party: s.w.driver.Fingerprint(), Challenge: [32]byte(challenge)}
	auth := &aggregatev1.Auth{}
	a.Sign(auth, s.who.ID, s.ed)
	if _, err := call(token, &aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Auth{Auth: auth}}); err != nil {
		return err
	}
	var last time.Time
	for ctx.Err() == nil {
		// Those that are on the way are fewer than a client's window has room for, however
		// long the aggregator is away.
		if head := s.head.Load(); head > 0 && time.Since(last) > sendEvery {
			last = time.Now()
			s.mu.Lock()
			s.sent++
			x := &distill.Submission{ID: s.who.ID, Nonce: s.sent, NotAfter: head + lifetime, Payload: []byte("once")}
			s.mu.Unlock()
			x.Signature = ed25519.Sign(s.ed, x.Sub(net).Bytes())
			f := &aggregatev1.Submissions{}
			frame.AddSubmission(f, x)
			if _, err := call(token, &aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Submissions{Submissions: f}}); err != nil {
				return err
			}
		}
		if err := poll(token); err != nil {
			return err
		}
	}
	return nil
}

func (s *submitter) take(f *aggregatev1.SessionResponse) {
	if h := f.GetHead(); h != nil {
		if x, err := frame.Head(h); err == nil {
			s.head.Store(x.Hgt.Height)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := f.GetAcks(); a != nil && len(a.Ids) == len(a.Nonces) {
		for _, n := range a.Nonces {
			s.acked[n] = true
		}
	}
	if r := f.GetReceipts(); r != nil {
		frame.Receipts(r, func(x *distill.Receipt) {
			if old, ok := s.receipts[x.Result.Nonce]; ok && old != x.Result {
				s.w.t.Errorf("two receipts for nonce %d: %+v and %+v", x.Result.Nonce, old, x.Result)
			}
			s.receipts[x.Result.Nonce] = x.Result
		})
	}
}

// settle waits until all that was acknowledged is executed, and returns what isn't.
func (s *submitter) settle(ctx context.Context, cfg client.GatewayConfig) (list []uint64) {
	s.mu.Lock()
	for n := range s.acked {
		if _, ok := s.receipts[n]; !ok {
			list = append(list, n)
		}
	}
	head := s.head.Load()
	s.mu.Unlock()
	for ; len(list) > 0 && ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		list = slices.DeleteFunc(list, func(n uint64) bool {
			look, err := client.Lookup(ctx, cfg, s.who.ID, n, head+lifetime)
			return err == nil && look.Code == distill.LookExecuted
		})
	}
	return list
}

// counts returns how many messages were acknowledged, and of how many there were receipts.
func (s *submitter) counts() (acked, receipts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.acked), len(s.receipts)
}
