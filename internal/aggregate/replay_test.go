// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/internal/aggregate"
	"github.com/undersign/undersign/internal/aggregate/frame"
	"github.com/undersign/undersign/internal/relay"
	"github.com/undersign/undersign/internal/store"
)

// An order that comes again when nobody has its batch any more holds nobody up: who has the
// witness of an old batch, as its aggregator does, could end the log with it otherwise.
func TestOrderAgain(t *testing.T) {
	t.Cleanup(aggregate.SetCollectEvery(20 * time.Millisecond))
	w := newNetwork(t, 1)
	w.tick, w.genesis.Params.ValidFor = 20, 16
	app := &recorder{}
	w.app = app
	queue := relay.NewLocal(must(store.Open(filepath.Join(t.TempDir(), "relay.db"), store.Options{}))(t))
	w.relay = sharedRelay{queue}
	w.finish()
	w.startAll()
	signers := w.register(1)
	g, _ := w.gatewayOf(w.open(signers[0], &distill.MemoryJournal{}))
	wait(t, g, signers[0].id, submit(t, g, signers[0].id, "once"))

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var order relay.Entry
	for after := uint64(0); order.Position == 0; {
		for _, e := range must(queue.Read(ctx, after, 64))(t) {
			if k, _, _ := e.Content(); k == relay.Order {
				order = e
			}
			after = e.Position
		}
	}
	_, data, _ := order.Content()
	o := must(frame.ParseOrder(data))(t)
	for {
		resp := must(w.validator(0).FetchBatch(ctx, &aggregatev1.FetchBatchRequest{Digest: o.Digest[:]}))(t)
		if len(resp.Batch) == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	order.ID[0]++ // the queue has forgotten that it was there
	if err := queue.Publish(ctx, order); err != nil {
		t.Fatal(err)
	}
	if o := wait(t, g, signers[0].id, submit(t, g, signers[0].id, "more")); o.Code != distill.ResultOK {
		t.Errorf("%+v", o)
	}
	if n := app.count("once"); n != 1 {
		t.Errorf("executed %d times", n)
	}
}

// fullQueue is a queue that takes no changes of the directory, while it is full.
type fullQueue struct {
	sharedRelay
	full atomic.Bool
}

func (q *fullQueue) Publish(ctx context.Context, e relay.Entry) error {
	if k, _, _ := e.Content(); k == relay.Change && q.full.Load() {
		return errors.New("the disk is full")
	}
	return q.sharedRelay.Publish(ctx, e)
}

// Nobody is told that a change was made which the queue hasn't taken.
func TestChangeNotQueued(t *testing.T) {
	w := newNetwork(t, 1)
	w.tick = 20
	queue := &fullQueue{sharedRelay: sharedRelay{relay.NewLocal(must(store.Open(filepath.Join(t.TempDir(), "relay.db"), store.Options{}))(t))}}
	w.relay = queue
	w.finish()
	w.startAll()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	first, other := newKeys(t, 70), newKeys(t, 71)
	register := func(k distill.ClientKeys) (*client.Registration, error) {
		return client.Register(ctx, w.key, w.genesis, w.ids[0].Fingerprint(), w.addrs[0], k.BLS, k.Ed)
	}
	d := &client.Directory{Key: w.key, Genesis: w.genesis, Validators: []client.Validator{{Fingerprint: w.ids[0].Fingerprint(), Address: w.addrs[0]}}}

	queue.full.Store(true)
	if r, err := register(first); connect.CodeOf(err) != connect.CodeUnavailable {
		t.Errorf("registered in no queue: %+v, %v", r, err)
	}
	queue.full.Store(false)
	r, err := register(first)
	if err != nil || r.ID != 0 || r.Since == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	queue.full.Store(true)
	if r, err := register(other); connect.CodeOf(err) != connect.CodeUnavailable {
		t.Errorf("registered in no queue: %+v, %v", r, err)
	}
	if r, err := d.Rotate(ctx, r.ID, first.Ed, other.BLS, other.Ed); connect.CodeOf(err) != connect.CodeUnavailable {
		t.Errorf("rotated in no queue: %+v, %v", r, err)
	}
	if err := d.Revoke(ctx, r.ID, first.Ed); connect.CodeOf(err) != connect.CodeUnavailable {
		t.Errorf("revoked in no queue: %v", err)
	}
	queue.full.Store(false)
	if err := d.Revoke(ctx, r.ID, first.Ed); err != nil {
		t.Error(err)
	}
}

// A nonce that was executed so long ago that its result was deleted, and its execution not
// yet, is one that was used: to clients who ask, and to validators who are given it again.
func TestOldNonceAgain(t *testing.T) {
	if !longTests() {
		t.Skip("set UNDERSIGN_LONG=1: it takes some seconds")
	}
	t.Cleanup(aggregate.SetCollectEvery(20 * time.Millisecond))
	w := newNetwork(t, 1)
	w.tick = 20
	p := &w.genesis.Params
	p.ValidFor, p.MaxAhead, p.KeepResults = 16, 96, 8
	app := &recorder{}
	w.app = app
	w.finish()
	w.startAll()
	var signers []signer
	for i := range byte(2) {
		k := newKeys(t, 80+i)
		r := must(client.Register(t.Context(), w.key, w.genesis, w.ids[0].Fingerprint(), w.addrs[0], k.BLS, k.Ed))(t)
		k.Since = r.Since
		signers = append(signers, signer{r.ID, k})
	}
	execute := func(s signer, nonce uint64, payload string) distill.Result {
		t.Helper()
		c := w.call()
		c.enter(s)
		sub := w.submission(s, nonce, must(w.validatorHead())(t)+60, payload)
		c.send(submissions(sub))
		return c.receipt(s, sub).Result
	}
	first := execute(signers[0], 1, "once")
	gone := first.ExecHeight + p.ValidFor + p.MaxAhead + p.KeepResults + 8
	for now := uint64(0); now < gone; now = must(w.validatorHead())(t) {
		time.Sleep(10 * time.Millisecond)
	}
	cfg := client.GatewayConfig{Key: w.key, Network: w.net, Genesis: w.genesis,
		Validators: []client.Validator{{Fingerprint: w.ids[0].Fingerprint(), Address: w.addrs[0]}}}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if look, err := client.Lookup(ctx, cfg, signers[0].id, 1, first.ExecHeight+20); err != nil || look.Code != distill.LookUnknown {
		t.Errorf("%+v, %v", look, err)
	}

	// The aggregator forgets it with the next message, once it begins anew.
	if r := execute(signers[1], 1, "another"); r.Code != distill.ResultOK {
		t.Errorf("%+v", r)
	}
	if err := w.nodes[0].stop(); err != nil {
		t.Fatal(err)
	}
	w.start(0)
	if r := execute(signers[0], 1, "once"); r.Code != distill.ResultTaken {
		t.Errorf("%+v", r)
	}
	if r := execute(signers[1], 2, "and on"); r.Code != distill.ResultOK {
		t.Errorf("%+v", r)
	}
	t.Log("at height", must(w.validatorHead())(t))
	if n := app.count("once"); n != 1 {
		t.Errorf("executed %d times", n)
	}
}
