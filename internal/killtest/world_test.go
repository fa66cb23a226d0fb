// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package killtest

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rsa"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/gen/undersign/aggregate/v1/aggregatev1connect"
	"github.com/undersign/undersign/gen/undersign/threshold/v1/thresholdv1connect"
	"github.com/undersign/undersign/internal/freeport"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/roster"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// Roles. There are three signers, each with a share of a key of which two sign.
const (
	roleValidator   = "validator"
	roleAggregator  = "aggregator"
	roleCoordinator = "coordinator"
	roleSigner      = "signer"
	roleGateway     = "gateway"
)

var (
	roles       = []string{roleValidator, roleAggregator, roleSigner, roleCoordinator, roleGateway}
	signerNames = []string{"alice", "bob", "carol"}
)

// A member is a node's folder, and where the node listens.
type member struct {
	name, role string
	dir        string
	id         *party.Identity
	address    string
}

// A world is nodes that know each other, and two parties: a gateway, and the test.
type world struct {
	t       testing.TB
	plan    plan
	seconds int // that its processes may live
	genesis *distill.Genesis
	key     *thresholdrsa.PublicKey
	members map[string]*member

	driver    *party.Identity
	driverKey *keyfile.PartyKey

	gatewayDir string
	gatewayID  *party.Identity
}

func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// A plan says what a world is made of. The zero value is one of a validator, an
// aggregator, a coordinator and the three signers.
type plan struct {
	names      []string
	validators []string                 // those of them that are validators
	dir        func(name string) string // where folders are
	address    func(name string) string
	queue      string // the configuration of the one that validators share
}

// newWorld makes the folders of nodes.
func newWorld(t testing.TB, p plan) *world {
	t.Helper()
	if p.names == nil {
		p.names = append([]string{roleValidator, roleAggregator, roleCoordinator}, signerNames...)
		p.validators = []string{roleValidator}
	}
	if p.dir == nil {
		p.dir = func(name string) string { return filepath.Join(t.TempDir(), name) }
	}
	w := &world{t: t, plan: p, seconds: 120, members: make(map[string]*member)}
	w.driverKey = must(party.GenerateKey())(t)
	w.driver = must(party.NewIdentity(w.driverKey))(t)
	w.gatewayDir = filepath.Join(t.TempDir(), "gateway")
	w.gatewayID = must(nodedir.Create(w.gatewayDir, nil))(t)
	if p.address == nil {
		p.address = func(string) string { return must(freeport.Address())(t) }
	}
	for _, name := range p.names {
		m := &member{name: name, role: name, dir: p.dir(name), address: p.address(name)}
		switch {
		case slices.Contains(signerNames, name):
			m.role = roleSigner
		case slices.Contains(p.validators, name):
			m.role = roleValidator
		}
		w.members[name] = m
	}
	w.makeFolders()
	w.makeKey()
	if len(p.validators) > 0 {
		w.makeGenesis()
	}
	for _, m := range w.members {
		w.introduce(m)
	}
	return w
}

const rules = `
[[rule]]
parties = ["*"]
operations = ["threshold.*"]
keys = ["*"]

[[rule]]
parties = ["*"]
operations = ["aggregate.*"]

[limits]
calls = 1000
drain = "2s"

[log]
level = "warn"
`

// config returns the configuration of a node.
func (w *world) config(m *member) string {
	c := fmt.Sprintf("name = %q\nlisten = %q\n", m.name, m.address) + rules
	var list []string
	for _, name := range w.plan.validators {
		if name == m.name {
			name = "self"
		}
		list = append(list, strconv.Quote(name))
	}
	network := "\n[aggregate]\ngenesis = \"genesis\"\nvalidators = [" + strings.Join(list, ", ") + "]\n"
	switch m.role {
	case roleValidator:
		c += network + "[aggregate.validator]\ntick-ms = 50\n[aggregate.directory]\n" + w.plan.queue
	case roleAggregator:
		c += network + "[aggregate.aggregator]\nid = 1\nbatch-age-ms = 20\nmin-wait-ms = 100\nmax-wait-ms = 300\n"
	}
	return c
}

func (w *world) makeFolders() {
	for _, m := range w.members {
		m.id = must(nodedir.Create(m.dir, []byte(w.config(m))))(w.t)
	}
}

// makeKey deals a published key, which is worthless as a key, to the signers.
func (w *world) makeKey() {
	t := w.t
	dealing, shares, err := thresholdrsa.Deal(testKey(t), 2, len(signerNames), &thresholdrsa.DealOptions{Names: signerNames})
	if err != nil {
		t.Fatal(err)
	}
	w.key = dealing.PublicKey()
	for i, name := range signerNames {
		if m := w.members[name]; m != nil {
			w.seal(m.dir, "shares/code.share", shares[i])
		}
	}
	if m := w.members[roleCoordinator]; m != nil {
		w.write(m.dir, "keys/code.pub", must(keyfile.Encode(w.key))(t))
	}
	w.write(w.gatewayDir, "record", must(w.key.MarshalBinary())(t))
}

func testKey(t testing.TB) *rsa.PrivateKey {
	t.Helper()
	for line := range strings.Lines(string(must(os.ReadFile("../../thresholdrsa/testdata/keys.txt"))(t))) {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] != "safe-2048-a" {
			continue
		}
		p, ok1 := new(big.Int).SetString(f[1], 16)
		q, ok2 := new(big.Int).SetString(f[2], 16)
		if !ok1 || !ok2 {
			break
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

// makeGenesis makes the network of the validators.
func (w *world) makeGenesis() {
	t := w.t
	w.genesis = &distill.Genesis{
		Name: "kill", Params: distill.DefaultParams(), F: uint64(len(w.plan.validators)-1) / 3,
		Aggregators: []distill.GenesisAggregator{{ID: 1, Key: [32]byte(w.members[roleAggregator].id.PublicKey())}},
	}
	for i, name := range w.plan.validators {
		sk := must(bls.KeyGen(bytes.Repeat([]byte{byte(i + 1)}, 32), nil))(t)
		w.seal(w.members[name].dir, "validator.key", &keyfile.BLSSecretKey{Scheme: bls.ProofOfPossession, Key: sk})
		proof := must(bls.ProofOfPossession.PopProve(sk))(t)
		w.genesis.Validators = append(w.genesis.Validators, distill.GenesisValidator{
			Key: [48]byte(sk.PublicKey().Bytes()), Proof: [96]byte(proof.Bytes()),
		})
	}
	// The log is read at the end, and nothing of it may be gone by then.
	w.genesis.Params.KeepResults = 1 << 20
	// Heights are short, and a batch has to come into the log in time on a machine that is
	// busy with other things.
	w.genesis.Params.ValidFor = 400
	data := must(w.genesis.MarshalBinary())(t)
	for _, name := range w.plan.validators {
		w.write(w.members[name].dir, "genesis", data)
	}
	w.write(w.members[roleAggregator].dir, "genesis", data)
	w.write(w.gatewayDir, "genesis", data)
}

func (w *world) write(dir, name string, data []byte) {
	w.t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// seal writes a secret that only the node of a folder can open.
func (w *world) seal(dir, name string, v keyfile.Object) {
	w.t.Helper()
	text := must(os.ReadFile(filepath.Join(dir, nodedir.Recipient)))(w.t)
	to := must(age.ParseRecipients(bytes.NewReader(text)))(w.t)
	var b bytes.Buffer
	if err := keyfile.Seal(&b, v, to...); err != nil {
		w.t.Fatal(err)
	}
	w.write(dir, name, b.Bytes())
}

// introduce makes a node know all others, and the two parties.
func (w *world) introduce(m *member) {
	t := w.t
	t.Helper()
	s := must(store.Open(filepath.Join(m.dir, nodedir.Store), store.Options{}))(t)
	r := must(roster.Open(s, time.Now))(t)
	add := func(id *party.Identity, name, address string) {
		err := r.Add(roster.Member{Fingerprint: id.Fingerprint(), Key: id.PublicKey(), Name: name, Address: address, Joined: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range w.members {
		if o != m {
			add(o.id, o.name, o.address)
		}
	}
	add(w.driver, "driver", "")
	add(w.gatewayID, "gateway", "")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// start starts a node.
func (w *world) start(name string) *process {
	w.t.Helper()
	m := w.members[name]
	return start(w.t, name, spec{Role: m.role, Dir: m.dir, Seconds: w.seconds}, nil, nil)
}

// peer returns the test's way to a node.
func (w *world) peer(name string) *rpc.Peer {
	m := w.members[name]
	p := rpc.NewPeer(w.driver, m.id.Fingerprint(), m.address)
	w.t.Cleanup(p.Close)
	return p
}

func (w *world) threshold(name string) thresholdv1connect.ThresholdServiceClient {
	p := w.peer(name)
	return thresholdv1connect.NewThresholdServiceClient(p.HTTP(), p.URL(), p.Options(64<<20)...)
}

// ownPeer returns a node's own way to its threshold service, as its commands have it.
func (w *world) ownPeer(name string) thresholdv1connect.ThresholdServiceClient {
	m := w.members[name]
	p := rpc.NewPeer(m.id, m.id.Fingerprint(), m.address)
	w.t.Cleanup(p.Close)
	return thresholdv1connect.NewThresholdServiceClient(p.HTTP(), p.URL(), p.Options(64<<20)...)
}

// A signer is a client of the network.
type signer struct {
	ID, Since uint64
	Seed      byte
}

func (s *signer) keys(t testing.TB) distill.ClientKeys {
	k, err := clientKeys(s.Seed)
	return must(k, err)(t)
}

// clientKeys makes keys of a seed.
func clientKeys(seed byte) (k distill.ClientKeys, err error) {
	if k.BLS, err = bls.KeyGen(append(bytes.Repeat([]byte{seed}, 31), 99), nil); err != nil {
		return k, err
	}
	k.Ed = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, 32))
	return k, nil
}

// register registers n clients with the validator, which has to run.
func (w *world) register(n int) (list []signer) {
	t := w.t
	t.Helper()
	e := distill.DirectoryEntry{Net: w.genesis.ID()}
	for i := range n {
		s := signer{Seed: byte(i + 1)}
		k := s.keys(t)
		e.Changes = append(e.Changes, *must(distill.Register(w.genesis.ID(), k.BLS, k.Ed, 4000))(t))
		list = append(list, s)
	}
	p := w.peer(w.plan.validators[0])
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c := aggregatev1connect.NewDirectoryServiceClient(p.HTTP(), p.URL(), p.Options(0)...)
	resp := must(c.Register(ctx, &aggregatev1.RegisterRequest{Entry: e.Bytes()}))(t)
	if len(resp.Changes) != n {
		t.Fatalf("%d results of %d changes", len(resp.Changes), n)
	}
	for i, c := range resp.Changes {
		if c.Rule != 0 {
			t.Fatalf("change %d: %v", i, distill.Rule(c.Rule))
		}
		list[i].ID, list[i].Since = c.Id, c.Version
	}
	return list
}
