// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package killtest

import (
	"bytes"
	"context"
	"crypto"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/failpoint"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/thresholdrsa"
)

// A place is where a process of a role is killed.
type place struct {
	role, name string
	ceremony   bool // it is in a ceremony, which the test then begins
	most       int  // times that it is passed before, at most
}

// places are those that the services have, beside any time at all.
var places = []place{
	{role: roleValidator, name: "store.commit.before", most: 8},
	{role: roleValidator, name: "store.commit.after", most: 8},
	{role: roleValidator, name: "aggregate.validator.apply", most: 8},
	{role: roleValidator, name: "aggregate.validator.applied", most: 8},
	{role: roleAggregator, name: "store.commit.before", most: 8},
	{role: roleAggregator, name: "store.commit.after", most: 8},
	{role: roleAggregator, name: "aggregate.handoff.before", most: 2},
	{role: roleSigner, name: "store.commit.before", most: 2},
	{role: roleSigner, name: "store.commit.after", most: 2},
	{role: roleSigner, name: "audit.torn", most: 2},
	{role: roleSigner, name: "audit.written", most: 2},
	{role: roleSigner, name: "audit.synced", most: 2},
	{role: roleSigner, name: "threshold.begun", most: 2},
	{role: roleSigner, name: "threshold.signed", most: 2},
	{role: roleSigner, name: "threshold.stored", most: 2},
	{role: roleSigner, name: "threshold.received", ceremony: true},
	{role: roleSigner, name: "threshold.certified", ceremony: true},
	{role: roleSigner, name: "threshold.file.written", ceremony: true, most: 3},
	{role: roleSigner, name: "threshold.file.renamed", ceremony: true, most: 3},
	{role: roleCoordinator, name: "audit.torn", most: 2},
	{role: roleCoordinator, name: "audit.written", most: 2},
	{role: roleCoordinator, name: "audit.synced", most: 2},
	{role: roleCoordinator, name: "threshold.collected", most: 2},
	{role: roleCoordinator, name: "threshold.committed", ceremony: true},
	{role: roleCoordinator, name: "store.commit.before", ceremony: true, most: 6},
	{role: roleCoordinator, name: "store.commit.after", ceremony: true, most: 6},
	{role: roleGateway, name: "store.commit.before", most: 8},
	{role: roleGateway, name: "store.commit.after", most: 8},
}

// schedule returns where the rounds kill: at every place once, or half of them at any time,
// by turns of the roles, and the others at the places by turns.
func schedule(rounds int) (list []place) {
	for i := range rounds {
		switch {
		case !failpoint.Enabled:
			list = append(list, place{role: roles[i%len(roles)]})
		case rounds <= len(places):
			list = append(list, places[i])
		case i%2 == 0:
			list = append(list, place{role: roles[i/2%len(roles)]})
		default:
			list = append(list, places[i/2%len(places)])
		}
	}
	return list
}

// All roles run as processes, under load, and one after the other is killed, at any time
// and at every failpoint. Every message that was acknowledged, and every one that is in
// a client's journal, is executed once and has one outcome; a signer gives out again what
// it gave out before; every audit log is whole.
func TestKill(t *testing.T) {
	long := begin(t)
	rounds := 5
	if failpoint.Enabled {
		rounds = len(places)
	}
	if long {
		rounds = 500
	}
	c := newCampaign(t, plan{})
	list := schedule(rounds)
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	began := time.Now()
	for i, at := range list {
		c.round(i, at)
		if t.Failed() {
			t.Fatalf("in round %d: %+v", i, at)
		}
	}
	t.Logf("%d rounds in %v", rounds, time.Since(began).Round(time.Second))
	c.finish()
	c.report()
}

// A campaign is a world that runs.
type campaign struct {
	*world
	running    map[string]*process
	clients    []signer
	submitters []*submitter
	stopLoad   func()
	kills      map[place]int
	missed     map[place]int // a place wasn't come by in time: killed all the same

	mu    sync.Mutex
	asked map[string]map[string][]byte // by signer and message: shares that it gave
	outs  map[[2]uint64]string         // by client and nonce; empty: none yet
	sigs  map[int]string
	done  int // outcomes
}

// newCampaign starts all processes.
func newCampaign(t *testing.T, p plan) *campaign {
	c := &campaign{
		world:   newWorld(t, p),
		running: make(map[string]*process), asked: make(map[string]map[string][]byte),
		kills: make(map[place]int), missed: make(map[place]int),
		outs: make(map[[2]uint64]string), sigs: make(map[int]string),
	}
	c.seconds = 3600
	for name := range c.members {
		c.running[name] = c.start(name)
	}
	for _, p := range c.running {
		p.awaitReady()
	}
	c.clients = c.register(12)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for _, s := range c.clients[8:] {
		x := newSubmitter(c.world, s)
		c.submitters = append(c.submitters, x)
		group.Go(func() { x.run(ctx) })
	}
	c.stopLoad = func() {
		cancel()
		group.Wait()
	}
	t.Cleanup(c.stopLoad)
	c.clients = c.clients[:8]
	c.running[roleGateway] = c.startGateway(false)
	c.awaitProgress()
	return c
}

// startGateway starts the gateway's process, which takes up what is left over.
func (c *campaign) startGateway(drain bool) *process {
	v, a, o := c.members[roleValidator], c.members[roleAggregator], c.members[roleCoordinator]
	g := &gatewaySpec{
		Validator:   client.Validator{Fingerprint: v.id.Fingerprint(), Address: v.address},
		Aggregator:  a.address,
		Coordinator: client.Validator{Fingerprint: o.id.Fingerprint(), Address: o.address},
		Drain:       drain,
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.clients {
		x := clientSpec{signer: s}
		last := uint64(0)
		for k, out := range c.outs {
			if k[0] == s.ID && out == "" {
				x.Waiting = append(x.Waiting, k[1])
			} else if k[0] == s.ID {
				last = max(last, k[1])
			}
		}
		if last > 0 {
			x.Told = []uint64{last}
		}
		g.Clients = append(g.Clients, x)
	}
	if len(c.sigs) > 0 { // the last one again: it is the same
		g.First = slices.Max(slices.Collect(maps.Keys(c.sigs)))
	}
	return start(c.t, roleGateway, spec{Role: roleGateway, Dir: c.gatewayDir, Seconds: c.seconds, Gateway: g}, c.hear, nil)
}

// hear notes what the gateway says.
func (c *campaign) hear(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := strings.Fields(line)
	var id, nonce uint64
	if len(f) > 2 && f[0] != "sig" {
		if _, err := fmt.Sscan(f[1]+" "+f[2], &id, &nonce); err != nil {
			c.t.Errorf("the gateway says %q", line)
		}
	}
	k := [2]uint64{id, nonce}
	switch f[0] {
	case "sub", "again":
		if _, ok := c.outs[k]; !ok {
			c.outs[k] = ""
		}
	case "out":
		out := strings.Join(f[3:], " ")
		if old := c.outs[k]; old != "" && old != out {
			c.t.Errorf("nonce %d of client %d came out as %s, and as %s", nonce, id, old, out)
		}
		c.outs[k] = out
		c.done++
	case "sig":
		var i int
		fmt.Sscan(f[1], &i)
		if old, ok := c.sigs[i]; ok && old != f[2] {
			c.t.Errorf("two signatures of message %d: %s and %s", i, old, f[2])
		}
		c.sigs[i] = f[2]
	}
}

func (c *campaign) progress() (outs, sigs int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done, len(c.sigs)
}

// awaitProgress waits until messages are executed and signed.
func (c *campaign) awaitProgress() {
	c.t.Helper()
	outs, sigs := c.progress()
	for deadline := time.Now().Add(40 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		o, s := c.progress()
		if o > outs && s > sigs {
			return
		}
		if time.Now().After(deadline) {
			for _, p := range c.running {
				p.dump()
			}
			c.t.Fatalf("nothing goes on: %d outcomes, %d signatures", o-outs, s-sigs)
		}
	}
}

// round kills a process once, starts it again, and looks whether everything goes on.
func (c *campaign) round(i int, at place) {
	t := c.t
	name := at.role
	if name == roleSigner {
		name = signerNames[rand.IntN(len(signerNames))]
	}
	p := c.running[name]
	message := fmt.Sprint("round ", i)
	if at.role == roleSigner && !at.ceremony {
		c.askShare(name, message)
	}
	ceremony := make(chan error, 1)
	if at.name == "" {
		time.Sleep(time.Duration(20+rand.IntN(300)) * time.Millisecond)
		p.kill()
		c.kills[at]++
	} else {
		p.arm(at.name, 1+rand.IntN(max(1, at.most)))
		switch {
		case at.ceremony:
			go func() { ceremony <- c.refresh() }()
		case at.role == roleSigner: // the coordinator may ask others
			go c.use(p, name, i)
		}
		select {
		case <-p.ended:
			c.kills[at]++
		case <-time.After(6 * time.Second):
			p.kill()
			c.missed[at]++
		}
	}
	if m := c.members[name]; m != nil {
		c.checkAudit(m)
		c.running[name] = c.start(name)
	} else {
		c.running[name] = c.startGateway(false)
	}
	c.running[name].awaitReady()
	if at.ceremony {
		if err := <-ceremony; err != nil {
			t.Fatalf("the ceremony: %v", err)
		}
		c.mu.Lock()
		clear(c.asked) // of the epoch before
		c.mu.Unlock()
	} else if at.role == roleSigner {
		c.askShare(name, message)
	}
	c.awaitProgress()
}

// askShare asks a signer for its share of a message, which is the same each time.
func (c *campaign) askShare(name, message string) {
	t := c.t
	t.Helper()
	api := c.threshold(name)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	record := c.record()
	digest := sha256.Sum256([]byte(message))
	r := must(thresholdrsa.NewRequest(record, digest[:], crypto.SHA256))(t)
	data := must(r.MarshalBinary())(t)
	resp, err := api.Share(ctx, &thresholdv1.ShareRequest{Request: data, Key: threshold.KeyName(record)})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	c.gave(name, message, resp.Share)
}

// gave notes that a signer gave a share.
func (c *campaign) gave(name, message string, share []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked[name] == nil {
		c.asked[name] = make(map[string][]byte)
	}
	if old := c.asked[name][message]; old != nil && !bytes.Equal(old, share) {
		c.t.Errorf("%s: another share of %q than before", name, message)
	}
	c.asked[name][message] = share
}

// use has a signer use its share until it is dead.
func (c *campaign) use(p *process, name string, round int) {
	api := c.threshold(name)
	for i := 0; ; i++ {
		select {
		case <-p.ended:
			return
		default:
		}
		message := fmt.Sprintf("use %d in round %d", i, round)
		digest := sha256.Sum256([]byte(message))
		r, err := thresholdrsa.NewRequest(c.record(), digest[:], crypto.SHA256)
		var data []byte
		if err == nil {
			data, err = r.MarshalBinary()
		}
		if err != nil {
			c.t.Error(err)
			return
		}
		ctx, cancel := context.WithTimeout(c.t.Context(), time.Second)
		resp, err := api.Share(ctx, &thresholdv1.ShareRequest{Request: data, Key: threshold.KeyName(c.key)})
		cancel()
		if err == nil {
			c.gave(name, message, resp.Share)
		}
	}
}

// record returns the key's newest record, which the coordinator has.
func (c *campaign) record() *thresholdrsa.PublicKey {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 10*time.Second)
	defer cancel()
	p := c.ownPeer(roleCoordinator)
	resp, err := p.Keys(ctx, &thresholdv1.KeysRequest{})
	if err != nil || len(resp.Keys) != 1 {
		c.t.Fatalf("the coordinator's keys: %v, %v", resp, err)
	}
	record := new(thresholdrsa.PublicKey)
	if err := record.UnmarshalBinary(resp.Keys[0].Record); err != nil {
		c.t.Fatal(err)
	}
	return record
}

var errUnfinished = errors.New("it doesn't end")

// refresh has the coordinator lead a ceremony, in which it or a signer dies.
func (c *campaign) refresh() (err error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), 40*time.Second)
	defer cancel()
	id := ""
	last := errUnfinished
	for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		api := c.ownPeer(roleCoordinator)
		if id == "" {
			resp, err := api.StartCeremony(ctx, &thresholdv1.StartCeremonyRequest{Key: "code"})
			if err != nil {
				last = err
				continue
			}
			id = resp.Ceremony.Id
		}
		resp, err := api.FinishCeremony(ctx, &thresholdv1.FinishCeremonyRequest{Id: id})
		if err != nil {
			last = err
			continue
		}
		finished := 0
		for _, p := range resp.Ceremony.Participants {
			if p.State == "finished" {
				finished++
			}
		}
		if finished == len(resp.Ceremony.Participants) {
			return nil
		}
		last = fmt.Errorf("%w: %v", errUnfinished, resp.Ceremony.Participants)
	}
	return last
}

// checkAudit checks a node's log: it is whole, but for a record that a kill tore, and
// nothing was used that isn't in it.
func (c *campaign) checkAudit(m *member) {
	t := c.t
	t.Helper()
	f := must(os.Open(filepath.Join(m.dir, nodedir.Audit)))(t)
	defer f.Close()
	// How it ended may not be there, or be that it failed: a share that was stored by then is
	// given out when it is asked for again.
	intents := make(map[string]bool)
	_, err := audit.Verify(f, m.id.PublicKey(), "", func(r *audit.Record) {
		if r.Kind == audit.Intent && r.Operation == "threshold.share" {
			intents[r.Subject] = true
		}
	})
	if err != nil {
		t.Fatalf("%s: %v", m.name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for message := range c.asked[m.name] {
		if digest := sha256.Sum256([]byte(message)); !intents[fmt.Sprintf("%x", digest)] {
			t.Errorf("%s gave a share of %q, and its log doesn't say so", m.name, message)
		}
	}
}

// finish settles all that is under way, and compares what was promised with what the
// validator's log has.
func (c *campaign) finish() {
	t := c.t
	t.Helper()
	c.stopLoad()
	c.running[roleGateway].kill()
	g := c.startGateway(true)
	select {
	case <-g.ended:
		if g.err != nil {
			t.Errorf("the gateway: %v: %s", g.err, g.log())
		}
	case <-time.After(60 * time.Second):
		t.Errorf("messages without an outcome: %s", g.log())
	}
	c.settle()
	for name, p := range c.running {
		if name == roleGateway {
			continue
		}
		if err := p.stop(); err != nil {
			t.Errorf("%s: %v: %s", name, err, p.log())
		}
		c.checkAudit(c.members[name])
	}
	executed := c.executed(roleValidator)
	for k, n := range executed {
		if n != 1 {
			t.Errorf("nonce %d of client %d was executed %d times", k[1], k[0], n)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, out := range c.outs {
		if !strings.HasPrefix(out, fmt.Sprintf("%d ", distill.OutcomeExecuted)) || executed[k] != 1 {
			t.Errorf("nonce %d of client %d came out as %q, and was executed %d times", k[1], k[0], out, executed[k])
		}
	}
	for _, s := range c.submitters {
		for n := range s.acked {
			if executed[[2]uint64{s.who.ID, n}] != 1 {
				t.Errorf("nonce %d of client %d was acknowledged, and executed %d times", n, s.who.ID, executed[[2]uint64{s.who.ID, n}])
			}
		}
		for n := range s.receipts {
			if executed[[2]uint64{s.who.ID, n}] != 1 {
				t.Errorf("nonce %d of client %d has a receipt, and was executed %d times", n, s.who.ID, executed[[2]uint64{s.who.ID, n}])
			}
		}
	}
}

// settle waits for what was submitted once, and acknowledged.
func (c *campaign) settle() {
	t := c.t
	t.Helper()
	v := c.members[roleValidator]
	cfg := client.GatewayConfig{
		Key: c.driverKey, Genesis: c.genesis, Network: must(distill.NewNetwork(c.genesis))(t),
		Validators: []client.Validator{{Fingerprint: v.id.Fingerprint(), Address: v.address}},
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	var group sync.WaitGroup
	for _, s := range c.submitters {
		group.Go(func() {
			for _, n := range s.settle(ctx, cfg) {
				t.Errorf("nonce %d of client %d was acknowledged, and isn't executed", n, s.who.ID)
			}
		})
	}
	group.Wait()
	if t.Failed() {
		t.Logf("the aggregator: %s", c.running[roleAggregator].log())
		t.Logf("the validator: %s", c.running[roleValidator].log())
	}
}

// executed reads the log of a validator that has ended.
func (w *world) executed(name string) map[[2]uint64]int {
	t := w.t
	t.Helper()
	s := must(store.Open(filepath.Join(w.members[name].dir, nodedir.Store), store.Options{}))(t)
	defer s.Close()
	head := must(s.Validator().Head())(t)
	executed := make(map[[2]uint64]int)
	for h := uint64(1); h <= head.Height; h++ {
		log := must(s.Validator().Tick(h))(t)
		for i := range log {
			for _, x := range log[i].Results {
				if x.Code == distill.ResultOK {
					executed[[2]uint64{x.ID, x.Nonce}]++
				}
			}
		}
	}
	return executed
}

// report says how many rounds of what there were.
func (c *campaign) report() {
	t := c.t
	byRole := make(map[string]int)
	for at, n := range c.kills {
		byRole[at.role] += n
		if at.name != "" {
			t.Logf("%-12s %-28s %d, and not come by %d", at.role, at.name, n, c.missed[at])
		}
	}
	for at, n := range c.missed {
		byRole[at.role] += n
		if c.kills[at] == 0 {
			t.Errorf("%s never came by %s, in %d rounds", at.role, at.name, n)
		}
	}
	for _, role := range roles {
		if byRole[role] == 0 {
			continue
		}
		t.Logf("%-12s %-28s %d, and %d in all", role, "at any time", c.kills[place{role: role}], byRole[role])
	}
	acked, receipts := 0, 0
	for _, s := range c.submitters {
		a, r := s.counts()
		acked, receipts = acked+a, receipts+r
	}
	t.Logf("%d messages of clients executed, %d submitted once and acknowledged (%d receipts on the way), %d messages signed",
		len(c.outs), acked, receipts, len(c.sigs))
}
