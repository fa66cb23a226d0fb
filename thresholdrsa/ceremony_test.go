// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto/ed25519"
	"encoding"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/undersign/undersign/internal/modexp"
)

// reparse encodes x, decodes it into y, and checks that the encoding is canonical.
func reparse[T interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}](t *testing.T, x, y T) T {
	t.Helper()
	b, err := x.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := y.UnmarshalBinary(b); err != nil {
		t.Fatalf("%T: %v", x, err)
	}
	if b2, err := y.MarshalBinary(); err != nil || !bytes.Equal(b, b2) {
		t.Fatalf("%T: encoding changed: %v", x, err)
	}
	return y
}

// A play is a ceremony in progress, in which the test is everybody.
type play struct {
	t      *testing.T
	parent *PublicKey
	pr     *Proposal
	shares []*KeyShare    // of the parent epoch
	keys   []*ReceiverKey // whose cards are in the proposal
	cs     []*Contribution
}

func identity(s *KeyShare) ed25519.PublicKey { return s.identity.Public().(ed25519.PublicKey) }

// contribute makes all contributions, with the given coefficients if there are any.
func (p *play) contribute(coeffs [][]modexp.Nat) *play {
	p.t.Helper()
	p.parent = p.shares[0].key
	pl, err := p.pr.plan(p.parent)
	if err != nil {
		p.t.Fatal(err)
	}
	for at, i := range p.pr.contributors {
		var c *Contribution
		if coeffs == nil {
			c, err = p.shares[i-1].Contribute(p.pr)
		} else {
			c, err = pl.contribute(p.shares[i-1], coeffs[at])
		}
		if err != nil {
			p.t.Fatal(err)
		}
		p.cs = append(p.cs, reparse(p.t, c, new(Contribution)))
	}
	return p
}

// keyOf returns the receiver key of an identity, if its card is in the proposal.
func (p *play) keyOf(id ed25519.PublicKey) *ReceiverKey {
	for _, k := range p.keys {
		if bytes.Equal(k.identity.Public().(ed25519.PublicKey), id) {
			return k
		}
	}
	return nil
}

// receive lets every receiver take its share. provisional are those of newcomers.
func (p *play) receive() (acks []*Ack, provisional []*KeyShare) {
	p.t.Helper()
	holders := map[string]bool{}
	for _, s := range p.shares {
		holders[string(identity(s))] = true
		if p.pr.receiverOf(identity(s)) == 0 {
			continue
		}
		ack, err := s.Receive(p.keyOf(identity(s)), p.pr, p.cs, nil)
		if err != nil {
			p.t.Fatal(err)
		}
		acks = append(acks, reparse(p.t, ack, new(Ack)))
	}
	for _, k := range p.keys {
		if holders[string(k.identity.Public().(ed25519.PublicKey))] {
			continue
		}
		s, ack, err := k.Receive(p.parent, p.pr, p.cs, nil)
		if err != nil {
			p.t.Fatal(err)
		}
		acks, provisional = append(acks, ack), append(provisional, s)
	}
	return acks, provisional
}

// finish plays an honest ceremony to its end and returns the new shares.
func (p *play) finish(coeffs [][]modexp.Nat) []*KeyShare {
	t := p.t
	t.Helper()
	p.contribute(coeffs)
	acks, provisional := p.receive()
	cert, err := Commit(p.parent, p.pr, p.cs, acks, nil)
	if err != nil {
		t.Fatal(err)
	}
	cert = reparse(t, cert, new(Certificate))
	out := make([]*KeyShare, len(p.pr.receivers))
	for _, s := range append(p.shares, provisional...) {
		s = reparse(t, s, new(KeyShare))
		next, err := s.Finish(cert, p.parent, nil)
		if err != nil {
			t.Fatal(err)
		}
		if next != nil {
			out[next.index-1] = next
		}
		if _, err := s.MarshalBinary(); err == nil {
			t.Error("the old share survived the ceremony")
		}
	}
	for i, s := range out {
		if s == nil {
			t.Fatalf("receiver %d got no share", i+1)
		}
		if err := s.Check(); err != nil {
			t.Error(err)
		}
		if natBig(s.s).Cmp(s.key.smax) >= 0 {
			t.Errorf("share %d isn't below Smax", s.index)
		}
	}
	return out
}

func refresh(t *testing.T, shares []*KeyShare, contributors ...int) *play {
	t.Helper()
	p := &play{t: t, shares: shares}
	var cards []*Receiver
	for _, s := range shares {
		k, err := s.NewReceiver()
		if err != nil {
			t.Fatal(err)
		}
		p.keys = append(p.keys, reparse(t, k, new(ReceiverKey)))
		cards = append(cards, card(t, k))
	}
	var err error
	if p.pr, err = ProposeRefresh(shares[0].key, contributors, cards...); err != nil {
		t.Fatal(err)
	}
	p.pr = reparse(t, p.pr, new(Proposal))
	return p
}

func card(t *testing.T, k *ReceiverKey) *Receiver {
	t.Helper()
	r, err := k.Receiver()
	if err != nil {
		t.Fatal(err)
	}
	return reparse(t, r, new(Receiver))
}

// reshare proposes shares for newcomers with the given names.
func reshare(t *testing.T, shares []*KeyShare, contributors []int, k int, names ...string) *play {
	t.Helper()
	p := &play{t: t, shares: shares}
	var cards []*Receiver
	for _, name := range names {
		k, err := NewReceiver(name)
		if err != nil {
			t.Fatal(err)
		}
		p.keys = append(p.keys, k)
		cards = append(cards, card(t, k))
	}
	var err error
	if p.pr, err = ProposeReshare(shares[0].key, contributors, k, cards); err != nil {
		t.Fatal(err)
	}
	p.pr = reparse(t, p.pr, new(Proposal))
	return p
}

func TestKnownAnswerRefresh(t *testing.T) {
	withToys(t)
	_, shares := integerToy(t)
	old := reparse(t, shares[0], new(KeyShare))
	p := refresh(t, shares, 1, 3)
	next := p.finish([][]modexp.Nat{nats(5555), nats(7777)})
	eqInts(t, "s'", secrets(next), 4149289, 5162624, 6175959)
	eqInts(t, "v'_i", next[0].key.vi, 112827, 101516, 1369949)
	sigs := proofs(t, next, 31337)
	combineAll(t, next[0].key, sigs, 31337, 1072360)

	// An old share with a new one, told that it is of the same epoch.
	stale, err := old.prove(big.NewInt(31337))
	if err != nil {
		t.Fatal(err)
	}
	if got := next[0].key.combine(big.NewInt(31337), []*SignatureShare{stale, sigs[1]}); got != nil {
		t.Errorf("s_1 with s'_2 combines to %x", got)
	}
	if e := next[0].key.verifyProof(big.NewInt(31337), stale); e == nil {
		t.Error("the proof of an old share holds under the new record")
	}
	if e := next[0].key.checkShare([32]byte{}, stale); e == nil || !strings.Contains(e.Reason, "epoch 1") {
		t.Errorf("an old share: %v", e)
	}
}

func TestKnownAnswerReshare(t *testing.T) {
	withToys(t)
	_, shares := modularToy(t)
	p := reshare(t, shares, []int{1, 2, 4}, 2, "a", "b", "c")
	pl, err := p.pr.plan(shares[0].key)
	if err != nil {
		t.Fatal(err)
	}
	eqInts(t, "Delta' lambda", pl.lambda, 6*1920, -6*1440, 6*240)
	eqInts(t, "O", pl.offset, 0, 13158037440, 0)
	next := p.finish([][]modexp.Nat{nats(111111), nats(222222), nats(333333)})
	eqInts(t, "s'", secrets(next), 13519906506, 26678610612, 39837314718)
	eqInts(t, "v'", next[0].key.vi, 1483646, 1281694, 635506)
	eqInts(t, "Gamma", []*big.Int{next[0].key.gamma}, 36)
	combineAll(t, next[0].key, proofs(t, next, 31337), 31337, 1072360)
}

// Chains of ceremonies from both forms: every subset signs at every step.
func TestCeremonyChain(t *testing.T) {
	withToys(t)
	_, modular := modularToy(t)
	_, integer := integerToy(t)
	for _, shares := range [][]*KeyShare{modular, integer} {
		step := func(next []*KeyShare) {
			shares = next
			combineAll(t, shares[0].key, proofs(t, shares, 31337), 31337, 1072360)
		}
		k := shares[0].key.k
		all := []int{1, 2, 3, 4, 5, 6, 7}
		step(refresh(t, shares, all[:k]...).finish(nil))
		step(reshare(t, shares, all[:k], 4, "a", "b", "c", "d", "e", "f", "g").finish(nil))
		step(refresh(t, shares, all...).finish(nil))
		step(reshare(t, shares, []int{1, 3, 4, 7}, 2, "x", "y", "z").finish(nil))
		step(refresh(t, shares, 2, 3).finish(nil))
		if e := shares[0].key.epoch; e != 6 {
			t.Errorf("epoch %d at the end, want 6", e)
		}
	}
}

// resign puts the contributor's signature on a changed contribution: it cheats.
func (p *play) resign(c *Contribution) {
	c.sig = ed25519.Sign(p.shares[c.index-1].identity, c.signed(c.digest()))
}

// reseal replaces what contributor at sends receiver j by the opening.
func (p *play) reseal(pl *plan, at, j int, opening []byte) {
	p.t.Helper()
	c := p.cs[at]
	sealed, err := seal(p.pr.receivers[j-1].run, pl.sealInfo(c.index, j), opening)
	if err != nil {
		p.t.Fatal(err)
	}
	c.parts[j-1] = part{pl.openingHash(c.index, j, opening), sealed}
	p.resign(c)
}

// opening opens what contributor at sent receiver j, which has a key in the play.
func (p *play) opening(pl *plan, at, j int) []byte {
	p.t.Helper()
	b, err := open(p.keyOf(p.pr.receivers[j-1].identity).run, pl.sealInfo(p.cs[at].index, j), p.cs[at].parts[j-1].sealed)
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}

// A receiver that finds a contribution wrong names its maker, publishes a refusal,
// and everybody who judges it comes to the expected verdict.
func TestCheatingContributor(t *testing.T) {
	withToys(t)
	for _, c := range []struct {
		name    string
		cheat   func(p *play, pl *plan)
		reason  string
		refused bool
		verdict Verdict
	}{
		{"wrong value", func(p *play, pl *plan) {
			b := p.opening(pl, 1, 2)
			b[len(b)-openingSaltSize-1] ^= 1
			p.reseal(pl, 1, 2, b)
		}, "doesn't belong to the commitments", true, ContributorAtFault},
		{"oversized value", func(p *play, pl *plan) {
			b := p.opening(pl, 1, 2)
			for i := range b[:len(b)-openingSaltSize] {
				b[i] = 0xff
			}
			p.reseal(pl, 1, 2, b)
		}, "out of range", true, ContributorAtFault},
		{"value that fits modulo the order", func(p *play, pl *plan) {
			b := p.opening(pl, 1, 2)
			g := new(big.Int).SetBytes(b[:len(b)-openingSaltSize])
			for g.Cmp(pl.bound(1, 2)) < 0 { // m = 593 * 641 is the order of v
				g.Add(g, new(big.Int).Lsh(big.NewInt(593*641), 150))
			}
			if g.BitLen() > 8*(len(b)-openingSaltSize) {
				g.Rsh(g, 8)
			}
			g.FillBytes(b[:len(b)-openingSaltSize])
			p.reseal(pl, 1, 2, b)
		}, "the value", true, ContributorAtFault},
		{"hash of something else", func(p *play, pl *plan) {
			p.cs[1].parts[1].hash[0] ^= 1
			p.resign(p.cs[1])
		}, "doesn't match its hash", true, Undecided},
		{"part for somebody else", func(p *play, pl *plan) {
			p.cs[1].parts[1].sealed[40] ^= 1
			p.resign(p.cs[1])
		}, "can't be opened", true, Undecided},
		{"commitment 0", func(p *play, pl *plan) {
			clear(p.cs[1].commitments[0])
			p.resign(p.cs[1])
		}, "commitment", true, ContributorAtFault},
		{"commitment n", func(p *play, pl *plan) {
			p.cs[1].commitments[0] = p.parent.n.FillBytes(make([]byte, p.parent.size()))
			p.resign(p.cs[1])
		}, "commitment 1", true, ContributorAtFault},
		{"commitment with a factor of n", func(p *play, pl *plan) {
			p.cs[1].commitments[0] = big.NewInt(1187 * 5).FillBytes(make([]byte, p.parent.size()))
			p.resign(p.cs[1])
		}, "prime to the modulus", true, ContributorAtFault},
		{"missing commitment", func(p *play, pl *plan) {
			p.cs[1].commitments = nil
			p.resign(p.cs[1])
		}, "0 commitments", true, ContributorAtFault},
		{"short part", func(p *play, pl *plan) {
			p.cs[1].parts[0].sealed = p.cs[1].parts[0].sealed[1:]
			p.resign(p.cs[1])
		}, "part of", true, ContributorAtFault},
		{"another commitment", func(p *play, pl *plan) {
			p.cs[1].commitments[0][p.parent.size()-1] ^= 1
			p.resign(p.cs[1])
		}, "doesn't belong", true, ContributorAtFault},
		{"bad signature", func(p *play, pl *plan) { p.cs[1].commitments[0][0] ^= 1 }, "signature is wrong", false, 0},
		{"missing contribution", func(p *play, pl *plan) { p.cs = p.cs[:1] }, "is missing", false, 0},
		{"another run", func(p *play, pl *plan) { p.cs[1].proposal[0] ^= 1; p.resign(p.cs[1]) }, "another proposal", false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, shares := integerToy(t)
			p := refresh(t, shares, 1, 3).contribute(nil)
			pl, err := p.pr.plan(p.parent)
			if err != nil {
				t.Fatal(err)
			}
			c.cheat(p, pl)
			s := shares[1]
			_, err = s.Receive(p.keyOf(identity(s)), p.pr, p.cs, nil)
			var ce *CeremonyError
			if !errors.As(err, &ce) || ce.Role != "contributor" || ce.Index != 3 || !strings.Contains(ce.Reason, c.reason) {
				t.Fatalf("got %v, want contributor 3 blamed for %q", err, c.reason)
			}
			if (ce.Refusal != nil) != c.refused {
				t.Fatalf("refusal: %v", ce.Refusal)
			}
			if len(s.pending) != 0 {
				t.Error("a share is pending")
			}
			if !c.refused {
				return
			}
			v, err := reparse(t, ce.Refusal, new(Refusal)).Judge(p.parent, p.pr, p.cs[1])
			if err != nil || v != c.verdict {
				t.Errorf("verdict: %v, %v; want %v", v, err, c.verdict)
			}
			// The refusal binds, across storage too. One that was lost is made again.
			s = reparse(t, s, new(KeyShare))
			var again *CeremonyError
			if _, err := s.Receive(p.keyOf(identity(s)), p.pr, p.cs, nil); !errors.As(err, &again) || !ce.Refusal.Equal(again.Refusal) || len(s.refused) != 1 {
				t.Errorf("after a refusal: %v", err)
			}
		})
	}
}

// A refresh with a constant term would change the key: the equation has no place
// for one.
func TestRefreshWithConstantTerm(t *testing.T) {
	withToys(t)
	_, shares := integerToy(t)
	p := refresh(t, shares, 1, 3).contribute(nil)
	pl, _ := p.pr.plan(p.parent)
	for j := 1; j <= 3; j++ {
		b := p.opening(pl, 0, j)
		g := new(big.Int).SetBytes(b[:len(b)-openingSaltSize])
		g.Add(g, big.NewInt(1)).FillBytes(b[:len(b)-openingSaltSize])
		p.reseal(pl, 0, j, b)
	}
	if _, err := shares[1].Receive(p.keys[1], p.pr, p.cs, nil); err == nil || !strings.Contains(err.Error(), "holder-1") {
		t.Errorf("a constant term: %v", err)
	}
}

// A reshare with another s_i than the contributor's own is refused, since the
// constant commitment comes from the old record.
func TestReshareOfAnotherSecret(t *testing.T) {
	withToys(t)
	_, shares := modularToy(t)
	p := reshare(t, shares, []int{1, 2, 4}, 2, "a", "b", "c")
	own := natBig(shares[1].s)
	shares[1].s = natOf(new(big.Int).Add(own, one), shares[1].key.ShareBits())
	p.contribute(nil)
	_, _, err := p.keys[0].Receive(p.parent, p.pr, p.cs, nil)
	var ce *CeremonyError
	if !errors.As(err, &ce) || ce.Index != 2 || ce.Refusal == nil {
		t.Fatalf("another secret: %v", err)
	}
	if v, err := ce.Refusal.Judge(p.parent, p.pr, p.cs[1]); err != nil || v != ContributorAtFault {
		t.Errorf("verdict: %v, %v", v, err)
	}
	if _, _, err := p.keys[0].Receive(p.parent, p.pr, p.cs, nil); err == nil {
		t.Error("received after a refusal")
	}
}

// A receiver that complains of a right value is at fault itself.
func TestFalseComplaint(t *testing.T) {
	withToys(t)
	_, shares := integerToy(t)
	p := refresh(t, shares, 1, 3).contribute(nil)
	pl, _ := p.pr.plan(p.parent)
	e := pl.blame(3, "it lies")
	e.digest = p.cs[1].digest()
	for name, c := range map[string]struct {
		opening []byte
		verdict Verdict
	}{
		"right opening": {p.opening(pl, 1, 2), ReceiverAtFault},
		"made-up one":   {make([]byte, len(p.opening(pl, 1, 2))), ReceiverAtFault},
		"none":          {nil, Undecided},
	} {
		f := pl.refuse(shares[1].identity, 2, e, c.opening)
		if v, err := f.Judge(p.parent, p.pr, p.cs[1]); err != nil || v != c.verdict {
			t.Errorf("%s: %v, %v; want %v", name, v, err, c.verdict)
		}
		f.reason = "changed"
		if _, err := f.Judge(p.parent, p.pr, p.cs[1]); err == nil {
			t.Errorf("%s: a changed refusal is judged", name)
		}
		f = pl.refuse(shares[0].identity, 2, e, c.opening)
		if _, err := f.Judge(p.parent, p.pr, p.cs[1]); err == nil {
			t.Errorf("%s: a refusal signed by somebody else is judged", name)
		}
	}
}

func TestEquivocation(t *testing.T) {
	withToys(t)
	_, shares := integerToy(t)
	p := refresh(t, shares, 1, 3).contribute(nil)
	other, err := shares[2].Contribute(p.pr)
	if err != nil {
		t.Fatal(err)
	}
	witness := reparse(t, shares[0], new(KeyShare))
	_, err = witness.Receive(p.keys[0], p.pr, append(p.cs, other), nil)
	if err == nil || !strings.Contains(err.Error(), "two different contributions") {
		t.Errorf("two versions: %v", err)
	}
	// One version to one receiver, the other to the next: their acks don't go together.
	a, err := shares[1].Receive(p.keys[1], p.pr, p.cs, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := shares[2].Receive(p.keys[2], p.pr, []*Contribution{p.cs[0], other}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Commit(p.parent, p.pr, p.cs, []*Ack{a, b}, nil)
	var ce *CeremonyError
	if !errors.As(err, &ce) || ce.Role != "receiver" || ce.Index != 3 {
		t.Errorf("acks of two records: %v", err)
	}
	// The same holder doesn't acknowledge the second version either, unless it
	// is committed.
	second := []*Contribution{p.cs[0], other}
	if _, err := shares[1].Receive(p.keys[1], p.pr, second, nil); err == nil {
		t.Error("two records of one run acknowledged")
	}
	c, err := shares[0].Receive(p.keys[0], p.pr, second, nil)
	if err != nil {
		t.Fatal(err)
	}
	opts := &ReceiveOptions{Commit: &CommitOptions{InsecureQuorum: 2}}
	if opts.Certificate, err = Commit(p.parent, p.pr, second, []*Ack{b, c}, opts.Commit); err != nil {
		t.Fatal(err)
	}
	if _, err := shares[1].Receive(p.keys[1], p.pr, p.cs[:1], opts); err == nil {
		t.Error("received from half of the contributions")
	}
	if _, err := shares[1].Receive(p.keys[1], p.pr, second, &ReceiveOptions{Certificate: opts.Certificate}); !errors.Is(err, ErrQuorum) {
		t.Errorf("with a weak certificate: %v", err)
	}
	if _, err := shares[1].Receive(p.keys[1], p.pr, second, opts); err != nil {
		t.Errorf("with a certificate: %v", err)
	}
	if s, err := shares[1].Finish(opts.Certificate, p.parent, opts.Commit); err != nil || !s.key.Equal(opts.Certificate.key) {
		t.Errorf("finish: %v", err)
	}
}

// A newcomer acknowledges one record of one run.
func TestReceiverKeyOneUse(t *testing.T) {
	withToys(t)
	_, shares := modularToy(t)
	p := reshare(t, shares, []int{1, 2, 4}, 2, "a", "b", "c").contribute(nil)
	k := p.keys[0]
	if _, _, err := k.Receive(p.parent, p.pr, p.cs, nil); err != nil {
		t.Fatal(err)
	}
	k = reparse(t, k, new(ReceiverKey))
	if _, _, err := k.Receive(p.parent, p.pr, p.cs, nil); err != nil {
		t.Errorf("the same again: %v", err)
	}
	other, err := shares[1].Contribute(p.pr)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := k.Receive(p.parent, p.pr, []*Contribution{p.cs[0], other, p.cs[2]}, nil); err == nil || !strings.Contains(err.Error(), "two versions") {
		t.Errorf("another version: %v", err)
	}
	pr2, err := ProposeReshare(p.parent, []int{1, 2, 4}, 2, p.pr.receivers)
	if err != nil {
		t.Fatal(err)
	}
	p2 := (&play{t: t, shares: shares, pr: pr2}).contribute(nil)
	if _, _, err := k.Receive(p.parent, pr2, p2.cs, nil); err == nil || !strings.Contains(err.Error(), "another run") {
		t.Errorf("another run: %v", err)
	}
	if _, _, err := p.keys[1].Receive(p.parent, pr2, p2.cs, nil); err != nil {
		t.Errorf("an unused key: %v", err)
	}
}

// Two records from one parent: a holder acknowledges the second only when the
// first is dead.
func TestSecondSuccessor(t *testing.T) {
	withToys(t)
	_, shares := integerToy(t) // (2,3): Q = 3, and one holder may both refuse and acknowledge
	p := refresh(t, shares, 1, 3).contribute(nil)
	if _, err := shares[0].Receive(p.keys[0], p.pr, p.cs, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := shares[0].Receive(p.keys[0], p.pr, p.cs, nil); err != nil || len(shares[0].pending) != 1 {
		t.Errorf("the same again: %v, %d pending", err, len(shares[0].pending))
	}
	q := refresh(t, shares, 1, 3).contribute(nil)
	s := reparse(t, shares[0], new(KeyShare))
	if _, err := s.Receive(q.keys[0], q.pr, q.cs, nil); err == nil || !strings.Contains(err.Error(), "another successor") {
		t.Errorf("a second successor: %v", err)
	}
	pl, _ := p.pr.plan(p.parent)
	qpl, _ := q.pr.plan(p.parent)
	e := pl.blame(3, "nobody home")
	forged := pl.refuse(shares[0].identity, 2, e, nil)
	foreign := qpl.refuse(shares[1].identity, 2, e, nil)
	if _, err := s.Receive(q.keys[0], q.pr, q.cs, &ReceiveOptions{Refusals: []*Refusal{forged, foreign}}); err == nil {
		t.Error("given up on a forged refusal")
	}
	second := pl.refuse(shares[1].identity, 2, e, nil)
	if _, err := s.Receive(q.keys[0], q.pr, q.cs, &ReceiveOptions{Refusals: []*Refusal{second, second}}); err == nil {
		t.Error("given up on one holder's refusal, given twice")
	}
	third := pl.refuse(shares[2].identity, 3, e, nil)
	if _, err := s.Receive(q.keys[0], q.pr, q.cs, &ReceiveOptions{Refusals: []*Refusal{second, third}}); err != nil {
		t.Errorf("with two refusals: %v", err)
	}
	r := refresh(t, shares, 1, 2).contribute(nil)
	if _, err := s.Receive(r.keys[0], r.pr, r.cs, &ReceiveOptions{InsecureSecond: true}); err != nil {
		t.Errorf("on explicit command: %v", err)
	}
	// But no second one of one run, to which a contributor must have signed two versions.
	again := (&play{t: t, shares: shares, parent: p.parent, pr: r.pr}).contribute(nil)
	for what, opts := range map[string]*ReceiveOptions{
		"alone": nil, "on explicit command": {InsecureSecond: true}, "with refusals": {InsecureSecond: true, Refusals: []*Refusal{second, third}},
	} {
		if _, err := s.Receive(r.keys[0], r.pr, again.cs, opts); err == nil || !strings.Contains(err.Error(), "two versions") {
			t.Errorf("two records of one run, %s: %v", what, err)
		}
	}
	if len(reparse(t, s, new(KeyShare)).Pending()) != 3 {
		t.Errorf("%d pending", len(s.pending))
	}
}

// Of two records of one parent one at most is committed, and none that was given
// up, whatever K'-1 receivers do.
func TestQuorum(t *testing.T) {
	for l := 2; l <= MaxHolders; l++ {
		for k := 2; k <= l; k++ {
			q := quorum(k, l)
			if q < min(l, 2*k-1) || q > l {
				t.Fatalf("(%d,%d): quorum %d", k, l, q)
			}
			if common := 2*q - l; common <= k-1 {
				t.Errorf("(%d,%d): two quorums of %d have only %d receivers in common for certain", k, l, q, common)
			}
			refusals := l - q + k
			if honest := refusals - (k - 1); l-honest >= q {
				t.Errorf("(%d,%d): %d may still acknowledge after %d refusals", k, l, l-honest, refusals)
			}
		}
	}
}

func TestCommit(t *testing.T) {
	withToys(t)
	_, shares := integerToy(t)
	p := refresh(t, shares, 1, 2).contribute(nil)
	acks, _ := p.receive()
	if _, err := Commit(p.parent, p.pr, p.cs, acks[:2], nil); !errors.Is(err, ErrQuorum) {
		t.Errorf("two of three acks: %v", err)
	}
	if _, err := Commit(p.parent, p.pr, p.cs, append(acks[:2:2], acks[0]), nil); !errors.Is(err, ErrQuorum) {
		t.Errorf("one ack twice: %v", err)
	}
	few := &CommitOptions{InsecureQuorum: 2}
	if _, err := Commit(p.parent, p.pr, p.cs, acks[:1], &CommitOptions{InsecureQuorum: 1}); err == nil {
		t.Error("fewer than K' acks")
	}
	weak, err := Commit(p.parent, p.pr, p.cs, acks[:2], few)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := weak.Verify(p.parent, nil); !errors.Is(err, ErrQuorum) {
		t.Errorf("a weak certificate without the option: %v", err)
	}
	if _, err := weak.Verify(p.parent, few); err != nil {
		t.Error(err)
	}
	forged := *acks[2]
	forged.sig = bytes.Clone(forged.sig)
	forged.sig[0] ^= 1
	if _, err := Commit(p.parent, p.pr, p.cs, append(acks[:2:2], &forged), nil); err == nil || !strings.Contains(err.Error(), "holder-3") {
		t.Errorf("a forged ack: %v", err)
	}
	cert, err := Commit(p.parent, p.pr, p.cs, acks, nil)
	if err != nil {
		t.Fatal(err)
	}
	if next, err := p.pr.Successor(p.parent, p.cs); err != nil || !next.Equal(cert.PublicKey()) {
		t.Errorf("successor: %v", err)
	}
	// Every byte of a certificate counts.
	b, _ := cert.MarshalBinary()
	for i := range b {
		bad := bytes.Clone(b)
		bad[i] ^= 1
		var c Certificate
		if c.UnmarshalBinary(bad) == nil {
			if _, err := c.Verify(p.parent, nil); err == nil {
				t.Errorf("a certificate with byte %d changed is accepted", i)
			}
		}
	}
	// A holder that was away receives late, and only then finishes.
	late := reparse(t, shares[2], new(KeyShare))
	late.pending = nil
	if _, err := late.Finish(cert, p.parent, nil); err == nil || !strings.Contains(err.Error(), "contributions are needed") {
		t.Errorf("finish without receiving: %v", err)
	}
	if _, err := late.Receive(p.keys[2], p.pr, p.cs, nil); err != nil {
		t.Fatal(err)
	}
	if s, err := late.Finish(cert, p.parent, nil); err != nil || s.key.epoch != 2 || s.provisional {
		t.Errorf("late: %v, %v", s, err)
	}
	other, _ := modularToy(t)
	if _, err := cert.Verify(other.key, nil); err == nil {
		t.Error("a certificate holds for another parent")
	}
}

// The keys that the dealer put into the record serve the first ceremony; the next
// one needs cards.
func TestRefreshWithoutCards(t *testing.T) {
	withToys(t)
	_, shares := integerToy(t)
	p := &play{t: t, shares: shares}
	var err error
	if p.pr, err = ProposeRefresh(shares[0].key, []int{1, 2}); err != nil {
		t.Fatal(err)
	}
	shares = p.finish(nil)
	combineAll(t, shares[0].key, proofs(t, shares, 31337), 31337, 1072360)
	if _, err := ProposeRefresh(shares[0].key, []int{1, 2}); err == nil || !strings.Contains(err.Error(), "card is needed") {
		t.Errorf("a second one without cards: %v", err)
	}
	refresh(t, shares, 1, 2).finish(nil)
}

func TestBadProposals(t *testing.T) {
	withToys(t)
	_, integer := integerToy(t)
	_, modular := modularToy(t)
	rogue, err := NewReceiver("rogue")
	if err != nil {
		t.Fatal(err)
	}
	twin := card(t, rogue)
	unsigned := *twin
	unsigned.sig, unsigned.next = nil, nil
	wrong := *twin
	wrong.name = "renamed"
	cards := func(n int) (out []*Receiver) {
		for i := range n {
			k, err := NewReceiver(strings.Repeat("x", i+1))
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, card(t, k))
		}
		return out
	}
	ik, mk := integer[0].key, modular[0].key
	for _, c := range []struct {
		name string
		make func() (*Proposal, error)
	}{
		{"too few contributors to a refresh", func() (*Proposal, error) { return ProposeRefresh(ik, []int{1}) }},
		{"one twice", func() (*Proposal, error) { return ProposeRefresh(ik, []int{1, 1}) }},
		{"no such contributor", func() (*Proposal, error) { return ProposeRefresh(ik, []int{1, 4}) }},
		{"contributor 0", func() (*Proposal, error) { return ProposeRefresh(ik, []int{0, 1}) }},
		{"card of a stranger", func() (*Proposal, error) { return ProposeRefresh(ik, []int{1, 2}, twin) }},
		{"too many contributors to a reshare", func() (*Proposal, error) { return ProposeRefresh(mk, []int{1, 2, 3, 4}) }},
		{"threshold above the receivers", func() (*Proposal, error) { return ProposeReshare(ik, []int{1, 2}, 3, cards(2)) }},
		{"threshold 1", func() (*Proposal, error) { return ProposeReshare(ik, []int{1, 2}, 1, cards(2)) }},
		{"no receivers", func() (*Proposal, error) { return ProposeReshare(ik, []int{1, 2}, 2, nil) }},
		{"a receiver twice", func() (*Proposal, error) { return ProposeReshare(ik, []int{1, 2}, 2, []*Receiver{twin, twin}) }},
		{"an unsigned card", func() (*Proposal, error) {
			return ProposeReshare(ik, []int{1, 2}, 2, append(cards(2), &unsigned))
		}},
		{"a changed card", func() (*Proposal, error) { return ProposeReshare(ik, []int{1, 2}, 2, append(cards(2), &wrong)) }},
	} {
		if pr, err := c.make(); err == nil {
			t.Errorf("%s: accepted as %v", c.name, pr)
		}
	}
	pr, err := ProposeRefresh(ik, []int{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := modular[0].Contribute(pr); err == nil {
		t.Error("a proposal for another key is contributed to")
	}
	if _, err := integer[2].Contribute(pr); err == nil {
		t.Error("a holder outside the proposal contributes")
	}
}
