// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/gen/undersign/aggregate/v1/aggregatev1connect"
	"github.com/undersign/undersign/internal/aggregate/frame"
)

// A liar is a validator with a good key and nothing good to say.
type liar struct {
	aggregatev1connect.UnimplementedValidatorServiceHandler
	aggregatev1connect.UnimplementedDirectoryServiceHandler
	w     *network
	index int
	key   *bls.SecretKey
}

func (l *liar) share(s distill.Statement) *aggregatev1.Share {
	share, err := distill.SignStatement(l.key, l.index, s)
	if err != nil {
		panic(err)
	}
	return frame.NewShare(share)
}

func (l *liar) Witness(context.Context, *aggregatev1.WitnessRequest) (*aggregatev1.WitnessResponse, error) {
	return &aggregatev1.WitnessResponse{Share: l.share(distill.Wit{Net: l.w.genesis.ID(), AggID: 1, Seq: 9, BatchDigest: [32]byte{9}})}, nil
}

func (l *liar) SubmitBatch(context.Context, *aggregatev1.SubmitBatchRequest) (*aggregatev1.SubmitBatchResponse, error) {
	return &aggregatev1.SubmitBatchResponse{}, nil
}

func (l *liar) Head(context.Context, *aggregatev1.HeadRequest) (*aggregatev1.HeadResponse, error) {
	h := distill.Hgt{Net: l.w.genesis.ID(), Height: 1 << 40, Batches: 7}
	return &aggregatev1.HeadResponse{Hgt: h.Bytes(), Share: l.share(h)}, nil
}

func (l *liar) FetchBatch(context.Context, *aggregatev1.FetchBatchRequest) (*aggregatev1.FetchBatchResponse, error) {
	return &aggregatev1.FetchBatchResponse{Batch: []byte("not the batch")}, nil
}

func (l *liar) LastBatch(context.Context, *aggregatev1.LastBatchRequest) (*aggregatev1.LastBatchResponse, error) {
	return &aggregatev1.LastBatchResponse{Validator: uint32(l.index), Any: true, Seq: 1 << 60}, nil
}

// Lookup says that nothing was ever executed.
func (l *liar) Lookup(_ context.Context, req *aggregatev1.LookupRequest) (*aggregatev1.LookupResponse, error) {
	questions, err := frame.Questions(req)
	resp := &aggregatev1.LookupResponse{}
	for _, q := range questions {
		look := &distill.SignedLook{Look: distill.Look{
			Net: l.w.genesis.ID(), Challenge: q.Challenge, Height: 1 << 40, ID: q.ID, Nonce: q.Nonce, NotAfter: q.NotAfter, Code: distill.LookNotExecuted,
		}}
		share, serr := distill.SignStatement(l.key, l.index, look.Look)
		if serr != nil {
			return nil, serr
		}
		look.Share = *share
		resp.Looks = append(resp.Looks, frame.NewLook(look))
	}
	return resp, err
}

// Subscribe passes on what another validator says, in its own name, with heights that are
// too large, receipts of other results, and results that aren't those of the receipt.
func (l *liar) Subscribe(ctx context.Context, req *aggregatev1.SubscribeRequest, out *connect.ServerStream[aggregatev1.SubscribeResponse]) error {
	in, err := l.w.validator(1).Subscribe(ctx, req)
	if err != nil {
		return err
	}
	defer in.Close()
	for in.Receive() {
		e := in.Msg()
		h := distill.Hgt{Net: l.w.genesis.ID(), Height: e.Height, Batches: 99, LogHash: [32]byte{1}}
		e.Hgt, e.Share = h.Bytes(), l.share(h)
		for i, o := range e.Outcomes {
			var r distill.Rcpt
			if err := r.UnmarshalBinary(o.Rcpt); err != nil {
				return err
			}
			if i%2 == int(e.Height%2) {
				r.ResultRoot[0] ^= 1
			}
			o.Rcpt, o.Share = r.Bytes(), l.share(r)
			if len(o.Results) > 2 {
				o.Results[2] = byte(distill.ResultTaken)
			}
		}
		if err := out.Send(e); err != nil {
			return err
		}
	}
	return in.Err()
}

func (l *liar) Sync(context.Context, *aggregatev1.SyncRequest) (*aggregatev1.SyncResponse, error) {
	return &aggregatev1.SyncResponse{Version: 1000, Records: []*aggregatev1.SyncRecord{{Version: 1, Height: 1, Entry: []byte("x")}}}, nil
}

// serve serves the liar where its node would be.
func (l *liar) serve() { l.w.serveAt(l.index, l, l) }

// serveAt serves something else where a node would be.
func (w *network) serveAt(node int, v aggregatev1connect.ValidatorServiceHandler, d aggregatev1connect.DirectoryServiceHandler) {
	t := w.t
	listener := must(net.Listen("tcp", w.addrs[node]))(t)
	mux := http.NewServeMux()
	mux.Handle(aggregatev1connect.NewValidatorServiceHandler(v))
	mux.Handle(aggregatev1connect.NewDirectoryServiceHandler(d))
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	server := &http.Server{Handler: mux, Protocols: protocols, TLSConfig: w.ids[node].ServerTLS(func(string) error { return nil })}
	done := make(chan struct{})
	go func() {
		defer close(done)
		server.ServeTLS(listener, "", "")
	}()
	t.Cleanup(func() {
		server.Close()
		<-done
	})
}

// One liar of four changes nothing: not what is executed, nor what clients believe.
func TestOneLiarOfFour(t *testing.T) {
	w := newNetwork(t, 4)
	w.tick = 100
	w.finish()
	// The last one registers clients in tests, so the liar is another.
	l := &liar{w: w, index: 2, key: must(bls.KeyGen(bytes.Repeat([]byte{3}, 32), nil))(t)}
	l.serve()
	for _, i := range []int{0, 1, 3} {
		w.start(i)
	}
	signers := w.register(3)
	var clients []client.GatewayClient
	for _, s := range signers {
		clients = append(clients, w.open(s, &distill.MemoryJournal{}))
	}
	g, _ := w.gatewayOf(clients...)
	for range 3 {
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
	head := must(g.Head(t.Context()))(t)
	if head == 0 || head > 1<<20 {
		t.Errorf("clients believe in height %d", head)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cfg := client.GatewayConfig{Key: w.key, Network: w.net, Genesis: w.genesis}
	for i := range w.dirs {
		cfg.Validators = append(cfg.Validators, client.Validator{Fingerprint: w.ids[i].Fingerprint(), Address: w.addrs[i]})
	}
	look, err := client.Lookup(ctx, cfg, signers[0].id, 1, 1<<40)
	if err != nil || look.Code != distill.LookExecuted {
		t.Errorf("%+v, %v", look, err)
	}
	// One alone isn't believed, true or not.
	for i := range cfg.Validators {
		if i != l.index {
			cfg.Validators[i].Address = ""
		}
	}
	if look, err := client.Lookup(ctx, cfg, signers[0].id, 1, 1<<40); err == nil {
		t.Errorf("the liar alone was believed: %+v", look)
	}
}
