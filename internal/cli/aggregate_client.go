// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"filippo.io/age"

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

	// Keys are those of a rotation. Before the first one the BLS key is in its own file,
	// and the Ed25519 key is the identity's.
	Keys *aggregateKeys `json:"keys,omitempty"`
	// Next are keys that the directory may have by now: a rotation goes on with them.
	Next    *aggregateKeys `json:"next,omitempty"`
	Revoked bool           `json:"revoked,omitempty"`
}

// aggregateKeys names files in a client's folder.
type aggregateKeys struct {
	BLS string `json:"bls"`
	Ed  string `json:"ed25519"`
}

// check returns an error unless the names are such as a rotation makes.
func (k *aggregateKeys) check() error {
	if k != nil && !(filepath.IsLocal(k.BLS) && filepath.IsLocal(k.Ed) && k.BLS != k.Ed) {
		return fmt.Errorf("%s: the names of keys aren't those of files in the folder", aggregateClientFile)
	}
	return nil
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
	key     *keyfile.PartyKey  // the party's
	ed      ed25519.PrivateKey // the client's, once it is open
}

// clientDir opens the folder of a client that was registered.
func (e *env) clientDir(dir string) (_ *clientDir, err error) {
	data, err := os.ReadFile(filepath.Join(dir, aggregateClientFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, failf(ExitError, "register it with \"undersign aggregate register --genesis FILE --at NODE --dir "+dir+"\"", "%s isn't the folder of a client", dir)
	}
	if err != nil {
		return nil, err
	}
	d := &clientDir{}
	if err := json.Unmarshal(data, &d.reg); err != nil {
		return nil, fmt.Errorf("%s: %w", aggregateClientFile, err)
	}
	if err := errors.Join(d.reg.Keys.check(), d.reg.Next.check()); err != nil {
		return nil, err
	}
	if d.reg.Revoked {
		return nil, failf(ExitRefused, "a new identity can be registered: \"undersign init\"", "client %d was revoked", d.reg.ID)
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
	keys, err := d.keys(dir)
	if err != nil {
		return nil, err
	}
	d.ed = keys.Ed
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
		Keys: keys,
	})
	if err == nil && restored {
		err = clientSettled(d) // the journal says from now on that it waits for validators
	}
	return c, err
}

// keys returns the keys that the client has in the directory.
func (d *clientDir) keys(dir string) (k distill.ClientKeys, err error) {
	k = distill.ClientKeys{Since: d.reg.Since, Ed: d.id.SigningKey()}
	if d.reg.Keys == nil {
		k.BLS, err = openClientKey(dir)
		return k, err
	}
	k.BLS, k.Ed, err = openClientKeys(dir, d.reg.Keys)
	return k, err
}

func openClientKeys(dir string, k *aggregateKeys) (sk *bls.SecretKey, ed ed25519.PrivateKey, err error) {
	if sk, err = openClientBLSKey(dir, k.BLS); err == nil {
		ed, err = openClientEdKey(dir, k.Ed)
	}
	return sk, ed, err
}

// save writes what the folder knows.
func (d *clientDir) save(dir string) error {
	text, err := json.MarshalIndent(d.reg, "", "  ")
	if err != nil {
		return err
	}
	return nodedir.Replace(filepath.Join(dir, aggregateClientFile), append(text, '\n'), 0o600)
}

func (d *clientDir) directory() *client.Directory {
	return &client.Directory{Key: d.key, Genesis: d.genesis, Validators: d.reg.nodes()}
}

func (d *clientDir) gateway(clients ...client.GatewayClient) client.GatewayConfig {
	return client.GatewayConfig{
		Key: d.key, Network: d.network, Genesis: d.genesis, Clients: clients,
		Aggregators: map[uint64]string{d.reg.Aggregator: d.reg.Address}, Validators: d.reg.nodes(),
	}
}

func openClientKey(dir string) (*bls.SecretKey, error) {
	return openClientBLSKey(dir, aggregateClientKey)
}

func openClientBLSKey(dir, name string) (*bls.SecretKey, error) {
	data, identities, err := readSealed(dir, name)
	if err != nil {
		return nil, err
	}
	return aggregate.OpenKey(data, identities...)
}

func openClientEdKey(dir, name string) (ed25519.PrivateKey, error) {
	data, identities, err := readSealed(dir, name)
	if err != nil {
		return nil, err
	}
	k, err := keyfile.OpenAs[*keyfile.PartyKey](bytes.NewReader(data), identities...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return k.Key, nil
}

// readSealed reads an age file in a folder, and what opens it.
func readSealed(dir, name string) ([]byte, []age.Identity, error) {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil, nil, err
	}
	f, err := os.Open(filepath.Join(dir, nodedir.Unlock))
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	identities, err := keyfile.ParseIdentities(f, nil)
	return data, identities, err
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
