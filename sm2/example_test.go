// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2_test

import (
	"crypto/rand"
	"errors"
	"fmt"

	gmsm "github.com/emmansun/gmsm/sm2"

	"github.com/undersign/undersign/sm2"
)

func Example() {
	priv, err := gmsm.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	b := sm2.NewBatch(nil)
	for i := range 1000 {
		msg := fmt.Appendf(nil, "payment %d", i)
		sig, err := priv.Sign(rand.Reader, msg, gmsm.DefaultSM2SignerOpts)
		if err != nil {
			panic(err)
		}
		if i == 123 || i == 777 {
			msg = []byte("payment to somebody else")
		}
		b.Add(&priv.PublicKey, msg, sig)
	}
	var bad *sm2.BatchError
	if errors.As(b.Verify(), &bad) {
		fmt.Println(bad.Bad)
	}
	// Output: [123 777]
}

// Verify a stream in batches that share the tables of recurring keys.
func ExampleCache() {
	cache := sm2.NewCache(32 << 20)
	b := sm2.NewBatch(&sm2.Options{Cache: cache, Encoding: sm2.Raw64})
	priv, err := gmsm.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	for range 3 {
		for range 200 {
			sig, err := sm2.SignHinted(priv, []byte("block"), &sm2.Options{Encoding: sm2.Raw64})
			if err != nil {
				panic(err)
			}
			b.Add(&priv.PublicKey, []byte("block"), sig)
		}
		fmt.Println(b.Len(), b.Verify(), cache.Len())
		b.Reset()
	}
	// Output:
	// 200 <nil> 1
	// 200 <nil> 1
	// 200 <nil> 1
}

// Signatures of many keys are verified together if each has a hint, or all signers
// use SignHinted.
func ExampleSignHinted() {
	b := sm2.NewBatch(&sm2.Options{Hint: sm2.HintEven})
	for i := range 128 {
		priv, err := gmsm.GenerateKey(rand.Reader)
		if err != nil {
			panic(err)
		}
		msg := fmt.Appendf(nil, "vote of %d", i)
		sig, err := sm2.SignHinted(priv, msg, nil)
		if err != nil {
			panic(err)
		}
		b.Add(&priv.PublicKey, msg, sig)
	}
	fmt.Println(b.Len(), b.Verify())
	// Output: 128 <nil>
}

// Items may differ in encoding, ID and what was signed.
func ExampleBatch_AddItem() {
	priv, err := gmsm.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	// What OpenSSL signs with when it is given no ID.
	uid := sm2.NewUID(nil)
	digest, err := sm2.Digest(&priv.PublicKey, uid, []byte("message"))
	if err != nil {
		panic(err)
	}
	sig, err := priv.Sign(rand.Reader, digest, nil)
	if err != nil {
		panic(err)
	}
	raw, err := sm2.Convert(sig, sm2.DER, sm2.Raw64)
	if err != nil {
		panic(err)
	}
	b := sm2.NewBatch(nil)
	b.AddItem(sm2.Item{PublicKey: &priv.PublicKey, UID: &uid, Message: []byte("message"), Signature: sig})
	b.AddItem(sm2.Item{PublicKey: &priv.PublicKey, Digest: digest, Signature: raw, Encoding: sm2.Raw64})
	b.AddItem(sm2.Item{PublicKey: &priv.PublicKey, Message: []byte("message"), Signature: sig}) // by the default ID
	b.AddItem(sm2.Item{PublicKey: &priv.PublicKey, Digest: digest, Signature: raw})             // not DER
	fmt.Println(badItems(b.Verify()))
	// Output: [2 3]
}

func badItems(err error) []int {
	var bad *sm2.BatchError
	if errors.As(err, &bad) {
		return bad.Bad
	}
	return nil
}

// A verifier that has verified a signature once stores its hint for others.
func ExampleFindHint() {
	priv, err := gmsm.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	digest, err := sm2.Digest(&priv.PublicKey, sm2.UID{}, []byte("message"))
	if err != nil {
		panic(err)
	}
	sig, err := priv.Sign(rand.Reader, digest, nil)
	if err != nil {
		panic(err)
	}
	hint, err := sm2.FindHint(&priv.PublicKey, digest, sig)
	fmt.Println(hint == sm2.HintEven || hint == sm2.HintOdd, err)
	sig[20] ^= 1
	_, err = sm2.FindHint(&priv.PublicKey, digest, sig)
	fmt.Println(errors.Is(err, sm2.ErrSignature))
	// Output:
	// true <nil>
	// true
}
