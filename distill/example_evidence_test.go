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

// An aggregator shows one tree to some clients and another one to the others. Whoever has
// both proposals can show to anybody that it did.
func ExampleEvidence() {
	_, aggregator, err := ed25519.GenerateKey(nil)
	if err != nil {
		log.Fatal(err)
	}
	validator := bls.GenerateKey()
	proof, err := bls.ProofOfPossession.PopProve(validator)
	if err != nil {
		log.Fatal(err)
	}
	genesis := &distill.Genesis{
		Name:        "example",
		Aggregators: []distill.GenesisAggregator{{ID: 1, Key: [32]byte(aggregator.Public().(ed25519.PublicKey))}},
		Validators:  []distill.GenesisValidator{{Key: [48]byte(validator.PublicKey().Bytes()), Proof: [96]byte(proof.Bytes())}},
		Params:      distill.DefaultParams(),
	}

	propose := func(root [32]byte) distill.SignedProp {
		p := distill.Prop{Net: genesis.ID(), Dirver: 1, AggID: 1, Seq: 42, N: 100, Root: root, ValidUntil: 64}
		return distill.SignedProp{Prop: p, Signature: [64]byte(ed25519.Sign(aggregator, p.Bytes()))}
	}
	one, other := propose([32]byte{1}), propose([32]byte{2})

	file, err := distill.NewPropEvidence(one, other).MarshalBinary()
	if err != nil {
		log.Fatal(err)
	}
	var evidence distill.Evidence
	if err := evidence.UnmarshalBinary(file); err != nil {
		log.Fatal(err)
	}
	accused, err := evidence.Verify(genesis, nil)
	fmt.Println(evidence.Kind, "by", accused.Role, accused.ID, err)

	_, err = distill.NewPropEvidence(one, one).Verify(genesis, nil)
	fmt.Println(err)
	// Output:
	// two proposals by aggregator 1 <nil>
	// distill: statements don't contradict each other
}
