// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package nats

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/undersign/undersign/internal/relay"
)

const (
	// window is how many positions an entry has an effect on others with its ID: they are
	// passed over. It is the same for all who read, wherever they begin, and a part of
	// what the queue means.
	window = 1 << 14
	// maxRead bounds what is in memory of one read: 32 MiB.
	maxRead = 64
	// maxCursors bounds who can read at the same time without beginning anew.
	maxCursors = 4
	// idle is how long a server waits for entries at a time.
	idle = 15 * time.Second
)

// A cursor is a place in the queue.
type cursor struct {
	r        *Relay
	after    uint64 // position of the last entry that was given out
	next     uint64 // position of what the server sends next
	consumer jetstream.Consumer
	recent   recent
	list     []relay.Entry // entries that were read, and not yet given out
}

// Read implements [relay.Relay]. It returns no more than 64 entries.
func (r *Relay) Read(ctx context.Context, after uint64, max int) ([]relay.Entry, error) {
	ctx, done, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	c := r.take(after)
	list, err := c.read(ctx, min(max, maxRead))
	if err = done(err); err != nil {
		return nil, err
	}
	r.put(c)
	return list, nil
}

// take returns the cursor at a position, or a new one.
func (r *Relay) take(after uint64) *cursor {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, c := range r.cursors {
		if c.after == after {
			r.cursors = slices.Delete(r.cursors, i, i+1)
			return c
		}
	}
	// It begins where entries have an effect on the one that is wanted.
	c := &cursor{r: r, after: after, next: 1, recent: newRecent()}
	if after > window {
		c.next = after - window + 1
	}
	return c
}

func (r *Relay) put(c *cursor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.cursors) == maxCursors {
		r.cursors = slices.Delete(r.cursors, 0, 1) // the server forgets it by itself
	}
	r.cursors = append(r.cursors, c)
}

// read returns entries, as soon as there are some.
func (c *cursor) read(ctx context.Context, max int) ([]relay.Entry, error) {
	trouble := time.Time{}
	for wait := 50 * time.Millisecond; len(c.list) == 0; {
		err := c.fetch(ctx, maxRead)
		if err == nil {
			trouble, wait = time.Time{}, 50*time.Millisecond
			continue
		}
		c.consumer = nil
		var p permanentError
		if errors.As(err, &p) || ctx.Err() != nil {
			return nil, err
		}
		if trouble.IsZero() {
			trouble = time.Now()
		} else if time.Since(trouble) > patience {
			return nil, err
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, ctx.Err()
		case <-t.C:
		}
		wait = min(2*wait, time.Second)
	}
	list := c.list
	if max < 1 {
		max = 1
	}
	if len(list) > max {
		list = list[:max]
	}
	c.list = c.list[len(list):]
	c.after = list[len(list)-1].Position
	return list, nil
}

// fetch reads what is there, or waits until something comes.
func (c *cursor) fetch(ctx context.Context, max int) error {
	if c.consumer == nil {
		if err := c.open(ctx); err != nil {
			return err
		}
	}
	before := c.next
	batch, err := c.consumer.FetchNoWait(max)
	if err != nil {
		return unlessLasting(err)
	}
	if err := c.takeBatch(ctx, batch, attempt); err != nil || c.next > before {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, idle)
	defer cancel()
	if batch, err = c.consumer.Fetch(1, jetstream.FetchContext(ctx), jetstream.FetchHeartbeat(attempt/2)); err != nil {
		return unlessLasting(err)
	}
	return c.takeBatch(ctx, batch, idle)
}

// open begins to read at c.next.
func (c *cursor) open(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	s, err := c.r.js.Stream(ctx, c.r.cfg.Stream)
	if err != nil {
		return unlessLasting(err)
	}
	// Another stream of the same name, or one that has lost something, isn't waited for.
	state := s.CachedInfo().State
	if last := max(c.after, c.next-1); state.LastSeq < last {
		return fmt.Errorf("nats: the queue ends at %d, and was read up to %d: it isn't the same, or has lost entries", state.LastSeq, last)
	}
	if state.FirstSeq > c.next {
		return permanent(fmt.Errorf("nats: the queue begins at %d, and %d is wanted: what comes before was removed, or is lost", state.FirstSeq, c.next))
	}
	c.consumer, err = s.CreateConsumer(ctx, jetstream.ConsumerConfig{
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       c.next,
		AckPolicy:         jetstream.AckNonePolicy,
		InactiveThreshold: time.Minute, // then the server forgets it
		MemoryStorage:     true,        // the place is known here
		Replicas:          1,
	})
	return unlessLasting(err)
}

// takeBatch takes what a server has sent, up to where something is missing. If nothing comes
// for some time the server is gone: the client's own patience is half a minute.
func (c *cursor) takeBatch(ctx context.Context, batch jetstream.MessageBatch, wait time.Duration) error {
	var gap error
	messages := batch.Messages() // which has room for all, so that the rest can be left there
	t := time.NewTimer(wait)
	defer t.Stop()
	for more := true; more; {
		t.Reset(wait)
		select {
		case m, ok := <-messages:
			if !ok {
				more = false
				break
			}
			meta, err := m.Metadata()
			if err != nil || gap != nil {
				continue
			}
			if position := meta.Sequence.Stream; position != c.next {
				// An answer that got lost: it is read again from where it began.
				gap = fmt.Errorf("nats: entry %d came in the place of %d", position, c.next)
				continue
			}
			c.takeEntry(m.Headers().Get(jetstream.MsgIDHeader), m.Data())
		case <-t.C:
			return errors.New("nats: the queue's server doesn't answer")
		case <-ctx.Done():
			if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) {
				return err
			}
			return nil
		}
	}
	if gap != nil {
		return gap
	}
	if err := batch.Error(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return unlessLasting(err)
	}
	return nil
}

// takeEntry takes the entry at c.next. What isn't one, and what isn't the first with its
// ID, is passed over: by everybody.
func (c *cursor) takeEntry(id string, data []byte) {
	position := c.next
	c.next++
	e := relay.Entry{Position: position, Data: data}
	n, err := hex.Decode(e.ID[:], []byte(id[:min(len(id), 2*len(e.ID))]))
	if err != nil || n != len(e.ID) || len(id) != 2*len(e.ID) || !genuine(&e) {
		c.r.cfg.Logger.Warn("an entry of the queue isn't one", "position", position)
		return
	}
	if c.recent.add(position, e.ID) && position > c.after {
		c.list = append(c.list, e)
	}
}

// genuine reports whether an entry may have its ID.
func genuine(e *relay.Entry) bool {
	if e.Check() != nil {
		return false
	}
	kind, _, err := e.Content()
	return err == nil && (kind == relay.Order || e.ID == sha256.Sum256(e.Data))
}

// recent are the IDs at the last positions.
type recent struct {
	at   map[[32]byte]uint64 // the last position of an ID
	ring []slot
}

type slot struct {
	position uint64
	id       [32]byte
}

func newRecent() recent { return recent{at: make(map[[32]byte]uint64)} }

// add notes an ID at a position, and reports whether it is new: at none of the window
// positions before.
func (r *recent) add(position uint64, id [32]byte) bool {
	if r.ring == nil {
		r.ring = make([]slot, window)
	}
	last, seen := r.at[id]
	seen = seen && position-last <= window
	s := &r.ring[position%window]
	if s.position != 0 && r.at[s.id] == s.position {
		delete(r.at, s.id)
	}
	*s = slot{position, id}
	r.at[id] = position
	return !seen
}
