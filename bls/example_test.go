// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls_test

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/undersign/undersign/bls"
)

func Example() {
	key := bls.GenerateKey()
	msg := []byte("hello")
	sig, err := bls.Basic.Sign(key, msg)
	if err != nil {
		panic(err)
	}
	fmt.Println(bls.Basic.Verify(key.PublicKey(), msg, sig))
	fmt.Println(bls.Basic.Verify(key.PublicKey(), []byte("hullo"), sig))
	// Output:
	// <nil>
	// bls: invalid signature: it isn't that of these keys and messages
}

// Many keys, each registered with a proof, sign one message.
func ExampleScheme_FastAggregateVerify() {
	const scheme = bls.ProofOfPossession
	msg := []byte("block 17")
	var keys []*bls.ProvenKey
	var sigs []*bls.Signature
	for range 3 {
		sk := bls.GenerateKey()
		proof, err := scheme.PopProve(sk) // sent with the public key
		if err != nil {
			panic(err)
		}
		proven, err := scheme.PopVerify(sk.PublicKey(), proof)
		if err != nil {
			panic(err)
		}
		sig, err := scheme.Sign(sk, msg)
		if err != nil {
			panic(err)
		}
		keys, sigs = append(keys, proven), append(sigs, sig)
	}
	sum, err := bls.Aggregate(sigs...)
	if err != nil {
		panic(err)
	}
	fmt.Println(len(sum.Bytes()), "bytes:", scheme.FastAggregateVerify(keys, msg, sum))
	// Output: 96 bytes: <nil>
}

// Chia's wallets derive keys from a seed, and its blocks have one signature.
func ExampleScheme_AggregateVerify() {
	master, err := bls.Chia.Master(make([]byte, 32))
	if err != nil {
		panic(err)
	}
	var keys []*bls.PublicKey
	var msgs [][]byte
	var sigs []*bls.Signature
	for i := range uint32(2) {
		sk, err := bls.Chia.Path(master, 12381, 8444, 2, i)
		if err != nil {
			panic(err)
		}
		msg := []byte("a coin is spent")
		sig, err := bls.Augmented.Sign(sk, msg)
		if err != nil {
			panic(err)
		}
		keys, msgs, sigs = append(keys, sk.PublicKey()), append(msgs, msg), append(sigs, sig)
	}
	sum, err := bls.Aggregate(sigs...)
	if err != nil {
		panic(err)
	}
	fmt.Println(bls.Augmented.AggregateVerify(keys, msgs, sum))
	// Output: <nil>
}

// Keys without proofs sign one digest.
func ExampleScheme_BDNAggregate() {
	digest := sha256.Sum256([]byte("block 17"))
	var keys []*bls.PublicKey
	var sigs []*bls.Signature
	for range 3 {
		sk := bls.GenerateKey()
		sig, err := bls.Basic.Sign(sk, digest[:])
		if err != nil {
			panic(err)
		}
		keys, sigs = append(keys, sk.PublicKey()), append(sigs, sig)
	}
	sum, err := bls.Basic.BDNAggregate(keys, digest, sigs)
	if err != nil {
		panic(err)
	}
	fmt.Println(bls.Basic.BDNVerify(keys, digest, sum))
	// Output: <nil>
}

// Independent signatures, one of which is bad.
func ExampleBatch() {
	b := bls.NewBatch(bls.Basic)
	for i := range 5 {
		sk := bls.GenerateKey()
		msg := fmt.Appendf(nil, "message %d", i)
		sig, err := bls.Basic.Sign(sk, msg)
		if err != nil {
			panic(err)
		}
		if i == 3 {
			msg = []byte("another")
		}
		b.Add(sk.PublicKey(), msg, sig)
	}
	err := b.Verify()
	var bad *bls.BatchError
	if errors.As(err, &bad) {
		fmt.Println(bad.Bad)
	}
	// Output: [3]
}

// The list of a committee, of which some have signed.
func ExampleKeys() {
	const scheme = bls.ProofOfPossession
	var committee bls.Keys
	var sigs []*bls.Signature
	for range 4 {
		sk := bls.GenerateKey()
		proof, err := scheme.PopProve(sk)
		if err != nil {
			panic(err)
		}
		proven, err := scheme.PopVerify(sk.PublicKey(), proof)
		if err != nil {
			panic(err)
		}
		if err := committee.Add(proven); err != nil {
			panic(err)
		}
		sig, err := scheme.Sign(sk, []byte("yes"))
		if err != nil {
			panic(err)
		}
		sigs = append(sigs, sig)
	}
	sum, err := bls.Aggregate(sigs[0], sigs[2], sigs[3])
	if err != nil {
		panic(err)
	}
	key, err := committee.Sum([]int{0, 2, 3})
	if err != nil {
		panic(err)
	}
	fmt.Println(scheme.Verify(key.PublicKey(), []byte("yes"), sum))
	// Output: <nil>
}

func ExampleScheme_PopVerifyBatch() {
	const scheme = bls.ProofOfPossession
	var keys []*bls.PublicKey
	var proofs []*bls.Signature
	for range 3 {
		sk := bls.GenerateKey()
		proof, err := scheme.PopProve(sk)
		if err != nil {
			panic(err)
		}
		keys, proofs = append(keys, sk.PublicKey()), append(proofs, proof)
	}
	proofs[1] = proofs[0]
	proven, err := scheme.PopVerifyBatch(keys, proofs)
	fmt.Println(proven[0] != nil, proven[1] != nil, proven[2] != nil)
	fmt.Println(err)
	// Output:
	// true false true
	// bls: 1 of 3 keys are bad, the first of them number 1
}

func ExampleDerivation() {
	seed := make([]byte, 32)
	for _, d := range []bls.Derivation{bls.EIP2333, bls.Chia} {
		master, err := d.Master(seed)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%v %.16s\n", d, master.PublicKey().String())
	}
	// Output:
	// EIP2333 a695ad325dfc7e11
	// Chia 85695fcbc06cc4c4
}
