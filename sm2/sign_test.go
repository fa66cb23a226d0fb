// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 gmsm's keys and points have no other arithmetic, and tests need bad ones.

package sm2

import (
	"errors"
	"math/big"
	"testing"

	"github.com/emmansun/gmsm/sm2"
)

func TestSignHinted(t *testing.T) {
	s := newSource(t)
	msg := []byte("message")
	keys := s.keys(10)
	cache := NewCache(1 << 20)
	for i := range 80 {
		priv := keys[min(i, len(keys)-1)]
		pub := &priv.PublicKey
		id := []byte{byte(' ' + i)}
		enc := Encoding(i % 5)
		opts := &Options{Encoding: enc, UID: NewUID(id)}
		if i%2 == 0 {
			opts.Cache = cache
		}
		sig, err := SignHinted(priv, msg, opts)
		if err != nil {
			t.Fatal(err)
		}
		b := NewBatch(opts)
		b.AddHinted(pub, msg, sig, HintEven)
		if err := b.Verify(); err != nil {
			t.Errorf("%v: %v", enc, err)
		}
		der, err := Convert(sig, enc, DER)
		if err != nil || !sm2.VerifyASN1WithSM2(pub, id, msg, der) {
			t.Errorf("%v: gmsm refuses it (%v)", enc, err)
		}
		digest, _ := Digest(pub, opts.UID, msg)
		if h, err := FindHint(pub, digest, der); err != nil || h != HintEven {
			t.Errorf("%v, %v", h, err)
		}
	}
	if cache.Len() == 0 {
		t.Error("no table in the cache")
	}
	// The defaults.
	priv := s.key()
	sig, err := SignHinted(priv, msg, nil)
	if err != nil || !sm2.VerifyASN1WithSM2(&priv.PublicKey, nil, msg, sig) {
		t.Error(err)
	}
	// Two signatures of one message have nothing in common.
	again, err := SignHinted(priv, msg, nil)
	if err != nil || string(again) == string(sig) {
		t.Errorf("signed alike (%v)", err)
	}
}

func TestSignHintedRefuses(t *testing.T) {
	s := newSource(t)
	msg := []byte("message")
	if _, err := SignHinted(nil, msg, nil); err == nil {
		t.Error("signed without a key")
	}
	if _, err := SignHinted(&sm2.PrivateKey{}, msg, nil); err == nil {
		t.Error("signed with an empty key")
	}
	priv := s.key()
	if _, err := SignHinted(priv, msg, &Options{Encoding: 77}); err == nil {
		t.Error("signed in an unknown encoding")
	}
	if _, err := SignHinted(priv, msg, &Options{UID: NewUID(make([]byte, maxUID+1))}); err == nil {
		t.Error("signed with an ID that is too long")
	}
	mixed := &sm2.PrivateKey{}
	mixed.PrivateKey = priv.PrivateKey
	mixed.PublicKey = s.key().PublicKey
	if _, err := SignHinted(mixed, msg, nil); err == nil {
		t.Error("signed with halves of different keys")
	}
	mixed.PublicKey.X = big.NewInt(1)
	if _, err := SignHinted(mixed, msg, nil); !errors.Is(err, ErrKey) {
		t.Errorf("signed with a public key off the curve: %v", err)
	}
	// n-1 has no (1+d)⁻¹.
	mixed.D = new(big.Int).Sub(bigN, big.NewInt(1))
	mixed.PublicKey = *base(mixed.D).public()
	if _, err := SignHinted(mixed, msg, nil); err == nil {
		t.Error("signed with n - 1")
	}
}
