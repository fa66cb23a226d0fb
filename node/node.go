// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package node is undersign as a service: a process that keeps a folder, knows other
// parties, and does for them what its policy allows. It is what undersign serve runs; a
// program that wants a node within itself uses it so:
//
//	cfg, err := node.Load(dir) // or a literal
//	n, err := node.New(cfg)
//	go n.Run(ctx)
//	<-n.Ready()
//
// Parties are known by their keys. A party that isn't known can do nothing but use an
// invitation; one that is known can do what a rule of the configuration says. Each call is
// bounded in size and time, and denials are written to the audit log.
package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/internal/roster"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/internal/service"
	"github.com/undersign/undersign/internal/store"
)

// A Node is a node that is about to run, runs, or ran.
type Node struct {
	log      *slog.Logger
	id       *party.Identity
	lock     *nodedir.Lock
	store    *store.Store
	audit    *audit.Log
	roster   *roster.Roster
	guard    *rpc.Guard
	registry *prometheus.Registry
	host     *service.Host
	services []service.Service
	listener *limitListener
	metrics  net.Listener // nil if there is none
	refused  prometheus.Counter
	started  time.Time

	ready    chan struct{}
	draining chan struct{}
	failed   chan error // of capacity 1

	mu      sync.Mutex
	cfg     Config
	ran     bool
	closed  bool
	serving bool
	kept    string // see keepHead
}

// New opens a node's folder, which no other process may have open, and the addresses at
// which it listens. Call Run or Close.
func New(cfg Config) (*Node, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	cfg = cfg.complete()
	n := &Node{
		log: cfg.Logger, cfg: cfg, registry: prometheus.NewRegistry(), started: time.Now(),
		ready: make(chan struct{}), draining: make(chan struct{}), failed: make(chan error, 1),
	}
	if err := n.open(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *Node) open() (err error) {
	dir := n.cfg.Dir
	if n.id, err = nodedir.ReadIdentity(dir); err != nil {
		return err
	}
	if n.lock, err = nodedir.Acquire(dir); err != nil {
		return err
	}
	n.setLevel()
	for _, err := range nodedir.CheckModes(dir) {
		n.log.Warn("the node's files aren't its alone", "error", err)
	}
	if err := nodedir.RemoveSnapshots(dir); err != nil {
		return err
	}
	pages := n.cfg.Limits.StoreBytes / 4096
	if n.store, err = store.Open(filepath.Join(dir, nodedir.Store), store.Options{MaxPages: pages, Failed: n.fail}); err != nil {
		return err
	}
	if err := n.openAudit(); err != nil {
		return err
	}
	if n.roster, err = roster.Open(n.store, time.Now); err != nil {
		return err
	}
	rules, err := n.policy(n.cfg.Rules)
	if err != nil {
		return err
	}
	n.registerMetrics()
	n.guard = rpc.NewGuard(rpc.GuardConfig{
		Self: n.id.Fingerprint(), Known: n.roster.Known, Record: n.record, Policy: rules,
		Limits: n.cfg.rpcLimits(), Now: time.Now, Log: n.log, Metrics: rpc.NewMetrics(n.registry),
	})
	n.host = &service.Host{
		Dir: dir, Identity: n.id, Roster: n.roster, Store: n.store, Audit: n.audit, Now: time.Now,
		Log: n.log, Metrics: n.registry, Guard: n.guard, Draining: n.draining, Fail: n.fail,
	}
	if err := n.handle(); err != nil {
		return err
	}
	for _, start := range starters {
		s, err := start(&n.cfg, n.host)
		if err != nil {
			return err
		}
		if s != nil {
			n.services = append(n.services, s)
		}
	}
	l, err := net.Listen("tcp", n.cfg.Listen)
	if err != nil {
		return fmt.Errorf("node: %w", err)
	}
	n.listener = newLimitListener(l, n.cfg.Limits.Connections)
	if n.cfg.Metrics != "" {
		if n.metrics, err = net.Listen("tcp", n.cfg.Metrics); err != nil {
			return fmt.Errorf("node: metrics: %w", err)
		}
	}
	return n.lock.Announce(n.listener.Addr().String())
}

func (c *Config) rpcLimits() rpc.Limits {
	return rpc.Limits{Message: c.Limits.Message, Call: time.Duration(c.Limits.Call), Calls: c.Limits.Calls}
}

// policy returns the policy of rules, for the parties that are known.
func (n *Node) policy(rules []Rule) (*policy.Policy, error) {
	resolved, unknown := n.roster.Resolve(rules)
	if len(unknown) > 0 {
		n.log.Info("rules name parties that haven't joined", "names", unknown)
	}
	return policy.New(resolved)
}

// rules returns the configuration's rules.
func (n *Node) rules() []Rule {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cfg.Rules
}

// membersChanged makes rules hold for a party that has come, and not for one that is gone.
func (n *Node) membersChanged() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	p, err := n.policy(n.cfg.Rules)
	if err == nil {
		n.guard.SetPolicy(p)
	}
	return err
}

// record writes an event to the audit log. Without it the node doesn't go on.
func (n *Node) record(e audit.Entry, o audit.Outcome) {
	if err := n.audit.Event(e, o); err != nil {
		n.fail(err)
	}
}

// fail ends the node. The first error counts.
func (n *Node) fail(err error) {
	select {
	case n.failed <- err:
	default:
	}
}

// Addr returns where the node listens.
func (n *Node) Addr() net.Addr { return n.listener.Addr() }

// MetricsAddr returns where metrics are, or nil.
func (n *Node) MetricsAddr() net.Addr {
	if n.metrics == nil {
		return nil
	}
	return n.metrics.Addr()
}

// Fingerprint returns the node's name.
func (n *Node) Fingerprint() string { return n.id.Fingerprint() }

// Ready is closed once the node takes calls.
func (n *Node) Ready() <-chan struct{} { return n.ready }

// Run serves until ctx ends, finishes what was acknowledged, and returns. It can be called
// once. The error is nil if nothing but ctx ended it.
func (n *Node) Run(ctx context.Context) error {
	n.mu.Lock()
	if n.ran || n.closed {
		n.mu.Unlock()
		return errors.New("node: it ran already")
	}
	n.ran = true
	n.mu.Unlock()
	err := n.run(ctx)
	return errors.Join(err, n.Close())
}

func (n *Node) run(ctx context.Context) error {
	// Services go on while calls end, so their context isn't the caller's.
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var group sync.WaitGroup
	for _, s := range n.services {
		group.Go(func() {
			if err := s.Run(running); err != nil && running.Err() == nil {
				n.fail(fmt.Errorf("node: %s: %w", s.Name(), err))
			}
		})
	}
	group.Go(func() { n.watch(running) })

	server := n.server()
	group.Go(func() {
		if err := server.ServeTLS(n.listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			n.fail(fmt.Errorf("node: %w", err))
		}
	})
	var health *http.Server
	if n.metrics != nil {
		health = n.healthServer()
		group.Go(func() {
			if err := health.Serve(n.metrics); !errors.Is(err, http.ErrServerClosed) {
				n.fail(fmt.Errorf("node: metrics: %w", err))
			}
		})
	}
	n.record(audit.Entry{Operation: "node.start", Detail: version()}, audit.OK)
	n.setServing(true)
	n.log.Info("serving", "address", n.Addr().String(), "fingerprint", n.Fingerprint())
	close(n.ready)

	var err error
	select {
	case <-ctx.Done():
	case err = <-n.failed:
		n.log.Error("ending", "error", err)
	}
	n.setServing(false)
	close(n.draining)
	n.mu.Lock()
	drain := n.cfg.Limits.Drain
	n.mu.Unlock()
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(drain))
	defer cancel()
	if e := server.Shutdown(deadline); e != nil {
		n.log.Warn("calls were cut off", "after", drain.String())
		server.Close()
	}
	stop()
	if health != nil {
		health.Close()
	}
	group.Wait()
	n.host.ClosePeers()
	if err == nil {
		select {
		case err = <-n.failed: // while it ended
		default:
		}
	}
	if err == nil {
		n.record(audit.Entry{Operation: "node.stop"}, audit.OK)
	}
	n.log.Info("stopped")
	return err
}

func (n *Node) setServing(v bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.serving = v
}

// Close closes what New opened, if Run doesn't.
func (n *Node) Close() error {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return nil
	}
	n.closed = true
	n.mu.Unlock()
	var errs []error
	if n.listener != nil && !n.ran {
		errs = append(errs, n.listener.Close())
	}
	if n.metrics != nil && !n.ran {
		errs = append(errs, n.metrics.Close())
	}
	if n.audit != nil {
		errs = append(errs, n.audit.Close())
		if n.store != nil {
			errs = append(errs, n.keepHead())
		}
	}
	if n.store != nil {
		errs = append(errs, n.store.Close())
	}
	if n.lock != nil {
		errs = append(errs, n.lock.Close())
	}
	return errors.Join(errs...)
}

// server returns the server for other parties.
func (n *Node) server() *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	return &http.Server{
		Handler:           n.guard,
		TLSConfig:         n.id.ServerTLS(n.admit),
		Protocols:         protocols,
		ReadHeaderTimeout: 5 * time.Second, // of the handshake too
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ConnState:         n.connState,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 256,
			SendPingTimeout:      15 * time.Second,
			PingTimeout:          10 * time.Second,
			WriteByteTimeout:     15 * time.Second,
		},
		ErrorLog: slog.NewLogLogger(n.log.Handler(), slog.LevelDebug), // others can cause it at will
	}
}

// admit lets parties connect that are known, and others while an invitation is out.
func (n *Node) admit(fingerprint string) error {
	if fingerprint == n.id.Fingerprint() || n.roster.Known(fingerprint) || n.roster.Invitations() > 0 {
		return nil
	}
	n.refused.Inc()
	return party.ErrUnknown
}

// watch ends the node once its store can't write any more.
func (n *Node) watch(ctx context.Context) {
	t := time.NewTicker(5 * time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if err := n.keepHead(); err != nil {
				n.fail(err)
			}
		}
	}
}

// unready returns why the node doesn't take calls, or nil.
func (n *Node) unready() error {
	n.mu.Lock()
	serving := n.serving
	n.mu.Unlock()
	if !serving {
		return errors.New("starting or ending")
	}
	for _, s := range n.services {
		if err := s.Status(); err != nil {
			return fmt.Errorf("%s: %w", s.Name(), err)
		}
	}
	return nil
}

// Reload reads the folder's configuration again. Rules, the level of the log and the
// limits of calls hold from now on; the rest, whose keys it returns, after a restart.
func (n *Node) Reload() (ignored []string, err error) {
	cfg, err := Load(n.cfg.Dir)
	if err != nil {
		return nil, err
	}
	cfg = cfg.complete()
	n.mu.Lock()
	defer n.mu.Unlock()
	p, err := n.policy(cfg.Rules)
	if err != nil {
		return nil, err
	}
	old := n.cfg
	n.cfg.Rules, n.cfg.Log.Level = cfg.Rules, cfg.Log.Level
	n.cfg.Limits.Call, n.cfg.Limits.Calls, n.cfg.Limits.Drain = cfg.Limits.Call, cfg.Limits.Calls, cfg.Limits.Drain
	n.guard.SetPolicy(p)
	n.guard.SetLimits(n.cfg.rpcLimits())
	n.setLevel()
	ignored = changes(old, cfg)
	slices.Sort(ignored)
	n.log.Info("configuration read again", "rules", len(cfg.Rules), "ignored", ignored)
	n.record(audit.Entry{Operation: "node.reload", Detail: fmt.Sprintf("%d rules", len(cfg.Rules))}, audit.OK)
	return ignored, nil
}

func (n *Node) setLevel() {
	if n.cfg.Level != nil {
		n.cfg.Level.Set(n.cfg.Log.Level)
	}
}
