// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import (
	"fmt"

	"github.com/undersign/undersign/distill"
)

// A Config says what to simulate. What happens follows from Seed and Wrong.
type Config struct {
	Seed  uint64
	Wrong Wrong
	Trace func(line string) // is called with what happens, or nil
}

// A Report is what a simulation came to.
type Report struct {
	Seed       uint64      `json:"seed"`
	Wrong      string      `json:"wrong,omitempty"`
	Violations []Violation `json:"violations,omitempty"`
	Stats
}

// Stats count what happened.
type Stats struct {
	Validators int    `json:"validators,omitempty"`
	Mode       string `json:"mode,omitempty"`
	Heights    uint64 `json:"heights"`
	Messages   int    `json:"messages"` // of honest clients
	Executed   int    `json:"executed"` // those, and others'
	Reissued   int    `json:"reissued"` // submitted anew under another nonce
	Batches    int    `json:"batches"`
	Strikes    int    `json:"strikes"`  // bad batches in the log
	Compact    int    `json:"compact"`  // messages of the compact mode
	Byzantine  int    `json:"cheating"` // parties
	Faults     Faults `json:"faults"`
	// Evidence counts the kinds of evidence.
	Evidence map[string]int `json:"evidence"`
}

// Add adds what another simulation has counted.
func (s *Stats) Add(x *Stats) {
	s.Heights += x.Heights
	s.Messages += x.Messages
	s.Executed += x.Executed
	s.Reissued += x.Reissued
	s.Batches += x.Batches
	s.Strikes += x.Strikes
	s.Compact += x.Compact
	s.Byzantine += x.Byzantine
	s.Faults.add(&x.Faults)
	for k, n := range x.Evidence {
		if s.Evidence == nil {
			s.Evidence = make(map[string]int)
		}
		s.Evidence[k] += n
	}
}

// A Violation is an invariant that doesn't hold.
type Violation struct {
	Invariant Invariant `json:"invariant"`
	Text      string    `json:"text"`
}

// An Invariant is what must hold.
type Invariant string

const (
	Chosen   Invariant = "chosen"   // what is executed, its owner chose: exactly that, and durably
	Once     Invariant = "once"     // a nonce is executed once, and a payload of an honest client as well
	Agreed   Invariant = "agreed"   // all honest validators have the same log
	Settled  Invariant = "settled"  // each message gets one outcome, when the faults have stopped
	True     Invariant = "true"     // what receipts and outcomes say is so, and stays so
	Innocent Invariant = "innocent" // there is no evidence against the honest
	Guilty   Invariant = "guilty"   // there is evidence of what was provable
	Sound    Invariant = "sound"    // nothing fails in a way that it shouldn't
)

// Times in milliseconds.
const (
	tickTime   = 500
	faultTime  = 100
	chaosTime  = 11_000
	settleTime = 150_000
)

// A sim is one simulation.
type sim struct {
	network
	w      *world
	cfg    Config
	report *Report
	mode   distill.Mode
	signs  bool // validators sign by themselves

	clients []*client
	rogues  []*rogueClient
	aggs    []*aggregator
	vals    []*validator
	log     sequencer
	relay   relay
	oracle  oracle
	watch   watch
	plan    plan
}

// A plan is what a seed has in store.
type plan struct {
	newKeys   bool // somebody's keys change, or are revoked
	strangers bool // somebody else registers, and others try to
	restores  bool
	crashes   bool
	parts     bool
}

// Run runs a simulation. The error is about the simulator: what it finds is in the report.
func (r *Runner) Run(cfg Config) (*Report, error) {
	rep := &Report{Seed: cfg.Seed, Wrong: cfg.Wrong.String()}
	if cfg.Wrong != WrongRange {
		if err := r.run(cfg, rep); err != nil {
			return nil, err
		}
	}
	if cfg.Wrong == NoneWrong || cfg.Wrong == WrongRange {
		runCompact(cfg, rep)
	}
	return rep, nil
}

func (r *Runner) run(cfg Config, rep *Report) error {
	s := &sim{cfg: cfg, report: rep, network: newNetwork(cfg.Seed, uint64(cfg.Wrong), cfg.Trace)}
	f := 0
	if s.one(4) || cfg.Wrong == WrongReissue {
		f = 1
	}
	var err error
	if s.w, err = r.world(f); err != nil {
		return err
	}
	s.prepare()
	if err := s.start(); err != nil {
		return err
	}
	s.every(tickTime, func() bool { s.tick(); return true })
	s.every(faultTime, func() bool { s.fault(); return !s.calm })
	broken := func() bool { return len(rep.Violations) > 0 && s.cfg.Trace == nil }
	s.runUntil(chaosTime+int64(s.rng.IntN(3000)), broken)
	s.settle()
	s.runUntil(s.now+settleTime, func() bool { return broken() || s.done() })
	s.finish()
	return nil
}

// every calls what is to be done again and again, while it returns true.
func (s *sim) every(interval int64, do func() bool) {
	s.after(interval, func() {
		if do() {
			s.every(interval, do)
		}
	})
}

// prepare decides who is there and what will happen.
func (s *sim) prepare() {
	s.mode = distill.Mode(s.rng.IntN(3))
	s.signs = s.one(10)
	s.plan = plan{
		newKeys: s.one(5), strangers: s.one(8), restores: s.one(2),
		crashes: !s.one(4), parts: s.one(2),
	}
	s.oracle.init()
	s.watch.init()
	s.log.node.name, s.relay.node.name = "log", "relay"
	n := 3 + s.rng.IntN(3)
	cheats := s.one(3)
	for i := range n {
		keys := s.w.clients[i]
		if i > 1 && cheats && s.one(2) {
			s.rogues = append(s.rogues, &rogueClient{s: s, id: uint64(i), keys: keys, node: node{name: fmt.Sprintf("cheat %d", i)}})
			continue
		}
		s.clients = append(s.clients, newClient(s, uint64(i), keys))
	}
	for i, id := range aggregatorIDs {
		s.aggs = append(s.aggs, newAggregator(s, i, id))
	}
	if s.one(3) {
		s.aggs[s.rng.IntN(len(s.aggs))].rogue = newRogueAggregator(s)
	}
	for i := range s.w.validators {
		s.vals = append(s.vals, newValidator(s, i))
	}
	if len(s.vals) > 1 && !s.one(4) {
		r := &rogueValidator{habits: 1 + s.rng.IntN(allValidatorHabits), largest: s.one(2)}
		if s.one(2) {
			r.habits &^= silent // or else nothing is left of most lies
		}
		s.vals[s.rng.IntN(len(s.vals))].rogue = r
	}
	s.prepareWrong()
}

func (s *sim) start() error {
	s.relay.best = s.w.head
	s.log.init()
	for _, v := range s.vals {
		if err := v.open(); err != nil {
			return err
		}
	}
	for _, a := range s.aggs {
		a.open(false)
	}
	for _, c := range s.clients {
		c.open(false)
	}
	for _, c := range s.rogues {
		c.start()
	}
	return nil
}

// nodes returns all parties.
func (s *sim) nodes() []*node {
	list := []*node{&s.log.node, &s.relay.node}
	for _, x := range s.vals {
		list = append(list, &x.node)
	}
	for _, x := range s.aggs {
		list = append(list, &x.node)
	}
	for _, x := range s.clients {
		list = append(list, &x.node)
	}
	for _, x := range s.rogues {
		list = append(list, &x.node)
	}
	return list
}

// tick makes the next height.
func (s *sim) tick() {
	s.log.cut(s)
	for _, v := range s.vals {
		delay := int64(s.rng.IntN(100))
		if !s.calm && s.one(15) {
			delay += int64(s.rng.IntN(2500))
		}
		s.after(delay, v.catchUp)
	}
	for _, c := range s.clients {
		// Several at a time, so that batches have several leaves.
		if s.calm || s.log.height()%3 == 0 && !s.one(4) {
			c.submit()
		}
	}
}

// fault makes something go wrong, now and then.
func (s *sim) fault() {
	if s.calm {
		return
	}
	c := s.clients[s.rng.IntN(len(s.clients))]
	a := s.aggs[s.rng.IntN(len(s.aggs))]
	v := s.vals[s.rng.IntN(len(s.vals))]
	k := s.rng.IntN(100)
	switch {
	case k < 6 && s.plan.crashes:
		[]func(){func() { c.journal.arm(&s.network) }, func() { a.journal.arm(&s.network) }, v.arm}[k%3]()
	case k < 8:
		c.asleep = !c.asleep
	case k < 10 && s.now > s.apart && s.plan.parts:
		s.part(s.nodes())
	case k < 12 && s.plan.newKeys && s.now > 3000:
		s.changeKeys(c)
	case k < 14 && s.plan.strangers && s.now > 2000:
		s.registerStrangers()
	case k < 24 && s.plan.restores:
		s.backups(s.rng.IntN(6), c, a, v)
	}
}

// backups makes a backup of somebody, or goes back to it. One may do so once, for with the
// application's messages lost there is nothing to be seen of it.
func (s *sim) backups(k int, c *client, a *aggregator, v *validator) {
	switch {
	case k == 0 && !c.restored:
		c.backup = c.journal.Clone()
	case k == 1 && c.backup != nil:
		c.restore()
	case k == 2 && !a.restored:
		a.backup = a.journal.Clone()
	case k == 3 && a.backup != nil:
		a.restore()
	case k == 4 && !v.restored:
		v.backup = v.store.Clone()
	case k == 5 && v.backup != nil:
		v.restore()
	}
}

// settle ends all faults. Who cheats goes on.
func (s *sim) settle() {
	s.tracef("no more faults")
	s.calm, s.apart = true, 0
	for _, a := range s.aggs {
		a.journal.left = 0
	}
	for _, c := range s.clients {
		c.journal.left, c.asleep = 0, false
	}
	for _, v := range s.vals {
		v.store.Fault = nil
	}
}

// done reports whether every message of honest clients has its outcome.
func (s *sim) done() bool {
	for _, c := range s.clients {
		if !c.done() {
			return false
		}
	}
	for _, a := range s.aggs {
		if a.down || a.rogue == nil && a.a.Recovering() {
			return false
		}
	}
	return true
}

// busy reports whether a height is needed soon.
func (s *sim) busy() bool {
	if !s.calm {
		return true
	}
	for _, a := range s.aggs {
		if a.busy() {
			return true
		}
	}
	for _, c := range s.clients {
		if c.busy() {
			return true
		}
	}
	return false
}

func (s *sim) violate(i Invariant, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.report.Violations = append(s.report.Violations, Violation{i, text})
	s.tracef("VIOLATION of %q: %s", i, text)
}

// sound notes an error that isn't a refusal.
func (s *sim) sound(who string, err error) {
	if err != nil && distill.RuleOf(err) == 0 {
		s.violate(Sound, "%s: %v", who, err)
	}
}

// finish makes the checks of the end, and counts.
func (s *sim) finish() {
	if len(s.report.Violations) == 0 {
		s.catchUpAll()
		s.oracle.finish(s)
	}
	st := &s.report.Stats
	st.Validators, st.Mode = len(s.vals), s.mode.String()
	st.Heights = uint64(len(s.log.ticks)) + registered
	st.Executed = len(s.oracle.executed)
	st.Batches, st.Strikes = s.oracle.batches, s.oracle.strikes
	st.Evidence = s.watch.counts()
	st.Faults.add(&s.faults)
	st.Byzantine = len(s.rogues)
	for _, a := range s.aggs {
		if a.rogue != nil {
			st.Byzantine++
		}
	}
	for _, v := range s.vals {
		if v.rogue != nil {
			st.Byzantine++
		}
	}
	for _, c := range s.clients {
		st.Messages += len(c.orders)
		for _, o := range c.orders {
			st.Reissued += max(o.tries-1, 0)
		}
	}
}

// catchUpAll lets all validators apply the whole log.
func (s *sim) catchUpAll() {
	for range 3 {
		for _, v := range s.vals {
			if v.down {
				v.reopen()
			}
			v.catchUp()
		}
	}
}
