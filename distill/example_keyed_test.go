// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill_test

import (
	"fmt"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
)

// Three clients, known by nothing but their keys, get their messages into one batch. The
// last of them doesn't sign the root in time, and is in it by a signature of its own.
func ExampleKeyedVerifier() {
	net := distill.KeyedVerifier{Net: distill.NetworkID{1}, Params: distill.DefaultParams()}
	const notAfter = 100 // a height
	var secrets []*bls.SecretKey
	var messages []distill.KeyedMessage
	for _, payload := range []string{"spend coin 17", "spend coin 4", "spend coin 121"} {
		sk := bls.GenerateKey()
		secrets = append(secrets, sk)
		messages = append(messages, distill.KeyedMessage{
			Key: distill.KeyBytes(sk.PublicKey().Bytes()), NotAfter: notAfter, Payload: []byte(payload),
		})
	}

	// The aggregator proposes a tree, and shows everybody where its leaf is.
	round, err := net.NewRound(1, 1, 90, messages)
	if err != nil {
		fmt.Println(err)
		return
	}
	client := distill.KeyedClient{Net: net.Net, Params: net.Params, Head: 80}
	for i, m := range messages[:2] {
		p, err := round.Proposal(&m.Key)
		if err != nil {
			fmt.Println(err)
			return
		}
		sig, err := client.Sign(secrets[i], p, m.Payload, m.NotAfter)
		if err != nil {
			fmt.Println(err)
			return
		}
		if err := round.Add(&m.Key, sig); err != nil {
			fmt.Println(err)
			return
		}
	}
	late := distill.KeyedLeaf{
		NotAfter:    notAfter,
		PayloadHash: distill.KeyedPayloadHash(&messages[2].Key, messages[2].Payload),
	}
	own := late.Sub(net.Net).Digest()
	folded, err := bls.Augmented.Sign(secrets[2], own[:])
	if err != nil {
		fmt.Println(err)
		return
	}
	batch, err := round.Finish(folded)
	if err != nil {
		fmt.Println(err)
		return
	}
	encoded, err := batch.MarshalBinary()
	if err != nil {
		fmt.Println(err)
		return
	}

	// Whoever gets the batch verifies it.
	verified, err := net.Verify(encoded)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(verified.Len(), "messages,", len(verified.Stragglers), "of them late")

	encoded[len(encoded)/2] ^= 1
	_, err = net.Verify(encoded)
	fmt.Println(err != nil)
	// Output:
	// 3 messages, 1 of them late
	// true
}
