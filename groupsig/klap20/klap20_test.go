// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package klap20

import (
	"errors"
	"fmt"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/tokentest"
	"github.com/undersign/undersign/internal/bls12381"
)

// Any number of members may be joining at once.
func TestConcurrentJoins(t *testing.T) {
	f := common.New("concurrent")
	var joins []*Join
	for i := range 5 {
		joins = append(joins, f.NewJoin(fmt.Sprint("member ", i)))
	}
	for _, j := range joins {
		if _, err := j.Finish(tokentest.Must(f.Issue(j.Request()))); err != nil {
			t.Fatal(err)
		}
	}
}

// Nobody's signatures: the points zero satisfy the pairing equation, and make R = 0.
func TestForgeries(t *testing.T) {
	f := group()
	g := f.G
	msg := []byte("forged")
	p := bls12381.G1Generator()
	one := new(bls12381.Scalar).SetOne()
	// c is what the verifier computes for R = 0.
	zero := &Signature{r: new(bls12381.G1)}
	zero.c.Set(g.challenge(msg, nil, zero, zero.r))
	zero.s.Random()
	// A good proof over points without a credential.
	var alpha bls12381.Scalar
	loose := &Signature{uu: *p, vv: *p}
	loose.ww.ScalarBaseMult(alpha.Random())
	k := new(bls12381.Scalar).Random()
	loose.r = new(bls12381.G1).ScalarBaseMult(k)
	bls12381.NormalizeG1(&loose.ww, loose.r)
	loose.c.Set(g.challenge(msg, nil, loose, loose.r))
	loose.s.Sub(k, new(bls12381.Scalar).Mul(&loose.c, &alpha))
	// A good credential of another message, without the proof.
	stolen := f.Sign("alice", "other")
	for name, sig := range map[string]*Signature{
		"nil":                nil,
		"empty":              {},
		"identity":           zero,
		"identity, no R":     {c: zero.c, s: zero.s},
		"uu identity":        {vv: *p, ww: *p, c: *one, s: *one},
		"vv identity":        {uu: *p, ww: *p, c: *one, s: *one},
		"ww identity":        {uu: *p, vv: *p, c: *one, s: *one},
		"generators":         {uu: *p, vv: *p, ww: *p},
		"generators, R":      {uu: *p, vv: *p, ww: *p, r: p},
		"without credential": loose,
		"without proof":      {uu: stolen.uu, vv: stolen.vv, ww: stolen.ww, c: *one, s: *one},
		"another message's":  stolen,
	} {
		if err := g.Verify(msg, sig, nil); !errors.Is(err, ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
		b := g.Batch(nil)
		b.Add(msg, sig)
		if err := b.Verify(); !errors.Is(err, ErrSignature) {
			t.Errorf("%s in a batch: %v", name, err)
		}
		for range 8 {
			b.Add([]byte("m"), f.Sign("bob", "m"))
		}
		if err := b.Verify(); !errors.Is(err, ErrSignature) {
			t.Errorf("%s in a longer batch: %v", name, err)
		}
		if _, err := f.Opener.Open(g, f.Opening, msg, sig, nil); !errors.Is(err, ErrSignature) {
			t.Errorf("%s opened: %v", name, err)
		}
	}
	raw := make([]byte, SignatureSize)
	raw[0], raw[48], raw[96] = 0xc0, 0xc0, 0xc0
	copy(raw[144:], zero.c.Bytes())
	if _, err := ParseSignature(raw); !errors.Is(err, ErrSignature) {
		t.Errorf("encoded identities: %v", err)
	}
	sig := f.Sign("alice", "forged")
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
	swapped.uu, swapped.ww = sig.ww, sig.uu
	rerandomised := *sig
	rerandomised.uu.Double(&sig.uu)
	rerandomised.vv.Double(&sig.vv)
	rerandomised.ww.Double(&sig.ww)
	for _, bad := range []*Signature{&swapped, &rerandomised} {
		if f.G.Verify([]byte("m"), bad, nil) == nil {
			t.Error("a changed signature verifies")
		}
	}
}
