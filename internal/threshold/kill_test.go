// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/gen/undersign/threshold/v1/thresholdv1connect"
	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/node"
)

// TestMain runs a node instead of the tests in the processes that the tests start.
func TestMain(m *testing.M) {
	if dir := os.Getenv("UNDERSIGN_TEST_NODE"); dir != "" {
		os.Exit(runNode(dir))
	}
	os.Exit(m.Run())
}

func runNode(dir string) int {
	cfg, err := node.Load(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	cfg.Listen = os.Getenv("UNDERSIGN_TEST_LISTEN")
	n, err := node.New(cfg)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // it ends by itself
	defer cancel()
	if err := n.Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// A process is a node in a process of its own.
type process struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	done   chan error
}

// spawn starts the node in a folder, at an address, with failpoints.
func spawn(t *testing.T, dir, address, failpoints string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0]), done: make(chan error, 1)}
	p.cmd.Env = append(os.Environ(), "UNDERSIGN_TEST_NODE="+dir, "UNDERSIGN_TEST_LISTEN="+address, "UNDERSIGN_FAILPOINT="+failpoints)
	p.cmd.Stderr = &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	t.Cleanup(func() { p.kill() })
	for range 500 {
		select {
		case err := <-p.done:
			p.done <- err
			t.Fatalf("the node ended: %v: %s", err, &p.stderr)
		default:
		}
		if owner, _ := nodedir.Running(dir); owner != nil && owner.Address != "" && owner.PID == p.cmd.Process.Pid {
			return p
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the node doesn't start: %s", &p.stderr)
	return nil
}

// kill ends the process as by kill -9, unless it has ended.
func (p *process) kill() {
	p.cmd.Process.Kill()
	p.done <- <-p.done
}

// TestKill kills a signer while it signs, again and again. What it answered it answers
// again, and its audit log is whole: a use of the share without a record can't be.
func TestKill(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	rounds := 6
	if os.Getenv("UNDERSIGN_LONG") == "1" {
		rounds = 200
	}
	c := newCluster(t, 2, 2, nil)
	alice, bob := c.nodes[0], c.nodes[1]
	if err := bob.stop(); err != nil {
		t.Fatal(err)
	}
	name := threshold.KeyName(c.key)
	answered := map[string][]byte{}
	for round := range rounds {
		p := spawn(t, bob.dir, bob.Addr().String(), "")
		client := bob.as(alice.id)
		go func() {
			time.Sleep(time.Duration(20+37*round%150) * time.Millisecond)
			p.cmd.Process.Kill()
		}()
		for m, share := range answered { // what was answered before
			if got, err := ask(client, t, c, name, m); err == nil && !bytes.Equal(got, share) {
				t.Fatalf("round %d: another share for %s", round, m)
			}
			break
		}
		for i := 0; ; i++ {
			m := fmt.Sprintf("%d-%d", round, i)
			share, err := ask(client, t, c, name, m)
			if err != nil {
				break
			}
			answered[m] = share
		}
		p.kill()
		checkAudit(t, bob, answered)
	}
	t.Logf("%d rounds, %d shares", rounds, len(answered))
	p := spawn(t, bob.dir, bob.Addr().String(), "")
	client := bob.as(alice.id)
	for m, share := range answered {
		if got, err := ask(client, t, c, name, m); err != nil || !bytes.Equal(got, share) {
			t.Fatalf("%s: %v, or another share", m, err)
		}
	}
	p.kill()
}

func ask(client thresholdv1connect.ThresholdServiceClient, t *testing.T, c *cluster, name, message string) ([]byte, error) {
	t.Helper()
	_, data := request(t, c.key, message)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	resp, err := client.Share(ctx, &thresholdv1.ShareRequest{Request: data, Key: name})
	if err != nil {
		return nil, err
	}
	return resp.Share, nil
}

// checkAudit checks the log of a node that was killed: it is whole but for a torn end,
// and has an intent and an end for whatever was answered.
func checkAudit(t *testing.T, n *testNode, answered map[string][]byte) {
	t.Helper()
	f, err := os.Open(filepath.Join(n.dir, nodedir.Audit))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ended := 0
	subjects := map[uint64]bool{}
	report, err := audit.Verify(f, n.id.PublicKey(), "", func(r *audit.Record) {
		if r.Kind == audit.Intent && r.Operation == "threshold.share" {
			subjects[r.Seq] = true
		}
		if r.Kind == audit.End && subjects[r.Of] && r.Outcome == audit.OK {
			ended++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if ended < len(answered) {
		t.Fatalf("%d shares were answered, and %d uses are recorded as ended (%d open)", len(answered), ended, len(report.Open))
	}
}

// A dealer's memory is locked, or the dealer doesn't start.
func TestLockedMemory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("memory can't be locked on this system")
	}
	c := &cluster{t: t}
	dir := c.makeDir("dealer", "[threshold.dealer]\nenabled = true\n")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "UNDERSIGN_TEST_NODE="+dir, "UNDERSIGN_TEST_LISTEN=127.0.0.1:0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	defer func() { cmd.Process.Kill(); done <- <-done }()
	for range 500 {
		select {
		case err := <-done:
			done <- err
			if strings.Contains(stderr.String(), "memory can't be locked") {
				t.Skipf("it didn't start: %s", &stderr)
			}
			t.Fatalf("%v: %s", err, &stderr)
		case <-time.After(10 * time.Millisecond):
		}
		if owner, _ := nodedir.Running(dir); owner == nil || owner.Address == "" {
			continue
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(status)) {
			if f := strings.Fields(line); f[0] == "VmLck:" && f[1] == "0" {
				t.Errorf("%s", line)
			}
		}
		return
	}
	t.Fatal("it doesn't start")
}
