// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// What an attacker tried once, and what came of it.

// A copy of a good share with a ruined proof doesn't put the good one out of
// action, whoever is the first to arrive.
func TestRuinedCopyOfShare(t *testing.T) {
	small(t)
	d, shares := sharing(t, "small-a", 2, 3)
	p := d.PublicKey()
	r := request(t, p, "copy")
	good := []*SignatureShare{sign(t, r, shares[0]), sign(t, r, shares[1])}
	liar := clone(sign(t, r, shares[2]))
	liar.x = bytes.Clone(good[0].x)
	ruined := clone(good[0])
	ruined.c[0] ^= 1
	for _, given := range [][]*SignatureShare{
		{liar, ruined, good[0], good[1]},
		{liar, good[0], ruined, good[1]},
		{good[0], liar, ruined, good[0], good[1]},
	} {
		sig, bad, err := p.Combine(r, given...)
		if err != nil {
			t.Errorf("%v, %v", err, bad)
			continue
		}
		checkRaw(t, p, r, sig)
	}
}

// An even public exponent has no inverse to combine with.
func TestEvenExponent(t *testing.T) {
	small(t)
	d, _ := sharing(t, "small-a", 1, 1)
	p := *d.key
	p.e, p.arith = 2, nil
	if _, err := p.finish(); err == nil {
		t.Error("a record with e = 2")
	}
}

func TestRequestOfUnknownHash(t *testing.T) {
	small(t)
	d, _ := sharing(t, "small-a", 2, 3)
	for _, opts := range []crypto.SignerOpts{
		&rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthAuto},
		&rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash},
		&rsa.PSSOptions{SaltLength: 16},
		&rsa.PSSOptions{SaltLength: 16, Hash: crypto.Hash(99)},
		&SaltedPSS{},
		crypto.Hash(0),
	} {
		if _, err := NewRequest(d.key, make([]byte, 32), opts); err == nil {
			t.Errorf("%#v: accepted", opts)
		}
	}
}

// The epoch of a request belongs to its record: else one request has many IDs.
func TestRequestOfAnotherEpoch(t *testing.T) {
	small(t)
	d, shares := sharing(t, "small-a", 2, 3)
	r := request(t, d.key, "epoch")
	r.epoch++
	var ke *KeyError
	if _, err := shares[0].Sign(r); !errors.As(err, &ke) {
		t.Errorf("signed: %v", err)
	}
	if _, _, err := d.key.Combine(r); !errors.As(err, &ke) {
		t.Errorf("combined: %v", err)
	}
}

// A certificate with the record of a longer modulus in it.
func TestCertificateOfLongerModulus(t *testing.T) {
	withToys(t)
	_, shares := integerToy(t)
	p := refresh(t, shares, 1, 2).contribute(nil)
	acks, _ := p.receive()
	cert, err := Commit(p.parent, p.pr, p.cs, acks, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, _ := sharing(t, "small-a", 2, 3)
	evil := *cert
	evil.key = d.key
	evil = *reparse(t, &evil, new(Certificate))
	if _, err := evil.Verify(p.parent, nil); err == nil {
		t.Error("accepted")
	}
}

// A receiver that has acknowledged a record of a run doesn't refuse the run: its
// refusal would show to others that the record can't be committed.
func TestRefusalAfterAck(t *testing.T) {
	withToys(t)
	_, shares := integerToy(t)
	p := refresh(t, shares, 1, 3).contribute(nil)
	other, err := shares[2].Contribute(p.pr)
	if err != nil {
		t.Fatal(err)
	}
	s := shares[0]
	if _, err := s.Receive(p.keys[0], p.pr, p.cs, nil); err != nil {
		t.Fatal(err)
	}
	s = reparse(t, s, new(KeyShare))
	for name, cs := range map[string][]*Contribution{
		"two versions": append(slices.Clone(p.cs), other),
		"a bad one":    {p.cs[0], badFor(t, p, 1, 1)},
	} {
		_, err = s.Receive(p.keys[0], p.pr, cs, nil)
		var ce *CeremonyError
		if !errors.As(err, &ce) || ce.Index != 3 || ce.Refusal != nil || len(s.refused) != 0 {
			t.Errorf("%s: %v, refusal %v", name, err, ce)
		}
	}
	// It still acknowledges what it acknowledged.
	if _, err := s.Receive(p.keys[0], p.pr, p.cs, nil); err != nil {
		t.Error(err)
	}

	// So does a newcomer.
	_, old := modularToy(t)
	q := reshare(t, old, []int{1, 2, 4}, 2, "a", "b", "c").contribute(nil)
	k := q.keys[0]
	if _, _, err := k.Receive(q.parent, q.pr, q.cs, nil); err != nil {
		t.Fatal(err)
	}
	_, _, err = k.Receive(q.parent, q.pr, []*Contribution{q.cs[0], badFor(t, q, 1, 1), q.cs[2]}, nil)
	var ce *CeremonyError
	if !errors.As(err, &ce) || ce.Index != 2 || ce.Refusal != nil || k.refused {
		t.Errorf("a newcomer: %v", err)
	}
	if _, _, err := k.Receive(q.parent, q.pr, q.cs, nil); err != nil {
		t.Error(err)
	}
}

// badFor returns another version of contribution at of a play, signed too, with a
// wrong value for receiver j.
func badFor(t *testing.T, p *play, at, j int) *Contribution {
	t.Helper()
	pl, err := p.pr.plan(p.parent)
	if err != nil {
		t.Fatal(err)
	}
	opening := p.opening(pl, at, j)
	opening[len(opening)-openingSaltSize-1] ^= 1
	saved := p.cs
	defer func() { p.cs = saved }()
	p.cs = slices.Clone(p.cs)
	p.cs[at] = reparse(t, p.cs[at], new(Contribution))
	p.reseal(pl, at, j, opening)
	return p.cs[at]
}

// The certificate of one successor doesn't free a holder to acknowledge another.
func TestCertificateOfAnotherSuccessor(t *testing.T) {
	withToys(t)
	_, shares := integerToy(t)
	a := refresh(t, shares, 1, 3).contribute(nil)
	b := refresh(t, shares, 1, 2).contribute(nil)
	victim := reparse(t, shares[0], new(KeyShare))
	if _, err := victim.Receive(a.keys[0], a.pr, []*Contribution{a.cs[0], badFor(t, a, 1, 1)}, nil); err == nil || len(victim.refused) != 1 {
		t.Fatal(err)
	}
	acks, _ := b.receive()
	cert, err := Commit(b.parent, b.pr, b.cs, acks, nil)
	if err != nil {
		t.Fatal(err)
	}
	opts := &ReceiveOptions{Certificate: cert}
	if _, err := victim.Receive(a.keys[0], a.pr, a.cs, opts); err == nil {
		t.Error("a refused run is acknowledged on another run's certificate")
	}
	fresh := reparse(t, shares[2], new(KeyShare))
	fresh.pending = nil
	if _, err := fresh.Receive(a.keys[2], a.pr, a.cs, opts); err == nil {
		t.Error("a run is acknowledged although another is committed")
	}
	if _, err := fresh.Receive(b.keys[2], b.pr, b.cs, opts); err != nil {
		t.Error(err)
	}
}

// What was acknowledged is acknowledged again, without the evidence that was
// needed at first.
func TestAckAgain(t *testing.T) {
	withToys(t)
	_, shares := integerToy(t)
	a := refresh(t, shares, 1, 3).contribute(nil)
	b := refresh(t, shares, 1, 2).contribute(nil)
	s := shares[0]
	if _, err := s.Receive(a.keys[0], a.pr, a.cs, nil); err != nil {
		t.Fatal(err)
	}
	first, err := s.Receive(b.keys[0], b.pr, b.cs, &ReceiveOptions{InsecureSecond: true})
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Receive(b.keys[0], b.pr, b.cs, nil)
	if err != nil || !again.Equal(first) {
		t.Errorf("again: %v", err)
	}
}

// A contributor that shows a receiver one version and the judge another doesn't
// make the receiver a liar.
func TestFramedReceiver(t *testing.T) {
	withToys(t)
	_, shares := integerToy(t)
	p := refresh(t, shares, 1, 3).contribute(nil)

	// Another value, and another hash with it.
	bad := badFor(t, p, 1, 2)
	// The same part, which other commitments don't fit.
	b := reparse(t, p.cs[1], new(Contribution))
	x := new(big.Int).SetBytes(b.commitments[0])
	x.Mul(x, p.parent.v).Mod(x, p.parent.n).FillBytes(b.commitments[0])
	p.resign(b)

	for name, shown := range map[string]*Contribution{"another value": bad, "other commitments": b} {
		s := reparse(t, shares[1], new(KeyShare))
		_, err := s.Receive(p.keys[1], p.pr, []*Contribution{p.cs[0], shown}, nil)
		var ce *CeremonyError
		if !errors.As(err, &ce) || ce.Refusal == nil {
			t.Fatalf("%s: %v", name, err)
		}
		f := reparse(t, ce.Refusal, new(Refusal))
		if v, err := f.Judge(p.parent, p.pr, shown); err != nil || v != ContributorAtFault {
			t.Errorf("%s: %v, %v", name, v, err)
		}
		if v, err := f.Judge(p.parent, p.pr, p.cs[1]); err != nil || v != Undecided {
			t.Errorf("%s: judged by another version: %v, %v", name, v, err)
		}
	}
}

// A wiped share is of no use, and no harm.
func TestWipedShare(t *testing.T) {
	withToys(t)
	_, shares := integerToy(t)
	p := reshare(t, shares, []int{1, 2}, 2, "a", "b", "c").contribute(nil)
	acks, newcomers := p.receive()
	cert, err := Commit(p.parent, p.pr, p.cs, acks, nil)
	if err != nil {
		t.Fatal(err)
	}
	finished := newcomers[0]
	if _, err := finished.Finish(cert, p.parent, nil); err != nil {
		t.Fatal(err)
	}
	wiped := shares[0]
	wiped.Wipe()
	for name, s := range map[string]*KeyShare{"finished": finished, "wiped": wiped, "empty": new(KeyShare)} {
		if s.Check() == nil {
			t.Errorf("%s: Check succeeds", name)
		}
		if s.Equal(shares[1]) || shares[1].Equal(s) {
			t.Errorf("%s: equals a share", name)
		}
		if _, err := s.Sign(new(Request)); err == nil {
			t.Errorf("%s: signs", name)
		}
		if _, err := s.MarshalBinary(); err == nil {
			t.Errorf("%s: is written", name)
		}
	}
}

// No verb shows a secret, of a value either.
func TestValuesPrintNothing(t *testing.T) {
	withToys(t)
	_, shares := integerToy(t)
	k, err := shares[0].NewReceiver()
	if err != nil {
		t.Fatal(err)
	}
	secret := fmt.Sprint(uint64(shares[0].s[0]))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		for _, x := range []any{*shares[0], *k, []KeyShare{*shares[0]}, struct{ S KeyShare }{*shares[0]}} {
			s := fmt.Sprintf(verb, x)
			for _, leak := range []string{secret, fmt.Sprintf("%x", shares[0].s[0]), fmt.Sprint(k.run[:4]), fmt.Sprintf("%x", k.run[:4])} {
				if strings.Contains(s, strings.Trim(leak, "[]")) {
					t.Errorf("%s of %T shows %s", verb, x, leak)
				}
			}
		}
	}
}

// What a record gives away can be changed without changing the record.
func TestNoAliases(t *testing.T) {
	small(t)
	priv := privateKey(t, "small-a", 65537)
	d, shares, err := Deal(priv, 2, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := reparse(t, d.key, new(PublicKey))
	priv.N.SetInt64(0)
	for _, h := range d.key.Holders() {
		clear(h.Identity)
		clear(h.Encryption)
	}
	if b := d.key.encode(); !bytes.Equal(b, before.encoding) {
		t.Error("the record changed")
	}
	if err := shares[0].Check(); err != nil {
		t.Error(err)
	}
	cards := []*Receiver{}
	for _, name := range []string{"a", "b", "c"} {
		k, err := NewReceiver(name)
		if err != nil {
			t.Fatal(err)
		}
		cards = append(cards, card(t, k))
	}
	pr, err := ProposeReshare(d.key, []int{1, 2}, 2, cards)
	if err != nil {
		t.Fatal(err)
	}
	id := pr.ID()
	cards[0] = cards[1]
	if pr.ID() != id {
		t.Error("the proposal changed")
	}
}

// A holder doesn't get around what its share remembers by receiving like a newcomer.
func TestHolderAsNewcomer(t *testing.T) {
	withToys(t)
	_, shares := modularToy(t)
	var cards []*Receiver
	k, err := shares[0].NewReceiver()
	if err != nil {
		t.Fatal(err)
	}
	cards = append(cards, card(t, k))
	for _, name := range []string{"b", "c"} {
		k, err := NewReceiver(name)
		if err != nil {
			t.Fatal(err)
		}
		cards = append(cards, card(t, k))
	}
	pr, err := ProposeReshare(shares[0].key, []int{1, 2, 4}, 2, cards)
	if err != nil {
		t.Fatal(err)
	}
	p := (&play{t: t, shares: shares, pr: pr}).contribute(nil)
	if _, _, err := k.Receive(p.parent, pr, p.cs, nil); err == nil {
		t.Error("a holder received without its share")
	}
	if _, err := shares[0].Receive(k, pr, p.cs, nil); err != nil {
		t.Error(err)
	}
}
