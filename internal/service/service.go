// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package service is what a node offers the services in it, and what it wants of them.
package service

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/roster"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/internal/store"
)

// A Service is a part of a node that is there if the configuration wants it.
type Service interface {
	// Name returns its name in the configuration, such as threshold.
	Name() string

	// Run does what the service does beside calls, until ctx ends: by then all calls have
	// ended. It returns when nothing of it runs any more. An error before that ends the
	// node.
	Run(ctx context.Context) error

	// Status returns nil if the service can do its work, or why it can't yet.
	Status() error
}

// A Host is what a node gives its services. Handle is called before the node serves; the
// rest may be called at any time, by several goroutines.
type Host struct {
	Dir      string // the node's folder
	Identity *party.Identity
	Roster   *roster.Roster
	Store    *store.Store
	Audit    *audit.Log
	Now      func() time.Time
	Log      *slog.Logger // a service adds its name
	Metrics  prometheus.Registerer
	Guard    *rpc.Guard

	// Draining is closed when the node is about to end: streams end then, and what was
	// acknowledged is finished.
	Draining <-chan struct{}

	// Fail ends the node with an error: after a write that failed nobody knows what is
	// on disk, and the node is to be started anew.
	Fail func(error)

	mu    sync.Mutex
	peers map[string]*rpc.Peer
}

// Options returns options for connect's handlers. maxMessage bounds messages, in bytes; 0
// means the usual.
func (h *Host) Options(maxMessage int) []connect.HandlerOption { return h.Guard.Options(maxMessage) }

// Handle adds the handler of a service of the schema. Calls of known parties that the
// policy allows come to it; rpc.CallFrom says whose.
func (h *Host) Handle(desc protoreflect.ServiceDescriptor, handler http.Handler) error {
	return h.Guard.Handle(desc, handler)
}

// Authorize decides about the call of ctx with a key: see [rpc.Guard.Authorize].
func (h *Host) Authorize(ctx context.Context, key string) (rpc.Call, error) {
	return h.Guard.Authorize(ctx, key)
}

// Peer returns the way to a party, by fingerprint or name. It is shared, and mustn't be
// closed.
func (h *Host) Peer(s string) (*rpc.Peer, error) {
	m, ok := h.Roster.Find(s)
	if !ok {
		return nil, fmt.Errorf("service: no party is called %s", s)
	}
	if m.Address == "" {
		return nil, fmt.Errorf("service: %s has no address", m.Name)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.peers[m.Fingerprint]
	if p == nil || p.Address() != m.Address {
		if p != nil {
			p.Close()
		}
		if h.peers == nil {
			h.peers = make(map[string]*rpc.Peer)
		}
		p = rpc.NewPeer(h.Identity, m.Fingerprint, m.Address)
		h.peers[m.Fingerprint] = p
	}
	return p, nil
}

// ClosePeers ends connections that aren't in use.
func (h *Host) ClosePeers() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.peers {
		p.Close()
	}
}

// Names in the store's table meta.
const (
	restoredName = "restored" // an ID, if the folder came from a backup
	restoredTime = "restored.time"
	settledName  = "restored." // and a part of the node: the ID that it has dealt with
)

// MarkRestored notes in a store that it is the copy of an older state: see
// [Host.Restored]. Invitations that were out then may have been used since, and expire.
func MarkRestored(s *store.Store, now time.Time) error {
	return s.Update(func(tx *store.Tx) error {
		for name, value := range map[string]any{restoredName: []byte(rand.Text()), restoredTime: fmt.Append(nil, store.Unix(now))} {
			if _, err := tx.Exec("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", name, value); err != nil {
				return err
			}
		}
		_, err := tx.Exec("UPDATE invitation SET expires = 0 WHERE used = 0")
		return err
	})
}

// RestoredAt returns when a store was restored from a backup, or the zero time.
func RestoredAt(s *store.Store) (t time.Time, err error) {
	err = s.View(func(tx *store.Tx) error {
		var value []byte
		ok, err := tx.Row([]any{&value}, "SELECT value FROM meta WHERE name = ?", restoredTime)
		var ms int64
		if err == nil && ok {
			if _, err = fmt.Sscanf(string(value), "%d", &ms); err == nil {
				t = time.UnixMilli(ms).UTC()
			}
		}
		return err
	})
	return t, err
}

// Restored reports whether the folder was restored from a backup, and a part of the node,
// such as aggregator, hasn't dealt with that yet: its state may be older than what it has
// sent, and what mustn't be done twice must be jumped over.
func (h *Host) Restored(part string) (bool, error) {
	restored := false
	err := h.Store.View(func(tx *store.Tx) error {
		var id, settled []byte
		ok, err := tx.Row([]any{&id}, "SELECT value FROM meta WHERE name = ?", restoredName)
		if err == nil && ok {
			_, err = tx.Row([]any{&settled}, "SELECT value FROM meta WHERE name = ?", settledName+part)
		}
		restored = ok && string(id) != string(settled)
		return err
	})
	return restored, err
}

// Settled notes that a part of the node has dealt with having been restored.
func (h *Host) Settled(part string) error {
	return h.Store.Update(func(tx *store.Tx) error {
		_, err := tx.Exec("INSERT OR REPLACE INTO meta (name, value) SELECT ?, value FROM meta WHERE name = ?", settledName+part, restoredName)
		return err
	})
}
