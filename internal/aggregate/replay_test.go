// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

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
