// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package killtest

import (
	"context"
	"crypto"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// A gatewaySpec says what the process does that uses the services: a gateway for some
// clients, and a program that has messages signed. All that it must not forget is in its
// clients' journals.
type gatewaySpec struct {
	Clients     []clientSpec
	Validator   client.Validator
	Aggregator  string
	Coordinator client.Validator
	First       int  // number of the first message to sign
	Drain       bool // nothing new is submitted: it ends when all is settled
}

type clientSpec struct {
	signer
	Told    []uint64 // nonces with an outcome that the test has heard of
	Waiting []uint64 // and those without
}

// say writes a line to the test. It is one write, so that a kill doesn't tear it.
func say(format string, args ...any) { os.Stdout.WriteString(fmt.Sprintf(format, args...) + "\n") }

func runGateway(ctx context.Context, s spec) error {
	key, err := client.ReadIdentity(s.Dir)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(s.Dir, "genesis"))
	if err != nil {
		return err
	}
	genesis := new(distill.Genesis)
	if err := genesis.UnmarshalBinary(data); err != nil {
		return err
	}
	network, err := distill.NewNetwork(genesis)
	if err != nil {
		return err
	}
	st, err := store.Open(filepath.Join(s.Dir, nodedir.Store), store.Options{})
	if err != nil {
		return err
	}
	defer st.Close()
	cfg := client.GatewayConfig{
		Key: key, Network: network, Genesis: genesis,
		Aggregators: map[uint64]string{1: s.Gateway.Aggregator}, Validators: []client.Validator{s.Gateway.Validator},
	}
	unsettled := make(map[uint64][]uint64)
	for _, c := range s.Gateway.Clients {
		keys, err := clientKeys(c.Seed)
		if err != nil {
			return err
		}
		keys.Since = c.Since
		m, err := distill.OpenClient(distill.ClientConfig{
			Network: network, ID: c.ID, Keys: keys, Journal: st.Journal("clients"), AckTimeout: 500, ReceiptTimeout: 2000,
		})
		if err != nil {
			return err
		}
		for _, x := range m.Unsettled() {
			unsettled[c.ID] = append(unsettled[c.ID], x.Nonce)
			say("again %d %d", c.ID, x.Nonce)
		}
		cfg.Clients = append(cfg.Clients, client.GatewayClient{Client: m, Ed: keys.Ed})
	}
	g, err := client.NewGateway(cfg)
	if err != nil {
		return err
	}
	running, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(running) }()
	say("ready")
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var users, all sync.WaitGroup
	for _, c := range s.Gateway.Clients {
		users.Go(func() {
			if err := runClient(ctx, g, c, unsettled[c.ID], s.Gateway.Drain); err != nil {
				stop(err)
			}
		})
	}
	if !s.Gateway.Drain {
		all.Go(func() {
			if err := runUser(ctx, key, s); err != nil {
				stop(err)
			}
		})
	}
	users.Wait()
	all.Wait()
	cancel()
	err = <-ended
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		err = errors.Join(err, cause)
	}
	return err
}

// runClient submits one message after the other, and tells the test of each when it is
// in the journal, and what became of it.
func runClient(ctx context.Context, g *client.Gateway, c clientSpec, unsettled []uint64, drain bool) error {
	for _, n := range c.Told {
		// If it was killed after it told the test, and before it noted that it had.
		if err := g.Release(ctx, c.ID, n); err != nil && distill.RuleOf(err) != distill.RuleNotInFlight && ctx.Err() == nil {
			return err
		}
	}
	settle := func(n uint64) error {
		o, err := g.Wait(ctx, c.ID, n)
		if err != nil {
			return err
		}
		say("out %d %d %d %d %d", c.ID, n, o.Kind, o.Code, o.Height)
		return g.Release(ctx, c.ID, n)
	}
	seen := make(map[uint64]bool)
	for _, n := range append(unsettled, c.Waiting...) {
		if seen[n] {
			continue
		}
		seen[n] = true
		if err := settle(n); err != nil {
			return ignoreEnd(ctx, err)
		}
	}
	for i := 0; !drain && ctx.Err() == nil; i++ {
		n, err := g.Submit(ctx, c.ID, fmt.Appendf(nil, "%d %d", os.Getpid(), i), 0)
		switch distill.RuleOf(err) {
		case distill.RuleNoHead, distill.RuleWindow:
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if err == nil {
			say("sub %d %d", c.ID, n)
			err = settle(n)
		}
		if err != nil {
			return ignoreEnd(ctx, err)
		}
	}
	return nil
}

func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// runUser has one message after the other signed.
func runUser(ctx context.Context, key *keyfile.PartyKey, s spec) error {
	data, err := os.ReadFile(filepath.Join(s.Dir, "record"))
	if err != nil {
		return err
	}
	record := new(thresholdrsa.PublicKey)
	if err := record.UnmarshalBinary(data); err != nil {
		return err
	}
	n, err := client.Dial(key, s.Gateway.Coordinator.Address, s.Gateway.Coordinator.Fingerprint)
	if err != nil {
		return err
	}
	defer n.Close()
	signer := n.Signer(record, &client.SignerOptions{Timeout: 5 * time.Second})
	for i := s.Gateway.First; ctx.Err() == nil; {
		digest := sha256.Sum256(fmt.Append(nil, "message ", i))
		sig, err := signer.SignContext(ctx, digest[:], crypto.SHA256)
		if err == nil { // the signer has verified it
			h := sha256.Sum256(sig)
			say("sig %d %x", i, h[:8])
			i++
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}
