// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/node"
)

// Messages that were submitted survive a restart of the node, and are executed once.
func TestRestart(t *testing.T) {
	app := &recorder{}
	w := newNetwork(t, 1)
	w.app = app
	// Nothing is proposed before the node is stopped.
	w.tune = func(_ int, c *node.Config) { c.Aggregate.Aggregator.BatchAgeMS = 1500 }
	w.finish()
	w.startAll()
	signers := w.register(4)
	var clients []client.GatewayClient
	for _, s := range signers {
		clients = append(clients, w.open(s, &distill.MemoryJournal{}))
	}
	g, stop := w.gatewayOf(clients...)
	nonces := make(map[uint64]uint64)
	for _, s := range signers {
		nonces[s.id] = submit(t, g, s.id, fmt.Sprint("first ", s.id))
	}
	time.Sleep(300 * time.Millisecond) // for the acknowledgements
	if err := w.nodes[0].stop(); err != nil {
		t.Fatal(err)
	}
	if len(app.seen) != 0 {
		t.Fatal("executed before the restart")
	}
	w.tune = nil
	w.start(0)
	for _, s := range signers {
		if o := wait(t, g, s.id, nonces[s.id]); o.Kind != distill.OutcomeExecuted || o.Code != distill.ResultOK {
			t.Errorf("client %d: %+v", s.id, o)
		}
	}
	stop()

	// The clients, opened again from their journals, get the same outcome from what the
	// network kept.
	if n := len(app.seen); n != 4 {
		t.Errorf("%d payloads were executed", n)
	}
	for p, n := range app.seen {
		if n != 1 {
			t.Errorf("%q was executed %d times", p, n)
		}
	}
}

// Four validators go on with one that is dead, and it catches up when it is back.
func TestFourNodesOneDead(t *testing.T) {
	w := newNetwork(t, 4)
	w.tick = 100
	w.finish()
	w.startAll()
	signers := w.register(3)
	var clients []client.GatewayClient
	for _, s := range signers {
		clients = append(clients, w.open(s, &distill.MemoryJournal{}))
	}
	g, _ := w.gatewayOf(clients...)
	run := func(name string) {
		t.Helper()
		nonces := make([]uint64, len(signers))
		for i, s := range signers {
			nonces[i] = submit(t, g, s.id, fmt.Sprint(name, s.id))
		}
		for i, s := range signers {
			if o := wait(t, g, s.id, nonces[i]); o.Kind != distill.OutcomeExecuted || o.Code != distill.ResultOK {
				t.Errorf("%s: client %d: %+v", name, s.id, o)
			}
		}
	}
	run("all")
	if err := w.nodes[2].stop(); err != nil {
		t.Fatal(err)
	}
	run("three")
	w.start(2)
	run("back")
	// All come to the same log.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		heads := make(map[distill.Hgt]int)
		for i := range w.dirs {
			resp, err := w.validator(i).Head(ctx, &aggregatev1.HeadRequest{})
			if err != nil {
				t.Fatal(err)
			}
			var h distill.Hgt
			if err := h.UnmarshalBinary(resp.Hgt); err != nil {
				t.Fatal(err)
			}
			if h.Batches < 3 {
				continue
			}
			h.Height = 0
			heads[h]++
		}
		if len(heads) == 1 {
			for _, n := range heads {
				if n == 4 {
					return
				}
			}
		}
		if ctx.Err() != nil {
			t.Fatalf("heads: %v", heads)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// With two of four validators gone nothing is executed, and nothing is lost: it is
// executed when one is back.
func TestTwoOfFourDead(t *testing.T) {
	w := newNetwork(t, 4)
	w.tick = 100
	w.finish()
	w.startAll()
	signers := w.register(1)
	g, _ := w.gatewayOf(w.open(signers[0], &distill.MemoryJournal{}))
	n := submit(t, g, signers[0].id, "one")
	wait(t, g, signers[0].id, n)
	// With one of four F+1 = 2 don't answer.
	for i := 1; i < 4; i++ {
		if err := w.nodes[i].stop(); err != nil {
			t.Fatal(err)
		}
	}
	n = submit(t, g, signers[0].id, "two")
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	if o, err := g.Wait(ctx, signers[0].id, n); err == nil {
		t.Fatalf("one validator of four was enough: %+v", o)
	}
	w.start(1)
	if o := wait(t, g, signers[0].id, n); o.Kind != distill.OutcomeExecuted {
		t.Errorf("%+v", o)
	}
}

// Nothing runs any more after nodes and gateways have ended.
func TestNoLeaks(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("network", func(t *testing.T) {
		w := newNetwork(t, 1)
		w.finish()
		w.startAll()
		s := w.register(1)
		g, stop := w.gatewayOf(w.open(s[0], &distill.MemoryJournal{}))
		wait(t, g, s[0].id, submit(t, g, s[0].id, "x"))
		stop()
		if err := w.nodes[0].stop(); err != nil {
			t.Fatal(err)
		}
	})
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before+2 {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			stacks := string(buf[:runtime.Stack(buf, true)])
			var ours []string
			for _, s := range strings.Split(stacks, "\n\n") {
				if strings.Contains(s, "undersign/") && !strings.Contains(s, "TestNoLeaks") {
					ours = append(ours, s)
				}
			}
			if len(ours) > 0 {
				t.Fatalf("%d goroutines, and %d before:\n%s", runtime.NumGoroutine(), before, strings.Join(ours, "\n\n"))
			}
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
