// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold_test

import (
	"bytes"
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	nodev1 "github.com/undersign/undersign/gen/undersign/node/v1"
	"github.com/undersign/undersign/gen/undersign/node/v1/nodev1connect"
	"github.com/undersign/undersign/gen/undersign/threshold/v1/thresholdv1connect"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/node"
	"github.com/undersign/undersign/thresholdrsa"
)

// testKey returns a published key of 2048 bits, which is worthless as a key.
func testKey(t testing.TB) *rsa.PrivateKey {
	t.Helper()
	data, err := os.ReadFile("../../thresholdrsa/testdata/keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] != "safe-2048-a" {
			continue
		}
		p, ok1 := new(big.Int).SetString(f[1], 16)
		q, ok2 := new(big.Int).SetString(f[2], 16)
		if !ok1 || !ok2 {
			t.Fatal("not hexadecimal")
		}
		one := big.NewInt(1)
		phi := new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one))
		priv := &rsa.PrivateKey{
			PublicKey: rsa.PublicKey{N: new(big.Int).Mul(p, q), E: 65537},
			D:         new(big.Int).ModInverse(big.NewInt(65537), phi),
			Primes:    []*big.Int{p, q},
		}
		priv.Precompute()
		return priv
	}
	t.Fatal("no key safe-2048-a")
	return nil
}

var holderNames = []string{"alice", "bob", "carol", "dave", "erin", "frank"}

// A cluster is a group of nodes that know each other, each with a share of one key.
type cluster struct {
	t      testing.TB
	key    *thresholdrsa.PublicKey
	nodes  []*testNode
	shares []*thresholdrsa.KeyShare
}

// A testNode is a node that runs until the test ends, or is stopped before.
type testNode struct {
	*node.Node
	t    testing.TB
	dir  string
	name string
	id   *party.Identity
	stop func() error
}

const allowAll = "[[rule]]\nparties = [\"*\"]\noperations = [\"threshold.*\"]\nkeys = [\"*\"]\n"

// newCluster deals a key to l nodes, any k of whom sign. config returns what the
// configuration of a node has beside the usual.
func newCluster(t testing.TB, k, l int, config func(i int) string) *cluster {
	t.Helper()
	dealing, shares, err := thresholdrsa.Deal(testKey(t), k, l, &thresholdrsa.DealOptions{Names: holderNames[:l]})
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, key: dealing.PublicKey(), shares: shares}
	for i := range l {
		rules := allowAll
		if config != nil {
			rules = config(i)
		}
		dir := c.makeDir(holderNames[i], rules)
		putShare(t, dir, "code", shares[i])
		c.nodes = append(c.nodes, c.start(holderNames[i], dir))
	}
	for i, n := range c.nodes {
		for _, m := range c.nodes[:i] {
			m.meet(n)
		}
	}
	return c
}

func (c *cluster) makeDir(name, rules string) string {
	c.t.Helper()
	dir := filepath.Join(c.t.TempDir(), name)
	config := fmt.Sprintf("name = %q\nlisten = \"127.0.0.1:0\"\n%s", name, rules)
	if _, err := nodedir.Create(dir, []byte(config)); err != nil {
		c.t.Fatal(err)
	}
	return dir
}

// putShare puts a share into a node's folder, for the node alone.
func putShare(t testing.TB, dir, name string, share *thresholdrsa.KeyShare) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, nodedir.Recipient))
	if err != nil {
		t.Fatal(err)
	}
	to, err := age.ParseRecipients(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if err := keyfile.Seal(&buf, share, to...); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "shares"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "shares", name+".share"), buf.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) start(name, dir string) *testNode { return c.startAt(name, dir, "") }

// restart starts a node that was stopped, at the same address.
func (c *cluster) restart(n *testNode) *testNode { return c.startAt(n.name, n.dir, n.Addr().String()) }

func (c *cluster) startAt(name, dir, address string) *testNode {
	c.t.Helper()
	cfg, err := node.Load(dir)
	if err != nil {
		c.t.Fatal(err)
	}
	if address != "" {
		cfg.Listen = address
	}
	cfg.Logger = slog.New(slog.NewTextHandler(c.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})).With("node", name)
	n, err := node.New(cfg)
	if err != nil {
		c.t.Fatal(err)
	}
	id, err := nodedir.ReadIdentity(dir)
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	tn := &testNode{Node: n, t: c.t, dir: dir, name: name, id: id}
	stopped := false
	tn.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(30 * time.Second):
			return errors.New("the node doesn't end")
		}
	}
	c.t.Cleanup(func() {
		if err := tn.stop(); err != nil {
			c.t.Error(err)
		}
	})
	<-n.Ready()
	return tn
}

// node returns the client of a node's own commands.
func (n *testNode) admin() nodev1connect.NodeServiceClient {
	p := n.peer(n.id)
	return nodev1connect.NewNodeServiceClient(p.HTTP(), p.URL(), p.Options(0)...)
}

// as returns the client of the threshold service for a party.
func (n *testNode) as(id *party.Identity) thresholdv1connect.ThresholdServiceClient {
	p := n.peer(id)
	return thresholdv1connect.NewThresholdServiceClient(p.HTTP(), p.URL(), p.Options(64<<20)...)
}

func (n *testNode) peer(id *party.Identity) *rpc.Peer {
	p := rpc.NewPeer(id, n.Fingerprint(), n.Addr().String())
	n.t.Cleanup(p.Close)
	return p
}

// meet lets another node join.
func (n *testNode) meet(other *testNode) {
	n.t.Helper()
	inv, err := n.admin().Invite(n.t.Context(), &nodev1.InviteRequest{Name: other.name, ValidSeconds: 60})
	if err != nil {
		n.t.Fatal(err)
	}
	if _, err := other.admin().Accept(n.t.Context(), &nodev1.AcceptRequest{Token: inv.Token, Name: n.name}); err != nil {
		n.t.Fatal(err)
	}
}

// admit lets a party join that listens at address, or doesn't.
func (n *testNode) admit(id *party.Identity, name, address string) {
	n.t.Helper()
	resp, err := n.admin().Invite(n.t.Context(), &nodev1.InviteRequest{Name: name, ValidSeconds: 60})
	if err != nil {
		n.t.Fatal(err)
	}
	inv, err := party.ParseInvitation(resp.Token)
	if err != nil {
		n.t.Fatal(err)
	}
	p := n.peer(id)
	client := nodev1connect.NewNodeServiceClient(p.HTTP(), p.URL(), p.Options(0)...)
	if _, err := client.Join(n.t.Context(), &nodev1.JoinRequest{Secret: inv.Secret[:], Address: address}); err != nil {
		n.t.Fatal(err)
	}
}

func newParty(t testing.TB) (*keyfile.PartyKey, *party.Identity) {
	t.Helper()
	key, err := party.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	id, err := party.NewIdentity(key)
	if err != nil {
		t.Fatal(err)
	}
	return key, id
}
