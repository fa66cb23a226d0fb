// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/aggregate"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/service"
	"github.com/undersign/undersign/keyfile"
)

// Files of a client of distilled aggregates, in the folder of its identity.
const (
	aggregateClientFile = "aggregate.json"    // where it is registered
	aggregateClientKey  = "aggregate.key"     // its BLS key, an age file
	aggregateClientNet  = "aggregate.genesis" // the network's genesis
)

// An aggregateClient is what a folder knows of its registration.
type aggregateClient struct {
	ID         uint64          `json:"id"`
	Since      uint64          `json:"since"` // version of the directory
	Mode       string          `json:"mode"`
	Aggregator uint64          `json:"aggregator"`
	Address    string          `json:"address"`
	Validators []aggregateNode `json:"validators"`
}

type aggregateNode struct {
	Fingerprint string `json:"fingerprint"`
	Address     string `json:"address"`
}

func (a *aggregateClient) nodes() (list []client.Validator) {
	for _, v := range a.Validators {
		list = append(list, client.Validator{Fingerprint: v.Fingerprint, Address: v.Address})
	}
	return list
}

// A clientDir is the folder of a client, taken by this process: at most one copy of a
// client may run.
type clientDir struct {
	*idleNode
	reg     aggregateClient
	genesis *distill.Genesis
	network *distill.Network
	key     *keyfile.PartyKey
}

// clientDir opens the folder of a client that was registered.
func (e *env) clientDir(dir string) (_ *clientDir, err error) {
	data, err := os.ReadFile(filepath.Join(dir, aggregateClientFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, failf(ExitError, "register it with \"undersign aggregate register --dir "+dir+"\"", "%s isn't the folder of a client", dir)
	}
	if err != nil {
		return nil, err
	}
	d := &clientDir{}
	if err := json.Unmarshal(data, &d.reg); err != nil {
		return nil, fmt.Errorf("%s: %w", aggregateClientFile, err)
	}
	data, err = os.ReadFile(filepath.Join(dir, aggregateClientNet))
	if err != nil {
		return nil, err
	}
	d.genesis = new(distill.Genesis)
	if err := d.genesis.UnmarshalBinary(data); err != nil {
		return nil, fmt.Errorf("%s: %w", aggregateClientNet, err)
	}
	if d.network, err = distill.NewNetwork(d.genesis); err != nil {
		return nil, err
	}
	if d.idleNode, err = e.idleNode(dir); err != nil {
		return nil, err
	}
	d.key = &keyfile.PartyKey{Key: d.id.SigningKey()}
	return d, nil
}

// open opens the client. Restored from a backup it asks validators first which nonces it
// has used.
func (d *clientDir) open(dir string) (*distill.Client, error) {
	sk, err := openClientKey(dir)
	if err != nil {
		return nil, err
	}
	mode := distill.Mode(0)
	for i, n := range aggregateModes {
		if n == d.reg.Mode {
			mode = distill.Mode(i)
		}
	}
	restored, err := clientRestored(d)
	if err != nil {
		return nil, err
	}
	c, err := distill.OpenClient(distill.ClientConfig{
		Network: d.network, ID: d.reg.ID, Mode: mode, Journal: d.store.Journal("client"), FromBackup: restored,
		Keys: distill.ClientKeys{Since: d.reg.Since, BLS: sk, Ed: d.id.SigningKey()},
	})
	if err == nil && restored {
		err = clientSettled(d) // the journal says from now on that it waits for validators
	}
	return c, err
}

func (d *clientDir) gateway(clients ...client.GatewayClient) client.GatewayConfig {
	return client.GatewayConfig{
		Key: d.key, Network: d.network, Genesis: d.genesis, Clients: clients,
		Aggregators: map[uint64]string{d.reg.Aggregator: d.reg.Address}, Validators: d.reg.nodes(),
	}
}

func openClientKey(dir string) (*bls.SecretKey, error) {
	data, err := os.ReadFile(filepath.Join(dir, aggregateClientKey))
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(dir, nodedir.Unlock))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	identities, err := keyfile.ParseIdentities(f, nil)
	if err != nil {
		return nil, err
	}
	return aggregate.OpenKey(data, identities...)
}

// aggregateTime bounds commands that wait for the network, if --timeout doesn't.
const aggregateTime = 60 * time.Second

// startGateway runs a gateway until stop is called.
func startGateway(ctx context.Context, cfg client.GatewayConfig) (g *client.Gateway, stop func() error, err error) {
	if g, err = client.NewGateway(cfg); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	return g, func() error {
		cancel()
		return <-done
	}, nil
}

// clientRestored reports whether a client's folder was restored from a backup since it
// was opened last.
func clientRestored(d *clientDir) (bool, error) {
	return (&service.Host{Store: d.store}).Restored("client")
}

// clientSettled notes that the client has dealt with it: it says so in its journal.
func clientSettled(d *clientDir) error {
	return (&service.Host{Store: d.store}).Settled("client")
}
