// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"slices"
	"testing"
)

func TestCommittee(t *testing.T) {
	w := newTown(t, 10, 3)
	c, err := NewCommittee(w.genesis)
	if err != nil {
		t.Fatal(err)
	}
	if c.Len() != 10 || c.Quorum() != 4 || c.Net() != w.net || c.Key(10) != nil || c.Key(-1) != nil {
		t.Fatal("another committee")
	}
	head := Hgt{Net: w.net, Height: 7}
	var shares []Share
	for _, i := range []int{9, 2, 5, 0, 7} {
		s, err := SignStatement(w.validators[i], i, head)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.VerifyShare(head, s); err != nil {
			t.Fatal(err)
		}
		shares = append(shares, *s)
	}
	good, bad, err := c.Combine(head, shares)
	if err != nil || len(bad) != 0 || !bytes.Equal(good.Bitmap, []byte{0xa5, 0x02}) {
		t.Fatalf("combine: %+v, %v, %v", good, bad, err)
	}
	if err := c.Verify(head, good); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Combine(head, shares[:4]); err != nil {
		t.Errorf("as many as needed: %v", err)
	}

	other := head
	other.Height++
	elsewhere := head
	elsewhere.Net[0] ^= 1
	edit := func(f func(*Certificate)) *Certificate {
		x := &Certificate{slices.Clone(good.Bitmap), good.Signature}
		f(x)
		return x
	}
	for _, x := range []struct {
		name string
		s    Statement
		cert *Certificate
		rule Rule
	}{
		{"another statement", other, good, RuleCertificate},
		{"another network", elsewhere, w.certify(t, elsewhere, 0, 1, 2, 3), RuleNetwork},
		{"one fewer than needed", head, w.certify(t, head, 0, 1, 2), RuleQuorum},
		{"nobody", head, &Certificate{Bitmap: make([]byte, 2)}, RuleQuorum},
		{"one more in the set", head, edit(func(x *Certificate) { x.Bitmap[0] |= 2 }), RuleCertificate},
		{"one fewer in the set", head, edit(func(x *Certificate) { x.Bitmap[1] = 0 }), RuleCertificate},
		{"no such validator", head, edit(func(x *Certificate) { x.Bitmap[1] |= 4 }), RuleBitmap},
		{"last bit", head, edit(func(x *Certificate) { x.Bitmap[1] |= 0x80 }), RuleBitmap},
		{"set too long", head, edit(func(x *Certificate) { x.Bitmap = append(x.Bitmap, 0) }), RuleBitmap},
		{"set too short", head, edit(func(x *Certificate) { x.Bitmap = x.Bitmap[:1] }), RuleBitmap},
		{"no set", head, edit(func(x *Certificate) { x.Bitmap = nil }), RuleBitmap},
		{"not a point", head, edit(func(x *Certificate) { x.Signature[9] ^= 1 }), RuleCertificate},
		{"identity", head, edit(func(x *Certificate) { x.Signature = [96]byte{0xc0} }), RuleCertificate},
		{"one share", head, edit(func(x *Certificate) { x.Signature = shares[0].Signature }), RuleCertificate},
	} {
		wantRule(t, x.name, c.Verify(x.s, x.cert), x.rule)
	}

	wantRule(t, "share of another validator", c.VerifyShare(head, &Share{1, shares[0].Signature}), RuleCertificate)
	wantRule(t, "share of no validator", c.VerifyShare(head, &Share{10, shares[0].Signature}), RuleValidator)
	wantRule(t, "share of the largest validator", c.VerifyShare(head, &Share{1<<32 - 1, shares[0].Signature}), RuleValidator)
	wantRule(t, "share of another statement", c.VerifyShare(other, &shares[0]), RuleCertificate)

	// Bad shares are left out and named; two of one validator count once.
	mixed := []Share{{10, shares[0].Signature}, shares[0], {1, shares[0].Signature}, shares[1], shares[1], shares[2], {5, [96]byte{}}, shares[3]}
	got, bad, err := c.Combine(head, mixed)
	if err != nil || !slices.Equal(bad, []int{0, 2, 6}) || c.Verify(head, got) != nil {
		t.Errorf("mixed shares: %v, %v", bad, err)
	}
	_, bad, err = c.Combine(head, mixed[:6])
	wantRule(t, "too few good ones", err, RuleQuorum)
	if !slices.Equal(bad, []int{0, 2}) {
		t.Errorf("bad ones: %v", bad)
	}
	_, _, err = c.Combine(head, []Share{shares[0], shares[0], shares[0], shares[0]})
	wantRule(t, "one validator four times", err, RuleQuorum)
	_, _, err = c.Combine(head, nil)
	wantRule(t, "no shares", err, RuleQuorum)
}

func TestVerifyLooks(t *testing.T) {
	w := newTown(t, 4, 1)
	c, err := NewCommittee(w.genesis)
	if err != nil {
		t.Fatal(err)
	}
	challenge := [32]byte{1, 2}
	answer := func(validator int, edit func(*Look)) SignedLook {
		k := Look{Net: w.net, Challenge: challenge, Height: uint64(40 + validator), ID: 5, Nonce: 6, NotAfter: 30, Code: LookNotExecuted}
		if edit != nil {
			edit(&k)
		}
		s, err := SignStatement(w.validators[validator], validator, k)
		if err != nil {
			t.Fatal(err)
		}
		return SignedLook{k, *s}
	}
	a, b := answer(0, nil), answer(3, nil)
	if err := c.VerifyLooks(challenge, 5, 6, 30, []SignedLook{a, b}); err != nil {
		t.Fatal(err)
	}
	moved := b
	moved.Look.Height++
	for _, x := range []struct {
		name  string
		looks []SignedLook
		rule  Rule
	}{
		{"one", []SignedLook{a}, RuleQuorum},
		{"one twice", []SignedLook{a, a}, RuleQuorum},
		{"one at two heights", []SignedLook{a, answer(0, func(k *Look) { k.Height++ })}, RuleQuorum},
		{"none", nil, RuleQuorum},
		{"an old challenge", []SignedLook{a, answer(1, func(k *Look) { k.Challenge[0] = 9 })}, RuleStatement},
		{"another id", []SignedLook{a, answer(1, func(k *Look) { k.ID++ })}, RuleStatement},
		{"another nonce", []SignedLook{a, answer(1, func(k *Look) { k.Nonce++ })}, RuleStatement},
		{"another last height", []SignedLook{a, answer(1, func(k *Look) { k.NotAfter++ })}, RuleStatement},
		{"another network", []SignedLook{a, answer(1, func(k *Look) { k.Net[3]++ })}, RuleStatement},
		{"changed", []SignedLook{a, moved}, RuleCertificate},
		{"another's", []SignedLook{a, {b.Look, Share{1, b.Share.Signature}}}, RuleCertificate},
		{"nobody's", []SignedLook{a, {b.Look, Share{4, b.Share.Signature}}}, RuleValidator},
	} {
		wantRule(t, x.name, c.VerifyLooks(challenge, 5, 6, 30, x.looks), x.rule)
	}
}
