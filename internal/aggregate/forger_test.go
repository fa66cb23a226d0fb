// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate_test

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/gen/undersign/aggregate/v1/aggregatev1connect"
	"github.com/undersign/undersign/internal/aggregate/frame"
	"github.com/undersign/undersign/node"
)

// A forger is a validator that answers at once, with a directory of its own, and fills the
// streams of those who follow it with things that nobody else will say.
type forger struct {
	aggregatev1connect.UnimplementedValidatorServiceHandler
	aggregatev1connect.UnimplementedDirectoryServiceHandler
	w     *network
	index uint32
	entry []byte
}

// Sync says each thing twice.
func (f *forger) Sync(_ context.Context, req *aggregatev1.SyncRequest) (*aggregatev1.SyncResponse, error) {
	r := &aggregatev1.SyncRecord{Version: req.Since + 1, Height: 1, Entry: f.entry}
	return &aggregatev1.SyncResponse{Version: 1000, Records: []*aggregatev1.SyncRecord{r, r}}, nil
}

// Subscribe sends a new height and many receipts each time.
func (f *forger) Subscribe(ctx context.Context, _ *aggregatev1.SubscribeRequest, out *connect.ServerStream[aggregatev1.SubscribeResponse]) error {
	share := frame.NewShare(&distill.Share{Validator: f.index})
	for n := uint64(1); ctx.Err() == nil; n++ {
		h := distill.Hgt{Net: f.w.genesis.ID(), Height: 1<<40 + n}
		e := &aggregatev1.SubscribeResponse{Height: h.Height, Hgt: h.Bytes(), Share: share}
		for i := range 300 {
			r := distill.Rcpt{Net: h.Net, Height: 1, N: n, BatchDigest: [32]byte{byte(i), byte(i >> 8)}}
			e.Outcomes = append(e.Outcomes, &aggregatev1.Outcome{
				Kind: uint32(distill.RecordBatch), Rcpt: r.Bytes(), Share: share, Aggregator: 1, Seq: 1,
			})
		}
		if err := out.Send(e); err != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return ctx.Err()
}

// An aggregator without a validator believes no single one about who its clients are, however
// often that says the same, nor waits for it; and what one makes up doesn't push out what
// others say of heights and batches.
func TestForger(t *testing.T) {
	w := newNetwork(t, 5)
	w.tick, w.output = 100, io.Discard
	w.genesis.Validators, w.genesis.F = w.genesis.Validators[1:], 1
	w.tune = func(i int, c *node.Config) {
		a := &c.Aggregate
		a.Validators = []string{"node1", "node2", "node3", "node4"}
		if i == 0 {
			a.Validator, a.Directory = nil, nil
		} else {
			a.Validators[i-1] = "self"
		}
	}
	w.finish()
	k := newKeys(t, 90)
	forged := distill.DirectoryEntry{Net: w.genesis.ID(), Changes: []distill.Change{*must(distill.Register(w.genesis.ID(), k.BLS, k.Ed, 4000))(t)}}
	f := &forger{w: w, index: 1, entry: forged.Bytes()}
	w.serveAt(2, f, f)
	for _, i := range []int{1, 3, 4} {
		w.start(i)
	}
	w.start(0)
	var signers []signer
	for range 6 { // a version each
		signers = append(signers, w.register(1)...)
	}
	cfg := client.GatewayConfig{
		Key: w.key, Network: w.net, Genesis: w.genesis, Aggregators: map[uint64]string{1: w.addrs[0]},
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	for _, s := range signers {
		cfg.Clients = append(cfg.Clients, w.open(s, &distill.MemoryJournal{}))
	}
	g := must(client.NewGateway(cfg))(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	for range 2 {
		nonces := make([]uint64, len(signers))
		for i, s := range signers {
			nonces[i] = submit(t, g, s.id, "x")
		}
		for i, s := range signers {
			if o := wait(t, g, s.id, nonces[i]); o.Kind != distill.OutcomeExecuted || o.Code != distill.ResultOK {
				t.Errorf("client %d: %+v", s.id, o)
			}
		}
	}
}
