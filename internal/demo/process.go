// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/undersign/undersign/internal/freeport"
)

// childEnv is set in the processes that a demo starts. One that would begin a demo itself
// isn't undersign: the program that runs has other main functions.
const childEnv = "UNDERSIGN_DEMO_CHILD"

// How long a demo waits for its processes.
const (
	processTime = 5 * time.Minute  // after which they end by themselves, whatever happens
	answerTime  = 60 * time.Second // for a line that a process is to print
	endTime     = 20 * time.Second // for its end
)

// errNested is the error of a demo in a process of a demo.
var errNested = errors.New("demo: this process is one of a demo already")

// program returns this program, to be run with other arguments.
func program(ctx context.Context, args ...string) (*exec.Cmd, error) {
	if os.Getenv(childEnv) != "" {
		return nil, errNested
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, exe, args...)
	c.Args[0] = "undersign"
	c.Env = append(os.Environ(), childEnv+"=1")
	return c, nil
}

// A commandError is a command of undersign's that has failed.
type commandError struct {
	name string
	code int
	text string
}

func (e *commandError) Error() string {
	return fmt.Sprintf("undersign %s: exit status %d: %s", e.name, e.code, e.text)
}

// undersign runs one of undersign's commands in the demo's folder, as a process, and reads
// the result that it prints.
func (s *stage) undersign(ctx context.Context, result any, args ...string) error {
	c, err := program(ctx, append(args, "--json")...)
	if err != nil {
		return err
	}
	c.Dir = s.Dir
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err = c.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	name := strings.Join(args[:min(len(args), 2)], " ")
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &commandError{name, exit.ExitCode(), lastError(stderr.Bytes())}
	}
	if err == nil && result != nil {
		err = json.Unmarshal(stdout.Bytes(), result)
	}
	if err != nil {
		return fmt.Errorf("undersign %s: %w", name, err)
	}
	return nil
}

// lastError returns the text of the error that a command has printed as JSON, or all that
// it has printed.
func lastError(stderr []byte) string {
	lines := bytes.Split(bytes.TrimSpace(stderr), []byte("\n"))
	var e struct{ Error string }
	if json.Unmarshal(lines[len(lines)-1], &e) == nil && e.Error != "" {
		return e.Error
	}
	return string(bytes.TrimSpace(stderr))
}

// A crew is the processes that a demo has started. They don't outlive it: each ends when
// its standard input does, the other end of which is here and nowhere else.
type crew struct {
	s    *stage
	all  []*child
	mu   sync.Mutex // guards held
	held []net.Listener
}

// A child is a process.
type child struct {
	name  string
	cmd   *exec.Cmd
	stdin io.Closer
	lines chan string   // of its standard output
	done  chan struct{} // closed when it has ended
	err   error         // of Wait, once it has
}

// start starts a process that does args, and logs to a file that is called after it.
func (w *crew) start(name string, args ...string) (*child, error) {
	// It is killed by its number and not by a context, so that it isn't left unwaited for.
	cmd, err := program(context.Background(), append([]string{"demo-process", "--json", "--timeout", processTime.String()}, args...)...)
	if err != nil {
		return nil, err
	}
	cmd.Dir = w.s.Dir
	log, err := os.OpenFile(w.s.path(name+".log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stderr = log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{name: name, cmd: cmd, stdin: stdin, lines: make(chan string, 1024), done: make(chan struct{})}
	w.all = append(w.all, c)
	go func() {
		scan := bufio.NewScanner(stdout)
		for scan.Scan() {
			select {
			case c.lines <- scan.Text():
			default: // nobody reads them
			}
		}
		io.Copy(io.Discard, stdout)
		close(c.lines)
		c.err = cmd.Wait()
		close(c.done)
	}()
	return c, nil
}

// end ends what still runs, whatever happens.
func (w *crew) end() {
	for _, c := range w.all {
		c.stdin.Close()
		c.cmd.Process.Kill() // nothing if it has ended
	}
	for _, c := range w.all {
		<-c.done
	}
	for _, l := range w.held {
		l.Close() // again, if its node was started
	}
}

// pid returns the process's number.
func (c *child) pid() int { return c.cmd.Process.Pid }

// read reads the next line that a process prints, a JSON object.
func (c *child) read(ctx context.Context, result any) error {
	timer := time.NewTimer(answerTime)
	defer timer.Stop()
	select {
	case line, ok := <-c.lines:
		if !ok {
			<-c.done
			return fmt.Errorf("%s has ended: %v: see %s.log", c.name, c.cmd.ProcessState, c.name)
		}
		if err := json.Unmarshal([]byte(line), result); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return fmt.Errorf("%s says nothing for %v: see %s.log", c.name, answerTime, c.name)
	}
}

// kill ends the process at once, as kill -9 does, and says so if that isn't how it ended.
func (c *child) kill() error {
	err := c.cmd.Process.Kill()
	<-c.done
	if err != nil {
		return fmt.Errorf("%s: kill: %w", c.name, err)
	}
	if s := c.cmd.ProcessState; s.Exited() {
		return fmt.Errorf("%s wasn't killed: %v", c.name, s)
	}
	return nil
}

// stop has the process end by itself, and waits for that.
func (c *child) stop(ctx context.Context) error {
	c.stdin.Close()
	timer := time.NewTimer(endTime)
	defer timer.Stop()
	select {
	case <-c.done:
		if c.err != nil {
			return fmt.Errorf("%s: %w: see %s.log", c.name, c.err, c.name)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return fmt.Errorf("%s doesn't end: see %s.log", c.name, c.name)
	}
}

// A nodeProcess is a node, and the process that it is now.
type nodeProcess struct {
	*child
	name, address string
	fingerprint   string
	held          net.Listener // keeps others from the address, until the node starts
}

// makeNode makes the folder of a node, at an address of its own.
func (w *crew) makeNode(ctx context.Context, name string) (*nodeProcess, error) {
	l, err := freeport.Listen("127.0.0.1")
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.held = append(w.held, l)
	w.mu.Unlock()
	n, err := w.makeParty(ctx, name, l.Addr().String())
	if err == nil {
		n.held = l
	}
	return n, err
}

// makeParty makes the folder of a party, which needn't run at its address.
func (w *crew) makeParty(ctx context.Context, name, address string) (*nodeProcess, error) {
	var made struct{ Fingerprint string }
	if err := w.s.undersign(ctx, &made, "init", "--dir", name, "--name", name, "--listen", address); err != nil {
		return nil, err
	}
	return &nodeProcess{name: name, address: address, fingerprint: made.Fingerprint}, nil
}

// meet has a node that doesn't run join one that does. what says what each may do with the
// other.
func (s *stage) meet(ctx context.Context, host, guest *nodeProcess, guestMay, hostMay []string, extra ...string) error {
	var invitation struct{ Token string }
	if err := s.undersign(ctx, &invitation, append([]string{"invite", "--dir", host.name, "--name", guest.name}, allow(guestMay)...)...); err != nil {
		return err
	}
	args := append([]string{"join", "--dir", guest.name, invitation.Token}, allow(hostMay)...)
	return s.undersign(ctx, nil, append(args, extra...)...)
}

func allow(operations []string) (args []string) {
	for _, o := range operations {
		args = append(args, "--allow", o)
	}
	return args
}

// serve starts a node, in a role of the hidden command, and waits until it takes calls.
func (w *crew) serve(ctx context.Context, n *nodeProcess, role string) (err error) {
	n.held.Close() // again, if it is started again
	if n.child, err = w.start(n.name, role, filepath.Join(w.s.Dir, n.name)); err != nil {
		return err
	}
	var ready struct{ Address, Fingerprint string }
	if err := n.read(ctx, &ready); err != nil {
		return err
	}
	if ready.Address != n.address || ready.Fingerprint != n.fingerprint {
		return fmt.Errorf("%s is at %s as %s, and should be at %s as %s", n.name, ready.Address, ready.Fingerprint, n.address, n.fingerprint)
	}
	return nil
}
