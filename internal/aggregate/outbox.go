// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/internal/aggregate/frame"
)

// An outItem is something to be sent: a frame, or what frames are made of when their turn
// comes.
type outItem struct {
	frame     *aggregatev1.SessionResponse
	proposals distill.SendProposals
	receipts  distill.SendReceipts
	at        []int32
}

// An outbox is what a session has to send. It is bounded: a client that doesn't read loses
// its session, and nothing else, for it can ask again in another one.
type outbox struct {
	mu     sync.Mutex
	items  []outItem
	count  int
	head   *distill.SignedHead // the newest, if it wasn't sent
	woken  time.Time           // the last time for a height alone
	news   chan struct{}       // of capacity 1
	closed chan struct{}
	err    error
}

// maxOut is how many items an outbox has at most. Proposals and receipts take eight bytes
// until they are made.
const maxOut = 1 << 19

// outFrame is how many proposals or receipts are in a frame: some 300 KiB.
const outFrame = 512

func newOutbox() *outbox {
	return &outbox{news: make(chan struct{}, 1), closed: make(chan struct{})}
}

func (o *outbox) addFrame(f *aggregatev1.SessionResponse) { o.add(outItem{frame: f}, 16) }

// add appends an item that counts for n.
func (o *outbox) add(x outItem, n int) {
	o.mu.Lock()
	full := o.count+n > maxOut
	if !full && o.err == nil {
		o.items = append(o.items, x)
		o.count += n
	}
	o.mu.Unlock()
	if full {
		o.close(errors.New("the session doesn't read what it is sent"))
		return
	}
	o.wake()
}

// headEvery is how often heights are sent to those who get nothing else: thousands of
// sessions that wait would take a processor otherwise. Who has a message on the way sees
// them with what is about it.
const headEvery = 2 * time.Second

// setHead has a height sent, unless a newer one is there by then.
func (o *outbox) setHead(h *distill.SignedHead) {
	if h == nil {
		return
	}
	now := time.Now()
	o.mu.Lock()
	o.head = h
	due := now.Sub(o.woken) >= headEvery
	if due {
		o.woken = now
	}
	o.mu.Unlock()
	if due {
		o.wake()
	}
}

func (o *outbox) wake() {
	select {
	case o.news <- struct{}{}:
	default:
	}
}

func (o *outbox) close(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
		o.items = nil
		close(o.closed)
	}
}

func (o *outbox) reason() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// next waits for something to send, and returns it in frames.
func (o *outbox) next(ctx context.Context) ([]*aggregatev1.SessionResponse, error) {
	for {
		if f := o.pop(); len(f) > 0 {
			return f, nil
		}
		select {
		case <-o.news:
		case <-o.closed:
			return nil, o.reason()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// pop returns the next frames, or none.
func (o *outbox) pop() (frames []*aggregatev1.SessionResponse) {
	o.mu.Lock()
	if o.head != nil {
		frames = append(frames, &aggregatev1.SessionResponse{Frame: &aggregatev1.SessionResponse_Head{Head: frame.NewHead(o.head)}})
		o.head = nil
	}
	var x outItem
	if len(o.items) > 0 {
		x = o.items[0]
		n := 16
		if len(x.at) > outFrame {
			o.items[0].at = x.at[outFrame:]
			x.at = x.at[:outFrame]
		} else {
			o.items[0] = outItem{}
			o.items = o.items[1:]
		}
		if x.frame == nil {
			n = len(x.at)
		}
		o.count -= n
	}
	o.mu.Unlock()
	switch {
	case x.frame != nil:
		frames = append(frames, x.frame)
	case len(x.at) > 0 && x.proposals.Len() > 0:
		f := &aggregatev1.Proposals{}
		for _, i := range x.at {
			id, p := x.proposals.At(int(i))
			frame.AddProposal(f, id, &p)
		}
		frames = append(frames, &aggregatev1.SessionResponse{Frame: &aggregatev1.SessionResponse_Proposals{Proposals: f}})
	case len(x.at) > 0:
		f := &aggregatev1.Receipts{}
		for _, i := range x.at {
			r := x.receipts.At(int(i))
			frame.AddReceipt(f, &r)
		}
		frames = append(frames, &aggregatev1.SessionResponse{Frame: &aggregatev1.SessionResponse_Receipts{Receipts: f}})
	}
	return frames
}
