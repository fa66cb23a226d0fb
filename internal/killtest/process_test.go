// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package killtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// begin begins a test of many processes, which mostly wait: in their short form the tests
// run side by side.
func begin(t *testing.T) (long bool) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	long = os.Getenv("UNDERSIGN_LONG") == "1"
	if !long {
		t.Parallel()
	}
	return long
}

// A process is one that the test started.
type process struct {
	t     testing.TB
	name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	ready chan struct{} // closed when it says so
	done  chan string   // lines that it has obeyed
	ended chan struct{}
	err   error // once it has ended

	mu     sync.Mutex
	stderr strings.Builder
}

// start starts a process. line is told what it writes, and adapt may change how it runs.
func start(t testing.TB, name string, s spec, line func(string), adapt func(*exec.Cmd)) *process {
	t.Helper()
	p := &process{t: t, name: name, ready: make(chan struct{}), done: make(chan string, 16), ended: make(chan struct{})}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(program)
	p.cmd.Env = append(os.Environ(), specEnv+"="+string(text))
	if adapt != nil {
		adapt(p.cmd)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err == nil {
		p.stdin, err = p.cmd.StdinPipe()
	}
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = p
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			verb, rest, _ := strings.Cut(lines.Text(), " ")
			switch {
			case verb == "ready":
				close(p.ready)
			case verb == "done":
				select {
				case p.done <- rest:
				default: // nobody asked
				}
			case line != nil:
				line(lines.Text())
			}
		}
		p.err = p.cmd.Wait()
	}()
	t.Cleanup(p.kill)
	return p
}

// Write implements io.Writer, for the process' own log.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stderr.Len() < 1<<20 {
		p.stderr.Write(b)
	}
	return len(b), nil
}

// log returns the end of what the process wrote to its standard error.
func (p *process) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stderr.String()
	return s[max(0, len(s)-2000):]
}

// dump ends the process, and keeps what it wrote and what it was at.
func (p *process) dump() {
	p.cmd.Process.Signal(syscall.SIGQUIT)
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := os.WriteFile(filepath.Join(p.t.ArtifactDir(), p.name+".log"), []byte(p.stderr.String()), 0o600); err != nil {
		p.t.Error(err)
	}
}

// awaitReady waits until the process serves.
func (p *process) awaitReady() {
	p.t.Helper()
	select {
	case <-p.ready:
	case <-p.ended:
		p.t.Fatalf("%s ended: %v: %s", p.name, p.err, p.log())
	case <-time.After(30 * time.Second):
		p.t.Fatalf("%s doesn't start: %s", p.name, p.log())
	}
}

// arm has the process die at a failpoint, of which it may come by at once.
func (p *process) arm(place string, at int) {
	fmt.Fprintf(p.stdin, "failpoint %s=kill@%d\n", place, at)
}

// tell has the process do something: see obey.
func (p *process) tell(line string) {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.stdin, line); err != nil {
		p.t.Fatalf("%s: %v", p.name, err)
	}
	select {
	case <-p.done:
	case <-p.ended:
		p.t.Fatalf("%s ended: %v: %s", p.name, p.err, p.log())
	case <-time.After(10 * time.Second):
		p.t.Fatalf("%s doesn't obey: %s", p.name, p.log())
	}
}

// kill ends the process as by kill -9, unless it has ended.
func (p *process) kill() {
	p.cmd.Process.Kill()
	<-p.ended
}

// stop has the process end by itself.
func (p *process) stop() error {
	p.stdin.Close()
	select {
	case <-p.ended:
		return p.err
	case <-time.After(30 * time.Second):
		p.kill()
		return fmt.Errorf("%s doesn't end: %s", p.name, p.log())
	}
}
