// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/gen/undersign/aggregate/v1/aggregatev1connect"
	"github.com/undersign/undersign/internal/aggregate"
	"github.com/undersign/undersign/internal/freeport"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/relay"
	"github.com/undersign/undersign/internal/roster"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/node"
)

// A network is nodes on loopback, of which the first is the aggregator too, and a party
// that is the gateway.
type network struct {
	t       *testing.T
	genesis *distill.Genesis
	net     *distill.Network
	dirs    []string
	ids     []*party.Identity
	addrs   []string
	relay   relay.Relay // of several validators
	app     distill.App
	mode    string
	tick    int
	tune    func(i int, c *node.Config)
	nodes   []*running
	key     *keyfile.PartyKey // the gateway's
	gateway *party.Identity
	seed    byte
	output  io.Writer // of the nodes' logs
	pid     int       // of the process that was started last

	mu    sync.Mutex
	peers []*rpc.Peer // what the gateway's party calls nodes by
}

// A running is a node that runs.
type running struct {
	*node.Node
	cancel context.CancelFunc
	done   chan error
	err    error
	once   sync.Once
}

func (r *running) stop() error {
	r.once.Do(func() {
		r.cancel()
		select {
		case r.err = <-r.done:
		case <-time.After(30 * time.Second):
			r.err = errors.New("the node doesn't end")
		}
	})
	return r.err
}

// sharedRelay is one queue for all nodes of a test, which none of them closes.
type sharedRelay struct{ *relay.Local }

func (sharedRelay) Close() error { return nil }

func testParams() distill.Params {
	p := distill.DefaultParams()
	p.MinStragglers = 256
	return p
}

func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// newNetwork makes the folders of n nodes, each a validator, and the first of them the
// aggregator, and starts none.
func newNetwork(t *testing.T, n int) *network {
	t.Helper()
	w := &network{t: t, tick: 50, genesis: &distill.Genesis{Name: "test", F: uint64(n-1) / 3, Params: testParams()}, output: t.Output()}
	w.key = must(party.GenerateKey())(t)
	w.gateway = must(party.NewIdentity(w.key))(t)
	for i := range n {
		dir := filepath.Join(t.TempDir(), "node")
		id := must(nodedir.Create(dir, nil))(t)
		w.dirs, w.ids = append(w.dirs, dir), append(w.ids, id)
		w.addrs = append(w.addrs, must(freeport.Address())(t))
		sk := must(bls.KeyGen(bytes.Repeat([]byte{byte(i + 1)}, 32), nil))(t)
		writeKey(t, dir, sk)
		proof := must(bls.ProofOfPossession.PopProve(sk))(t)
		w.genesis.Validators = append(w.genesis.Validators, distill.GenesisValidator{
			Key: [48]byte(sk.PublicKey().Bytes()), Proof: [96]byte(proof.Bytes()),
		})
	}
	w.genesis.Aggregators = []distill.GenesisAggregator{{ID: 1, Key: [32]byte(w.ids[0].PublicKey())}}
	if n > 1 {
		s := must(store.Open(filepath.Join(t.TempDir(), "relay.db"), store.Options{}))(t)
		t.Cleanup(func() { s.Close() })
		w.relay = sharedRelay{relay.NewLocal(s)}
	}
	w.nodes = make([]*running, n)
	return w
}

func writeKey(t testing.TB, dir string, sk *bls.SecretKey) {
	t.Helper()
	r := must(os.ReadFile(filepath.Join(dir, nodedir.Recipient)))(t)
	recipients := must(age.ParseRecipients(bytes.NewReader(r)))(t)
	var b bytes.Buffer
	if err := keyfile.Seal(&b, &keyfile.BLSSecretKey{Scheme: bls.ProofOfPossession, Key: sk}, recipients...); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "validator.key"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// finish fixes the genesis and makes the nodes know each other, and the gateway.
func (w *network) finish() {
	t := w.t
	t.Helper()
	data := must(w.genesis.MarshalBinary())(t)
	w.net = must(distill.NewNetwork(w.genesis))(t)
	for i, dir := range w.dirs {
		if err := os.WriteFile(filepath.Join(dir, "genesis"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s := must(store.Open(filepath.Join(dir, nodedir.Store), store.Options{}))(t)
		r := must(roster.Open(s, time.Now))(t)
		for j, id := range w.ids {
			if i != j {
				w.add(r, id, fmt.Sprintf("node%d", j), w.addrs[j])
			}
		}
		w.add(r, w.gateway, "gateway", "")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *network) add(r *roster.Roster, id *party.Identity, name, address string) {
	w.t.Helper()
	err := r.Add(roster.Member{Fingerprint: id.Fingerprint(), Key: id.PublicKey(), Name: name, Address: address, Joined: time.Now()})
	if err != nil {
		w.t.Fatal(err)
	}
}

// start starts a node.
func (w *network) start(i int) *running {
	w.t.Helper()
	cfg := must(node.Load(w.dirs[i]))(w.t)
	cfg.Listen = w.addrs[i]
	cfg.Limits.Drain = node.Duration(2 * time.Second)
	cfg.Limits.Calls = 1000
	cfg.Logger = slog.New(slog.NewTextHandler(w.output, nil)).With("node", i)
	cfg.Rules = []node.Rule{{Parties: []string{"*"}, Operations: []string{"aggregate.*"}}}
	a := &cfg.Aggregate
	a.Genesis, a.Relay, a.App = "genesis", w.relay, w.app
	for j := range w.dirs {
		a.Validators = append(a.Validators, fmt.Sprintf("node%d", j))
	}
	a.Validators[i] = "self"
	a.Validator = &aggregate.ValidatorConfig{TickMS: w.tick}
	a.Directory = &aggregate.DirectoryConfig{}
	if i == 0 {
		a.Aggregator = &aggregate.AggregatorConfig{ID: 1, Mode: w.mode, BatchAgeMS: 50, MinWaitMS: 100, MaxWaitMS: 1000}
	}
	if w.tune != nil {
		w.tune(i, &cfg)
	}
	n := must(node.New(cfg))(w.t)
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Node: n, cancel: cancel, done: make(chan error, 1)}
	go func() { r.done <- n.Run(ctx) }()
	w.t.Cleanup(func() {
		if err := r.stop(); err != nil {
			w.t.Error(err)
		}
	})
	select {
	case <-n.Ready():
	case err := <-r.done:
		r.done <- err
		w.t.Fatalf("node %d: %v", i, err)
	}
	w.nodes[i] = r
	return r
}

func (w *network) startAll() {
	for i := range w.dirs {
		w.start(i)
	}
}

// peer returns the way to a node, the same each time: a node takes few connections of a party.
func (w *network) peer(i int) *rpc.Peer {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.peers) <= i {
		j := len(w.peers)
		p := rpc.NewPeer(w.gateway, w.ids[j].Fingerprint(), w.addrs[j])
		w.t.Cleanup(p.Close)
		w.peers = append(w.peers, p)
	}
	return w.peers[i]
}

func (w *network) validator(i int) aggregatev1connect.ValidatorServiceClient {
	p := w.peer(i)
	return aggregatev1connect.NewValidatorServiceClient(p.HTTP(), p.URL(), p.Options(32<<20)...)
}

func (w *network) validatorHead() (uint64, error) {
	p := rpc.NewPeer(w.gateway, w.ids[0].Fingerprint(), w.addrs[0])
	defer p.Close()
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Second)
	defer cancel()
	resp, err := aggregatev1connect.NewValidatorServiceClient(p.HTTP(), p.URL(), p.Options(0)...).Head(ctx, &aggregatev1.HeadRequest{})
	if err != nil {
		return 0, err
	}
	var h distill.Hgt
	err = h.UnmarshalBinary(resp.Hgt)
	return h.Height, err
}

func (w *network) directory(i int) aggregatev1connect.DirectoryServiceClient {
	p := w.peer(i)
	return aggregatev1connect.NewDirectoryServiceClient(p.HTTP(), p.URL(), p.Options(0)...)
}

func (w *network) aggregator() aggregatev1connect.AggregatorServiceClient {
	p := w.peer(0)
	return aggregatev1connect.NewAggregatorServiceClient(p.HTTP(), p.URL(), p.Options(32<<20)...)
}

// A signer is a client's keys with its id.
type signer struct {
	id uint64
	distill.ClientKeys
}

// register registers n clients, in one call.
func (w *network) register(n int) []signer {
	w.t.Helper()
	var list []signer
	e := distill.DirectoryEntry{Net: w.genesis.ID()}
	for range n {
		w.seed++
		sk := must(bls.KeyGen(append(bytes.Repeat([]byte{w.seed}, 31), 99), nil))(w.t)
		ed := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{w.seed}, 32))
		c := must(distill.Register(w.genesis.ID(), sk, ed, 4000))(w.t)
		e.Changes = append(e.Changes, *c)
		list = append(list, signer{ClientKeys: distill.ClientKeys{BLS: sk, Ed: ed}})
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	resp := must(w.directory(len(w.dirs)-1).Register(ctx, &aggregatev1.RegisterRequest{Entry: e.Bytes()}))(w.t)
	if len(resp.Changes) != n {
		w.t.Fatalf("%d results of %d changes", len(resp.Changes), n)
	}
	for i, c := range resp.Changes {
		if c.Rule != 0 {
			w.t.Fatalf("change %d: %v", i, distill.Rule(c.Rule))
		}
		list[i].id, list[i].Since = c.Id, c.Version
	}
	return list
}

// open returns the client of a signer.
func (w *network) open(s signer, j distill.Journal) client.GatewayClient {
	w.t.Helper()
	mode := map[string]distill.Mode{"": distill.ModeEd25519, "lean": distill.ModeLean, "folded": distill.ModeFolded}[w.mode]
	c := must(distill.OpenClient(distill.ClientConfig{
		Network: w.net, ID: s.id, Keys: s.ClientKeys, Journal: j, Mode: mode, AckTimeout: 500, ReceiptTimeout: 3000,
	}))(w.t)
	return client.GatewayClient{Client: c, Ed: s.Ed}
}

// gatewayOf runs a gateway for clients, until the test ends or stop is called.
func (w *network) gatewayOf(clients ...client.GatewayClient) (g *client.Gateway, stop func()) {
	w.t.Helper()
	cfg := client.GatewayConfig{
		Key: w.key, Network: w.net, Genesis: w.genesis, Aggregators: map[uint64]string{1: w.addrs[0]}, Clients: clients,
		Log: slog.New(slog.NewTextHandler(w.output, nil)).With("who", "gateway"),
	}
	for i := range w.dirs {
		cfg.Validators = append(cfg.Validators, client.Validator{Fingerprint: w.ids[i].Fingerprint(), Address: w.addrs[i]})
	}
	g = must(client.NewGateway(cfg))(w.t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-done:
				if err != nil {
					w.t.Errorf("gateway: %v", err)
				}
			case <-time.After(20 * time.Second):
				w.t.Error("the gateway doesn't end")
			}
		})
	}
	w.t.Cleanup(stop)
	return g, stop
}

// submit submits a payload when heights are known, and returns the nonce.
func submit(t *testing.T, g *client.Gateway, id uint64, payload string) uint64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		nonce, err := g.Submit(ctx, id, []byte(payload), 0)
		if distill.RuleOf(err) == distill.RuleNoHead {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return nonce
	}
}

func wait(t *testing.T, g *client.Gateway, id, nonce uint64) distill.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	o, err := g.Wait(ctx, id, nonce)
	if err != nil {
		t.Fatalf("nonce %d of client %d: %v", nonce, id, err)
	}
	return o
}

// A recorder is an application that counts how often it was given each payload.
type recorder struct {
	mu   sync.Mutex
	seen map[string]int
}

func (r *recorder) Execute(_, _, _ uint64, payload []byte) (uint16, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = make(map[string]int)
	}
	r.seen[string(payload)]++
	return uint16(len(payload)), !strings.HasPrefix(string(payload), "bad")
}
