// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/internal/relay"
	"github.com/undersign/undersign/internal/rpc"
)

// changes are changes of the directory that wait for their place in the order. Each
// height has one entry at most: an entry makes a version, and batches name a version that
// mustn't be too far behind.
type changes struct {
	mu     sync.Mutex
	most   int
	list   []*change
	sent   map[[32]byte][]*change // by the digest of the entry that they are in
	notify chan struct{}          // of capacity 1
}

// A change is one that somebody waits for.
type change struct {
	c      distill.Change
	result *aggregatev1.Change
	err    error // why nobody knows whether it was made
	done   chan struct{}
	left   bool // nobody waits any more
}

func newChanges(most int) *changes {
	if most == 0 {
		most = 16384
	}
	return &changes{most: most, sent: make(map[[32]byte][]*change), notify: make(chan struct{}, 1)}
}

// add queues changes, all or none.
func (q *changes) add(list []distill.Change) ([]*change, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list)+len(list) > q.most {
		return nil, false
	}
	var added []*change
	for i := range list {
		added = append(added, &change{c: list[i], done: make(chan struct{})})
	}
	q.list = append(q.list, added...)
	select {
	case q.notify <- struct{}{}:
	default:
	}
	return added, true
}

// take returns the next entry, or nil.
func (q *changes) take(net distill.NetworkID) []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := distill.DirectoryEntry{Net: net}
	var in []*change
	size := 0
	for len(q.list) > 0 && len(in) < distill.MaxChanges && size < relay.MaxEntry-4096 {
		c := q.list[0]
		q.list[0] = nil
		q.list = q.list[1:]
		if !c.left {
			in = append(in, c)
			e.Changes = append(e.Changes, c.c)
			size += 512
		}
	}
	if len(in) == 0 {
		return nil
	}
	data := e.Bytes()
	digest := sha256.Sum256(data)
	// The same entry may be there twice, if somebody sent the same twice.
	q.sent[digest] = append(q.sent[digest], in...)
	return data
}

func (q *changes) forget(entry []byte) []*change {
	q.mu.Lock()
	defer q.mu.Unlock()
	digest := sha256.Sum256(entry)
	in := q.sent[digest]
	delete(q.sent, digest)
	return in
}

// done notes what became of an entry, which may be another validator's.
func (q *changes) done(entry []byte, r *distill.DirectoryResult) {
	for i, c := range q.forget(entry) {
		x := r.Changes[i%len(r.Changes)]
		c.end(&aggregatev1.Change{Id: x.ID, Rule: uint32(distill.RuleOf(x.Err)), Version: r.Version})
	}
}

// failed notes that no change of an entry was made, because of a rule, or that nobody knows:
// an answer without a rule would say that it was.
func (q *changes) failed(entry []byte, err error) {
	rule := distill.RuleOf(err)
	for _, c := range q.forget(entry) {
		if rule == 0 {
			c.err = errUnqueued
		}
		c.end(&aggregatev1.Change{Rule: uint32(rule)})
	}
}

var errUnqueued = connect.NewError(connect.CodeUnavailable, errors.New("the queue may not have taken the change: ask again"))

func (c *change) end(r *aggregatev1.Change) {
	c.result = r
	close(c.done)
}

// bundle publishes the changes that wait, an entry each time that it is this validator's
// turn: they take turns by height, so that versions don't fly by.
func (v *validator) bundle(ctx context.Context) {
	n := uint64(len(v.s.genesis.Validators))
	for {
		height, moved := v.now()
		if height%n == uint64(v.index) {
			if entry := v.changes.take(v.s.network.ID()); entry != nil {
				if err := v.relay.Publish(ctx, relay.NewChange(salted(entry))); err != nil {
					v.log.Warn("changes of the directory weren't queued", "error", err)
					v.changes.failed(entry, err)
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-moved:
		}
	}
}

// saltSize is the length of what makes an entry of the queue unlike any other: without it
// the same changes, asked for again, would be taken for those that are there already, and
// nobody would learn that they have no effect.
const saltSize = 16

func salted(entry []byte) []byte {
	b := make([]byte, saltSize, saltSize+len(entry))
	rand.Read(b)
	return append(b, entry...)
}

// Register implements the service.
func (v *validator) Register(ctx context.Context, req *aggregatev1.RegisterRequest) (*aggregatev1.RegisterResponse, error) {
	list, err := v.change(ctx, req.GetEntry(), distill.ChangeRegister)
	return &aggregatev1.RegisterResponse{Changes: list}, err
}

// Rotate implements the service.
func (v *validator) Rotate(ctx context.Context, req *aggregatev1.RotateRequest) (*aggregatev1.RotateResponse, error) {
	list, err := v.change(ctx, req.GetEntry(), distill.ChangeRotate)
	return &aggregatev1.RotateResponse{Changes: list}, err
}

// Revoke implements the service.
func (v *validator) Revoke(ctx context.Context, req *aggregatev1.RevokeRequest) (*aggregatev1.RevokeResponse, error) {
	list, err := v.change(ctx, req.GetEntry(), distill.ChangeRevoke, distill.ChangeRemove)
	return &aggregatev1.RevokeResponse{Changes: list}, err
}

// change has the changes of an entry made, and waits for what becomes of them.
func (v *validator) change(ctx context.Context, data []byte, kinds ...distill.ChangeKind) ([]*aggregatev1.Change, error) {
	call := rpc.CallFrom(ctx)
	if v.changes == nil {
		return nil, &policy.DeniedError{Call: policy.Call{Party: call.Party, Operation: call.Operation}, Reason: "the node isn't a directory"}
	}
	e, err := distill.ParseDirectoryEntry(data)
	if err != nil {
		return nil, invalid(err)
	}
	if e.Net != v.s.network.ID() {
		return nil, invalid(errors.New("a change of another network's directory"))
	}
	for i := range e.Changes {
		ok := false
		for _, k := range kinds {
			ok = ok || e.Changes[i].Kind == k
		}
		if !ok {
			return nil, invalid(fmt.Errorf("change %d is of another kind", i))
		}
	}
	list, ok := v.changes.add(e.Changes)
	if !ok {
		return nil, &policy.LimitError{Call: policy.Call{Party: call.Party, Operation: call.Operation}, After: 4 * v.tick}
	}
	var results []*aggregatev1.Change
	for i, c := range list {
		select {
		case <-c.done:
		case <-ctx.Done():
			v.changes.leave(list[i:])
			return nil, ctx.Err()
		case <-v.s.host.Draining:
			v.changes.leave(list[i:])
			return nil, &policy.LimitError{Call: policy.Call{Party: call.Party, Operation: call.Operation}, After: time.Second}
		}
		if c.err != nil {
			v.changes.leave(list[i:])
			return nil, c.err
		}
		r := c.result
		if distill.Rule(r.Rule) == distill.RuleKeyRegistered {
			// Perhaps by the same call, before the answer was lost.
			if id, ok := v.registered(&c.c); ok {
				r = &aggregatev1.Change{Id: id, Version: v.v.Directory().Version()}
			}
		}
		results = append(results, r)
	}
	return results, nil
}

func (q *changes) leave(list []*change) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range list {
		c.left = true
	}
}

// registered returns the id that has both keys of a change now.
func (v *validator) registered(c *distill.Change) (uint64, bool) {
	d := v.v.Directory()
	id, ok := d.Find([bls.PublicKeySize]byte(c.BLSKey))
	if !ok {
		return 0, false
	}
	view := d.Latest()
	key, ed := view.BLSKey(id), view.EdKey(id)
	if key == nil || ed == nil || ed.Bytes() != c.EdKey {
		return 0, false
	}
	return id, [bls.PublicKeySize]byte(key.PublicKey().Bytes()) == c.BLSKey
}
