// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package nats

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// serverEnv makes the test's program a server, with the configuration that it names.
const serverEnv = "UNDERSIGN_TEST_NATS"

func TestMain(m *testing.M) {
	if conf := os.Getenv(serverEnv); conf != "" {
		os.Exit(serve(conf))
	}
	os.Exit(m.Run())
}

// serve is a server as a process: it can be killed. It ends when its parent does, or after
// a while.
func serve(conf string) int {
	opts, err := server.ProcessConfigFile(conf)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	opts.NoSigs = true
	s, err := server.NewServer(opts)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	s.ConfigureLogger()
	go s.Start()
	if !s.ReadyForConnections(30 * time.Second) {
		return 1
	}
	fmt.Println("ready")
	time.AfterFunc(5*time.Minute, func() { os.Exit(1) })
	io.Copy(io.Discard, os.Stdin)
	return 0
}

// A testServer is a server that the test started.
type testServer struct {
	t         testing.TB
	name, dir string
	address   string
	conf      string
	cmd       *exec.Cmd
	stdin     io.Closer
}

// A testCluster is one server, or several.
type testCluster struct {
	servers   []*testServer
	user, sys string // files with seeds
	sysPublic string
}

type clusterConfig struct {
	n         int
	jetstream string // in the place of sync_interval: always
	global    string
	tls       string
}

func newKey(t testing.TB, dir, name string) (file, public string) {
	t.Helper()
	k, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := k.Seed()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, name)
	if err := os.WriteFile(file, seed, 0o600); err != nil {
		t.Fatal(err)
	}
	public, err = k.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return file, public
}

func freePorts(t testing.TB, n int) (list []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		list = append(list, l.Addr().String())
	}
	return list
}

// newCluster starts servers, with the permissions that docs/operations.md gives.
func newCluster(t testing.TB, cfg clusterConfig) *testCluster {
	t.Helper()
	dir := t.TempDir()
	c := &testCluster{}
	var userPublic string
	c.user, userPublic = newKey(t, dir, "user")
	c.sys, c.sysPublic = newKey(t, dir, "sys")
	if cfg.jetstream == "" {
		cfg.jetstream = "sync_interval: always"
	}
	clients, routes := freePorts(t, cfg.n), freePorts(t, cfg.n)
	for i := range cfg.n {
		s := &testServer{t: t, name: fmt.Sprintf("n%d", i+1), address: clients[i]}
		s.dir = filepath.Join(dir, s.name)
		if err := os.Mkdir(s.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(`
server_name: %s
listen: %q
log_file: %q
%s
%s
jetstream { store_dir: %q, max_file_store: 1GB, %s }
accounts {
  UNDERSIGN {
    jetstream: enabled
    users: [ { nkey: %s, permissions {
      publish: { allow: ["undersign.entry", "$JS.API.STREAM.INFO.undersign", "$JS.API.STREAM.CREATE.undersign",
        "$JS.API.CONSUMER.CREATE.undersign.>", "$JS.API.CONSUMER.MSG.NEXT.undersign.>"] }
      subscribe: { allow: ["_INBOX.>"] } } }
      { user: admin, password: admin } ]
  }
  SYS {
    users: [ { nkey: %s, permissions {
      publish: { allow: ["$SYS.REQ.SERVER.PING.JSZ"] }
      subscribe: { allow: ["_INBOX.>"] } } } ]
  }
}
system_account: SYS
`, s.name, s.address, filepath.Join(s.dir, "log"), cfg.global, cfg.tls, filepath.Join(s.dir, "js"), cfg.jetstream, userPublic, c.sysPublic)
		if cfg.n > 1 {
			text += fmt.Sprintf("cluster { name: test, listen: %q, routes: [%q] }\n", routes[i], "nats://"+strings.Join(routes, `", "nats://`))
			text = strings.ReplaceAll(text, `\"`, `"`)
		}
		s.conf = filepath.Join(s.dir, "conf")
		if err := os.WriteFile(s.conf, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c.servers = append(c.servers, s)
		s.start()
	}
	return c
}

// start starts a server, and waits until it takes connections.
func (s *testServer) start() {
	t := s.t
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command(self)
	s.cmd.Env = append(os.Environ(), serverEnv+"="+s.conf)
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cmd := s.cmd
	t.Cleanup(func() { end(cmd) })
	said := make([]byte, 256)
	if n, err := out.Read(said); err != nil || !bytes.HasPrefix(said, []byte("ready")) {
		t.Fatalf("%s: %v: %s", s.name, err, said[:n])
	}
}

func end(cmd *exec.Cmd) {
	if cmd.ProcessState == nil {
		cmd.Process.Signal(syscall.SIGCONT)
		cmd.Process.Kill()
		cmd.Wait()
	}
}

// kill is SIGKILL.
func (s *testServer) kill() { end(s.cmd) }

// pause makes a server silent, as when a network is partitioned: connections stay, and
// nothing comes.
func (s *testServer) pause() { s.signal(syscall.SIGSTOP) }
func (s *testServer) wake()  { s.signal(syscall.SIGCONT) }

func (s *testServer) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// config returns how the cluster is used.
func (c *testCluster) config(t testing.TB) Config {
	cfg := Config{Nkey: c.user, SystemNkey: c.sys, Replicas: 1, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
	for _, s := range c.servers {
		cfg.Servers = append(cfg.Servers, "nats://"+s.address)
	}
	if len(c.servers) > 1 {
		cfg.Replicas = 3
	}
	return cfg
}

func (c *testCluster) open(t testing.TB) *Relay {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r, err := Open(ctx, c.config(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// find returns the server with a name, and the others.
func (c *testCluster) find(t testing.TB, name string) (s *testServer, others []*testServer) {
	t.Helper()
	for _, x := range c.servers {
		if x.name == name {
			s = x
		} else {
			others = append(others, x)
		}
	}
	if s == nil {
		t.Fatalf("no server is called %q", name)
	}
	return s, others
}

func edit(t testing.TB, file, from, to string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(from)) {
		t.Fatalf("%s has no %q", file, from)
	}
	if err := os.WriteFile(file, bytes.ReplaceAll(data, []byte(from), []byte(to)), 0o600); err != nil {
		t.Fatal(err)
	}
}
