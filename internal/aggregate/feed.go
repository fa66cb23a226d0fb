// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"sync"

	"github.com/undersign/undersign/distill"
)

// An outcome is what became of an entry that had an effect.
type outcome struct {
	kind            distill.RecordKind
	rcpt            distill.Rcpt
	share           *distill.Share
	aggregator, seq uint64
	results         []byte
}

// An event is what became of a height.
type event struct {
	height   uint64
	hgt      *distill.Hgt // nil if it is too long ago
	share    *distill.Share
	outcomes []outcome
}

func (e *event) size() int {
	n := 512
	for i := range e.outcomes {
		n += 512 + len(e.outcomes[i].results)
	}
	return n
}

// A feed keeps the latest events for those who follow, and wakes them.
type feed struct {
	mu     sync.Mutex
	events []*event // of consecutive heights
	next   uint64   // height of the one to come
	bytes  int
	news   chan struct{} // closed when there is another
}

// What a feed keeps: what is older is read from disk.
const (
	feedEvents = 256
	feedBytes  = 32 << 20
)

func newFeed(next uint64) *feed { return &feed{next: next, news: make(chan struct{})} }

func (f *feed) add(e *event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, e)
	f.next = e.height + 1
	f.bytes += e.size()
	for len(f.events) > 1 && (len(f.events) > feedEvents || f.bytes > feedBytes) {
		f.bytes -= f.events[0].size()
		f.events[0] = nil
		f.events = f.events[1:]
	}
	close(f.news)
	f.news = make(chan struct{})
}

// at returns the event of a height, or what to wait for if it is to come. If there is
// neither, the event isn't here any more.
func (f *feed) at(height uint64) (e *event, news <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if height >= f.next {
		return nil, f.news
	}
	back := f.next - height
	if back > uint64(len(f.events)) {
		return nil, nil
	}
	return f.events[uint64(len(f.events))-back], nil
}
