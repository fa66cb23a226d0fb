// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
)

// The demo's network.
const (
	aggregateClients    = 4096
	aggregateValidators = 4
	aggregateFaulty     = 1
	aggregateID         = 1 // of the aggregator
)

// The demo's files.
const (
	aggregateBatchName     = "batch.bin"
	aggregateStatementName = "statement.txt"
	aggregateKeysName      = "keys.txt"
	aggregateSigName       = "aggregate.sig"
)

// conduct says how a client behaves.
type conduct int

const (
	honest   conduct = iota
	absent           // doesn't answer proposals
	garbage          // answers them with signatures of something else
	doubling         // signs two payloads under one nonce
)

// An aggregateClient is a client of the demo, and what it has.
type aggregateClient struct {
	*distill.Client
	conduct conduct
	sk      *bls.SecretKey
	ed      ed25519.PrivateKey
	payload []byte
	outcome distill.Outcome
}

// aggregate is the demo of distilled aggregates, as its steps fill it. Time is virtual:
// nothing in it waits.
type aggregate struct {
	stage
	genesis    *distill.Genesis
	network    *distill.Network
	store      distill.MemStore // of the first validator
	validators []*distill.Validator
	sks        []*bls.SecretKey // of the validators
	aggregator *distill.Aggregator
	aggKey     ed25519.PrivateKey
	clients    []aggregateClient // by id
	now        int64
	head       distill.SignedHead

	proposals distill.SendProposals
	encoded   []byte // the batch
	batch     *distill.Verified
	conflicts []distill.ReportConflict
	refusals  []distill.Refusal
	bad       map[uint64]bool // clients whose signatures were
}

// Aggregate shows thousands of messages authenticated by one signature of 96 bytes: by
// processes that are killed while they do it, and then in this process, where clients and
// the aggregator are hostile.
func Aggregate(ctx context.Context, opts Options) (*Result, error) {
	dir, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, err
	}
	opts.Dir = dir
	n := aggregateClients
	if opts.Records > 0 {
		n = opts.Records
	}
	if n < 64 {
		return nil, fmt.Errorf("demo: %d clients are too few", n)
	}
	s := stage{opts, &Result{Dir: dir, Verified: []string{}}}
	if err := playService(ctx, &s); err != nil {
		return nil, err
	}
	return s.res, playAggregate(ctx, &s, n)
}

// playAggregate runs the steps that are played in this process, with n clients.
func playAggregate(ctx context.Context, s *stage, n int) error {
	d := &aggregate{stage: *s, clients: make([]aggregateClient, n), now: 1, bad: map[uint64]bool{}}
	for _, step := range []struct {
		title string
		f     func(context.Context) ([]string, error)
	}{
		{fmt.Sprintf("Play %d clients, some of them absent and some hostile, and %d validators in this process", n, aggregateValidators), d.play},
		{"Verify the same batch the classic way", d.compare},
		{"Let the aggregator cheat", d.cheat},
	} {
		if err := d.do(ctx, step.title, func() ([]string, error) { return step.f(ctx) }); err != nil {
			return err
		}
	}
	return nil
}

// play has the clients make a batch, and the validators execute it.
func (d *aggregate) play(ctx context.Context) (out []string, err error) {
	for _, f := range []func(context.Context) ([]string, error){d.register, d.submit, d.reduce, d.execute} {
		lines, err := f(ctx)
		out = append(out, lines...)
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// eachClient calls f for all clients, on all processors.
func (d *aggregate) eachClient(ctx context.Context, f func(id int) error) error {
	return parallel(ctx, len(d.clients), f)
}

// parallel calls f for 0 to n-1, on all processors, until one fails.
func parallel(ctx context.Context, n int, f func(i int) error) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	var once sync.Once
	var failed error
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				i := int(next.Add(1) - 1)
				if i >= n {
					return
				}
				err := ctx.Err()
				if err == nil {
					err = f(i)
				}
				if err != nil {
					once.Do(func() { failed = err })
					next.Store(int64(n))
					return
				}
			}
		})
	}
	wg.Wait()
	return failed
}

func (d *aggregate) register(ctx context.Context) ([]string, error) {
	if err := d.found(); err != nil {
		return nil, err
	}
	changes := make([]distill.Change, len(d.clients)+1)
	for i := range d.clients {
		c := &d.clients[i]
		switch {
		case i%50 == 7:
			c.conduct = absent
		case i%256 == 9:
			c.conduct = garbage
		case i == 16:
			c.conduct = doubling
		}
		c.payload = fmt.Appendf(nil, "client %d pays %d to client %d", i, i%97+1, (i*31+7)%len(d.clients))
	}
	err := d.eachClient(ctx, func(i int) (err error) {
		c := &d.clients[i]
		c.sk = bls.GenerateKey()
		if _, c.ed, err = ed25519.GenerateKey(rand.Reader); err != nil {
			return err
		}
		change, err := distill.Register(d.network.ID(), c.sk, c.ed, 100)
		if err == nil {
			changes[i] = *change
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	rogue, err := d.rogue(&changes[0])
	if err != nil {
		return nil, err
	}
	changes[len(d.clients)] = *rogue

	var entries []distill.Entry
	for at := 0; at < len(changes); at += distill.MaxChanges {
		e := distill.DirectoryEntry{Net: d.network.ID(), Changes: changes[at:min(at+distill.MaxChanges, len(changes))]}
		entries = append(entries, distill.Entry{Data: e.Bytes()})
	}
	// One validator verifies them, and the others take a copy of its store: they would
	// need as long again, each.
	applied, err := d.validators[0].Apply(1, entries)
	if err != nil {
		return nil, err
	}
	for range aggregateValidators - 1 {
		if err := d.validator(d.store.Clone()); err != nil {
			return nil, err
		}
	}
	if err := d.certify(); err != nil {
		return nil, err
	}
	accepted := 0
	var refused error
	for _, o := range applied.Outcomes {
		if o.Directory == nil {
			refused = o.Err // an entry without a change that is accepted
			continue
		}
		for _, c := range o.Directory.Changes {
			if c.Err != nil {
				refused = c.Err
			} else if accepted++; c.ID >= uint64(len(d.clients)) {
				return nil, errors.New("a rogue key was registered")
			}
		}
	}
	if accepted != len(d.clients) || refused == nil {
		return nil, fmt.Errorf("%d of %d registrations accepted, and %v", accepted, len(d.clients), refused)
	}
	if err := d.open(ctx); err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("somebody registers a key made out of client 0's, to sign for both: %v", refused)}, nil
}

// found makes the genesis.
func (d *aggregate) found() (err error) {
	var pub ed25519.PublicKey
	if pub, d.aggKey, err = ed25519.GenerateKey(rand.Reader); err != nil {
		return err
	}
	d.genesis = &distill.Genesis{
		Name:        "demo",
		Aggregators: []distill.GenesisAggregator{{ID: aggregateID, Key: [32]byte(pub)}},
		F:           aggregateFaulty,
		Params:      distill.DefaultParams(),
	}
	for range aggregateValidators {
		sk := bls.GenerateKey()
		proof, err := bls.ProofOfPossession.PopProve(sk)
		if err != nil {
			return err
		}
		d.sks = append(d.sks, sk)
		d.genesis.Validators = append(d.genesis.Validators, distill.GenesisValidator{
			Key: [48]byte(sk.PublicKey().Bytes()), Proof: [96]byte(proof.Bytes()),
		})
	}
	if d.network, err = distill.NewNetwork(d.genesis); err != nil {
		return err
	}
	return d.validator(&d.store)
}

// validator opens the next validator.
func (d *aggregate) validator(store distill.Store) error {
	i := len(d.validators)
	v, err := distill.OpenValidator(distill.ValidatorConfig{Genesis: d.genesis, Index: i, Key: d.sks[i], Store: store})
	if err == nil {
		d.validators = append(d.validators, v)
	}
	return err
}

// rogue returns a registration of a key that adds up with a client's to a key of ours,
// and whose proof is therefore somebody else's.
func (d *aggregate) rogue(victim *distill.Change) (*distill.Change, error) {
	ours := bls.GenerateKey()
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	c, err := distill.Register(d.network.ID(), ours, ed, 100)
	if err != nil {
		return nil, err
	}
	minus := victim.BLSKey
	minus[0] ^= 0x20 // the negative
	p, err := bls.ParsePublicKey(minus[:])
	if err != nil {
		return nil, err
	}
	rogue, err := bls.SumKeys([]*bls.ProvenKey{bls.AssumeProvenUnsafe(ours.PublicKey()), bls.AssumeProvenUnsafe(p)})
	if err != nil {
		return nil, err
	}
	copy(c.BLSKey[:], rogue.Bytes())
	reg := distill.Reg{Net: d.network.ID(), BLSKey: c.BLSKey, EdKey: c.EdKey, NotAfter: c.NotAfter}
	copy(c.EdSig[:], ed25519.Sign(ed, reg.Bytes()))
	return c, nil
}

// open opens the aggregator and the clients.
func (d *aggregate) open(ctx context.Context) (err error) {
	dir := d.validators[0].Directory()
	d.aggregator, err = distill.OpenAggregator(distill.AggregatorConfig{
		Network: d.network, ID: aggregateID, Key: d.aggKey, Journal: new(distill.MemoryJournal),
		Views: func(version uint64) (distill.View, error) { return dir.At(version) },
	})
	if err != nil {
		return err
	}
	if _, err := d.aggregator.Tick(d.now); err != nil {
		return err
	}
	d.aggregator.SetView(dir.Latest())
	if _, err := d.aggregator.HandleHead(d.now, &d.head); err != nil {
		return err
	}
	return d.eachClient(ctx, func(i int) (err error) {
		c := &d.clients[i]
		c.Client, err = distill.OpenClient(distill.ClientConfig{
			Network: d.network, ID: uint64(i), Journal: new(distill.MemoryJournal),
			Keys: distill.ClientKeys{Since: dir.Version(), BLS: c.sk, Ed: c.ed},
		})
		if err == nil {
			_, err = c.HandleHead(d.now, &d.head)
		}
		return err
	})
}

// tick has all validators apply a tick of the log, and certifies the new height.
func (d *aggregate) tick(ctx context.Context, entries []distill.Entry) ([]*distill.Applied, error) {
	applied := make([]*distill.Applied, len(d.validators))
	err := parallel(ctx, len(d.validators), func(i int) (err error) {
		applied[i], err = d.validators[i].Apply(d.validators[i].Head().Height+1, entries)
		return err
	})
	if err != nil {
		return nil, err
	}
	return applied, d.certify()
}

// certify puts the validators' signatures of the height together.
func (d *aggregate) certify() error {
	var first distill.Hgt
	var shares []distill.Share
	for i, v := range d.validators {
		hgt, share, err := v.SignHead()
		if err != nil {
			return err
		}
		if i == 0 {
			first = hgt
		} else if hgt != first {
			return errors.New("validators differ")
		}
		shares = append(shares, *share)
	}
	cert, bad, err := d.network.Committee().Combine(first, shares)
	if err != nil || len(bad) > 0 {
		return fmt.Errorf("shares of validators: %v, %w", bad, err)
	}
	d.head = distill.SignedHead{Hgt: first, Certificate: *cert}
	return nil
}

// submit has the clients send, and adds what doesn't come from them.
func (d *aggregate) submit(ctx context.Context) ([]string, error) {
	subs := make([]distill.Submission, len(d.clients))
	err := d.eachClient(ctx, func(i int) error {
		_, out, err := d.clients[i].Submit(d.now, d.clients[i].payload, 0)
		if err != nil {
			return err
		}
		for _, a := range out {
			if s, ok := a.(distill.SendSubmission); ok {
				subs[i] = s.Submission
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var forged *distill.Submission
	for i := range subs {
		s := &subs[i]
		if err := d.did(d.aggregator.HandleSubmission(d.now, s)); err != nil {
			return nil, err
		}
		if d.clients[i].conduct != doubling {
			continue
		}
		again := d.signSub(i, *s, "a second payload", d.clients[i].ed)
		if err := d.did(d.aggregator.HandleSubmission(d.now, &again)); err != nil {
			return nil, err
		}
	}
	// Client 2 writes in the name of client 3.
	f := subs[3]
	f.Nonce++
	f = d.signSub(3, f, "client 3 pays 1000 to client 2", d.clients[2].ed)
	forged = &f
	if err := d.did(d.aggregator.HandleSubmission(d.now, forged)); err != nil {
		return nil, err
	}
	for d.proposals.Len() == 0 {
		if err := d.wait(); err != nil {
			return nil, err
		}
	}
	var refused *distill.Refusal
	for i, r := range d.refusals {
		if r.ID == forged.ID && r.Nonce == forged.Nonce {
			refused = &d.refusals[i]
		}
	}
	if refused == nil || len(d.conflicts) != 1 {
		return nil, fmt.Errorf("a forged message was taken, or %d conflicts found", len(d.conflicts))
	}
	c := d.conflicts[0]
	accused, err := d.prove(distill.NewSubEvidence(d.network.ID(), d.validators[0].Directory().Version(), &c.First, &c.Second))
	if err != nil {
		return nil, err
	}
	if accused.Role != distill.RoleClient || d.clients[accused.ID].conduct != doubling {
		return nil, fmt.Errorf("%v %d is accused", accused.Role, accused.ID)
	}
	return []string{
		fmt.Sprintf("client 2 writes in the name of client 3: %v", refused.Rule),
		fmt.Sprintf("client %d signs two payloads under one nonce, of which one at most runs: its two signatures prove it to anybody", accused.ID),
	}, nil
}

// signSub changes the payload of a message and signs it.
func (d *aggregate) signSub(id int, s distill.Submission, payload string, key ed25519.PrivateKey) distill.Submission {
	s.ID, s.Payload = uint64(id), []byte(payload)
	s.Signature = ed25519.Sign(key, s.Sub(d.network.ID()).Bytes())
	return s
}

// prove returns whom evidence is against, after it was written and read.
func (d *aggregate) prove(e *distill.Evidence) (a distill.Accused, err error) {
	data, err := e.MarshalBinary()
	if err != nil {
		return a, err
	}
	var again distill.Evidence
	if err := again.UnmarshalBinary(data); err != nil {
		return a, err
	}
	view, err := d.validators[1].Directory().At(again.Dirver)
	if err != nil {
		return a, err
	}
	return again.Verify(d.genesis, view)
}

// did notes what the aggregator wants done.
func (d *aggregate) did(out []distill.AggregatorAction, err error) error {
	for _, a := range out {
		switch a := a.(type) {
		case distill.SendProposals:
			d.proposals = a
		case distill.Publish:
			d.encoded = a.Encoded
		case distill.ReportConflict:
			d.conflicts = append(d.conflicts, a)
		case distill.SendRefusal:
			d.refusals = append(d.refusals, a.Refusal)
		case distill.ReportReduction:
			d.bad[a.ID] = true
		}
	}
	return err
}

// wait lets virtual time pass until the aggregator has something to do.
func (d *aggregate) wait() error {
	at, ok := d.aggregator.Deadline()
	if !ok {
		return errors.New("the aggregator waits for nothing")
	}
	d.now = max(d.now, at)
	return d.did(d.aggregator.Tick(d.now))
}
