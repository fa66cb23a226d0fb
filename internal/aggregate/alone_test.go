// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/node"
)

// An aggregator has no validator of its own: it follows the directory and the heights of
// others, by calls, and goes on where it was when either has been away.
func TestAggregatorAlone(t *testing.T) {
	app := &recorder{}
	w := newNetwork(t, 2)
	w.output = io.Discard
	w.relay, w.app = nil, app
	w.genesis.Validators, w.genesis.F = w.genesis.Validators[1:], 0
	w.tune = func(i int, c *node.Config) {
		a := &c.Aggregate
		if i == 0 {
			a.Validators, a.Validator, a.Directory = []string{"node1"}, nil, nil
		} else {
			a.Validators = []string{"self"}
		}
	}
	w.finish()
	w.start(1)
	w.start(0)
	first := w.register(3)
	var clients []client.GatewayClient
	for _, s := range first {
		clients = append(clients, w.open(s, &distill.MemoryJournal{}))
	}
	gateway := func(clients []client.GatewayClient) *client.Gateway {
		t.Helper()
		g := must(client.NewGateway(client.GatewayConfig{
			Key: w.key, Network: w.net, Genesis: w.genesis, Aggregators: map[uint64]string{1: w.addrs[0]}, Clients: clients,
			Validators: []client.Validator{{Fingerprint: w.ids[1].Fingerprint(), Address: w.addrs[1]}},
			Log:        slog.New(slog.NewTextHandler(io.Discard, nil)),
		}))(t)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- g.Run(ctx) }()
		t.Cleanup(func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
		return g
	}
	g := gateway(clients)
	settle := func(round int, g *client.Gateway, list []signer) {
		t.Helper()
		for _, s := range list {
			payload := fmt.Sprintf("%d of %d", round, s.id)
			if o := wait(t, g, s.id, submit(t, g, s.id, payload)); o.Kind != distill.OutcomeExecuted || o.Code != distill.ResultOK {
				t.Errorf("round %d, client %d: %+v", round, s.id, o)
			}
		}
	}
	settle(1, g, first)

	// Who is registered later is known to it as well.
	more := w.register(2)
	var late []client.GatewayClient
	for _, s := range more {
		late = append(late, w.open(s, &distill.MemoryJournal{}))
	}
	h := gateway(late)
	settle(1, h, more)

	// The validator is away: messages wait, and none is lost.
	if err := w.nodes[1].stop(); err != nil {
		t.Fatal(err)
	}
	nonce := submit(t, g, first[0].id, "while it was away")
	time.Sleep(300 * time.Millisecond)
	w.start(1)
	if o := wait(t, g, first[0].id, nonce); o.Kind != distill.OutcomeExecuted {
		t.Errorf("%+v", o)
	}

	// The aggregator is away, and reads its copy of the directory from disk.
	if err := w.nodes[0].stop(); err != nil {
		t.Fatal(err)
	}
	w.start(0)
	settle(2, g, first)
	settle(2, h, more)
	for payload, n := range app.seen {
		if n != 1 {
			t.Errorf("%q was executed %d times", payload, n)
		}
	}
	if len(app.seen) != 2*5+1 {
		t.Errorf("%d payloads were executed", len(app.seen))
	}
}
