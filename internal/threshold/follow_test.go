// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold_test

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/gen/undersign/threshold/v1/thresholdv1connect"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/keyfile"
)

// A keyRogue is in the place of a node, and answers as it likes what became of a key.
type keyRogue struct {
	thresholdv1connect.UnimplementedThresholdServiceHandler
	asked atomic.Int64
	key   func(context.Context, *thresholdv1.KeyRequest) (*thresholdv1.KeyResponse, error)
}

func (r *keyRogue) Key(ctx context.Context, req *thresholdv1.KeyRequest) (*thresholdv1.KeyResponse, error) {
	r.asked.Add(1)
	return r.key(ctx, req)
}

// serve has a party serve until the test ends, and returns its address.
func serve(t testing.TB, id *party.Identity, service thresholdv1connect.ThresholdServiceHandler) string {
	t.Helper()
	return serveAt(t, id, "127.0.0.1:0", service)
}

// serveAt is serve at an address.
func serveAt(t testing.TB, id *party.Identity, address string, service thresholdv1connect.ThresholdServiceHandler) string {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	_, h := thresholdv1connect.NewThresholdServiceHandler(service)
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	s := &http.Server{Handler: h, TLSConfig: id.ServerTLS(func(string) error { return nil }), Protocols: protocols}
	done := make(chan struct{})
	go func() { s.ServeTLS(l, "", ""); close(done) }()
	t.Cleanup(func() { s.Close(); <-done })
	return l.Addr().String()
}

// A node follows the certificates though a peer keeps silent that it asks before the others,
// and another one sends rubbish.
func TestFollowsDespiteOthers(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, nil)
	dir := c.makeDir("front", allowAll)
	record, err := keyfile.Encode(c.key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := threshold.Hold(dir, threshold.Config{}, "code", record, nil); err != nil {
		t.Fatal(err)
	}
	front := c.start("front", dir)
	silent := &keyRogue{key: func(ctx context.Context, _ *thresholdv1.KeyRequest) (*thresholdv1.KeyResponse, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	rubbish := &keyRogue{key: func(context.Context, *thresholdv1.KeyRequest) (*thresholdv1.KeyResponse, error) {
		return &thresholdv1.KeyResponse{Certificates: [][]byte{make([]byte, 1000)}}, nil
	}}
	for name, r := range map[string]*keyRogue{"aaa": silent, "aab": rubbish} {
		_, id := newParty(t)
		front.admit(id, name, serve(t, id, r))
	}
	for _, n := range c.nodes {
		n.meet(front)
	}
	st := c.nodes[0].startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"})
	if st := c.nodes[0].finishCeremony(st.Id); len(st.Successor) == 0 {
		t.Fatal(states(st))
	}
	next, _ := c.nodes[0].held()
	r, data := request(t, next, "m")
	resp, err := front.as(front.id).Sign(t.Context(), &thresholdv1.SignRequest{Request: data, Key: threshold.KeyName(next)})
	if err != nil || r.Verify(next.RSA(), resp.Signature) != nil {
		t.Errorf("%v, %v", resp, err)
	}
	if p, _ := front.held(); p.Epoch() != next.Epoch() {
		t.Errorf("epoch %d", p.Epoch())
	}

	// Many who ask at a time for what nobody has don't have the peers asked as many times.
	before := silent.asked.Load()
	r, _ = request(t, next, "n")
	data, err = r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	const record32, epoch = 2, 2 + 32 // where they are in a request
	data[record32] ^= 1
	data[epoch+7] += 5
	const calls = 10
	errs := make(chan error, calls)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for range calls {
		go func() {
			_, err := front.as(front.id).Sign(ctx, &thresholdv1.SignRequest{Request: data, Key: threshold.KeyName(next)})
			errs <- err
		}()
	}
	for range calls {
		if err := <-errs; connect.CodeOf(err) != connect.CodeAborted && connect.CodeOf(err) != connect.CodeDeadlineExceeded {
			t.Error(err)
		}
	}
	if n := silent.asked.Load() - before; n < 1 || n > 2 { // the first question may come late
		t.Errorf("the peers were asked %d times", n)
	}
}

// Who asks a node for what became of a record that it never knew gets the answer though
// others are faster with rubbish.
func TestKeyDespiteOthers(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, nil)
	st := c.nodes[0].startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"})
	if st := c.nodes[0].finishCeremony(st.Id); len(st.Successor) == 0 {
		t.Fatal(states(st))
	}
	next, _ := c.nodes[0].held()
	dir := c.makeDir("front", allowAll)
	record, err := keyfile.Encode(next)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := threshold.Hold(dir, threshold.Config{}, "code", record, nil); err != nil {
		t.Fatal(err)
	}
	front := c.start("front", dir)
	rubbish := &keyRogue{key: func(context.Context, *thresholdv1.KeyRequest) (*thresholdv1.KeyResponse, error) {
		return &thresholdv1.KeyResponse{Certificates: [][]byte{make([]byte, 1000)}}, nil
	}}
	first := c.key.ID()
	much := &keyRogue{key: func(ctx context.Context, req *thresholdv1.KeyRequest) (*thresholdv1.KeyResponse, error) {
		resp, err := c.nodes[0].as(c.nodes[0].id).Key(ctx, req)
		if err == nil {
			resp.Record = make([]byte, 16<<20)
		}
		return resp, err
	}}
	for name, r := range map[string]*keyRogue{"aaa": rubbish, "aab": much} {
		_, id := newParty(t)
		front.admit(id, name, serve(t, id, r))
	}
	for _, n := range c.nodes {
		n.meet(front)
	}
	for range 5 {
		resp, err := front.as(front.id).Key(t.Context(), &thresholdv1.KeyRequest{RecordId: first[:], Key: threshold.KeyName(next)})
		if err != nil {
			t.Fatal(err)
		}
		if p, _, err := threshold.Follow(c.key, resp.Certificates); err != nil || p.ID() != next.ID() {
			t.Errorf("%v", err)
		}
		if len(resp.Record) > 1<<20 {
			t.Errorf("a record of %d bytes is passed on", len(resp.Record))
		}
	}
	if rubbish.asked.Load() == 0 || much.asked.Load() == 0 {
		t.Error("the rogues weren't asked")
	}
}
