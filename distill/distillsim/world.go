// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"math/big"
	"sync"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
)

// A world is what all seeds with that number of validators begin with: keys, a genesis,
// and the state of a validator after the clients were registered. It doesn't change.
type world struct {
	genesis    *distill.Genesis
	network    *distill.Network
	params     distill.Params
	validators []*bls.SecretKey
	aggs       []ed25519.PrivateKey // by aggregatorIDs
	clients    []distill.ClientKeys // registered, by id
	spare      []distill.ClientKeys // not registered
	store      *distill.MemStore
	head       *distill.SignedHead
	strangers  []distill.Change // registrations: a good one, and bad ones
}

const (
	worldClients = 7
	worldSpare   = 8 // the last three are for strangers
	registered   = 1 // height
)

var aggregatorIDs = []uint64{7, 9}

func worldParams() distill.Params {
	p := distill.DefaultParams()
	p.MaxLeaves, p.MaxPayload, p.MaxBatch = 64, 256, 1<<14
	p.StragglerPercent, p.MinStragglers = 50, 2
	p.ValidFor, p.MaxAhead, p.KeepResults = 8, 32, 64
	p.DirectoryLag, p.SeqWindow = 4, 64
	return p
}

// seedOf returns the seed of a key that anybody can know.
func seedOf(what string, i int) []byte {
	h := sha256.Sum256(fmt.Appendf(nil, "distillsim %s %d", what, i))
	return h[:]
}

func newKeys(what string, i int, since uint64) (distill.ClientKeys, error) {
	sk, err := bls.KeyGen(seedOf(what+" bls", i), nil)
	return distill.ClientKeys{Since: since, BLS: sk, Ed: ed25519.NewKeyFromSeed(seedOf(what+" ed", i))}, err
}

// newWorld makes a network of 3f+1 validators.
func newWorld(f int) (*world, error) {
	w := &world{params: worldParams()}
	w.genesis = &distill.Genesis{Name: "simulation", F: uint64(f), Params: w.params}
	for i, id := range aggregatorIDs {
		w.aggs = append(w.aggs, ed25519.NewKeyFromSeed(seedOf("aggregator", i)))
		w.genesis.Aggregators = append(w.genesis.Aggregators, distill.GenesisAggregator{
			ID: id, Key: [32]byte(w.aggs[i].Public().(ed25519.PublicKey)),
		})
	}
	for i := range 3*f + 1 {
		sk, err := bls.KeyGen(seedOf("validator", i), nil)
		if err != nil {
			return nil, err
		}
		proof, err := bls.ProofOfPossession.PopProve(sk)
		if err != nil {
			return nil, err
		}
		w.validators = append(w.validators, sk)
		w.genesis.Validators = append(w.genesis.Validators, distill.GenesisValidator{
			Key: [bls.PublicKeySize]byte(sk.PublicKey().Bytes()), Proof: [bls.SignatureSize]byte(proof.Bytes()),
		})
	}
	var err error
	if w.network, err = distill.NewNetwork(w.genesis); err != nil {
		return nil, err
	}
	if err := w.register(); err != nil {
		return nil, err
	}
	return w, w.makeStrangers()
}

// register makes the state after a tick in which all clients are registered.
func (w *world) register() error {
	entry := distill.DirectoryEntry{Net: w.network.ID()}
	for i := range worldClients {
		keys, err := newKeys("client", i, 1)
		if err != nil {
			return err
		}
		c, err := distill.Register(w.network.ID(), keys.BLS, keys.Ed, w.params.MaxAhead)
		if err != nil {
			return err
		}
		w.clients = append(w.clients, keys)
		entry.Changes = append(entry.Changes, *c)
	}
	for i := range worldSpare {
		keys, err := newKeys("spare", i, 0)
		if err != nil {
			return err
		}
		w.spare = append(w.spare, keys)
	}
	w.store = new(distill.MemStore)
	v, err := distill.OpenValidator(distill.ValidatorConfig{Genesis: w.genesis, Network: w.network, Store: w.store})
	if err != nil {
		return err
	}
	if _, err := v.Apply(registered, []distill.Entry{{Data: entry.Bytes()}}); err != nil {
		return err
	}
	if n := v.Directory().Len(); n != worldClients {
		return fmt.Errorf("distillsim: %d of %d clients registered", n, worldClients)
	}
	return w.certifyHead(v.Head())
}

func (w *world) certifyHead(head distill.LogHead) error {
	hgt := distill.Hgt{Net: w.network.ID(), Height: head.Height, Batches: head.Batches, LogHash: head.LogHash, Dirver: head.Dirver}
	var shares []distill.Share
	for i := range w.genesis.Quorum() {
		share, err := distill.SignStatement(w.validators[i], i, hgt)
		if err != nil {
			return err
		}
		shares = append(shares, *share)
	}
	cert, _, err := w.network.Committee().Combine(hgt, shares)
	if err != nil {
		return err
	}
	w.head = &distill.SignedHead{Hgt: hgt, Certificate: *cert}
	return nil
}

// makeStrangers makes registrations of which the first is to be accepted. Then there are
// one of a registered key, with a proof that was copied; one of the opposite of a
// registered key, which would cancel it out of every sum, and has a valid proof, for its
// owner knows its secret; and one of a new key with another's proof.
func (w *world) makeStrangers() error {
	last := w.spare[worldSpare-1]
	good, err := distill.Register(w.network.ID(), last.BLS, last.Ed, w.params.MaxAhead)
	if err != nil {
		return err
	}
	victim, err := distill.Register(w.network.ID(), w.clients[0].BLS, w.clients[0].Ed, w.params.MaxAhead)
	if err != nil {
		return err
	}
	opposite, err := oppositeKey(w.clients[1].BLS)
	if err != nil {
		return err
	}
	cancels, err := distill.Register(w.network.ID(), opposite, w.spare[worldSpare-2].Ed, w.params.MaxAhead)
	if err != nil {
		return err
	}
	rogue, err := distill.Register(w.network.ID(), w.spare[worldSpare-3].BLS, w.spare[worldSpare-3].Ed, w.params.MaxAhead)
	if err != nil {
		return err
	}
	stolen, unproven := *good, *rogue
	stolen.BLSKey, stolen.Proof = victim.BLSKey, victim.Proof
	unproven.Proof = good.Proof
	w.strangers = []distill.Change{*good, stolen, *cancels, unproven}
	return nil
}

// oppositeKey returns the key that cancels another one.
func oppositeKey(sk *bls.SecretKey) (*bls.SecretKey, error) {
	b, err := sk.MarshalBinary()
	if err != nil {
		return nil, err
	}
	order, _ := new(big.Int).SetString("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001", 16)
	return bls.ParseSecretKey(new(big.Int).Sub(order, new(big.Int).SetBytes(b)).FillBytes(b))
}

// A Runner runs simulations. It makes keys once, and may be used by several goroutines.
type Runner struct {
	mu     sync.Mutex
	worlds map[int]*world
}

// NewRunner returns a Runner.
func NewRunner() *Runner { return &Runner{worlds: make(map[int]*world)} }

func (r *Runner) world(f int) (*world, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.worlds[f] == nil {
		w, err := newWorld(f)
		if err != nil {
			return nil, err
		}
		r.worlds[f] = w
	}
	return r.worlds[f], nil
}
