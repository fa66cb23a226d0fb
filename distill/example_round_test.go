// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill_test

import (
	"crypto/ed25519"
	"fmt"
	"log"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
)

// Three clients have their messages executed by one validator. One of them is asleep when
// the batch is made, and becomes a straggler.
func ExampleAggregator() {
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}

	// The network: an aggregator and a validator.
	_, aggregatorKey, err := ed25519.GenerateKey(nil)
	must(err)
	validatorKey := bls.GenerateKey()
	proof, err := bls.ProofOfPossession.PopProve(validatorKey)
	must(err)
	genesis := &distill.Genesis{
		Name:        "example",
		Aggregators: []distill.GenesisAggregator{{ID: 1, Key: [32]byte(aggregatorKey.Public().(ed25519.PublicKey))}},
		Validators:  []distill.GenesisValidator{{Key: [48]byte(validatorKey.PublicKey().Bytes()), Proof: [96]byte(proof.Bytes())}},
		Params:      distill.DefaultParams(),
	}
	network, err := distill.NewNetwork(genesis)
	must(err)
	validator, err := distill.OpenValidator(distill.ValidatorConfig{Genesis: genesis, Key: validatorKey, Store: new(distill.MemStore)})
	must(err)

	// The clients register. They get the ids 0, 1 and 2.
	var keys []distill.ClientKeys
	registrations := &distill.DirectoryEntry{Net: network.ID()}
	for range 3 {
		_, ed, err := ed25519.GenerateKey(nil)
		must(err)
		k := distill.ClientKeys{Since: 1, BLS: bls.GenerateKey(), Ed: ed}
		change, err := distill.Register(network.ID(), k.BLS, k.Ed, 100)
		must(err)
		registrations.Changes = append(registrations.Changes, *change)
		keys = append(keys, k)
	}
	applied, err := validator.Apply(1, []distill.Entry{{Data: registrations.Bytes()}})
	must(err)
	certify := func(s distill.Statement, share *distill.Share) distill.Certificate {
		cert, _, err := network.Committee().Combine(s, []distill.Share{*share})
		must(err)
		return *cert
	}
	head := &distill.SignedHead{Hgt: applied.Hgt, Certificate: certify(applied.Hgt, applied.Share)}

	// Everybody opens a journal, and learns the height.
	aggregator, err := distill.OpenAggregator(distill.AggregatorConfig{
		Network: network, ID: 1, Key: aggregatorKey, Journal: new(distill.MemoryJournal), Views: validator.Directory().At,
	})
	must(err)
	view, err := validator.Directory().At(1)
	must(err)
	aggregator.SetView(view)
	_, err = aggregator.Tick(0)
	must(err)
	_, err = aggregator.HandleHead(0, head)
	must(err)
	var clients []*distill.Client
	for id, k := range keys {
		c, err := distill.OpenClient(distill.ClientConfig{Network: network, ID: uint64(id), Keys: k, Journal: new(distill.MemoryJournal)})
		must(err)
		_, err = c.HandleHead(0, head)
		must(err)
		clients = append(clients, c)
	}

	// They submit, the aggregator proposes, and those who are awake sign.
	for _, c := range clients {
		_, out, err := c.Submit(0, fmt.Appendf(nil, "hello from %d", c.ID()), 0)
		must(err)
		submission := out[0].(distill.SendSubmission).Submission
		_, err = aggregator.HandleSubmission(0, &submission)
		must(err)
	}
	var todo []distill.AggregatorAction
	for now := int64(0); now < 3000; now += 5 {
		actions, err := aggregator.Tick(now)
		must(err)
		todo = append(todo, actions...)
		for len(todo) > 0 {
			action := todo[0]
			todo = todo[1:]
			switch action := action.(type) {
			case distill.SendProposals:
				for i := range action.Len() {
					id, proposal := action.At(i)
					if id == 1 {
						continue // asleep
					}
					out, err := clients[id].HandleProposal(now, 1, &proposal)
					must(err)
					reduction := out[0].(distill.SendReduction).Reduction
					more, err := aggregator.HandleReduction(now, &reduction)
					must(err)
					todo = append(todo, more...)
				}
			case distill.Publish:
				fmt.Printf("a batch of %d messages\n", aggregator.Stats().Admitted)
				applied, err := validator.Apply(2, []distill.Entry{{Data: action.Encoded}})
				must(err)
				result := applied.Outcomes[0]
				must(result.Err)
				more, err := aggregator.HandleBatchReceipt(now, &distill.BatchReceipt{
					Seq: action.Seq, Results: result.Results,
					SignedRcpt: distill.SignedRcpt{Rcpt: result.Receipt.Rcpt, Certificate: certify(result.Receipt.Rcpt, result.Receipt.Share)},
				})
				must(err)
				todo = append(todo, more...)
			case distill.SendReceipts:
				for i := range action.Len() {
					receipt := action.At(i)
					out, err := clients[receipt.Result.ID].HandleReceipt(now, &receipt)
					must(err)
					settled := out[0].(distill.Settled)
					fmt.Printf("client %d: %v at height %d\n", settled.ID, settled.Outcome.Kind, settled.Outcome.Height)
					must(clients[settled.ID].Release(settled.Nonce))
				}
			}
		}
	}
	fmt.Printf("stragglers: %d\n", aggregator.Stats().Stragglers)
	// Output:
	// a batch of 3 messages
	// client 0: executed at height 2
	// client 1: executed at height 2
	// client 2: executed at height 2
	// stragglers: 1
}
