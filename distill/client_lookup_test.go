// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"errors"
	"testing"
)

// expired returns a client whose message is past its last height, 1100, and its question.
func (w *partyNet) expired(t testing.TB) (*Client, Lookup) {
	t.Helper()
	c, last := w.sent(t, 0, "pay")
	if out, err := c.HandleHead(5000, w.head(last)); err != nil || len(out) > 0 {
		t.Fatalf("at the last height: %d actions, error %v", len(out), err)
	}
	out, err := c.HandleHead(5001, w.head(last+1))
	if err != nil {
		t.Fatal(err)
	}
	q := one[SendLookup](t, out).Lookup
	if q.ID != 0 || q.Nonce != 1 || q.NotAfter != last || q.Challenge == [32]byte{} {
		t.Fatalf("asked %+v", q)
	}
	return c, q
}

func (w *partyNet) answer(q Lookup, height uint64, code LookCode) Look {
	return Look{Net: w.network.ID(), Challenge: q.Challenge, Height: height, ID: q.ID, Nonce: q.Nonce, NotAfter: q.NotAfter, Code: code}
}

func TestClientBelievesNoSingleValidator(t *testing.T) {
	w := newPartyNet(t, 1, 1, nil) // 2 of 4 must agree
	executed := func(q Lookup, height uint64, payload string) Look {
		k := w.answer(q, height, LookExecuted)
		k.FirstCode, k.AppCode, k.ExecHeight, k.PayloadHash = ResultOK, 3, 700, PayloadHash([]byte(payload))
		return k
	}
	type say struct {
		validator int
		look      func(Lookup) Look
	}
	not := func(height uint64) func(Lookup) Look {
		return func(q Lookup) Look { return w.answer(q, height, LookNotExecuted) }
	}
	was := func(payload string) func(Lookup) Look {
		return func(q Lookup) Look { return executed(q, 1101, payload) }
	}
	unknown := func(q Lookup) Look { return w.answer(q, 9000, LookUnknown) }
	for _, tt := range []struct {
		name string
		says []say
		want Outcome
	}{
		{"one", []say{{0, not(1101)}}, Outcome{}},
		{"one, twice", []say{{0, not(1101)}, {0, not(1102)}}, Outcome{}},
		{"two", []say{{3, not(1101)}, {1, not(1500)}}, Outcome{Kind: OutcomeExpired}},
		{"too early", []say{{0, not(1100)}, {1, not(1101)}}, Outcome{}},
		{"too early, then later", []say{{0, not(1100)}, {1, not(1101)}, {0, not(1101)}}, Outcome{Kind: OutcomeExpired}},
		{"they differ", []say{{0, not(1101)}, {1, was("pay")}}, Outcome{}},
		{"one changes its mind", []say{{0, not(1101)}, {0, was("pay")}, {1, not(1101)}}, Outcome{}},
		{"executed", []say{{0, not(1101)}, {1, was("pay")}, {2, was("pay")}}, Outcome{OutcomeExecuted, ResultOK, 3, 700}},
		{"executed differently", []say{{1, was("pay")}, {2, was("pax")}}, Outcome{}},
		{"another payload", []say{{1, was("pax")}, {2, was("pax")}}, Outcome{Kind: OutcomeNotExecuted, Code: ResultTaken}},
		{"unknown", []say{{1, unknown}, {2, unknown}}, Outcome{Kind: OutcomeUnknown}},
		{"unknown and not", []say{{1, unknown}, {2, not(9000)}}, Outcome{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, q := w.expired(t)
			var got []Settled
			for _, s := range tt.says {
				out, err := c.HandleLook(6000, w.look(s.validator, s.look(q)))
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, actions[Settled](out)...)
			}
			if tt.want.Kind == 0 {
				if len(got) > 0 || c.InFlight() != 1 {
					t.Fatalf("settled: %+v", got)
				}
				return
			}
			if len(got) != 1 || got[0].Outcome != tt.want {
				t.Fatalf("settled: %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestClientRefusesAnswers(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	good := func(q Lookup) Look { return w.answer(q, 1101, LookNotExecuted) }
	for _, tt := range []struct {
		name   string
		change func(*Look)
		want   Rule
	}{
		{"network", func(k *Look) { k.Net[0] ^= 1 }, RuleNetwork},
		{"challenge", func(k *Look) { k.Challenge[0] ^= 1 }, RuleChallenge},
		{"no challenge", func(k *Look) { k.Challenge = [32]byte{} }, RuleChallenge},
		{"id", func(k *Look) { k.ID++ }, RuleChallenge},
		{"nonce", func(k *Look) { k.Nonce++ }, RuleChallenge},
		{"last height", func(k *Look) { k.NotAfter-- }, RuleChallenge},
		{"no code", func(k *Look) { k.Code = 0 }, RuleLook},
		{"unknown code", func(k *Look) { k.Code = 4 }, RuleLook},
		{"not executed, with a code", func(k *Look) { k.FirstCode = ResultOK }, RuleLook},
		{"not executed, at a height", func(k *Look) { k.ExecHeight = 4 }, RuleLook},
		{"not executed, with a payload", func(k *Look) { k.PayloadHash[0] = 4 }, RuleLook},
		{"executed, without a code", func(k *Look) { k.Code = LookExecuted }, RuleLook},
		{"executed, with a code of none", func(k *Look) { k.Code, k.FirstCode = LookExecuted, ResultTaken }, RuleLook},
		{"executed later", func(k *Look) { k.Code, k.FirstCode, k.ExecHeight = LookExecuted, ResultOK, 1102 }, RuleLook},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, q := w.expired(t)
			k := good(q)
			tt.change(&k)
			out, err := c.HandleLook(6000, w.look(0, k))
			hasRule(t, err, tt.want)
			if len(out) > 0 || c.InFlight() != 1 {
				t.Fatal("settled")
			}
		})
	}
	c, q := w.expired(t)
	s := w.look(0, good(q))
	s.Look.Height++
	_, err := c.HandleLook(6000, s)
	hasRule(t, err, RuleCertificate)
	s = w.look(0, good(q))
	s.Share.Validator = 1
	_, err = c.HandleLook(6000, s)
	hasRule(t, err, RuleValidator)
	if out, err := c.HandleLook(6000, w.look(0, good(q))); err != nil || len(actions[Settled](out)) != 1 {
		t.Fatalf("the good answer: %v", err)
	}
	_, err = c.HandleLook(6000, w.look(0, good(q)))
	hasRule(t, err, RuleChallenge)
}

func TestClientRefusesHeads(t *testing.T) {
	w := newPartyNet(t, 1, 1, nil)
	c, last := w.sent(t, 0, "pay")
	refused := func(h SignedHead, want Rule) {
		t.Helper()
		out, err := c.HandleHead(0, &h)
		hasRule(t, err, want)
		if len(out) > 0 || c.Head() != 100 {
			t.Fatal("believed")
		}
	}
	hgt := Hgt{Net: w.network.ID(), Height: last + 1}
	refused(SignedHead{hgt, w.certify(hgt, 2)}, RuleQuorum)
	h := *w.head(last)
	h.Hgt.Height++
	refused(h, RuleCertificate)
	foreign := newPartyNet(t, 1, 1, func(p *Params) { p.MaxLeaves-- })
	refused(*foreign.head(last + 1), RuleNetwork)
	refused(*w.head(99), 0) // an old one is no news
}

func TestClientAsksAgain(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	c, q := w.expired(t)
	at := int64(5001)
	for range 10 {
		d, ok := c.Deadline()
		if !ok || d <= at || d > at+maxLookupInterval {
			t.Fatalf("deadline %d after %d", d, at)
		}
		if out, err := c.Tick(d - 1); err != nil || len(out) > 0 {
			t.Fatal("asked too early, or sent again after the last height")
		}
		out, err := c.Tick(d)
		if err != nil {
			t.Fatal(err)
		}
		if len(out) != 1 || one[SendLookup](t, out).Lookup != q {
			t.Fatal("not the same question")
		}
		at = d
	}
	// After a crash the question is another one, and an old answer is none.
	old := w.look(0, w.answer(q, 1101, LookNotExecuted))
	c = w.client(0, c.cfg.Journal, nil)
	if _, err := c.HandleLook(at, old); RuleOf(err) != RuleChallenge {
		t.Fatal(err)
	}
	out, err := c.HandleHead(at, w.head(1101))
	if err != nil {
		t.Fatal(err)
	}
	if one[SendLookup](t, out).Lookup.Challenge == q.Challenge {
		t.Fatal("the challenge came again")
	}
	if _, err := c.HandleLook(at, old); RuleOf(err) != RuleChallenge {
		t.Fatal(err)
	}
	// A receipt settles it as well.
	out, err = c.HandleReceipt(at, w.receipt(Result{Code: ResultOK, Nonce: 1, ExecHeight: 120, PayloadHash: PayloadHash([]byte("pay"))}, 0))
	if err != nil || one[Settled](t, out).Outcome.Kind != OutcomeExecuted {
		t.Fatal(err)
	}
}

func TestClientFromBackup(t *testing.T) {
	w := newPartyNet(t, 1, 1, nil)
	j := new(MemoryJournal)
	c := w.client(0, j, nil)
	for _, payload := range []string{"one", "two"} {
		if _, _, err := c.Submit(0, []byte(payload), 1000); err != nil {
			t.Fatal(err)
		}
	}
	backup := j.Clone()
	if _, _, err := c.Submit(0, []byte("three"), 1000); err != nil {
		t.Fatal(err)
	}

	w.client(0, backup, func(cfg *ClientConfig) { cfg.FromBackup = true })
	// That it is an old journal isn't forgotten, whatever it is opened with.
	c = w.client(0, backup, nil)
	if !c.Recovering() {
		t.Fatal("forgotten")
	}
	_, _, err := c.Submit(0, []byte("other"), 1000)
	hasRule(t, err, RuleRecovering)
	out, err := c.Tick(0)
	if err != nil {
		t.Fatal(err)
	}
	if len(actions[SendSubmission](out)) > 0 {
		t.Fatal("sent what isn't settled")
	}
	questions := make(map[uint64]Lookup)
	for _, s := range actions[SendLookup](out) {
		questions[s.Lookup.Nonce] = s.Lookup
	}
	if len(questions) != 3 { // two messages, and the last nonce
		t.Fatalf("%d questions", len(questions))
	}
	_, err = c.HandleProposal(0, firstAgg, w.propose(firstAgg, 4, 164, 5, someLeaves(0, 1, 1100, "one"), 0))
	hasRule(t, err, RuleNotInFlight)

	// One validator that lags behind, and one that knows of the third message.
	say := func(validator int, last uint64) error {
		k := w.answer(questions[3], 100, LookNotExecuted)
		k.LastNonce = last
		_, err := c.HandleLook(0, w.look(validator, k))
		return err
	}
	for range 2 {
		if err := say(0, 1); err != nil || !c.Recovering() {
			t.Fatalf("recovered on one validator's word, or %v", err)
		}
	}
	if err := say(2, 3); err != nil || !c.Recovering() {
		t.Fatalf("recovered on two validators' words, or %v", err)
	}
	// A liar can't use up the nonces.
	if err := say(1, 1<<64-1); err != nil || c.Recovering() {
		t.Fatalf("not recovered: %v", err)
	}
	nonce, _, err := c.Submit(0, []byte("three again"), 1000)
	if err != nil || nonce < 3+1<<20 {
		t.Fatalf("nonce %d, error %v", nonce, err)
	}
	// The window begins anew.
	for range NonceWindow - 1 {
		if _, _, err := c.Submit(0, []byte("more"), 0); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err = c.Submit(0, []byte("too many"), 0)
	hasRule(t, err, RuleWindow)

	// The first message was executed. The second one wasn't, and that is final only
	// after its last height.
	for v := range 2 {
		k := w.answer(questions[1], 100, LookExecuted)
		k.FirstCode, k.ExecHeight, k.PayloadHash = ResultOK, 99, PayloadHash([]byte("one"))
		if out, err = c.HandleLook(0, w.look(v, k)); err != nil {
			t.Fatal(err)
		}
	}
	if s := one[Settled](t, out); s.Nonce != 1 || s.Outcome.Kind != OutcomeExecuted {
		t.Fatalf("%+v", s)
	}
	for v := range 4 {
		if out, err := c.HandleLook(0, w.look(v, w.answer(questions[2], 1100, LookNotExecuted))); err != nil || len(out) > 0 {
			t.Fatalf("settled too early, or %v", err)
		}
	}
	out, err = c.HandleHead(1, w.head(1101))
	if err != nil {
		t.Fatal(err)
	}
	asked := false
	for _, s := range actions[SendLookup](out) {
		asked = asked || s.Lookup == questions[2]
	}
	if !asked {
		t.Fatal("not asked at once when the last height was past")
	}
	for v := range 2 {
		if out, err = c.HandleLook(0, w.look(v, w.answer(questions[2], 1101, LookNotExecuted))); err != nil {
			t.Fatal(err)
		}
	}
	if s := one[Settled](t, out); s.Nonce != 2 || s.Outcome.Kind != OutcomeExpired {
		t.Fatalf("%+v", s)
	}
}

// TestClientRecoveryCrashes stops a client at each write of its recovery.
func TestClientRecoveryCrashes(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	old := new(MemoryJournal)
	c := w.client(0, old, nil)
	if _, _, err := c.Submit(0, []byte("one"), 1000); err != nil {
		t.Fatal(err)
	}
	for _, after := range []bool{false, true} {
		for crash := 1; crash <= 2; crash++ {
			j := &faultyJournal{old.Clone(), crash, after}
			cfg := ClientConfig{Network: w.network, Keys: w.keys[0], Journal: j, FromBackup: true}
			c, err := OpenClient(cfg)
			if crash == 1 {
				if !errors.Is(err, errCrash) {
					t.Fatal(err)
				}
				c, err = OpenClient(cfg)
			}
			if err != nil {
				t.Fatal(err)
			}
			cfg.FromBackup = false // whoever restarts it after a crash may not know
			for {
				out, err := c.Tick(0)
				if err != nil {
					t.Fatal(err)
				}
				if len(actions[SendSubmission](out)) > 0 {
					t.Fatal("sent what isn't settled")
				}
				if !c.Recovering() {
					break
				}
				for _, s := range actions[SendLookup](out) {
					k := w.answer(s.Lookup, 100, LookNotExecuted)
					k.LastNonce = 40
					if s.Lookup.NotAfter != 0 {
						continue
					}
					if _, err := c.HandleLook(0, w.look(0, k)); errors.Is(err, errCrash) {
						if c, err = OpenClient(cfg); err != nil {
							t.Fatal(err)
						}
					} else if err != nil {
						t.Fatal(err)
					}
				}
			}
			if c.next < 40+recoveryJump {
				t.Fatalf("next nonce %d", c.next)
			}
		}
	}
}

// TestJumpIsRepeatable: with its randomness given, a client from a backup goes on with the
// same nonce each time, and asks the same question.
func TestJumpIsRepeatable(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	run := func(b byte) ([32]byte, uint64) {
		random := func(p []byte) {
			for i := range p {
				p[i] = b
			}
		}
		c := w.client(0, new(MemoryJournal), func(cfg *ClientConfig) { cfg.FromBackup, cfg.Random = true, random })
		out, err := c.Tick(0)
		if err != nil {
			t.Fatal(err)
		}
		q := one[SendLookup](t, out).Lookup
		_, err = c.HandleLook(0, w.look(0, Look{Net: w.network.ID(), Challenge: q.Challenge, Height: 100, Nonce: q.Nonce, Code: LookNotExecuted}))
		if err != nil || c.Recovering() {
			t.Fatal("not recovered", err)
		}
		return q.Challenge, c.next
	}
	c1, n1 := run(1)
	c2, n2 := run(1)
	c3, n3 := run(2)
	if c1 != c2 || n1 != n2 || c1 == c3 || n1 == n3 {
		t.Errorf("%x %x %x, %d %d %d", c1, c2, c3, n1, n2, n3)
	}
}

// TestClientFromBackupTwice restores a client twice, with nothing executed in between. The
// validators know of no nonce that was used the first time.
func TestClientFromBackupTwice(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	backup := new(MemoryJournal)
	w.client(0, backup, nil)
	seen := make(map[uint64]bool)
	for range 5 {
		c := w.client(0, backup.Clone(), func(cfg *ClientConfig) { cfg.FromBackup = true })
		out, err := c.Tick(0)
		if err != nil {
			t.Fatal(err)
		}
		k := w.answer(one[SendLookup](t, out).Lookup, 100, LookNotExecuted)
		if _, err := c.HandleLook(0, w.look(0, k)); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			nonce, _, err := c.Submit(0, []byte("pay"), 0)
			if err != nil || seen[nonce] {
				t.Fatalf("nonce %d again, or %v", nonce, err)
			}
			seen[nonce] = true
		}
	}
}
