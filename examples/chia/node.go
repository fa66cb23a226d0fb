// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/chia"
)

// What the network has agreed on.
var (
	network  = distill.NetworkID(genesisChallenge)
	params   = distill.DefaultParams()
	verifier = chia.NewVerifier(network, nil)
)

// leafMessages returns the leaves of some spends: one for each key.
func leafMessages(spends []spend) ([]distill.KeyedMessage, error) {
	notAfter := map[chia.Key]uint64{}
	for i := range spends {
		key := chia.Key(spends[i].Coin.Key)
		if v, ok := notAfter[key]; ok && v != spends[i].NotAfter {
			return nil, errors.New("spends by one key expire at different heights")
		}
		notAfter[key] = spends[i].NotAfter
	}
	list := chia.LeafMessages(pairs(spends), 0)
	for i := range list {
		list[i].NotAfter = notAfter[chia.Key(list[i].Key)]
	}
	return list, nil
}

// An aggregated is the call sigint_send_aggregated_transactions: spends without
// signatures, and what they have instead. Whoever verifies it computes the tree.
type aggregated struct {
	Farmer     uint64   `json:"farmer"`
	Seq        uint64   `json:"seq"`
	ValidUntil uint64   `json:"valid_until"`
	Spends     []spend  `json:"spends"`
	Aggregate  hexBytes `json:"agg_sig"`
	Stragglers []uint32 `json:"stragglers"` // places of keys, in their order
}

// batch returns the batch of keys that stands behind the call.
func (a *aggregated) batch() (*distill.KeyedBatch, error) {
	if len(a.Aggregate) != bls.SignatureSize {
		return nil, errors.New("a signature of another length")
	}
	leaves, err := leafMessages(a.Spends)
	if err != nil {
		return nil, err
	}
	b := &distill.KeyedBatch{
		Net: network, AggID: a.Farmer, Seq: a.Seq, ValidUntil: a.ValidUntil,
		Stragglers: a.Stragglers, Aggregate: [bls.SignatureSize]byte(a.Aggregate),
	}
	for _, m := range leaves {
		b.Keys, b.NotAfter = append(b.Keys, m.Key), append(b.NotAfter, m.NotAfter)
		b.Payloads.Append(m.Payload)
	}
	return b, nil
}

// A node has the coins that aren't spent.
type node struct {
	mu     sync.Mutex
	height uint64
	coins  map[hash]coin
}

func newNode(coins ...coin) *node {
	n := &node{coins: map[hash]coin{}}
	for _, c := range coins {
		n.coins[c.id()] = c
	}
	return n
}

func (n *node) handler() http.Handler {
	mux := http.NewServeMux()
	handle(mux, "sigint_send_aggregated_transactions", n.sendAggregated)
	handle(mux, "get_coins", n.getCoins)
	return mux
}

// checkCoins verifies that spends are of coins that are there, each spent once.
func (n *node) checkCoins(spends []spend) error {
	spent := map[hash]bool{}
	for i := range spends {
		s := &spends[i]
		if err := s.check(); err != nil {
			return fmt.Errorf("spend %d: %w", i, err)
		}
		id := s.Coin.id()
		if _, ok := n.coins[id]; !ok {
			return fmt.Errorf("spend %d: no such coin", i)
		}
		if spent[id] {
			return fmt.Errorf("spend %d: a coin is spent twice", i)
		}
		spent[id] = true
	}
	return nil
}

// check verifies a block, coins and signatures.
func (n *node) check(in *aggregated) (*distill.KeyedVerified, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.checkLocked(in)
}

func (n *node) checkLocked(in *aggregated) (*distill.KeyedVerified, error) {
	if in.ValidUntil < n.height+1 || in.ValidUntil > n.height+params.ValidFor {
		return nil, errors.New("the block comes too late, or too early")
	}
	if err := n.checkCoins(in.Spends); err != nil {
		return nil, err
	}
	b, err := in.batch()
	if err != nil {
		return nil, err
	}
	encoded, err := b.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return verifier.Verify(encoded)
}

type taken struct {
	Height uint64 `json:"height"`
	Root   hash   `json:"root"`
}

func (n *node) sendAggregated(_ context.Context, _ string, in *aggregated) (*taken, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	b, err := n.checkLocked(in)
	if err != nil {
		return nil, err
	}
	for i := range in.Spends {
		delete(n.coins, in.Spends[i].Coin.id())
		for _, c := range in.Spends[i].created() {
			n.coins[c.id()] = c
		}
	}
	n.height++
	return &taken{n.height, b.Root}, nil
}

type coinsOf struct {
	Keys []hexBytes `json:"pk"`
}

type coinsFound struct {
	Height uint64 `json:"height"`
	Coins  []coin `json:"coins"`
}

func (n *node) getCoins(_ context.Context, _ string, in *coinsOf) (*coinsFound, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	wanted := map[string]bool{}
	for _, k := range in.Keys {
		wanted[string(k)] = true
	}
	out := &coinsFound{Height: n.height, Coins: []coin{}}
	for _, c := range slices.Collect(maps.Values(n.coins)) {
		if wanted[string(c.Key)] {
			out.Coins = append(out.Coins, c)
		}
	}
	return out, nil
}
