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

// A wallet has keys, each for one coin, and signs for its own pending spends.
type wallet struct {
	name         string
	farmer, node *peer
	off, forge   bool // doesn't answer; answers with wrong signatures

	mu      sync.Mutex
	keys    map[chia.Key]*bls.SecretKey
	coins   []coin
	pending map[hash]*bundle
	seen    map[uint64]distill.Prop // by number, to notice two for one
	head    uint64
}

func newWallet(name string) *wallet {
	return &wallet{name: name, keys: map[chia.Key]*bls.SecretKey{}, pending: map[hash]*bundle{}, seen: map[uint64]distill.Prop{}}
}

func (w *wallet) handler() http.Handler {
	mux := http.NewServeMux()
	handle(mux, "sigint_sign_digest", w.signDigest)
	return mux
}

// newKey makes a key for one coin.
func (w *wallet) newKey() hexBytes {
	w.mu.Lock()
	defer w.mu.Unlock()
	sk := bls.GenerateKey()
	pk := sk.PublicKey().Bytes()
	w.keys[chia.Key(pk)] = sk
	return pk
}

// lifetime is how many blocks a spend may wait for.
const lifetime = 10

// pay spends a coin: a part to a key, and the rest to a new key of its own.
func (w *wallet) pay(ctx context.Context, to hexBytes, amount uint64) error {
	change := w.newKey()
	b, err := w.spend(to, amount, change)
	if err != nil {
		return err
	}
	return w.farmer.do(ctx, "push_tx", b, new(pushed))
}

func (w *wallet) spend(to hexBytes, amount uint64, change hexBytes) (*bundle, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.coins, func(c coin) bool { return c.Amount > amount })
	if i < 0 {
		return nil, errors.New("no coin is worth enough")
	}
	c := w.coins[i]
	s := spend{c, []output{{to, amount}, {change, c.Amount - amount}}, w.head + lifetime}
	sig, err := bls.Augmented.Sign(w.keys[chia.Key(c.Key)], s.message())
	if err != nil {
		return nil, err
	}
	b := &bundle{[]spend{s}, sig.Bytes()}
	w.coins = slices.Delete(w.coins, i, i+1)
	w.pending[b.name()] = b
	return b, nil
}

// refresh asks the node which coins are the wallet's.
func (w *wallet) refresh(ctx context.Context) error {
	w.mu.Lock()
	ask := coinsOf{}
	for k := range w.keys {
		ask.Keys = append(ask.Keys, k[:])
	}
	w.mu.Unlock()
	var got coinsFound
	if err := w.node.do(ctx, "get_coins", ask, &got); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.head = got.Height
	w.coins = got.Coins
	// What is still there hasn't been spent, and what isn't has been.
	there := map[hash]bool{}
	for _, c := range got.Coins {
		there[c.id()] = true
	}
	for name, b := range w.pending {
		if !slices.ContainsFunc(b.Spends, func(s spend) bool { return there[s.Coin.id()] }) || b.Spends[0].NotAfter < w.head {
			delete(w.pending, name)
		}
	}
	w.coins = slices.DeleteFunc(w.coins, func(c coin) bool {
		for _, b := range w.pending {
			if slices.ContainsFunc(b.Spends, func(s spend) bool { return s.Coin.id() == c.id() }) {
				return true
			}
		}
		return false
	})
	return nil
}

// signRequest is the call sigint_sign_digest: the statement that all sign, and where in
// the tree the leaves are of the bundle's keys.
type signRequest struct {
	Prop       hexBytes `json:"prop"`
	N          uint64   `json:"n"`
	BundleName hash     `json:"spend_bundle_name"`
	Proofs     []proof  `json:"proofs"`
}

type proof struct {
	Key      hexBytes `json:"pk"`
	Index    uint64   `json:"index"`
	Siblings []hash   `json:"siblings"`
}

type signResponse struct {
	Keys       []hexBytes `json:"pk"`
	Signatures []hexBytes `json:"sig"`
}

// signDigest signs the root of a block for all keys of a pending bundle, if all that the
// bundle wants is in the tree. The wallet computes its leaves from its own spends, and
// takes nothing from the farmer but the places.
func (w *wallet) signDigest(_ context.Context, _ string, in *signRequest) (*signResponse, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.off {
		return nil, errors.New("the wallet is locked")
	}
	b := w.pending[in.BundleName]
	if b == nil {
		return nil, errors.New("no such pending bundle")
	}
	var prop distill.Prop
	if err := prop.UnmarshalBinary(in.Prop); err != nil {
		return nil, err
	}
	if prop.N != in.N {
		return nil, errors.New("two different numbers of leaves")
	}
	if other, ok := w.seen[prop.Seq]; ok && other != prop {
		return nil, fmt.Errorf("the farmer proposed two blocks with number %d", prop.Seq)
	}
	leaves, err := leafMessages(b.Spends)
	if err != nil {
		return nil, err
	}
	if len(in.Proofs) != len(leaves) {
		return nil, fmt.Errorf("%d proofs for %d keys", len(in.Proofs), len(leaves))
	}
	client := distill.KeyedClient{Net: network, Params: params, Head: w.head + 1}
	out := &signResponse{}
	for i, m := range leaves {
		p := &in.Proofs[i]
		if !slices.Equal(p.Key, m.Key[:]) {
			return nil, errors.New("a proof for another key")
		}
		siblings := make([][32]byte, len(p.Siblings))
		for j, s := range p.Siblings {
			siblings[j] = s
		}
		sig, err := client.Sign(w.keys[chia.Key(m.Key)], &distill.KeyedProposal{Prop: prop, Index: p.Index, Siblings: siblings}, m.Payload, m.NotAfter)
		if err != nil {
			return nil, err
		}
		if w.forge {
			sig, _ = bls.Aggregate(sig, sig)
		}
		out.Keys, out.Signatures = append(out.Keys, m.Key[:]), append(out.Signatures, sig.Bytes())
	}
	w.seen[prop.Seq] = prop
	return out, nil
}
