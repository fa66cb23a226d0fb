// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"crypto/ed25519"
	"errors"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// Who signed knows its token, and so can prove that a signature fits the registration
// point, by which a record of an accomplice says that this one signed. The opener
// alone makes openings, of records that it accepted; and none of its own that the
// proof doesn't fit.
func TestOpeningOfAnother(t *testing.T) {
	g, k := testGroup()
	record := func(member string, w uint64) (*join.Record, ed25519.PublicKey) {
		p := new(bls12381.G1).ScalarBaseMult(new(bls12381.Scalar).SetUint64(w))
		r := &join.Record{Scheme: "test", GroupID: g.ID, Member: member, Point: p.Bytes()}
		if err := r.Sign(ed25519.NewKeyFromSeed([]byte("a seed that is 32 bytes long " + member))); err != nil {
			t.Fatal(err)
		}
		return r, r.Key
	}
	register := join.NewRegister("test", g.ID, 0)
	ada, adaKey := record("ada", 8)
	if err := k.Add(g, register, ada, tokenOf(8)); err != nil {
		t.Fatal(err)
	}
	target := targetOf(g, 8)
	o, err := k.Open(g, register, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.VerifyOpening(target, o, adaKey, nil); err != nil {
		t.Fatal(err)
	}
	bob, bobKey := record("bob", 8)
	swapped := *o
	swapped.record = *bob

	own := swapped // proved by ada, and signed by anybody
	point, err := decodePoint(bob)
	if err != nil {
		t.Fatal(err)
	}
	items, pairs := g.statement(target, &Points{*bls12381.G1Generator(), *point}, nil)
	proof, err := sigma.ProveHom(transcript.DST("test", "open"), items, pairs, tokenOf(8))
	if err != nil {
		t.Fatal(err)
	}
	own.proof = *proof
	msg, err := g.openMessage(target, &own, nil)
	if err != nil {
		t.Fatal(err)
	}
	own.sig = NewKey(&[SeedSize]byte{9}).Sign(msg)

	other, otherKey := record("eve", 9) // the opener lies
	lie := *o
	lie.record = *other
	if msg, err = g.openMessage(target, &lie, nil); err != nil {
		t.Fatal(err)
	}
	lie.sig = k.Sign(msg)
	unsigned := *o
	unsigned.sig = nil
	for what, c := range map[string]struct {
		o   *Opening
		key ed25519.PublicKey
	}{
		"another record":        {&swapped, bobKey},
		"made by the signer":    {&own, bobKey},
		"another point":         {&lie, otherKey},
		"without the signature": {&unsigned, adaKey},
	} {
		if g.VerifyOpening(target, c.o, c.key, nil) == nil {
			t.Errorf("%s: it names %s", what, c.o.Member())
		}
	}
	if _, err := unsigned.MarshalBinary(); err == nil {
		t.Error("encoded without the signature")
	}
}

// A verifier that forgets to say what time it is doesn't use a list for ever, not
// even one that holds from 1970 on.
func TestListWithoutClock(t *testing.T) {
	g, k := testGroup()
	g.Opener = k.Public()
	l, err := g.sign(Terms{Expires: 1000}, nil, k.sign)
	if err != nil {
		t.Fatal(err)
	}
	for _, now := range []int64{-1, 0, 1001} {
		var stale *StaleError
		if err := l.Fresh(g, now, 0); !errors.As(err, &stale) {
			t.Errorf("at %d: %v", now, err)
		}
	}
	if err := l.Fresh(g, 1, 0); err != nil {
		t.Error(err)
	}
}
