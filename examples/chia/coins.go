// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/chia"
)

// A coin belongs to a key until it is spent. Its id is a hash of all that it is.
type coin struct {
	Parent hash     `json:"parent"`
	Key    hexBytes `json:"pk"`
	Amount uint64   `json:"amount"`
}

func (c *coin) id() hash {
	h := sha256.New()
	h.Write(c.Parent[:])
	h.Write(c.Key)
	h.Write(binary.BigEndian.AppendUint64(nil, c.Amount))
	return hash(h.Sum(nil))
}

// An output is a coin that a spend makes.
type output struct {
	Key    hexBytes `json:"pk"`
	Amount uint64   `json:"amount"`
}

// A spend uses a coin up. It has no signature of its own, and may be in no block after
// NotAfter.
type spend struct {
	Coin     coin     `json:"coin"`
	Outputs  []output `json:"outputs"`
	NotAfter uint64   `json:"not_after"`
}

// genesisChallenge names the network in every message, so that no other takes its spends.
var genesisChallenge = sha256.Sum256([]byte("a model of chia"))

// message is what the coin's key has to sign: the outputs' hash, the coin's id and the
// network's, as AGG_SIG_ME has it.
func (s *spend) message() []byte {
	h := sha256.New()
	for _, o := range s.Outputs {
		h.Write(o.Key)
		h.Write(binary.BigEndian.AppendUint64(nil, o.Amount))
	}
	id := s.Coin.id()
	return append(append(h.Sum(nil), id[:]...), genesisChallenge[:]...)
}

// created returns the coins that a spend makes.
func (s *spend) created() []coin {
	var list []coin
	for _, o := range s.Outputs {
		list = append(list, coin{s.Coin.id(), o.Key, o.Amount})
	}
	return list
}

// check verifies what needs no other spends.
func (s *spend) check() error {
	if len(s.Coin.Key) != bls.PublicKeySize {
		return errors.New("a coin without a key")
	}
	if len(s.Outputs) == 0 || len(s.Outputs) > 16 {
		return fmt.Errorf("%d outputs", len(s.Outputs))
	}
	left := s.Coin.Amount
	for _, o := range s.Outputs {
		if len(o.Key) != bls.PublicKeySize {
			return errors.New("an output without a key")
		}
		if o.Amount == 0 || o.Amount > left {
			return errors.New("more is paid than there is, or nothing")
		}
		left -= o.Amount
	}
	made := map[hash]bool{}
	for _, c := range s.created() {
		if made[c.id()] {
			return errors.New("two outputs are one coin")
		}
		made[c.id()] = true
	}
	return nil
}

// pairs returns what a list of spends asks to be signed.
func pairs(spends []spend) []chia.Pair {
	list := make([]chia.Pair, len(spends))
	for i := range spends {
		list[i] = chia.Pair{Key: chia.Key(spends[i].Coin.Key), Msg: spends[i].message()}
	}
	return list
}

// A bundle is spends with the sum of their signatures, as wallets send them today.
type bundle struct {
	Spends    []spend  `json:"coin_spends"`
	Signature hexBytes `json:"aggregated_signature"`
}

// name is how a bundle is called: by the hash of what it asks to be signed.
func (b *bundle) name() hash {
	h := sha256.New()
	for _, p := range pairs(b.Spends) {
		h.Write(p.Key[:])
		h.Write(p.Msg)
	}
	return hash(h.Sum(nil))
}
