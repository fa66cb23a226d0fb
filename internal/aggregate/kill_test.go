// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/aggregate"
	"github.com/undersign/undersign/internal/failpoint"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/relay/nats/natstest"
	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/node"
)

// processEnv makes the test's program a node: it is the node's folder and address.
const processEnv = "UNDERSIGN_TEST_AGGREGATE_NODE"

func TestMain(m *testing.M) {
	natstest.Main()
	if arg := os.Getenv(processEnv); arg != "" {
		if err := runProcess(arg); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func runProcess(arg string) error {
	var p struct{ Dir, Address string }
	if err := json.Unmarshal([]byte(arg), &p); err != nil {
		return err
	}
	cfg, err := node.Load(p.Dir)
	if err != nil {
		return err
	}
	cfg.Listen = p.Address
	cfg.Limits.Call = node.Duration(5 * time.Minute) // for many changes of the directory at once
	cfg.Rules = []node.Rule{{Parties: []string{"*"}, Operations: []string{"aggregate.*"}}}
	cfg.Aggregate = aggregate.Config{
		Genesis: "genesis", Validators: []string{"self"},
		Aggregator: &aggregate.AggregatorConfig{ID: 1, BatchAgeMS: 20, MinWaitMS: 100, MaxWaitMS: 300},
		Validator:  &aggregate.ValidatorConfig{TickMS: 50}, Directory: &aggregate.DirectoryConfig{},
	}
	n, err := node.New(cfg)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	// It ends by itself, whatever becomes of the test.
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	return n.Run(ctx)
}

// process starts a node as a process, and returns how to kill it, and to wait for its end.
func (w *network) process(failpoints string) (kill func(), wait func()) {
	w.t.Helper()
	arg := must(json.Marshal(map[string]string{"Dir": w.dirs[0], "Address": w.addrs[0]}))(w.t)
	cmd := exec.Command(must(os.Executable())(w.t))
	cmd.Env = append(os.Environ(), processEnv+"="+string(arg), "UNDERSIGN_FAILPOINT="+failpoints)
	cmd.Stderr = w.output
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.pid = cmd.Process.Pid
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cmd.Wait()
	}()
	wait = func() { <-ended }
	kill = func() {
		cmd.Process.Kill()
		<-ended
	}
	w.t.Cleanup(kill)
	return kill, wait
}

// The places at which a node is killed, in builds that have them.
var killPlaces = []string{
	"store.commit.before", "store.commit.after", "aggregate.validator.apply", "aggregate.validator.applied", "aggregate.handoff.before",
}

// A node is killed again and again under load. Every message that a client has got an
// acknowledgement for, and every other one that it submitted, gets one receipt, and is
// executed once.
func TestKill(t *testing.T) {
	rounds := 4
	if n, err := strconv.Atoi(os.Getenv("UNDERSIGN_LONG")); err == nil && n > 0 {
		rounds = max(n, 100)
	}
	w := newNetwork(t, 1)
	w.finish()
	kill, _ := w.process("")
	signers := w.registerWhenUp(6)
	var clients []client.GatewayClient
	for _, s := range signers {
		clients = append(clients, w.open(s, &distill.MemoryJournal{}))
	}
	g, stop := w.gatewayOf(clients...)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	var mu sync.Mutex
	outcomes := make(map[[2]uint64]distill.Outcome)
	for _, s := range signers {
		group.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				n, err := g.Submit(t.Context(), s.id, fmt.Append(nil, i), 0)
				switch distill.RuleOf(err) {
				case distill.RuleNoHead, distill.RuleWindow:
					time.Sleep(20 * time.Millisecond)
					continue
				}
				if err != nil {
					t.Errorf("client %d: %v", s.id, err)
					return
				}
				o, err := g.Wait(t.Context(), s.id, n)
				if err != nil {
					t.Errorf("message %d of client %d: %v", n, s.id, err)
					return
				}
				mu.Lock()
				outcomes[[2]uint64{s.id, n}] = o
				mu.Unlock()
				if err := g.Release(t.Context(), s.id, n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	for i := range rounds {
		if failpoint.Enabled && i%2 == 1 {
			kill()
			end, wait := w.process(fmt.Sprintf("%s=kill@%d", killPlaces[i/2%len(killPlaces)], 1+r.IntN(20)))
			late := time.AfterFunc(5*time.Second, end)
			wait()
			late.Stop()
		} else {
			time.Sleep(time.Duration(200+r.IntN(700)) * time.Millisecond)
			kill()
		}
		kill, _ = w.process("")
	}
	for deadline := time.Now().Add(45 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		mu.Lock()
		n := len(outcomes)
		mu.Unlock()
		if n >= 10 {
			break
		}
	}
	cancel()
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(60 * time.Second):
		t.Error("messages without an outcome")
	}
	stop()
	kill()

	s := must(store.Open(filepath.Join(w.dirs[0], nodedir.Store), store.Options{}))(t)
	defer s.Close()
	head := must(s.Validator().Head())(t)
	executed := make(map[[2]uint64]int)
	for h := uint64(1); h <= head.Height; h++ {
		log := must(s.Validator().Tick(h))(t)
		for i := range log {
			for _, x := range log[i].Results {
				if x.Code == distill.ResultOK {
					executed[[2]uint64{x.ID, x.Nonce}]++
				}
			}
		}
	}
	for k, n := range executed {
		if n != 1 {
			t.Errorf("nonce %d of client %d was executed %d times", k[1], k[0], n)
		}
	}
	if len(outcomes) < 10 {
		t.Errorf("only %d messages in %d rounds", len(outcomes), rounds)
	}
	for k, o := range outcomes {
		if o.Kind != distill.OutcomeExecuted || executed[k] != 1 {
			t.Errorf("nonce %d of client %d: %+v, and executed %d times", k[1], k[0], o, executed[k])
		}
	}
	t.Logf("%d messages in %d rounds", len(outcomes), rounds)
}

// registerWhenUp registers clients once the node answers.
func (w *network) registerWhenUp(n int) []signer {
	w.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		_, err := w.validatorHead()
		if err == nil {
			return w.register(n)
		}
		if time.Now().After(deadline) {
			w.t.Fatal(errors.Join(errors.New("the node isn't up"), err))
		}
		time.Sleep(50 * time.Millisecond)
	}
}
