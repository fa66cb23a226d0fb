// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package killtest

import (
	"bytes"
	"context"
	"crypto"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/gen/undersign/aggregate/v1/aggregatev1connect"
	"github.com/undersign/undersign/internal/relay/nats/natstest"
	"github.com/undersign/undersign/internal/threshold"
)

const (
	hubEnv     = "UNDERSIGN_KILLTEST_HUB"
	hubAddress = "10.77.0.1"
	// queueAddress is where validators find the queue, which without TLS has to be on
	// their own machine.
	queueAddress = "127.0.0.1:14222"
)

// A network falls apart, and is whole again. Each node is in a network
// namespace of its own, and a bridge in the test's connects them.
func TestPartition(t *testing.T) {
	if os.Getenv(hubEnv) == "" {
		begin(t)
		inNamespace(t)
		return
	}
	ip(t, "link", "set", "lo", "up")
	ip(t, "link", "add", "br0", "type", "bridge")
	ip(t, "addr", "add", hubAddress+"/24", "dev", "br0")
	ip(t, "link", "set", "br0", "up")
	t.Run("signers", partitionSigners)
	t.Run("validators", partitionValidators)
}

// inNamespace runs the test once more, in a namespace of its own.
func inNamespace(t *testing.T) {
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("no ip command")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestPartition$", "-test.v", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), hubEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	var pe *os.PathError
	if errors.As(err, &pe) && errors.Is(err, syscall.EPERM) {
		t.Skip("network namespaces aren't allowed")
	}
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(out, []byte("--- SKIP")) {
		t.Skip("it can't be done here")
	}
}

func ip(t testing.TB, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		if strings.Contains(string(out), "not supported") || strings.Contains(string(out), "not permitted") {
			t.Skipf("ip %s: %s", strings.Join(args, " "), out)
		}
		t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// connectNamespace gives this process' end of a cable its address.
func connectNamespace(address string) error {
	for _, args := range [][]string{
		{"link", "set", "lo", "up"}, {"addr", "add", address + "/24", "dev", "eth0"}, {"link", "set", "eth0", "up"},
	} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// forward passes connections on.
func forward(from, to string) error {
	l, err := net.Listen("tcp", from)
	if err != nil {
		return err
	}
	go func() {
		for {
			a, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer a.Close()
				b, err := net.DialTimeout("tcp", to, 2*time.Second)
				if err != nil {
					return
				}
				go func() {
					io.Copy(b, a)
					b.Close()
				}()
				io.Copy(a, b)
			}()
		}
	}()
	return nil
}

// A lan is nodes that are cabled to the bridge, by the numbers of their cables.
type lan struct {
	*world
	cables map[string]int
	first  int
}

// newLAN makes a world in which nodes are apart; the others are where the test is.
func newLAN(t *testing.T, first int, p plan, apart ...string) *lan {
	n := &lan{cables: make(map[string]int), first: first}
	for i, name := range apart {
		n.cables[name] = first + i
	}
	port := 17000 + first
	p.address = func(name string) string {
		host := hubAddress
		if i, ok := n.cables[name]; ok {
			host = fmt.Sprintf("10.77.0.%d", i)
		}
		port++
		return fmt.Sprintf("%s:%d", host, port)
	}
	n.world = newWorld(t, p)
	return n
}

// start starts a node, with a cable if it is apart.
func (n *lan) start(name, forward string) *process {
	t := n.t
	t.Helper()
	m := n.members[name]
	i, apart := n.cables[name]
	s := spec{Role: m.role, Dir: m.dir, Seconds: n.seconds, Apart: apart, Forward: forward}
	p := start(t, name, s, nil, func(cmd *exec.Cmd) {
		if apart {
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		}
	})
	if apart {
		ip(t, "link", "add", n.cable(name), "type", "veth", "peer", "name", "eth0", "netns", fmt.Sprint(p.cmd.Process.Pid))
		ip(t, "link", "set", n.cable(name), "master", "br0", "up")
		p.tell("connect " + fmt.Sprintf("10.77.0.%d", i))
	}
	return p
}

func (n *lan) cable(name string) string { return fmt.Sprintf("cable%d", n.cables[name]) }

// cut takes nodes off the bridge: what they send goes nowhere, and nobody is told.
func (n *lan) cut(names ...string) {
	for _, name := range names {
		ip(n.t, "link", "set", n.cable(name), "nomaster")
	}
}

func (n *lan) heal(names ...string) {
	for _, name := range names {
		ip(n.t, "link", "set", n.cable(name), "master", "br0")
	}
}

// Two of three signers are cut off: there is no quorum, which is said in time and says who
// is silent. As soon as one of them is back it signs, and it goes on when another is gone.
func partitionSigners(t *testing.T) {
	n := newLAN(t, 10, plan{names: append([]string{roleCoordinator}, signerNames...)}, signerNames...)
	var all []*process
	for name := range n.members {
		all = append(all, n.start(name, ""))
	}
	for _, p := range all {
		p.awaitReady()
	}
	m := n.members[roleCoordinator]
	node := must(client.Dial(n.driverKey, m.address, m.id.Fingerprint()))(t)
	defer node.Close()
	signer := node.Signer(n.key, &client.SignerOptions{Timeout: 4 * time.Second})
	sign := func(message string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		digest := sha256.Sum256([]byte(message))
		_, err := signer.SignContext(ctx, digest[:], crypto.SHA256)
		return err
	}
	signs := func(when string) {
		t.Helper()
		began := time.Now()
		for sign(when) != nil {
			if time.Since(began) > 40*time.Second {
				t.Fatalf("%s: %v", when, sign(when))
			}
		}
		t.Logf("%s it signs after %v", when, time.Since(began).Round(time.Millisecond))
	}
	signs("with all")
	n.cut("alice", "bob")
	began := time.Now()
	err := sign("too few")
	var quorum *client.QuorumError
	if !errors.As(err, &quorum) || time.Since(began) > 5*time.Second {
		t.Fatalf("after %v: %v", time.Since(began), err)
	}
	silent := make(map[string]bool)
	for _, f := range quorum.Faults {
		silent[f.Name] = f.Kind == threshold.Silent
	}
	if !silent["alice"] || !silent["bob"] || silent["carol"] || quorum.Need != 2 || quorum.Have > 1 {
		t.Errorf("%v", quorum)
	}
	n.heal("alice")
	signs("with one back")
	n.heal("bob")
	n.cut("carol")
	signs("with another gone")
	n.heal("carol")
	signs("with all again")
}

// One of three validators is cut off under load. The others go on, and it comes to their
// log when the network is whole again.
func partitionValidators(t *testing.T) {
	queue := natstest.Prepare(t, natstest.Config{N: 1})
	s := queue.Servers[0]
	s.Edit("127.0.0.1", hubAddress)
	s.Address = strings.Replace(s.Address, "127.0.0.1", hubAddress, 1)
	s.Start()
	names := []string{"one", "two", "three"}
	n := newLAN(t, 20, plan{
		names: append([]string{roleAggregator}, names...), validators: names,
		queue: fmt.Sprintf("[aggregate.nats]\nservers = [%q]\nreplicas = 1\nnkey = %q\nsystem-nkey = %q\n", "nats://"+queueAddress, queue.User, queue.Sys),
	}, names...)
	running := make(map[string]*process)
	for name := range n.members {
		running[name] = n.start(name, s.Address)
	}
	for _, p := range running {
		p.awaitReady()
	}
	signers := n.register(4)
	cfg := client.GatewayConfig{
		Key: n.driverKey, Genesis: n.genesis, Network: must(distill.NewNetwork(n.genesis))(t),
		Aggregators: map[uint64]string{1: n.members[roleAggregator].address},
	}
	for _, name := range names {
		m := n.members[name]
		cfg.Validators = append(cfg.Validators, client.Validator{Fingerprint: m.id.Fingerprint(), Address: m.address})
	}
	for _, x := range signers {
		keys := x.keys(t)
		keys.Since = x.Since
		c := must(distill.OpenClient(distill.ClientConfig{
			Network: cfg.Network, ID: x.ID, Keys: keys, Journal: new(distill.MemoryJournal), AckTimeout: 500, ReceiptTimeout: 5000,
		}))(t)
		cfg.Clients = append(cfg.Clients, client.GatewayClient{Client: c, Ed: keys.Ed})
	}
	g := must(client.NewGateway(cfg))(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	submitted := make(map[[2]uint64]bool)
	messages := func(when string, times int) {
		t.Helper()
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 120*time.Second)
		defer cancel()
		for range times {
			nonces := make(map[uint64]uint64)
			for _, x := range signers {
				for {
					nonce, err := g.Submit(ctx, x.ID, []byte(when), 0)
					if distill.RuleOf(err) == distill.RuleNoHead {
						time.Sleep(10 * time.Millisecond)
						continue
					}
					if err != nil {
						t.Fatalf("%s: %v", when, err)
					}
					nonces[x.ID] = nonce
					break
				}
			}
			for id, nonce := range nonces {
				o, err := g.Wait(ctx, id, nonce)
				if err != nil || o.Kind != distill.OutcomeExecuted {
					t.Fatalf("%s: %v, %v", when, o, err)
				}
				submitted[[2]uint64{id, nonce}] = true
				if err := g.Release(ctx, id, nonce); err != nil {
					t.Fatal(err)
				}
			}
		}
		t.Logf("%s: %d messages in %v", when, times*len(signers), time.Since(began).Round(time.Millisecond))
	}
	messages("whole", 1)
	n.cut("three")
	times := 3
	if os.Getenv("UNDERSIGN_LONG") == "1" {
		times = 100 // long enough for connections to be given up
	}
	messages("cut", times)
	if _, err := n.head("three"); err == nil {
		t.Error("it isn't cut off")
	}
	n.heal("three")
	began := time.Now()
	messages("healed", 1)
	for {
		heads := make(map[[32]byte]int)
		for _, name := range names {
			if h, err := n.head(name); err == nil && h.Batches >= 5 {
				heads[h.LogHash]++
			}
		}
		agreed := false
		for _, k := range heads {
			agreed = agreed || k == len(names)
		}
		if agreed {
			break
		}
		if time.Since(began) > 60*time.Second {
			t.Fatalf("they don't come to one log: %v: %s", heads, running["three"].log())
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("one log after %v", time.Since(began).Round(time.Millisecond))
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for name, p := range running {
		if err := p.stop(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range names {
		executed := n.executed(name)
		for k := range submitted {
			if executed[k] != 1 {
				t.Errorf("%s executed nonce %d of client %d %d times", name, k[1], k[0], executed[k])
			}
		}
		if len(executed) != len(submitted) {
			t.Errorf("%s executed %d messages of %d", name, len(executed), len(submitted))
		}
	}
}

// head returns what a validator says of its log.
func (n *lan) head(name string) (h distill.Hgt, err error) {
	ctx, cancel := context.WithTimeout(n.t.Context(), time.Second)
	defer cancel()
	p := n.peer(name)
	defer p.Close()
	c := aggregatev1connect.NewValidatorServiceClient(p.HTTP(), p.URL(), p.Options(0)...)
	resp, err := c.Head(ctx, &aggregatev1.HeadRequest{})
	if err == nil {
		err = h.UnmarshalBinary(resp.Hgt)
	}
	return h, err
}
