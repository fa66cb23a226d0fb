// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
)

// A node is a party as the network sees it.
type node struct {
	name string
	side int  // of a partition
	down bool // crashed, and not started again yet
}

type event struct {
	at  int64
	n   uint64 // events of one time are in the order in which they were made
	run func()
}

type eventQueue []event

func (q eventQueue) Len() int { return len(q) }
func (q eventQueue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].n < q[j].n
}
func (q eventQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *eventQueue) Push(x any)   { *q = append(*q, x.(event)) }
func (q *eventQueue) Pop() any {
	old := *q
	e := old[len(old)-1]
	old[len(old)-1] = event{}
	*q = old[:len(old)-1]
	return e
}

// A network is virtual time, in milliseconds, and messages that are on their way.
type network struct {
	rng    *rand.Rand
	now    int64
	queue  eventQueue
	n      uint64
	calm   bool  // no more faults
	apart  int64 // until when the network is partitioned
	trace  func(string)
	faults Faults
}

// Faults counts what went wrong.
type Faults struct {
	Lost       int `json:"lost"`
	Repeated   int `json:"repeated"`
	Late       int `json:"late"` // by seconds, so that others overtake
	CutOff     int `json:"cut_off"`
	Partitions int `json:"partitions"`
	Crashes    int `json:"crashes"`
	Restores   int `json:"restores"` // from backups
	NewKeys    int `json:"new_keys"` // rotations and revocations
}

func (f *Faults) add(g *Faults) {
	f.Lost += g.Lost
	f.Repeated += g.Repeated
	f.Late += g.Late
	f.CutOff += g.CutOff
	f.Partitions += g.Partitions
	f.Crashes += g.Crashes
	f.Restores += g.Restores
	f.NewKeys += g.NewKeys
}

func newNetwork(seed, stream uint64, trace func(string)) network {
	return network{rng: rand.New(rand.NewPCG(seed, stream)), trace: trace}
}

// tracef tells what happens. Arguments are cheap: nothing is formatted if nobody listens.
func (w *network) tracef(format string, args ...any) {
	if w.trace != nil {
		w.trace(fmt.Sprintf("%7.3f  ", float64(w.now)/1000) + fmt.Sprintf(format, args...))
	}
}

// random fills a slice, in place of crypto/rand.
func (w *network) random(b []byte) {
	for i := range b {
		b[i] = byte(w.rng.Uint32())
	}
}

// one reports true once in n times.
func (w *network) one(n int) bool { return w.rng.IntN(n) == 0 }

func (w *network) after(delay int64, run func()) {
	heap.Push(&w.queue, event{w.now + max(delay, 0), w.n, run})
	w.n++
}

// send delivers a message after some time, or never, or twice.
func (w *network) send(from, to *node, what string, deliver func()) {
	times := 1
	if !w.calm {
		switch w.rng.IntN(30) {
		case 0, 1:
			times = 0
			w.faults.Lost++
			w.tracef("%s to %s: %s is lost", from.name, to.name, what)
		case 2:
			times = 2
			w.faults.Repeated++
		}
	}
	for range times {
		delay := int64(5 + w.rng.IntN(50))
		if !w.calm && w.one(20) {
			delay += int64(w.rng.IntN(4000))
			w.faults.Late++
		}
		w.after(delay, func() {
			if to.down || w.now < w.apart && from.side != to.side {
				w.faults.CutOff++
				return
			}
			w.tracef("%s to %s: %s", from.name, to.name, what)
			deliver()
		})
	}
}

// part partitions the network for some time.
func (w *network) part(nodes []*node) {
	for _, x := range nodes {
		x.side = w.rng.IntN(2)
	}
	w.apart = w.now + 500 + int64(w.rng.IntN(3500))
	w.faults.Partitions++
	w.tracef("the network is partitioned until %.3f", float64(w.apart)/1000)
}

// runUntil lets time pass, up to end, or until stop says so.
func (w *network) runUntil(end int64, stop func() bool) {
	for len(w.queue) > 0 && w.queue[0].at <= end {
		e := heap.Pop(&w.queue).(event)
		w.now = e.at
		e.run()
		if stop() {
			return
		}
	}
	w.now = max(w.now, end)
}
