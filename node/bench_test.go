// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"log/slog"
	"testing"

	nodev1 "github.com/undersign/undersign/gen/undersign/node/v1"
	"github.com/undersign/undersign/gen/undersign/node/v1/nodev1connect"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/roster"
	"github.com/undersign/undersign/internal/rpc"
)

// BenchmarkCall is what a call costs, both ends together, beside what it is for.
func BenchmarkCall(b *testing.B) {
	dir := b.TempDir() + "/node"
	if _, err := nodedir.Create(dir, []byte("listen = \"127.0.0.1:0\"\n[[rule]]\nparties = [\"bob\"]\noperations = [\"node.parties\"]\n")); err != nil {
		b.Fatal(err)
	}
	cfg, err := Load(dir)
	if err != nil {
		b.Fatal(err)
	}
	cfg.Logger = slog.New(slog.DiscardHandler)
	n, err := New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	key, err := party.GenerateKey()
	if err != nil {
		b.Fatal(err)
	}
	bob, err := party.NewIdentity(key)
	if err != nil {
		b.Fatal(err)
	}
	if err := n.roster.Add(roster.Member{Key: bob.PublicKey(), Name: "bob"}); err != nil {
		b.Fatal(err)
	}
	if err := n.membersChanged(); err != nil {
		b.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- n.Run(b.Context()) }()
	<-n.Ready()
	peer := rpc.NewPeer(bob, n.Fingerprint(), n.Addr().String())
	c := nodev1connect.NewNodeServiceClient(peer.HTTP(), peer.URL(), peer.Options(0)...)
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.Parties(b.Context(), new(nodev1.PartiesRequest)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := c.Parties(b.Context(), new(nodev1.PartiesRequest)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
	peer.Close()
}
