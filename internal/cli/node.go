// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	nodev1 "github.com/undersign/undersign/gen/undersign/node/v1"
	"github.com/undersign/undersign/gen/undersign/node/v1/nodev1connect"
	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/nodedir"
	parties "github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/internal/roster"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/node"
)

func addDirFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "dir", ".", "the node's folder `DIR`")
}

// A liveNode is the way to the node that runs in a folder, with its own identity.
type liveNode struct {
	id     *parties.Identity
	peer   *rpc.Peer
	client nodev1connect.NodeServiceClient
}

// liveNode returns the node that runs in a folder, or nil if none does.
func (e *env) liveNode(dir string) (*liveNode, error) {
	id, err := readNodeIdentity(dir)
	if err != nil {
		return nil, err
	}
	owner, err := nodedir.Running(dir)
	if err != nil || owner == nil {
		return nil, err
	}
	if owner.Address == "" {
		return nil, failf(ExitError, "try again in a moment", "another undersign has %s, and isn't serving", dir)
	}
	peer := rpc.NewPeer(id, id.Fingerprint(), owner.Address)
	return &liveNode{id, peer, nodev1connect.NewNodeServiceClient(peer.HTTP(), peer.URL(), peer.Options(0)...)}, nil
}

// mustLive is liveNode for a command that can't do without.
func (e *env) mustLive(dir string) (*liveNode, error) {
	n, err := e.liveNode(dir)
	if err == nil && n == nil {
		err = failf(ExitError, "start it with \"undersign serve --dir "+dir+"\"", "no node runs in %s", dir)
	}
	return n, err
}

func (n *liveNode) close() { n.peer.Close() }

// callError says in the words of the command line what a call's error is.
func (n *liveNode) callError(err error) error { return nodeCallError(n.id, err) }

// hungUp reports whether a node was reached and has ended the connection. Who writes first
// decides what TLS, HTTP or the system say of that.
func hungUp(err error) bool {
	if connect.IsWireError(err) {
		return false
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Op != "dial"
	}
	return strings.Contains(err.Error(), "http2: client conn could not be established")
}

func nodeCallError(id *parties.Identity, err error) error {
	if err == nil {
		return nil
	}
	err = rpc.DecodeError(id.Fingerprint(), err)
	var denied *policy.DeniedError
	var limit *policy.LimitError
	var coded *connect.Error
	switch {
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return failf(ExitError, "look whether it runs: \"undersign status\"", "the node gave no answer in time: %w", context.DeadlineExceeded)
	case errors.Is(err, parties.ErrUnknown):
		return failf(ExitError, "another node listens there, has a new key, or somebody is in between: ask whoever runs it for its fingerprint",
			"can't reach the node: %s", strings.TrimPrefix(err.Error(), "unavailable: "))
	case errors.As(err, &denied):
		hint := "the other node needs a rule that allows it"
		if op := denied.Call.Operation; op != "" {
			hint += fmt.Sprintf(": in its undersign.toml, operations = [%q] for this party", op)
		}
		if key := denied.Call.Key; key != "" {
			hint += fmt.Sprintf(", keys = [%q]", key)
		}
		return failf(ExitRefused, hint, "%w", err)
	case errors.As(err, &limit):
		return failf(ExitError, fmt.Sprintf("try again in %v", limit.After.Round(time.Second)), "%w", err)
	case errors.As(err, &coded) && hungUp(coded):
		return failf(ExitError, "it has ended, or doesn't know this party any more: \"undersign doctor\" finds out", "the node has hung up: %s", rpc.Printable(coded.Message()))
	case errors.As(err, &coded) && coded.Code() == connect.CodeUnavailable && !connect.IsWireError(coded):
		return failf(ExitError, "look whether it runs: \"undersign status\"", "can't reach the node: %s", coded.Message())
	case errors.As(err, &coded):
		return errors.New(coded.Message())
	}
	return err
}

func readNodeIdentity(dir string) (*parties.Identity, error) {
	id, err := nodedir.ReadIdentity(dir)
	return id, nodeDirError(dir, err)
}

// nodeDirError adds hints to errors about a folder.
func nodeDirError(dir string, err error) error {
	var mode *nodedir.ModeError
	switch {
	case errors.Is(err, nodedir.ErrNone):
		return withHint(err, "make it with \"undersign init --dir %s\", or name another with --dir", dir)
	case errors.As(err, &mode):
		return withHint(err, "chmod %03o %s", mode.Mend, mode.Path)
	case errors.Is(err, nodedir.ErrRunning):
		return withHint(err, "stop it first")
	}
	return err
}

func loadNodeConfig(dir string) (node.Config, error) {
	cfg, err := node.Load(dir)
	var ce *node.ConfigError
	switch {
	case errors.As(err, &ce):
		return cfg, withHint(err, "mend %s; \"undersign serve --check\" reads it again", ce.File)
	case errors.Is(err, fs.ErrNotExist):
		return cfg, withHint(err, "make a node with \"undersign init --dir %s\"", dir)
	}
	return cfg, err
}

// An idleNode is the folder of a node that doesn't run, taken by this process.
type idleNode struct {
	id     *parties.Identity
	cfg    node.Config
	lock   *nodedir.Lock
	store  *store.Store
	roster *roster.Roster
}

// idleNode opens the folder of a node that doesn't run.
func (e *env) idleNode(dir string) (n *idleNode, err error) {
	n = new(idleNode)
	defer func() {
		if err != nil {
			n.close()
			err = nodeDirError(dir, err)
		}
	}()
	if n.id, err = nodedir.ReadIdentity(dir); err != nil {
		return n, err
	}
	if n.cfg, err = loadNodeConfig(dir); err != nil {
		return n, err
	}
	if n.lock, err = nodedir.Acquire(dir); err != nil {
		return n, err
	}
	if n.store, err = store.Open(filepath.Join(dir, nodedir.Store), store.Options{}); err != nil {
		return n, err
	}
	n.roster, err = roster.Open(n.store, time.Now)
	return n, err
}

func (n *idleNode) close() error {
	var errs []error
	if n.store != nil {
		errs = append(errs, n.store.Close())
	}
	if n.lock != nil {
		errs = append(errs, n.lock.Close())
	}
	return errors.Join(errs...)
}

// record writes an event of the node's own to its audit log.
func (n *idleNode) record(operation, subject, detail string) error {
	log, err := audit.Open(filepath.Join(n.cfg.Dir, nodedir.Audit), n.id.SigningKey(), audit.Options{})
	if err != nil {
		return err
	}
	err = log.Event(audit.Entry{Party: n.id.Fingerprint(), Operation: operation, Subject: subject, Detail: detail}, audit.OK)
	return errors.Join(err, log.Close())
}

// closeInto closes the folder at the end of a command.
func (n *idleNode) closeInto(err *error) { *err = errors.Join(*err, n.close()) }

// parties returns those whom the node in a folder knows, whether it runs or not.
func (e *env) parties(ctx context.Context, dir string) (list []*nodev1.Party, err error) {
	live, err := e.liveNode(dir)
	if err != nil {
		return nil, err
	}
	if live != nil {
		defer live.close()
		resp, err := live.client.Parties(ctx, new(nodev1.PartiesRequest))
		if err != nil {
			return nil, live.callError(err)
		}
		return resp.Parties, nil
	}
	n, err := e.idleNode(dir)
	if err != nil {
		return nil, err
	}
	defer n.closeInto(&err)
	for _, m := range n.roster.List() {
		list = append(list, &nodev1.Party{Fingerprint: m.Fingerprint, Name: m.Name, Address: m.Address, JoinedMs: m.Joined.UnixMilli()})
	}
	return list, nil
}

func addAllowFlag(c *cobra.Command, rules *[]string) {
	c.Flags().StringArrayVar(rules, "allow", nil, "let it call `OPERATION[=KEY][@RATE]`, such as threshold.sign (repeatable)")
}

// allowText returns the lines of a configuration that allow a party what --allow says.
func allowText(name string, allow []string) (string, error) {
	if len(allow) == 0 {
		return "", nil
	}
	var b strings.Builder
	for _, s := range allow {
		operation, rate, _ := strings.Cut(s, "@")
		operation, key, hasKey := strings.Cut(operation, "=")
		if !hasKey {
			key = "*"
		}
		rule := node.Rule{Parties: []string{name}, Operations: []string{operation}, Keys: []string{key}, Rate: rate}
		if _, err := policy.New([]policy.Rule{rule}); err != nil || strings.ContainsAny(s, "\"\\\n") {
			return "", failf(ExitUsage, "as in --allow threshold.sign, or --allow 'threshold.*@100/h'", "--allow %s isn't a rule", s)
		}
		fmt.Fprintf(&b, "\n[[rule]]\nparties = [%q]\noperations = [%q]\nkeys = [%q]\n", name, operation, key)
		if rate != "" {
			fmt.Fprintf(&b, "rate = %q\n", rate)
		}
	}
	return b.String(), nil
}

// allow adds rules to the configuration, and tells the node if it runs. Others of the
// same text aren't added again.
func (e *env) allow(ctx context.Context, dir, text string) error {
	if text == "" {
		return nil
	}
	if err := nodedir.AppendConfig(dir, []byte(text)); err != nil {
		return err
	}
	live, err := e.liveNode(dir)
	if err != nil || live == nil {
		return err
	}
	defer live.close()
	if _, err := live.client.Reload(ctx, new(nodev1.ReloadRequest)); err != nil {
		return live.callError(err)
	}
	return nil
}

// A partyResult is a party in results.
type partyResult struct {
	Name        string `json:"name"`
	Fingerprint string `json:"fingerprint"`
	Address     string `json:"address,omitempty"`
	Joined      string `json:"joined,omitempty"`
}

func newPartyResult(p *nodev1.Party) partyResult {
	return partyResult{p.Name, p.Fingerprint, p.Address, timeText(p.JoinedMs)}
}

// timeText returns a time in milliseconds since 1970 as text, or nothing for 0.
func timeText(ms int64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format(time.RFC3339)
}

// nodeLogger returns where a node's log goes.
func (e *env) nodeLogger(format string, level slog.Leveler) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(e.stderr, opts))
	}
	return slog.New(slog.NewTextHandler(e.stderr, opts))
}
