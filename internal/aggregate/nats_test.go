// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/internal/aggregate"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/relay/nats"
	"github.com/undersign/undersign/internal/relay/nats/natstest"
	"github.com/undersign/undersign/internal/service"
	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/node"
)

// A natsNetwork is nodes that are each an aggregator and a validator, with a queue of NATS.
type natsNetwork struct {
	*network
	cluster *natstest.Cluster
	apps    []*recorder // of each validator
	nats    nats.Config
}

func newNATSNetwork(t *testing.T, n int, cluster *natstest.Cluster) *natsNetwork {
	t.Helper()
	w := &natsNetwork{network: newNetwork(t, n), cluster: cluster}
	w.relay = nil
	w.tick = 100
	w.nats = nats.Config{Servers: cluster.URLs("nats"), Replicas: 1, Nkey: cluster.User, SystemNkey: cluster.Sys}
	if len(cluster.Servers) > 1 {
		w.nats.Replicas = 3
	}
	for i := range n {
		w.apps = append(w.apps, &recorder{})
		if i > 0 {
			w.genesis.Aggregators = append(w.genesis.Aggregators, distill.GenesisAggregator{ID: uint64(i + 1), Key: [32]byte(w.ids[i].PublicKey())})
		}
	}
	w.tune = func(i int, c *node.Config) {
		c.Metrics = "127.0.0.1:0"
		cfg := w.nats
		c.Aggregate.NATS, c.Aggregate.App = &cfg, w.apps[i]
		c.Aggregate.Aggregator = &aggregate.AggregatorConfig{ID: uint64(i + 1), BatchAgeMS: 50, MinWaitMS: 100, MaxWaitMS: 1000}
	}
	w.finish()
	return w
}

// gateway runs a gateway for clients, who begin with different aggregators.
func (w *natsNetwork) gatewayFor(signers []signer) *client.Gateway {
	w.t.Helper()
	cfg := client.GatewayConfig{Key: w.key, Network: w.net, Genesis: w.genesis, Aggregators: make(map[uint64]string)}
	for i := range w.dirs {
		cfg.Aggregators[uint64(i+1)] = w.addrs[i]
		cfg.Validators = append(cfg.Validators, client.Validator{Fingerprint: w.ids[i].Fingerprint(), Address: w.addrs[i]})
	}
	for i, s := range signers {
		c := must(distill.OpenClient(distill.ClientConfig{
			Network: w.net, ID: s.id, Keys: s.ClientKeys, Journal: &distill.MemoryJournal{}, First: i, AckTimeout: 500, ReceiptTimeout: 10_000,
		}))(w.t)
		cfg.Clients = append(cfg.Clients, client.GatewayClient{Client: c, Ed: s.Ed})
	}
	g := must(client.NewGateway(cfg))(w.t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("gateway: %v", err)
		}
	})
	return g
}

// head returns what a validator signs of its log.
func (w *natsNetwork) head(i int) (h distill.Hgt, err error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Second)
	defer cancel()
	resp, err := w.validator(i).Head(ctx, &aggregatev1.HeadRequest{})
	if err == nil {
		err = h.UnmarshalBinary(resp.Hgt)
	}
	return h, err
}

// agree waits until all validators have the same log, of some batches at least.
func (w *natsNetwork) agree(batches uint64, patience time.Duration) {
	w.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		heads := make(map[distill.Hgt]int)
		var problem error
		for i := range w.dirs {
			h, err := w.head(i)
			if err != nil {
				problem = err
				continue
			}
			h.Height = 0
			heads[h]++
		}
		if len(heads) == 1 {
			for h, n := range heads {
				if n == len(w.dirs) && h.Batches >= batches {
					return
				}
			}
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("validators' logs: %v, %v", heads, problem)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// ready waits until a node is ready, or says why it isn't.
func (w *natsNetwork) ready(i int, say string) {
	w.t.Helper()
	url := "http://" + w.nodes[i].MetricsAddr().String() + "/readyz"
	deadline := time.Now().Add(45 * time.Second)
	for {
		resp, err := http.Get(url)
		if err != nil {
			w.t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if (resp.StatusCode == http.StatusOK) == (say == "") && (say == "" || strings.Contains(string(text), say)) {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("readiness: %d %s, want %q", resp.StatusCode, text, say)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func longTests() bool { return os.Getenv("UNDERSIGN_LONG") != "" }

// Three nodes go on while servers of their queue are killed under load, one at a time: what
// was submitted has one receipt, and all validators executed it once and in one order.
func TestNATSServersKilled(t *testing.T) {
	t.Parallel()
	cluster := natstest.New(t, natstest.Config{N: 3})
	w := newNATSNetwork(t, 3, cluster)
	w.startAll()
	for i := range w.dirs {
		w.ready(i, "")
	}
	clients, each := 6, 4
	victims := []*natstest.Server{cluster.Servers[rand.IntN(3)]}
	if longTests() {
		clients, each = 24, 40
		for range 6 {
			victims = append(victims, cluster.Servers[rand.IntN(3)])
		}
	}
	signers := w.register(clients)
	g := w.gatewayFor(signers)
	var group sync.WaitGroup
	var mu sync.Mutex
	receipts := make(map[string]int)
	started := make(chan struct{}, clients)
	submitAll := func(round int) {
		for _, s := range signers {
			group.Go(func() {
				for i := range each {
					payload := fmt.Sprintf("%d %d %d", round, s.id, i)
					nonce := submit(t, g, s.id, payload)
					if i == 0 {
						started <- struct{}{}
					}
					ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
					o, err := g.Wait(ctx, s.id, nonce)
					cancel()
					if err != nil || o.Kind != distill.OutcomeExecuted || o.Code != distill.ResultOK {
						t.Errorf("%s: %+v, %v", payload, o, err)
						return
					}
					mu.Lock()
					receipts[payload]++
					mu.Unlock()
					if err := g.Release(t.Context(), s.id, nonce); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	for round, victim := range victims {
		leader := cluster.Stream(t).Leader
		submitAll(round)
		for range clients {
			<-started
		}
		victim.Kill()
		t.Logf("round %d: killed %s, and %s led", round, victim.Name, leader)
		// Half of what there is to do goes on without it.
		for start := time.Now(); time.Since(start) < 30*time.Second; time.Sleep(20 * time.Millisecond) {
			mu.Lock()
			enough := len(receipts) >= (2*round+1)*clients*each/2
			mu.Unlock()
			if enough {
				break
			}
		}
		victim.Start()
		group.Wait()
	}
	w.agree(1, 30*time.Second)
	if want := len(victims) * clients * each; len(receipts) != want {
		t.Errorf("%d messages have receipts, and %d were submitted", len(receipts), want)
	}
	for i, app := range w.apps {
		app.mu.Lock()
		if len(app.seen) != len(receipts) {
			t.Errorf("validator %d executed %d payloads", i, len(app.seen))
		}
		for p, n := range app.seen {
			if n != 1 || receipts[p] != 1 {
				t.Errorf("validator %d executed %q %d times, and it has %d receipts", i, p, n, receipts[p])
			}
		}
		app.mu.Unlock()
	}
}

// A node starts without its queue and says what is missing, uses it as soon as it is there,
// and the same again when it goes.
func TestNATSUnreachable(t *testing.T) {
	t.Parallel()
	cluster := natstest.Prepare(t, natstest.Config{N: 1})
	server := cluster.Servers[0]
	w := newNATSNetwork(t, 1, cluster)
	w.startAll()
	w.ready(0, "queue")
	w.ready(0, "no server can be reached: nats://"+server.Address)
	server.Start()
	w.ready(0, "")
	signers := w.register(1)
	g := w.gatewayFor(signers)
	wait(t, g, signers[0].id, submit(t, g, signers[0].id, "one"))
	server.Kill()
	w.ready(0, "no server is connected")
	n := submit(t, g, signers[0].id, "two")
	time.Sleep(200 * time.Millisecond)
	server.Start()
	w.ready(0, "")
	if o := wait(t, g, signers[0].id, n); o.Kind != distill.OutcomeExecuted {
		t.Errorf("%+v", o)
	}
	if n := w.apps[0].seen["two"]; n != 1 {
		t.Errorf("executed %d times", n)
	}
}

// What isn't safe isn't used, the node says why, and takes it once it has been mended.
func TestNATSRefused(t *testing.T) {
	t.Parallel()
	cluster := natstest.New(t, natstest.Config{N: 1, JetStream: "sync_interval: 30s"})
	server := cluster.Servers[0]
	w := newNATSNetwork(t, 1, cluster)
	w.startAll()
	w.ready(0, `doesn't have sync_interval "always"`)
	server.Kill()
	server.Edit("sync_interval: 30s", "sync_interval: always")
	server.Start()
	w.ready(0, "")
	if err := w.nodes[0].stop(); err != nil {
		t.Fatal(err)
	}
	const stream = `"name":"undersign","subjects":["undersign.entry"],"storage":"file","max_msg_size":525312,"duplicate_window":600000000000,"deny_delete":true`
	for _, tt := range []struct{ more, say string }{
		{`"num_replicas":1,"retention":"workqueue","discard":"new"`, "its retention isn't limits"},
		{`"num_replicas":1,"retention":"interest","discard":"new"`, "its retention isn't limits"},
		{`"num_replicas":1,"retention":"limits","discard":"old","max_msgs":100`, "its limits discard old entries"},
		{`"num_replicas":1,"retention":"limits","discard":"new","max_age":3600000000000`, "max_age discards"},
	} {
		cluster.Ask(t, "STREAM.DELETE.undersign", "")
		cluster.Ask(t, "STREAM.CREATE.undersign", "{"+stream+","+tt.more+"}")
		w.start(0)
		w.ready(0, tt.say)
		if h, err := w.head(0); err != nil || h.Batches != 0 {
			t.Errorf("%+v, %v", h, err)
		}
		if err := w.nodes[0].stop(); err != nil {
			t.Fatal(err)
		}
	}
	w.nats.Replicas = 3
	w.start(0)
	w.ready(0, "it has 1 replicas, and not 3")
}

// The configuration is in the node's file, and nothing in it is unknown.
func TestNATSConfig(t *testing.T) {
	w := newNATSNetwork(t, 1, natstest.Prepare(t, natstest.Config{N: 1}))
	path := filepath.Join(w.dirs[0], nodedir.Config)
	text := string(must(os.ReadFile(path))(t))
	load := func(more string) (node.Config, error) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text+more), 0o600); err != nil {
			t.Fatal(err)
		}
		return node.Load(w.dirs[0])
	}
	const head = "[aggregate]\ngenesis = \"genesis\"\nvalidators = [\"self\"]\n[aggregate.validator]\n[aggregate.nats]\nservers = [\"tls://n1:4222\", \"tls://n2:4222\"]\n"
	cfg, err := load(head + `stream = "votes"
replicas = 1
nkey = "user.nk"
system-credentials = "sys.creds"
ca = "ca.pem"
certificate = "node.pem"
key = "node.key"
keep-heights = 1000
prune = true
`)
	if err != nil {
		t.Fatal(err)
	}
	want := nats.Config{
		Servers: []string{"tls://n1:4222", "tls://n2:4222"}, Stream: "votes", Replicas: 1, Nkey: "user.nk", SystemCredentials: "sys.creds",
		CA: "ca.pem", Certificate: "node.pem", Key: "node.key", KeepHeights: 1000, Prune: true,
	}
	if !reflect.DeepEqual(*cfg.Aggregate.NATS, want) {
		t.Errorf("%+v", *cfg.Aggregate.NATS)
	}
	for more, say := range map[string]string{
		"system-nkey = \"s\"\nkeep = 5\n":                        "keep",
		"system-nkey = \"s\"\nkeep-heights = 255\n":              "keep-heights",
		"system-nkey = \"s\"\nkeep-heights = -1\n":               "keep-heights",
		"system-nkey = \"s\"\nreplicas = 2\n":                    "replicas",
		"prune = true\n":                                         "system-credentials",
		"system-nkey = \"s\"\nservers = [\"nats://n1:4222\"]\n":  "servers",
		"nkey = \"a\"\ncredentials = \"b\"\nsystem-nkey = \"c\"": "either",
	} {
		if _, err := load(head + more); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v", more, err)
		}
	}
}

// A file that isn't what it should be ends the start.
func TestNATSFiles(t *testing.T) {
	w := newNATSNetwork(t, 1, natstest.Prepare(t, natstest.Config{N: 1}))
	good := w.nats
	name := filepath.Join(w.dirs[0], "user.nk")
	if err := os.WriteFile(name, must(os.ReadFile(good.Nkey))(t), 0o600); err != nil {
		t.Fatal(err)
	}
	try := func(change func(*nats.Config)) error {
		cfg := must(node.Load(w.dirs[0]))(t)
		n := good
		change(&n)
		cfg.Listen = w.addrs[0]
		cfg.Aggregate = aggregate.Config{Genesis: "genesis", Validators: []string{"self"}, Validator: &aggregate.ValidatorConfig{}, NATS: &n}
		x, err := node.New(cfg)
		if err == nil {
			x.Close()
		}
		return err
	}
	if err := try(func(c *nats.Config) { c.Nkey = "user.nk" }); err != nil {
		t.Errorf("in the node's folder: %v", err)
	}
	if err := os.Chmod(name, 0o644); err != nil {
		t.Fatal(err)
	}
	for say, change := range map[string]func(*nats.Config){
		"nkey: " + name + ": others may read": func(c *nats.Config) { c.Nkey = "user.nk" },
		"credentials: ":                       func(c *nats.Config) { c.Nkey, c.Credentials = "", "absent" },
		"ca: ":                                func(c *nats.Config) { c.CA = "genesis" },
		"keep-heights":                        func(c *nats.Config) { c.KeepHeights = 10 },
	} {
		if err := try(change); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v", say, err)
		}
	}
}

// A validator that is put back from an older copy finds the entries and the batches that it
// has missed, although all validators have had them; and the queue is shortened up to there.
func TestNATSPruned(t *testing.T) {
	if !longTests() {
		t.Skip("set UNDERSIGN_LONG=1: it takes half a minute")
	}
	t.Cleanup(aggregate.SetCollectEvery(200 * time.Millisecond))
	cluster := natstest.New(t, natstest.Config{N: 1, JetStream: "sync_interval: 1m"})
	w := newNATSNetwork(t, 3, cluster)
	w.tick, w.output = 20, io.Discard
	w.nats.KeepHeights, w.nats.InsecureAssumeSyncAlways = 256, true
	tune := w.tune
	w.tune = func(i int, c *node.Config) {
		tune(i, c)
		c.Aggregate.NATS.Prune = i == 0
	}
	w.startAll()
	signers := w.register(3)
	g := w.gatewayFor(signers)
	count := 0
	execute := func(n int) {
		t.Helper()
		for range n {
			count++
			wait(t, g, signers[0].id, submit(t, g, signers[0].id, fmt.Sprint(count)))
			if err := g.Release(t.Context(), signers[0].id, uint64(count)); err != nil {
				t.Fatal(err)
			}
		}
	}
	execute(2)
	// The copy is of a node that doesn't run.
	copyNode := func() string {
		t.Helper()
		if err := w.nodes[2].stop(); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(dir, os.DirFS(w.dirs[2])); err != nil {
			t.Fatal(err)
		}
		files := must(filepath.Glob(filepath.Join(dir, "*")))(t)
		for i, name := range append([]string{dir}, files...) {
			mode := os.FileMode(0o600)
			if i == 0 {
				mode = 0o700
			}
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
		}
		w.start(2)
		return dir
	}
	putBack := func(dir string) {
		t.Helper()
		if err := w.nodes[2].stop(); err != nil {
			t.Fatal(err)
		}
		s := must(store.Open(filepath.Join(dir, nodedir.Store), store.Options{}))(t)
		if err := service.MarkRestored(s, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		w.dirs[2], w.apps[2] = dir, &recorder{}
		w.start(2)
	}
	recent := copyNode()
	execute(2)
	heights := func(more uint64) {
		t.Helper()
		h := must(w.head(0))(t)
		for until := h.Height + more; h.Height < until; h = must(w.head(0))(t) {
			time.Sleep(100 * time.Millisecond)
		}
	}
	heights(150) // more than the 64 that batches stay otherwise
	putBack(recent)
	w.agree(4, 30*time.Second)
	execute(1)
	w.agree(5, 30*time.Second)

	// Entries go in the end; one that would need them says so, and witnesses nothing.
	old := copyNode()
	cluster.Fill(t, 1<<14) // so many entries before a place have an effect on it
	for start := time.Now(); cluster.Stream(t).First == 1; time.Sleep(200 * time.Millisecond) {
		if time.Since(start) > 2*time.Minute {
			t.Fatalf("the queue isn't shortened: %+v", cluster.Stream(t))
		}
	}
	for range 100 { // far enough
		if cluster.Stream(t).First > 400 {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Logf("%+v", cluster.Stream(t))
	w.agree(5, 30*time.Second)
	execute(1)
	putBack(old)
	w.ready(2, "what comes before was removed")
}
