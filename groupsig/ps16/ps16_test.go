// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

import (
	"errors"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/tokentest"
	"github.com/undersign/undersign/internal/bls12381"
)

func TestSchnorrJoin(t *testing.T) {
	f := common.New("schnorr")
	c, err := f.Issuer.Invite(f.Sessions, "dave", tokentest.LongTermPublic("dave"), Schnorr, now, 60)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Issuer.Invite(f.Sessions, "erin", tokentest.LongTermPublic("erin"), Schnorr, now, 60); err == nil {
		t.Error("two Schnorr sessions are open")
	}
	j, err := NewJoin(f.G, f.G.ID(), c, "dave", tokentest.LongTerm("dave"))
	if err != nil {
		t.Fatal(err)
	}
	cred, err := f.Issuer.Issue(f.G, f.Sessions, f.Register, j.Request(), now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Finish(cred); err != nil {
		t.Fatal(err)
	}
}

// Nobody's signatures: the points zero make R = 1 whatever c and s are.
func TestForgeries(t *testing.T) {
	g := group().G
	msg := []byte("forged")
	p := bls12381.G1Generator()
	one := new(bls12381.Scalar).SetOne()
	// c is what the verifier computes for R = 1.
	zero := new(Signature)
	zero.c.Set(g.challengeItems(msg, nil, zero).GT("R", new(bls12381.GT)).Challenge(dstSign))
	zero.s.Random()
	// A good proof of a secret, over points that the issuer has nothing to do with.
	var loose Signature
	var sk, k bls12381.Scalar
	var r bls12381.GT
	loose.s1.ScalarBaseMult(k.Random())
	loose.s2.ScalarBaseMult(k.Random())
	bls12381.NormalizeG1(&loose.s1, &loose.s2)
	r.ExpVarTime(r.PairVarTime(&loose.s1, g.k.IssuerY()), k.Random())
	loose.c.Set(g.challengeItems(msg, nil, &loose).GT("R", &r).Challenge(dstSign))
	loose.s.Sub(&k, new(bls12381.Scalar).Mul(&loose.c, sk.Random()))
	half := &Signature{s1: *p}
	half.c.Set(zero.c.Set(&zero.c))
	for name, sig := range map[string]*Signature{
		"nil":            nil,
		"empty":          {},
		"never joined":   &loose,
		"identity":       zero,
		"s2 identity":    half,
		"s1 identity":    {s2: *p, c: *one, s: *one},
		"generators":     {s1: *p, s2: *p},
		"generators c=1": {s1: *p, s2: *p, c: *one},
		"generators s=1": {s1: *p, s2: *p, s: *one},
	} {
		if err := g.Verify(msg, sig, nil); !errors.Is(err, ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
		b := g.Batch(nil)
		b.Add(msg, sig)
		if err := b.Verify(); !errors.Is(err, ErrSignature) {
			t.Errorf("%s in a batch: %v", name, err)
		}
		if _, err := group().Opener.Open(g, group().Opening, msg, sig, nil); !errors.Is(err, ErrSignature) {
			t.Errorf("%s opened: %v", name, err)
		}
	}
	raw := make([]byte, SignatureSize)
	raw[0], raw[48] = 0xc0, 0xc0
	copy(raw[96:], zero.c.Bytes())
	if _, err := ParseSignature(raw); !errors.Is(err, ErrSignature) {
		t.Errorf("encoded identities: %v", err)
	}
	// c = 0 needs H(...) = 0; a proof for chosen R and s1 with c of another R fails.
	sig := group().Sign("alice", "forged")
	sig.c.SetZero()
	if g.Verify(msg, sig, nil) == nil {
		t.Error("c = 0 verifies")
	}
}

// What is made of a member's points, without the secret, is no signature.
func TestChangedPoints(t *testing.T) {
	f := group()
	sig := f.Sign("alice", "m")
	swapped := *sig
	swapped.s1, swapped.s2 = sig.s2, sig.s1
	rerandomised := *sig
	rerandomised.s1.Double(&sig.s1)
	rerandomised.s2.Double(&sig.s2)
	for _, bad := range []*Signature{&swapped, &rerandomised} {
		if f.G.Verify([]byte("m"), bad, nil) == nil {
			t.Error("a changed signature verifies")
		}
	}
}
