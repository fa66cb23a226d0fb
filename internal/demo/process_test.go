// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package demo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/undersign/undersign/internal/nodedir"
)

// runs returns those of a demo's nodes that run.
func runs(t *testing.T, dir string) (names []string) {
	t.Helper()
	for _, name := range people {
		owner, err := nodedir.Running(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if owner != nil {
			names = append(names, name)
		}
	}
	return names
}

// However a demo ends while its processes run, they end too.
func TestEnds(t *testing.T) {
	t.Parallel()
	skipShort(t)
	for _, tt := range []struct {
		name   string
		signal syscall.Signal
		code   int
	}{{"killed", syscall.SIGKILL, -1}, {"interrupted", syscall.SIGINT, 130}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			t.Cleanup(func() { // a command that the demo waited for may write yet
				for end := time.Now().Add(20 * time.Second); os.RemoveAll(dir) != nil && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				}
			})
			cmd, err := program(context.Background(), "demo", "--keep", dir)
			if err != nil {
				t.Fatal(err)
			}
			cmd.Env = os.Environ() // it is a demo
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill() // nothing if it has ended
			scan := bufio.NewScanner(stdout)
			for scan.Scan() && !strings.HasPrefix(scan.Text(), "   processes: ") {
			}
			if got := runs(t, dir); len(got) != len(people) {
				t.Fatalf("only %v run: %s", got, &stderr)
			}
			cmd.Process.Signal(tt.signal)
			io.Copy(io.Discard, stdout)
			cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != tt.code {
				t.Errorf("exit status %d, want %d: %s", got, tt.code, &stderr)
			}
			for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
				got := runs(t, dir)
				if len(got) == 0 {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("still there: %v", got)
				}
			}
		})
	}
}

// A crew without its demo: what a child does that a demo has no step for.
func TestCrew(t *testing.T) {
	t.Parallel()
	skipShort(t)
	s := &stage{Options{Dir: t.TempDir(), Out: io.Discard}, &Result{}}
	w := &crew{s: s}
	defer w.end()
	ctx := context.Background()
	n, err := w.makeNode(ctx, "node")
	if err != nil {
		t.Fatal(err)
	}
	if l, err := net.Listen("tcp", n.address); err == nil {
		l.Close()
		t.Error("the address of a node that is to start can be taken")
	}
	if err := w.serve(ctx, n, "serve"); err != nil {
		t.Fatal(err)
	}

	// A second process for the folder ends, and its log says why.
	other, err := w.start("other", "serve", s.path("node"))
	if err != nil {
		t.Fatal(err)
	}
	var line struct{}
	if err := other.read(ctx, &line); err == nil || !strings.Contains(err.Error(), "other has ended: exit status 1: see other.log") {
		t.Errorf("read of a process that has ended: %v", err)
	}
	if log, err := os.ReadFile(s.path("other.log")); err != nil || !bytes.Contains(log, []byte("runs already")) {
		t.Errorf("its log: %s, %v", log, err)
	}
	if err := other.stop(ctx); err == nil {
		t.Error("a process that has failed was stopped without an error")
	}
	if err := other.kill(); err == nil {
		t.Error("a process was killed that had ended")
	}
	// Nobody lies where there is no share, and a folder needs a load to play.
	if err := n.stop(ctx); err != nil {
		t.Fatal(err)
	}
	for role, want := range map[string]string{"lie": "0 shares", "load": "load.json", "nonsense": "there is no role"} {
		c, err := w.start(role, role, s.path("node"))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.read(ctx, &line); err == nil {
			t.Errorf("%s: it says something", role)
		}
		if log, err := os.ReadFile(s.path(role + ".log")); err != nil || !bytes.Contains(log, []byte(want)) {
			t.Errorf("%s: its log: %s, %v", role, log, err)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := w.serve(ended, n, "serve"); !errors.Is(err, context.Canceled) {
		t.Errorf("serve: %v", err)
	}
	if err := n.kill(); err != nil {
		t.Error(err)
	}
	if err := n.read(ctx, &line); err != nil && !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("read of a process that was killed: %v", err)
	}
}

// A command that fails says with which exit status, and why.
func TestCommandError(t *testing.T) {
	t.Parallel()
	skipShort(t)
	s := &stage{Options{Dir: t.TempDir(), Out: io.Discard}, &Result{}}
	var failed *commandError
	err := s.undersign(context.Background(), nil, "status", "--dir", "none")
	if !errors.As(err, &failed) || failed.code != 1 || !strings.Contains(failed.text, "none") || strings.Contains(failed.text, "{") {
		t.Errorf("no node: %v", err)
	}
	if err := s.undersign(context.Background(), nil, "nonsense"); !errors.As(err, &failed) || failed.code != 64 {
		t.Errorf("no command: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.undersign(ctx, nil, "version"); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}
