// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/chia"
)

// A farmer collects bundles, has their wallets sign the root of a block, and sends it to
// the nodes. Wallets that don't, are in the block by their bundles' signatures.
type farmer struct {
	id      uint64
	node    *node // its own, to check bundles against
	wallets map[string]*peer
	nodes   []*peer

	mu       sync.Mutex
	seq      uint64
	mempool  []*entry
	problems map[string]error // of the last block, by wallet
}

// An entry is a bundle in the mempool.
type entry struct {
	bundle
	from string // the wallet, by its certificate
	sig  *bls.Signature
}

func (f *farmer) handler() http.Handler {
	mux := http.NewServeMux()
	handle(mux, "push_tx", f.pushTx)
	return mux
}

type pushed struct {
	Name hash `json:"name"`
}

// pushTx takes a bundle, signed as today.
func (f *farmer) pushTx(_ context.Context, from string, in *bundle) (*pushed, error) {
	if len(in.Spends) == 0 || len(in.Spends) > 100 {
		return nil, fmt.Errorf("%d spends", len(in.Spends))
	}
	f.node.mu.Lock()
	err := f.node.checkCoins(in.Spends)
	f.node.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if _, err := leafMessages(in.Spends); err != nil {
		return nil, err
	}
	b := chia.Block{Pairs: pairs(in.Spends), Signature: in.Signature}
	if err := b.Verify(nil); err != nil {
		return nil, err
	}
	sig, err := bls.ParseSignature(in.Signature)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	// A key has one leaf. A second bundle by it has to wait for the next block.
	keys := map[chia.Key]bool{}
	for _, e := range f.mempool {
		for _, p := range pairs(e.Spends) {
			keys[p.Key] = true
		}
	}
	if slices.ContainsFunc(b.Pairs, func(p chia.Pair) bool { return keys[p.Key] }) {
		return nil, errors.New("a bundle by that key is waiting already")
	}
	f.mempool = append(f.mempool, &entry{*in, from, sig})
	return &pushed{in.name()}, nil
}

// classic returns the block as it would be today: all spends, and the sum of all
// signatures.
func (f *farmer) classic() *chia.Block {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := &chia.Block{Name: "classic"}
	var sigs []*bls.Signature
	for _, e := range f.mempool {
		b.Pairs = append(b.Pairs, pairs(e.Spends)...)
		sigs = append(sigs, e.sig)
	}
	if sum, err := bls.Aggregate(sigs...); err == nil {
		b.Signature = sum.Bytes()
	}
	return b
}

// makeBlock makes a block of all that is in the mempool, and empties it.
func (f *farmer) makeBlock(ctx context.Context) (*aggregated, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.mempool) == 0 {
		return nil, errors.New("no spends")
	}
	f.node.mu.Lock()
	height := f.node.height
	f.node.mu.Unlock()
	f.seq++
	block := &aggregated{Farmer: f.id, Seq: f.seq, ValidUntil: height + 2}
	for _, e := range f.mempool {
		block.Spends = append(block.Spends, e.Spends...)
	}
	leaves, err := leafMessages(block.Spends)
	if err != nil {
		return nil, err
	}
	r, err := verifier.NewRound(f.id, f.seq, block.ValidUntil, leaves)
	if err != nil {
		return nil, err
	}
	f.collect(ctx, r)
	folded := f.settle(r)
	b, err := r.Finish(folded...)
	if err != nil {
		return nil, err
	}
	block.Aggregate, block.Stragglers = b.Aggregate[:], b.Stragglers
	f.mempool = nil
	return block, nil
}

// collect asks all wallets at once to sign the root, and takes what comes.
func (f *farmer) collect(ctx context.Context, r *distill.KeyedRound) {
	f.problems = map[string]error{}
	answers := make([]*signResponse, len(f.mempool))
	errs := make([]error, len(f.mempool))
	var wg sync.WaitGroup
	for i, e := range f.mempool {
		wg.Go(func() { answers[i], errs[i] = f.ask(ctx, r, e) })
	}
	wg.Wait()
	for i, e := range f.mempool {
		if errs[i] == nil {
			errs[i] = take(r, answers[i], e)
		}
		if errs[i] != nil {
			f.problems[e.from] = errs[i]
		}
	}
}

// ask asks the wallet of a bundle to sign the root.
func (f *farmer) ask(ctx context.Context, r *distill.KeyedRound, e *entry) (*signResponse, error) {
	w := f.wallets[e.from]
	if w == nil {
		return nil, errors.New("can't be called")
	}
	prop := r.Prop()
	in := signRequest{Prop: prop.Bytes(), N: prop.N, BundleName: e.name()}
	for _, g := range chia.GroupPairs(pairs(e.Spends)) {
		p, err := r.Proposal((*distill.KeyBytes)(&g.Key))
		if err != nil {
			return nil, err
		}
		x := proof{Key: g.Key[:], Index: p.Index}
		for _, s := range p.Siblings {
			x.Siblings = append(x.Siblings, s)
		}
		in.Proofs = append(in.Proofs, x)
	}
	out := new(signResponse)
	return out, w.do(ctx, "sigint_sign_digest", in, out)
}

// take takes the signatures for a bundle's keys, and no others.
func take(r *distill.KeyedRound, got *signResponse, e *entry) error {
	groups := chia.GroupPairs(pairs(e.Spends))
	if len(got.Keys) != len(groups) || len(got.Signatures) != len(groups) {
		return errors.New("signed for other keys")
	}
	for i, g := range groups {
		if !slices.Equal(got.Keys[i], g.Key[:]) {
			return errors.New("signed for other keys")
		}
		sig, err := bls.ParseSignature(got.Signatures[i])
		if err != nil {
			return err
		}
		if err := r.Add((*distill.KeyBytes)(&g.Key), sig); err != nil {
			return err
		}
	}
	return nil
}

// settle returns the bundles' signatures of who hasn't signed the root validly. A bundle
// has one signature for all of its keys, so that all of them are late if one is.
func (f *farmer) settle(r *distill.KeyedRound) []*bls.Signature {
	late := map[chia.Key]bool{}
	keys := r.Keys()
	for _, i := range r.Stragglers() {
		late[chia.Key(keys[i])] = true
	}
	var folded []*bls.Signature
	for _, e := range f.mempool {
		list := pairs(e.Spends)
		if !slices.ContainsFunc(list, func(p chia.Pair) bool { return late[p.Key] }) {
			continue
		}
		for _, p := range list {
			r.Drop((*distill.KeyBytes)(&p.Key))
		}
		folded = append(folded, e.sig)
		if f.problems[e.from] == nil {
			f.problems[e.from] = errors.New("its signature isn't valid")
		}
	}
	return folded
}

// send sends a block to all nodes, its own among them.
func (f *farmer) send(ctx context.Context, block *aggregated) (*taken, error) {
	var got *taken
	for _, n := range f.nodes {
		out := new(taken)
		if err := n.do(ctx, "sigint_send_aggregated_transactions", block, out); err != nil {
			return nil, err
		}
		got = out
	}
	return got, nil
}
