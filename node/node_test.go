// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	nodev1 "github.com/undersign/undersign/gen/undersign/node/v1"
	"github.com/undersign/undersign/gen/undersign/node/v1/nodev1connect"
	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/internal/service"
)

// A testNode is a node that runs until the test ends.
type testNode struct {
	*Node
	dir  string
	stop func() error // ends it, and returns what Run did
}

func newDir(t *testing.T, config string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "node")
	if _, err := nodedir.Create(dir, []byte(config)); err != nil {
		t.Fatal(err)
	}
	return dir
}

const testConfig = "listen = \"127.0.0.1:0\"\nmetrics = \"127.0.0.1:0\"\n"

func start(t *testing.T, dir string) *testNode {
	t.Helper()
	cfg, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	n, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	tn := &testNode{Node: n, dir: dir}
	stopped := false
	tn.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(20 * time.Second):
			return errors.New("the node doesn't end")
		}
	}
	t.Cleanup(func() {
		if err := tn.stop(); err != nil {
			t.Error(err)
		}
	})
	select {
	case <-n.Ready():
	case <-time.After(10 * time.Second):
		t.Fatal("not ready")
	}
	return tn
}

func newParty(t *testing.T) *party.Identity {
	t.Helper()
	key, err := party.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	id, err := party.NewIdentity(key)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// client returns a client of the node for a party.
func (n *testNode) client(t *testing.T, id *party.Identity) nodev1connect.NodeServiceClient {
	t.Helper()
	p := rpc.NewPeer(id, n.Fingerprint(), n.Addr().String())
	t.Cleanup(p.Close)
	return nodev1connect.NewNodeServiceClient(p.HTTP(), p.URL(), p.Options(0)...)
}

func (n *testNode) invite(t *testing.T, name string) string {
	t.Helper()
	resp, err := n.client(t, n.id).Invite(t.Context(), &nodev1.InviteRequest{Name: name, ValidSeconds: 60})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Token
}

// join makes a party a member.
func (n *testNode) join(t *testing.T, id *party.Identity, name string) {
	t.Helper()
	inv, err := party.ParseInvitation(n.invite(t, name))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := n.client(t, id).Join(t.Context(), &nodev1.JoinRequest{Secret: inv.Secret[:]})
	if err != nil || resp.YourName != name {
		t.Fatalf("%v, %v", resp, err)
	}
}

func wantCode(t *testing.T, what string, err error, want connect.Code) {
	t.Helper()
	if err == nil || connect.CodeOf(err) != want {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func TestOwnIdentity(t *testing.T) {
	n := start(t, newDir(t, testConfig))
	st, err := n.client(t, n.id).Status(t.Context(), new(nodev1.StatusRequest))
	if err != nil {
		t.Fatal(err)
	}
	if !st.Ready || st.Fingerprint != n.Fingerprint() || st.Name != "node" || st.Address != n.Addr().String() {
		t.Errorf("%v", st)
	}
	if err := n.stop(); err != nil {
		t.Fatal(err)
	}
	// The folder is free again, and the record whole.
	f, err := os.Open(filepath.Join(n.dir, nodedir.Audit))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	report, err := audit.Verify(f, n.id.PublicKey(), "", func(*audit.Record) {})
	if err != nil || report.Unsigned != 0 || len(report.Open) != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	start(t, n.dir)
}

func TestUnknownPartyIsRefused(t *testing.T) {
	n := start(t, newDir(t, testConfig))
	stranger := newParty(t)
	// Without an invitation the connection ends, and nothing is answered.
	_, err := n.client(t, stranger).Status(t.Context(), new(nodev1.StatusRequest))
	if err == nil || connect.IsWireError(err) {
		t.Errorf("no invitation: %v", err)
	}
	// With one, nothing but Join is there.
	n.invite(t, "bob")
	c := n.client(t, stranger)
	_, err = c.Status(t.Context(), new(nodev1.StatusRequest))
	wantCode(t, "status", err, connect.CodePermissionDenied)
	var denied *policy.DeniedError
	if !errors.As(rpc.DecodeError(stranger.Fingerprint(), err), &denied) || denied.Call.Operation != "node.status" {
		t.Errorf("%v", rpc.DecodeError(stranger.Fingerprint(), err))
	}
	for _, secret := range [][]byte{nil, make([]byte, party.SecretSize), make([]byte, 1000)} {
		_, err = c.Join(t.Context(), &nodev1.JoinRequest{Secret: secret})
		wantCode(t, "a wrong secret", err, connect.CodePermissionDenied)
	}
	_, err = c.Join(t.Context(), &nodev1.JoinRequest{Secret: make([]byte, 16), Address: "nowhere"})
	wantCode(t, "a wrong address", err, connect.CodeInvalidArgument)
	_, err = c.Join(t.Context(), &nodev1.JoinRequest{Secret: make([]byte, 1<<20)})
	wantCode(t, "a large message", err, connect.CodeResourceExhausted)
	if n.roster.Known(stranger.Fingerprint()) {
		t.Error("the stranger is a member")
	}
	// A stranger doesn't fill the disk: one denial a second is written.
	if got := denials(t, n); got < 1 || got > 3 {
		t.Errorf("%d denials in the audit log, of 4 in an instant", got)
	}
}

// denials stops the node and counts the denials in its audit log.
func denials(t *testing.T, n *testNode) (count int) {
	t.Helper()
	if err := n.stop(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(n.dir, nodedir.Audit))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := audit.Verify(f, n.id.PublicKey(), "", func(r *audit.Record) {
		if r.Outcome == audit.Denied {
			count++
		}
	}); err != nil {
		t.Fatal(err)
	}
	return count
}

func TestPolicy(t *testing.T) {
	n := start(t, newDir(t, testConfig+`
[[rule]]
parties = ["bob", "nobody"]
operations = ["node.status"]
rate = "2/h"
`))
	bob, carol := newParty(t), newParty(t)
	n.join(t, bob, "bob") // the rule names him before he joins
	n.join(t, carol, "carol")
	status := func(id *party.Identity) error {
		_, err := n.client(t, id).Status(t.Context(), new(nodev1.StatusRequest))
		return err
	}
	if err := status(bob); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "carol", status(carol), connect.CodePermissionDenied)
	_, err := n.client(t, bob).Parties(t.Context(), new(nodev1.PartiesRequest))
	wantCode(t, "another operation", err, connect.CodePermissionDenied)
	_, err = n.client(t, bob).Reload(t.Context(), new(nodev1.ReloadRequest))
	wantCode(t, "another operation", err, connect.CodePermissionDenied)
	if err := status(bob); err != nil {
		t.Fatal(err)
	}
	err = status(bob)
	wantCode(t, "a third call", err, connect.CodeResourceExhausted)
	var limit *policy.LimitError
	if !errors.As(rpc.DecodeError("", err), &limit) || limit.After < 20*time.Minute || limit.After > time.Hour {
		t.Errorf("%v", rpc.DecodeError("", err))
	}

	// A new configuration holds without a restart; a wrong one changes nothing.
	path := filepath.Join(n.dir, nodedir.Config)
	own := n.client(t, n.id)
	rewrite := func(text string) error {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := own.Reload(t.Context(), new(nodev1.ReloadRequest))
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := rewrite(string(data) + "[[rule]]\nparties = [\"carol\"]\noperations = [\"node.accept\"]\n"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "another configuration with the same rule", status(bob), connect.CodeResourceExhausted)
	wantCode(t, "a wrong configuration", rewrite(testConfig+"nonsense = 1\n"), connect.CodeFailedPrecondition)
	wantCode(t, "carol", status(carol), connect.CodePermissionDenied)
	if err := rewrite(testConfig + "[[rule]]\nparties = [\"carol\"]\noperations = [\"node.*\"]\n"); err != nil {
		t.Fatal(err)
	}
	if err := status(carol); err != nil {
		t.Error(err)
	}
	wantCode(t, "bob", status(bob), connect.CodePermissionDenied)

	// A party that is removed has no connection to go on with.
	c := n.client(t, carol)
	if _, err := c.Status(t.Context(), new(nodev1.StatusRequest)); err != nil {
		t.Fatal(err)
	}
	if _, err := own.Remove(t.Context(), &nodev1.RemoveRequest{Party: "carol"}); err != nil {
		t.Fatal(err)
	}
	_, err = c.Status(t.Context(), new(nodev1.StatusRequest))
	wantCode(t, "after removal", err, connect.CodePermissionDenied)
}

func TestJoinBetweenNodes(t *testing.T) {
	a, b := start(t, newDir(t, "name = \"alice\"\n"+testConfig)), start(t, newDir(t, testConfig))
	token := a.invite(t, "bob")
	resp, err := b.client(t, b.id).Accept(t.Context(), &nodev1.AcceptRequest{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	if resp.Party.Name != "alice" || resp.YourName != "bob" {
		t.Errorf("%v", resp)
	}
	m, ok := a.roster.Find("bob")
	if !ok || m.Fingerprint != b.Fingerprint() || m.Address != b.Addr().String() {
		t.Errorf("%+v", m)
	}
	m, ok = b.roster.Find("alice")
	if !ok || m.Fingerprint != a.Fingerprint() || m.Address != a.Addr().String() {
		t.Errorf("%+v", m)
	}
	// The same party may use it again; another may not.
	if _, err := b.client(t, b.id).Accept(t.Context(), &nodev1.AcceptRequest{Token: token}); err != nil {
		t.Error(err)
	}
	c := start(t, newDir(t, testConfig))
	_, err = c.client(t, c.id).Accept(t.Context(), &nodev1.AcceptRequest{Token: token})
	if err == nil {
		t.Error("an invitation is good for two")
	}
	if _, err := a.client(t, a.id).Accept(t.Context(), &nodev1.AcceptRequest{Token: a.invite(t, "self")}); err == nil {
		t.Error("a node joins itself")
	}
	p, err := b.host.Peer("alice")
	if err != nil || p.Fingerprint() != a.Fingerprint() {
		t.Fatal(p, err)
	}
	if again, err := b.host.Peer(a.Fingerprint()); err != nil || again != p {
		t.Error("not the same peer", err)
	}
	if _, err := b.host.Peer("carol"); err == nil {
		t.Error("a peer that isn't known")
	}
	// After a restart both know each other still.
	if err := a.stop(); err != nil {
		t.Fatal(err)
	}
	a = start(t, a.dir)
	if !a.roster.Known(b.Fingerprint()) {
		t.Error("forgotten")
	}
}

func TestOneProcess(t *testing.T) {
	n := start(t, newDir(t, testConfig))
	cfg, err := Load(n.dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(cfg); !errors.Is(err, nodedir.ErrRunning) {
		t.Errorf("a second node: %v", err)
	}
	owner, err := nodedir.Running(n.dir)
	if err != nil || owner == nil || owner.Address != n.Addr().String() || owner.PID != os.Getpid() {
		t.Errorf("%+v, %v", owner, err)
	}
	if err := n.Run(t.Context()); err == nil {
		t.Error("it ran twice")
	}
	if err := n.stop(); err != nil {
		t.Fatal(err)
	}
	if owner, err := nodedir.Running(n.dir); err != nil || owner != nil {
		t.Errorf("%+v, %v", owner, err)
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := New(Config{Dir: t.TempDir()}); !errors.Is(err, nodedir.ErrNone) {
		t.Errorf("an empty folder: %v", err)
	}
	dir := newDir(t, testConfig)
	path := filepath.Join(dir, nodedir.Identity)
	os.Chmod(path, 0o640)
	var mode *nodedir.ModeError
	if _, err := New(Config{Dir: dir}); !errors.As(err, &mode) {
		t.Errorf("an identity that others may read: %v", err)
	}
	os.Chmod(path, 0o600)
	if err := os.WriteFile(filepath.Join(dir, nodedir.Audit), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{Dir: dir, Listen: "127.0.0.1:0"}); !errors.Is(err, audit.ErrBroken) {
		t.Errorf("a broken audit log: %v", err)
	}
	os.Remove(filepath.Join(dir, nodedir.Audit))
	n, err := New(Config{Dir: dir, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err) // what failed before has closed what it opened
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if err := n.Run(t.Context()); err == nil {
		t.Error("a closed node runs")
	}
}

func TestHealth(t *testing.T) {
	n := start(t, newDir(t, testConfig))
	get := func(path string) (int, string) {
		resp, err := http.Get("http://" + n.MetricsAddr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	if _, err := n.client(t, n.id).Status(t.Context(), new(nodev1.StatusRequest)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if code, body := get(path); code != 200 || body != "ok\n" {
			t.Errorf("%s: %d, %s", path, code, body)
		}
	}
	_, body := get("/metrics")
	for _, want := range []string{`undersign_calls_total{code="ok",operation="node.status"} 1`, "undersign_ready 1", "undersign_connections 1", "go_goroutines "} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(body, "us1") {
		t.Error("a party's name is among the metrics")
	}
	if code, _ := get("/debug/pprof/"); code != 404 {
		t.Errorf("pprof: %d", code)
	}
}

// A slow service isn't ready, and holds its calls until they have ended.
func TestUnready(t *testing.T) {
	saved := starters
	defer func() { starters = saved }()
	s := &stubService{ended: make(chan struct{})}
	starters = []func(*Config, *service.Host) (service.Service, error){func(*Config, *service.Host) (service.Service, error) { return s, nil }}
	n := start(t, newDir(t, testConfig))
	resp, err := http.Get("http://" + n.MetricsAddr().String() + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("ready: %d", resp.StatusCode)
	}
	st, err := n.client(t, n.id).Status(t.Context(), new(nodev1.StatusRequest))
	if err != nil || st.Ready || len(st.Services) != 1 || st.Services[0].Detail != "not yet" {
		t.Errorf("%v, %v", st, err)
	}
	if err := n.stop(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.ended:
	default:
		t.Error("the node ended before its service")
	}
}

type stubService struct{ ended chan struct{} }

func (s *stubService) Name() string  { return "stub" }
func (s *stubService) Status() error { return errors.New("not yet") }
func (s *stubService) Run(ctx context.Context) error {
	<-ctx.Done()
	time.Sleep(50 * time.Millisecond)
	close(s.ended)
	return nil
}

func TestFailureEndsTheNode(t *testing.T) {
	cfg, err := Load(newDir(t, testConfig))
	if err != nil {
		t.Fatal(err)
	}
	n, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	lost := errors.New("disk lost")
	done := make(chan error, 1)
	go func() { done <- n.Run(t.Context()) }()
	<-n.Ready()
	n.host.Fail(lost)
	select {
	case err := <-done:
		if !errors.Is(err, lost) {
			t.Errorf("%v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it goes on")
	}
}

// Half-open connections, and those that aren't of TLS, don't keep others out.
func TestHostileConnections(t *testing.T) {
	n := start(t, newDir(t, testConfig+"[limits]\nconnections = 8\n"))
	var conns []net.Conn
	for i := range 20 {
		c, err := net.Dial("tcp", n.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		if i%2 == 0 {
			io.WriteString(c, "GET / HTTP/1.1\r\n\r\n")
		}
	}
	if got := n.listener.open.Load(); got > 8 {
		t.Errorf("%d connections", got)
	}
	for _, c := range conns {
		c.Close()
	}
	// Some may wait to be accepted yet.
	c := n.client(t, n.id)
	deadline := time.Now().Add(8 * time.Second)
	for {
		_, err := c.Status(t.Context(), new(nodev1.StatusRequest))
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	// Plain HTTP/1.1 over the party's TLS finds nothing.
	config := n.id.ClientTLS(n.Fingerprint())
	config.NextProtos = nil
	plain, err := tls.Dial("tcp", n.Addr().String(), config)
	if err == nil {
		io.WriteString(plain, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		plain.SetDeadline(time.Now().Add(5 * time.Second))
		answer, _ := io.ReadAll(plain)
		if strings.Contains(string(answer), "200 OK") {
			t.Errorf("%s", answer)
		}
		plain.Close()
	}
}

func TestTooManyCallsAtOnce(t *testing.T) {
	n := start(t, newDir(t, testConfig+"[limits]\ncalls = 1\n"))
	id := newParty(t)
	n.invite(t, "bob")
	// A call whose body doesn't come is under way.
	body, w := io.Pipe()
	defer w.Close()
	p := rpc.NewPeer(id, n.Fingerprint(), n.Addr().String())
	defer p.Close()
	req, err := http.NewRequestWithContext(t.Context(), "POST", p.URL()+nodev1connect.NodeServiceJoinProcedure, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/proto")
	go p.HTTP().Do(req)
	w.Write([]byte{0})
	for deadline := time.Now().Add(10 * time.Second); n.guard.Running() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the call hasn't begun")
		}
	}
	_, err = n.client(t, id).Join(t.Context(), new(nodev1.JoinRequest))
	wantCode(t, "a second call", err, connect.CodeResourceExhausted)
	// The node itself isn't kept out.
	if _, err := n.client(t, n.id).Status(t.Context(), new(nodev1.StatusRequest)); err != nil {
		t.Error(err)
	}
}

func TestRestored(t *testing.T) {
	n := start(t, newDir(t, testConfig))
	if restored, err := n.host.Restored("aggregator"); err != nil || restored {
		t.Errorf("a new node: %v, %v", restored, err)
	}
	if err := service.MarkRestored(n.store, time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"aggregator", "validator"} {
		if restored, err := n.host.Restored(part); err != nil || !restored {
			t.Errorf("%s: %v, %v", part, restored, err)
		}
	}
	if err := n.host.Settled("aggregator"); err != nil {
		t.Fatal(err)
	}
	if restored, err := n.host.Restored("aggregator"); err != nil || restored {
		t.Errorf("settled: %v, %v", restored, err)
	}
	if restored, err := n.host.Restored("validator"); err != nil || !restored {
		t.Errorf("the other: %v, %v", restored, err)
	}
	if err := service.MarkRestored(n.store, time.Now()); err != nil {
		t.Fatal(err)
	}
	if restored, err := n.host.Restored("aggregator"); err != nil || !restored {
		t.Errorf("restored again: %v, %v", restored, err)
	}
}

// A node isn't one of those that it knows, even if its own key has an invitation.
func TestJoinItself(t *testing.T) {
	n := start(t, newDir(t, testConfig))
	inv, err := party.ParseInvitation(n.invite(t, "mirror"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = n.client(t, n.id).Join(t.Context(), &nodev1.JoinRequest{Secret: inv.Secret[:], Address: "127.0.0.1:1"})
	wantCode(t, "itself", err, connect.CodeInvalidArgument)
	if n.roster.Known(n.Fingerprint()) {
		t.Error("the node knows itself")
	}
}
