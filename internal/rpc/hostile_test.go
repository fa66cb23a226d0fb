// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"

	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/gen/undersign/aggregate/v1/aggregatev1connect"
	nodev1 "github.com/undersign/undersign/gen/undersign/node/v1"
	"github.com/undersign/undersign/gen/undersign/node/v1/nodev1connect"
	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/gen/undersign/threshold/v1/thresholdv1connect"
	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/policy"
)

// A testServer is a guard with services that tests call over the network.
type testServer struct {
	nodev1connect.UnimplementedNodeServiceHandler
	thresholdv1connect.UnimplementedThresholdServiceHandler
	aggregatev1connect.UnimplementedAggregatorServiceHandler
	aggregatev1connect.UnimplementedValidatorServiceHandler

	id      *party.Identity
	address string
	guard   *Guard
	log     lockedBuffer
	unknown sync.Map // fingerprints that aren't known any more
	ended   chan error

	mu      sync.Mutex
	records []audit.Entry
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func identity(t *testing.T) *party.Identity {
	t.Helper()
	k, err := party.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	id, err := party.NewIdentity(k)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func newServer(t *testing.T, rules ...policy.Rule) *testServer {
	t.Helper()
	s := &testServer{id: identity(t), ended: make(chan error, 16)}
	s.guard = NewGuard(GuardConfig{
		Self:  s.id.Fingerprint(),
		Known: func(fp string) bool { _, gone := s.unknown.Load(fp); return !gone },
		Record: func(e audit.Entry, _ audit.Outcome) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.records = append(s.records, e)
		},
		Policy: newPolicy(t, rules...), Limits: Limits{64 << 10, 20 * time.Second, 8}, Now: time.Now,
		Log: slog.New(slog.NewTextHandler(&s.log, nil)), Metrics: NewMetrics(prometheus.NewRegistry()),
	})
	add := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	_, h := nodev1connect.NewNodeServiceHandler(s, s.guard.Options(0)...)
	add(s.guard.Handle(nodev1.File_undersign_node_v1_node_proto.Services().ByName("NodeService"), h, "Join"))
	_, h = thresholdv1connect.NewThresholdServiceHandler(s, s.guard.Options(64<<20)...)
	add(s.guard.Handle(thresholdv1.File_undersign_threshold_v1_threshold_proto.Services().ByName("ThresholdService"), h))
	services := aggregatev1.File_undersign_aggregate_v1_aggregate_proto.Services()
	_, h = aggregatev1connect.NewAggregatorServiceHandler(s, s.guard.Options(0)...)
	add(s.guard.Handle(services.ByName("AggregatorService"), h))
	_, h = aggregatev1connect.NewValidatorServiceHandler(s, s.guard.Options(0)...)
	add(s.guard.Handle(services.ByName("ValidatorService"), h))

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = l.Addr().String()
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	server := &http.Server{
		Handler: s.guard, Protocols: protocols, TLSConfig: s.id.ServerTLS(func(string) error { return nil }),
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	var group sync.WaitGroup
	group.Go(func() { server.ServeTLS(l, "", "") })
	t.Cleanup(func() {
		server.Close()
		group.Wait()
	})
	return s
}

func (s *testServer) peer(t *testing.T, id *party.Identity) *Peer {
	p := NewPeer(id, s.id.Fingerprint(), s.address)
	t.Cleanup(p.Close)
	return p
}

// Status panics.
func (s *testServer) Status(context.Context, *nodev1.StatusRequest) (*nodev1.StatusResponse, error) {
	panic("a fault")
}

func (s *testServer) Invite(ctx context.Context, _ *nodev1.InviteRequest) (*nodev1.InviteResponse, error) {
	return new(nodev1.InviteResponse), nil
}

// Share waits, like one for a person.
func (s *testServer) Share(ctx context.Context, _ *thresholdv1.ShareRequest) (*thresholdv1.ShareResponse, error) {
	if CallFrom(ctx).Approve {
		return new(thresholdv1.ShareResponse), nil
	}
	<-ctx.Done()
	s.ended <- ctx.Err()
	return nil, ctx.Err()
}

func (s *testServer) Approve(context.Context, *thresholdv1.ApproveRequest) (*thresholdv1.ApproveResponse, error) {
	return new(thresholdv1.ApproveResponse), nil
}

// Session reads as the aggregator does: nothing but the connection ends it.
func (s *testServer) Session(ctx context.Context, stream *connect.BidiStream[aggregatev1.SessionRequest, aggregatev1.SessionResponse]) error {
	for {
		if _, err := stream.Receive(); err != nil {
			s.ended <- err
			return err
		}
		if err := stream.Send(new(aggregatev1.SessionResponse)); err != nil {
			s.ended <- err
			return err
		}
	}
}

func (s *testServer) Subscribe(ctx context.Context, _ *aggregatev1.SubscribeRequest, stream *connect.ServerStream[aggregatev1.SubscribeResponse]) error {
	if err := stream.Send(new(aggregatev1.SubscribeResponse)); err != nil {
		return err
	}
	<-ctx.Done()
	s.ended <- ctx.Err()
	return ctx.Err()
}

func rule(id *party.Identity, operations ...string) policy.Rule {
	return policy.Rule{Parties: []string{id.Fingerprint()}, Operations: operations, Keys: []string{"*"}}
}

// A longBody is the body of a request of which nothing comes after some bytes.
type longBody struct {
	left   int
	closed chan struct{}
	once   sync.Once
}

func (b *longBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		<-b.closed
		return 0, io.ErrUnexpectedEOF
	}
	clear(p)
	b.left -= len(p)
	return len(p), nil
}

func (b *longBody) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// TestDeniedBeforeTheBody sends what nobody has asked for: a party without the right to a
// call doesn't make the node read its message.
func TestDeniedBeforeTheBody(t *testing.T) {
	t.Parallel()
	bob, carol := identity(t), identity(t)
	s := newServer(t, rule(bob, "threshold.key", "threshold.share"))
	s.guard.Bound("threshold.share", 64<<10)
	for _, tt := range []struct {
		what, path string
		id         *party.Identity
		sent       int
		code       string
	}{
		{"a party without rules", thresholdv1connect.ThresholdServiceShareProcedure, carol, 0, "permission_denied"},
		{"another operation", thresholdv1connect.ThresholdServiceSignProcedure, bob, 0, "permission_denied"},
		{"a message that no request is", thresholdv1connect.ThresholdServiceShareProcedure, bob, 1 << 20, "resource_exhausted"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
		body := &longBody{left: tt.sent, closed: make(chan struct{})}
		req, err := http.NewRequestWithContext(ctx, "POST", "https://"+s.address+tt.path, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/proto")
		start := time.Now()
		resp, err := s.peer(t, tt.id).http.Do(req)
		if err != nil {
			t.Errorf("%s: %v", tt.what, err)
			cancel()
			continue
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		cancel()
		if !strings.Contains(string(text), tt.code) || time.Since(start) > 30*time.Second {
			t.Errorf("%s: after %v: %s", tt.what, time.Since(start), text)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.records) != 2 {
		t.Errorf("%d denials are recorded: %+v", len(s.records), s.records)
	}
}

// TestRevoked has calls under way while their party is removed, or the rule that allowed
// them: none of them goes on.
func TestRevoked(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"session", "subscribe", "share"} {
		for _, how := range []string{"removed", "no rule"} {
			t.Run(what+" "+how, func(t *testing.T) {
				t.Parallel()
				bob := identity(t)
				s := newServer(t, rule(bob, "*"))
				peer := s.peer(t, bob)
				result := make(chan error, 1)
				switch what {
				case "session":
					stream, err := aggregatev1connect.NewAggregatorServiceClient(peer.HTTP(), peer.URL()).Session(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if err := stream.Send(new(aggregatev1.SessionRequest)); err != nil {
						t.Fatal(err)
					}
					if _, err := stream.Receive(); err != nil {
						t.Fatal(err)
					}
					go func() {
						_, err := stream.Receive()
						result <- err
					}()
				case "subscribe":
					stream, err := aggregatev1connect.NewValidatorServiceClient(peer.HTTP(), peer.URL()).Subscribe(t.Context(), new(aggregatev1.SubscribeRequest))
					if err != nil || !stream.Receive() {
						t.Fatal(err, stream.Err())
					}
					go func() {
						stream.Receive()
						result <- stream.Err()
					}()
				case "share":
					go func() {
						_, err := thresholdv1connect.NewThresholdServiceClient(peer.HTTP(), peer.URL()).Share(t.Context(), new(thresholdv1.ShareRequest))
						result <- err
					}()
				}
				for deadline := time.Now().Add(5 * time.Second); s.guard.Running() == 0; time.Sleep(time.Millisecond) {
					if time.Now().After(deadline) {
						t.Fatal("the call hasn't begun")
					}
				}
				s.guard.SetPolicy(newPolicy(t, rule(bob, "*"))) // the same once more ends nothing
				select {
				case err := <-result:
					t.Fatalf("ended: %v", err)
				case <-time.After(100 * time.Millisecond):
				}
				if how == "removed" {
					s.unknown.Store(bob.Fingerprint(), true)
					s.guard.SetPolicy(newPolicy(t, rule(bob, "*")))
				} else {
					s.guard.SetPolicy(newPolicy(t))
				}
				for _, c := range []<-chan error{result, s.ended} {
					select {
					case err := <-c:
						if err == nil {
							t.Error("it ends well")
						}
					case <-time.After(5 * time.Second):
						t.Fatal("it goes on")
					}
				}
			})
		}
	}
}

// TestApproveFailsClosed calls what can't wait for a person under a rule that wants one,
// such as the very operation that approves.
func TestApproveFailsClosed(t *testing.T) {
	t.Parallel()
	bob := identity(t)
	r := rule(bob, "threshold.*", "node.*")
	r.Approve = true
	s := newServer(t, r)
	s.guard.Approvable("threshold.share")
	peer := s.peer(t, bob)
	c := thresholdv1connect.NewThresholdServiceClient(peer.HTTP(), peer.URL())
	if _, err := c.Share(t.Context(), new(thresholdv1.ShareRequest)); err != nil {
		t.Errorf("what waits: %v", err)
	}
	_, err := c.Approve(t.Context(), &thresholdv1.ApproveRequest{Id: "00"})
	var denied *policy.DeniedError
	if !errors.As(DecodeError("", err), &denied) {
		t.Errorf("a person approves by nobody's leave: %v", err)
	}
	_, err = nodev1connect.NewNodeServiceClient(peer.HTTP(), peer.URL()).Invite(t.Context(), new(nodev1.InviteRequest))
	if !errors.As(DecodeError("", err), &denied) {
		t.Errorf("an invitation by nobody's leave: %v", err)
	}
	peer = s.peer(t, s.id)
	if _, err := thresholdv1connect.NewThresholdServiceClient(peer.HTTP(), peer.URL()).Approve(t.Context(), new(thresholdv1.ApproveRequest)); err != nil {
		t.Errorf("the node itself: %v", err)
	}
}

// TestPanic has a handler fail in the worst way: the caller learns nothing of it, the node
// goes on, and its people hear of it.
func TestPanic(t *testing.T) {
	t.Parallel()
	bob := identity(t)
	s := newServer(t, rule(bob, "*"))
	peer := s.peer(t, bob)
	c := nodev1connect.NewNodeServiceClient(peer.HTTP(), peer.URL())
	if _, err := c.Status(t.Context(), new(nodev1.StatusRequest)); err == nil || strings.Contains(err.Error(), "a fault") {
		t.Errorf("%v", err)
	}
	if _, err := c.Invite(t.Context(), new(nodev1.InviteRequest)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if log := s.log.String(); !strings.Contains(log, "a fault") || !strings.Contains(log, "hostile_test.go") || !strings.Contains(log, "node.status") {
		t.Errorf("logged: %s", log)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.records) != 1 || s.records[0].Operation != "node.status" || s.records[0].Party != bob.Fingerprint() {
		t.Errorf("recorded: %+v", s.records)
	}
}

// TestFew sends large messages side by side: what they take together is bounded too.
func TestFew(t *testing.T) {
	t.Parallel()
	bob, carol := identity(t), identity(t)
	s := newServer(t, rule(bob, "*"), rule(carol, "*"))
	s.guard.Few("threshold.ceremony", 2)
	ctx, cancel := context.WithCancel(t.Context())
	send := func(id *party.Identity, path string) <-chan string {
		result := make(chan string, 1)
		body := &longBody{left: 1, closed: make(chan struct{})}
		req, err := http.NewRequestWithContext(ctx, "POST", "https://"+s.address+path, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/proto")
		peer := s.peer(t, id)
		go func() {
			resp, err := peer.http.Do(req)
			if err != nil {
				result <- err.Error()
				return
			}
			text, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			result <- string(text)
		}()
		return result
	}
	begun := func(n int) {
		t.Helper()
		for deadline := time.Now().Add(5 * time.Second); s.guard.Running() < n; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d calls have begun", s.guard.Running())
			}
		}
	}
	ceremony := thresholdv1connect.ThresholdServiceCeremonyProcedure
	first := []<-chan string{send(bob, ceremony), send(bob, ceremony)}
	begun(2)
	if got := <-send(bob, ceremony); !strings.Contains(got, "resource_exhausted") {
		t.Errorf("a third call: %s", got)
	}
	first = append(first, send(carol, ceremony), send(bob, thresholdv1connect.ThresholdServiceSignProcedure))
	begun(4) // another party's, and another operation
	cancel()
	for _, c := range first {
		<-c
	}
	for deadline := time.Now().Add(5 * time.Second); s.guard.Running() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d calls are left", s.guard.Running())
		}
	}
	s.guard.mu.Lock()
	defer s.guard.mu.Unlock()
	if len(s.guard.calls) != 0 {
		t.Errorf("%v", s.guard.calls)
	}
}
