// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"connectrpc.com/connect"

	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/internal/rpc"
)

// retryBusy is when a party that was turned away may come again.
const retryBusy = 500 * time.Millisecond

// tokenTime is how long a session without a stream lives after its last call.
const tokenTime = 2 * time.Minute

// maxPoll is how long a Poll waits at most, and pollFrames what it returns.
const (
	maxPoll    = 20 * time.Second
	pollFrames = 16
)

// A token is a session without a stream.
type token struct {
	mu      sync.Mutex // one call at a time: calls of one token wait for each other
	session *session
	party   string
	used    time.Time // under tokens.mu
}

// tokensOfParty is how many of them a party has at most, lest it take all sessions: it
// needn't keep anything open for them.
const tokensOfParty = 64

type tokens struct {
	mu   sync.Mutex
	list map[[16]byte]*token
	of   map[string]int // by party
}

func newTokens() tokens {
	return tokens{list: make(map[[16]byte]*token), of: make(map[string]int)}
}

// add begins a session of a party by what begin returns, unless the party has too many or
// begin returns nil.
func (t *tokens) add(party string, begin func(party string) *session) (key []byte, x *token) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of[party] >= tokensOfParty {
		return nil, nil
	}
	s := begin(party)
	if s == nil {
		return nil, nil
	}
	t.of[party]++
	x = &token{session: s, party: party, used: time.Now()}
	var k [16]byte
	rand.Read(k[:])
	t.list[k] = x
	return k[:], x
}

// remove forgets a token. It is called with t.mu locked.
func (t *tokens) remove(k [16]byte) *token {
	x := t.list[k]
	if x == nil {
		return nil
	}
	delete(t.list, k)
	if t.of[x.party]--; t.of[x.party] == 0 {
		delete(t.of, x.party)
	}
	return x
}

func (t *tokens) find(key []byte, party string) *token {
	if len(key) != 16 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.list[[16]byte(key)]
	if x == nil || x.party != party {
		return nil
	}
	x.used = time.Now()
	return x
}

// expire ends sessions that nobody uses, and all of them when ctx ends.
func (t *tokens) expire(ctx context.Context) {
	for more := true; more; {
		more = sleep(ctx, 5*time.Second)
		var old []*token
		t.mu.Lock()
		for k, x := range t.list {
			if !more || time.Since(x.used) > tokenTime {
				old = append(old, t.remove(k))
			}
		}
		t.mu.Unlock()
		for _, x := range old {
			x.session.end()
		}
	}
}

func (t *tokens) drop(key []byte) {
	t.mu.Lock()
	x := t.remove([16]byte(key))
	t.mu.Unlock()
	if x != nil {
		x.session.end()
	}
}

var errToken = connect.NewError(connect.CodeFailedPrecondition, errors.New("no such session: begin another one by a hello"))

// Submit implements the service.
func (a *aggregator) Submit(ctx context.Context, req *aggregatev1.SubmitRequest) (*aggregatev1.SubmitResponse, error) {
	// A stream's sender waits while the aggregator is busy; here it is told to, before there
	// is a session that it would know nothing of.
	if len(a.work) == cap(a.work) {
		return nil, a.busy(ctx)
	}
	party := rpc.CallFrom(ctx).Party
	key := req.GetToken()
	var x *token
	if len(key) == 0 {
		if req.GetFrame().GetHello() == nil {
			return nil, invalid(errors.New("the first frame of a session is a hello"))
		}
		if key, x = a.tokens.add(party, a.newSession); x == nil {
			return nil, a.busy(ctx)
		}
	} else if x = a.tokens.find(key, party); x == nil {
		return nil, errToken
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.session.take(ctx, req.GetFrame()); err != nil {
		a.tokens.drop(key)
		return nil, err
	}
	return &aggregatev1.SubmitResponse{Token: key, Frames: x.session.out.pop()}, nil
}

// Poll implements the service.
func (a *aggregator) Poll(ctx context.Context, req *aggregatev1.PollRequest) (*aggregatev1.PollResponse, error) {
	x := a.tokens.find(req.GetToken(), rpc.CallFrom(ctx).Party)
	if x == nil {
		return nil, errToken
	}
	wait, cancel := context.WithTimeout(ctx, min(time.Duration(min(req.GetWaitMs(), 60_000))*time.Millisecond, maxPoll))
	defer cancel()
	resp := &aggregatev1.PollResponse{}
	frames, err := x.session.out.next(wait)
	for ; err == nil && len(frames) > 0 && len(resp.Frames) < pollFrames; frames = x.session.out.pop() {
		resp.Frames = append(resp.Frames, frames...)
	}
	// What was taken out of the outbox and isn't in the answer would be lost.
	resp.Frames = append(resp.Frames, frames...)
	if err != nil && wait.Err() == nil {
		a.tokens.drop(req.GetToken())
		return nil, errToken
	}
	return resp, ctx.Err()
}
