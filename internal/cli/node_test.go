// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestServeSignals runs a node as systemd does: it says when it is ready, reads its
// configuration again on SIGHUP, and ends on SIGTERM with status 0.
func TestServeSignals(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "node")
	if code, _, stderr := runTest("init", "--dir", dir, "--listen", "127.0.0.1:0"); code != 0 {
		t.Fatal(stderr)
	}
	socket := filepath.Join(t.TempDir(), "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	want := func(prefix string) {
		t.Helper()
		buf := make([]byte, 1000)
		l.SetReadDeadline(time.Now().Add(20 * time.Second))
		n, err := l.Read(buf)
		if err != nil || !strings.HasPrefix(string(buf[:n]), prefix) {
			t.Fatalf("%q, %v, and not %s", buf[:n], err, prefix)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestInterruptChild$")
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+socket, "UNDERSIGN_TEST_CHILD=serve --timeout 2m --dir "+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill() // nothing if it has ended
	want("READY=1")
	config := filepath.Join(dir, "undersign.toml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	reload := func(add string) {
		t.Helper()
		if err := os.WriteFile(config, append(bytes.Clone(text), add...), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		want("RELOADING=1\nMONOTONIC_USEC=")
		want("READY=1")
	}
	reload("[[rule]]\nparties = [\"bob\"]\noperations = [\"node.status\"]\n")
	reload("nonsense = 1\n")
	cmd.Process.Signal(syscall.SIGTERM)
	want("STOPPING=1")
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		var exit *exec.ExitError
		if errors.As(err, &exit) || err != nil {
			t.Errorf("%v: %s", err, stderr.String())
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on")
	}
	for _, want := range []string{"configuration read again\" rules=1", "the configuration isn't changed", "no such key", "msg=stopped"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("the log has no %q", want)
		}
	}
}
