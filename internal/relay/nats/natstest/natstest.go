// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package natstest runs NATS servers for tests, each as a process that can be killed, by
// the configuration that docs/operations.md gives. Only tests import it.
package natstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/undersign/undersign/internal/freeport"
)

// serverEnv makes the test's program a server, with the configuration that it names.
const serverEnv = "UNDERSIGN_TEST_NATS"

// Main is to be called first in TestMain: in the process of a server it doesn't return.
func Main() {
	if conf := os.Getenv(serverEnv); conf != "" {
		os.Exit(serve(conf))
	}
}

// serve is a server as a process. It ends when its parent does, or after a while.
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
	time.AfterFunc(15*time.Minute, func() { os.Exit(1) })
	io.Copy(io.Discard, os.Stdin)
	return 0
}

// A Server is one that the test started.
type Server struct {
	Name, Address string
	Conf          string // file

	t     testing.TB
	cmd   *exec.Cmd
	stdin io.Closer
}

// A Cluster is one server, or several.
type Cluster struct {
	Servers   []*Server
	User, Sys string // files with seeds
}

// Config says what is to run. Its texts go into configuration files.
type Config struct {
	N         int
	JetStream string // in the place of sync_interval: always
	Global    string
	Accounts  string // in the place of two users with nkeys
	NoPurge   bool   // the user may not shorten the stream
}

// NewKey makes a user's key in a file.
func NewKey(t testing.TB, dir, name string) (file, public string) {
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

// addresses returns some at which nobody listens, of one host, which configurations and
// certificates of tests name.
func addresses(t testing.TB, n int) (list []string) {
	t.Helper()
	for range n {
		l, err := freeport.Listen("127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		list = append(list, l.Addr().String())
	}
	return list
}

// New starts servers, which end with the test.
func New(t testing.TB, cfg Config) *Cluster {
	t.Helper()
	c := Prepare(t, cfg)
	for _, s := range c.Servers {
		s.Start()
	}
	return c
}

// Prepare makes what [New] starts.
func Prepare(t testing.TB, cfg Config) *Cluster {
	t.Helper()
	dir := t.TempDir()
	c := &Cluster{}
	var user, sys string
	c.User, user = NewKey(t, dir, "user")
	c.Sys, sys = NewKey(t, dir, "sys")
	if cfg.JetStream == "" {
		cfg.JetStream = "sync_interval: always"
	}
	if cfg.Accounts == "" {
		purge := `"$JS.API.STREAM.PURGE.undersign",`
		if cfg.NoPurge {
			purge = ""
		}
		cfg.Accounts = fmt.Sprintf(`
accounts {
  UNDERSIGN {
    jetstream: enabled
    users: [ { nkey: %s, permissions {
      publish: { allow: ["undersign.entry", "$JS.API.STREAM.INFO.undersign", "$JS.API.STREAM.CREATE.undersign", %s
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
`, user, purge, sys)
	}
	clients, routes := addresses(t, cfg.N), addresses(t, cfg.N)
	for i := range cfg.N {
		s := &Server{t: t, Name: fmt.Sprintf("n%d", i+1), Address: clients[i]}
		folder := filepath.Join(dir, s.Name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("server_name: %s\nlisten: %q\nlog_file: %q\n%s\njetstream { store_dir: %q, max_file_store: 1GB, %s }\n%s",
			s.Name, s.Address, filepath.Join(folder, "log"), cfg.Global, filepath.Join(folder, "js"), cfg.JetStream, cfg.Accounts)
		if cfg.N > 1 {
			text += fmt.Sprintf("cluster { name: test, listen: %q, routes: [\"nats://%s\"] }\n", routes[i], strings.Join(routes, `", "nats://`))
		}
		s.Conf = filepath.Join(folder, "conf")
		if err := os.WriteFile(s.Conf, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c.Servers = append(c.Servers, s)
	}
	return c
}

// Start starts a server, and waits until it takes connections.
func (s *Server) Start() {
	t := s.t
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command(self)
	s.cmd.Env = append(os.Environ(), serverEnv+"="+s.Conf)
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
		t.Fatalf("%s: %v: %s", s.Name, err, said[:n])
	}
}

func end(cmd *exec.Cmd) {
	if cmd.ProcessState == nil {
		cmd.Process.Signal(resume)
		cmd.Process.Kill()
		cmd.Wait()
	}
}

// Kill is SIGKILL.
func (s *Server) Kill() { end(s.cmd) }

// Pause makes a server silent, as when a network is partitioned: connections stay, and
// nothing comes.
func (s *Server) Pause() { s.signal(stop) }

// Wake ends that.
func (s *Server) Wake() { s.signal(resume) }

func (s *Server) signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// Edit replaces a text in the server's configuration: it holds from the next start on.
func (s *Server) Edit(from, to string) {
	s.t.Helper()
	data, err := os.ReadFile(s.Conf)
	if err != nil {
		s.t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(from)) {
		s.t.Fatalf("%s has no %q", s.Conf, from)
	}
	if err := os.WriteFile(s.Conf, bytes.ReplaceAll(data, []byte(from), []byte(to)), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// URLs returns the servers' addresses.
func (c *Cluster) URLs(scheme string) (list []string) {
	for _, s := range c.Servers {
		list = append(list, scheme+"://"+s.Address)
	}
	return list
}

// Find returns the server with a name, and the others.
func (c *Cluster) Find(t testing.TB, name string) (s *Server, others []*Server) {
	t.Helper()
	for _, x := range c.Servers {
		if x.Name == name {
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

// Ask asks the servers for something of JetStream's, as a user who may do everything, and
// returns the answer, which isn't an error.
func (c *Cluster) Ask(t testing.TB, subject, request string) []byte {
	t.Helper()
	conn, err := nats.Connect(strings.Join(c.URLs("nats"), ","), nats.UserInfo("admin", "admin"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	m, err := conn.Request("$JS.API."+subject, []byte(request), 10*time.Second)
	if err != nil {
		t.Fatalf("%s: %v", subject, err)
	}
	var answer struct {
		Error *struct{ Description string } `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil || answer.Error != nil {
		t.Fatalf("%s: %s", subject, m.Data)
	}
	return m.Data
}

// Fill puts n entries into the stream that aren't ones.
func (c *Cluster) Fill(t testing.TB, n int) {
	t.Helper()
	conn, err := nats.Connect(strings.Join(c.URLs("nats"), ","), nats.UserInfo("admin", "admin"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	last := c.Stream(t).Last + uint64(n)
	for range n {
		if err := conn.Publish("undersign.entry", nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); c.Stream(t).Last < last; time.Sleep(50 * time.Millisecond) {
		if time.Since(start) > time.Minute {
			t.Fatal("the stream isn't filled")
		}
	}
}

// A StreamState is where the stream begins and ends, and who leads.
type StreamState struct {
	First, Last uint64
	Leader      string
}

// Stream returns the state of the stream.
func (c *Cluster) Stream(t testing.TB) StreamState {
	t.Helper()
	var answer struct {
		State struct {
			First uint64 `json:"first_seq"`
			Last  uint64 `json:"last_seq"`
		} `json:"state"`
		Cluster struct {
			Leader string `json:"leader"`
		} `json:"cluster"`
	}
	if err := json.Unmarshal(c.Ask(t, "STREAM.INFO.undersign", ""), &answer); err != nil {
		t.Fatal(err)
	}
	return StreamState{answer.State.First, answer.State.Last, answer.Cluster.Leader}
}
