// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bytes"
	"crypto/ed25519"
	"testing"
	"time"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/party"
)

// TestWrongHead tells the gateway of many clients a height that nobody has signed: it is
// verified once, and not for each of them.
func TestWrongHead(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	genesis, keys := fourValidators(t)
	network, err := distill.NewNetwork(genesis)
	must(err)
	key, err := party.GenerateKey()
	must(err)
	cfg := GatewayConfig{Key: key, Network: network, Genesis: genesis}
	sk, err := bls.KeyGen(bytes.Repeat([]byte{9}, 32), nil)
	must(err)
	_, ed, err := ed25519.GenerateKey(nil)
	must(err)
	const clients = 500
	for id := range uint64(clients) {
		c, err := distill.OpenClient(distill.ClientConfig{
			Network: network, ID: id + 1, Keys: distill.ClientKeys{Since: 1, BLS: sk, Ed: ed}, Journal: new(distill.MemoryJournal),
		})
		must(err)
		cfg.Clients = append(cfg.Clients, GatewayClient{c, ed})
	}
	g, err := NewGateway(cfg)
	must(err)
	signed := func(h distill.Hgt) *distill.SignedHead {
		var shares []distill.Share
		for i := range 2 {
			s, err := distill.SignStatement(keys[i], i, h)
			must(err)
			shares = append(shares, *s)
		}
		cert, _, err := network.Committee().Combine(h, shares)
		must(err)
		return &distill.SignedHead{Hgt: h, Certificate: *cert}
	}
	good := signed(distill.Hgt{Net: network.ID(), Height: 9})
	wrong := *good
	wrong.Hgt.Height = 1 << 40
	start := time.Now()
	if network.VerifyHead(&wrong) == nil {
		t.Fatal("it isn't wrong")
	}
	one := time.Since(start)
	start = time.Now()
	if err := g.head(1, &wrong); err == nil {
		t.Error("a wrong height is no error, and the session goes on")
	}
	if all := time.Since(start); all > clients/5*one {
		t.Errorf("%v for %d clients, and %v for one", all, clients, one)
	}
	if err := g.head(1, good); err != nil {
		t.Error(err)
	}
	for id, m := range g.clients {
		if m.c.Head() != 9 {
			t.Fatalf("client %d is at %d", id, m.c.Head())
		}
	}
	// An old one is no news.
	moved := g.headMoved
	if err := g.head(2, good); err != nil || g.headMoved != moved || moved.IsZero() {
		t.Errorf("%v, %v", g.headMoved, err)
	}
}
