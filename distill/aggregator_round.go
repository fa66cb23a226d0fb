// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"cmp"
	"crypto/ed25519"
	"slices"

	"github.com/undersign/undersign/internal/bls12381"
)

// A round is a batch from its proposal to its receipt. Its number is used once: after the
// proposal is in the journal there is never another root for it, and after the batch is
// there never another batch.
type round struct {
	seq, validUntil uint64
	mode            Mode
	view            View // the version it names
	state           roundState

	members []*poolEntry // in ascending order of ids
	ids     []uint64     // of members
	status  []memberStatus
	open    int // members whose reductions haven't come
	tree    *Tree
	prop    SignedProp
	red     [32]byte // what the members sign
	redHash *bls12381.Lines

	proposedAt, closeAt int64
	burst               burst
	sum                 bls12381.G2 // of the valid reductions
	spare               spare

	encoded   []byte // once it is closed
	digest    [32]byte
	publishAt int64
}

type roundState uint8

const (
	roundCollecting roundState = iota + 1
	roundFinal                 // in the journal, to be published
	roundHandedOff             // validators have it
)

type memberStatus uint8

const (
	memberOpen    memberStatus = iota
	memberPending              // its reduction is in the burst
	memberGood                 // its reduction is in the sum
	memberBad                  // its reduction isn't valid
	memberSlow                 // in quarantine: a straggler from the beginning
)

// find returns the position of a client, or -1.
func (r *round) find(id uint64) int {
	at, ok := slices.BinarySearch(r.ids, id)
	if !ok {
		return -1
	}
	return at
}

func (a *Aggregator) canPropose() bool {
	return a.resumed && a.current() && !a.recovering && len(a.rounds) < a.limits.InFlight
}

func (a *Aggregator) mayPropose(now int64) bool {
	return a.pool.open && a.canPropose() && (a.draining || now >= a.pool.since+a.limits.BatchAge ||
		a.pool.fast.n >= a.limits.Leaves || a.pool.payloads >= a.limits.BatchBytes)
}

// leafBytes is what a leaf takes at most in an encoded batch, but for its signature. An
// absent one has a hash in the place of its payload.
func leafBytes(payload int) int { return 3*10 + 5 + max(payload, 32) }

// fits reports whether n leaves of so many bytes fit into a batch, with as many stragglers
// as there may be.
func (a *Aggregator) fits(n, bytes int) bool {
	const around = headerSize + aggregateSize + signatureSize + 16
	// A straggler takes its signature, and at most 3 bytes for its position.
	return uint64(around+bytes+n/8+(signatureSize+3)*a.params.MaxStragglers(ModeEd25519, n)) <= a.params.MaxBatch
}

// A gathering is the members of a batch to be.
type gathering struct {
	r        *round
	bytes    int            // encoded
	payloads int            // of them, payloads
	slow     int            // members in quarantine
	again    []*clientState // with more messages
}

// propose makes a batch of messages that wait, if there are any that may be executed.
func (a *Aggregator) propose(now int64, out []AggregatorAction) ([]AggregatorAction, error) {
	g := &gathering{r: &round{
		seq: a.nextSeq, validUntil: a.head + a.params.ValidFor, view: a.view, mode: a.cfg.Mode,
		state: roundCollecting, proposedAt: now, closeAt: now + a.waits.wait,
	}}
	if a.cfg.Mode == ModeLean {
		// A lean batch has no signatures of stragglers, so that those who are in
		// quarantine have batches of their own, in turn with the others.
		if a.slowTurn {
			out = a.gatherSlow(now, g, out)
		}
		if a.slowTurn = len(g.r.members) == 0; a.slowTurn {
			out = a.gatherFast(now, g, out)
		} else {
			g.r.mode = ModeEd25519
		}
	} else {
		out = a.gatherFast(now, g, out)
		out = a.gatherSlow(now, g, out)
	}
	for _, c := range g.again {
		a.enqueue(now, c, false)
	}
	a.pool.open, a.pool.since = a.pool.fast.n+a.pool.slow.n > 0, now
	if len(g.r.members) == 0 {
		return out, a.sweep()
	}
	r := g.r
	a.build(r)
	if err := a.commit(a.stateRecord(r.seq+1, false), a.proposedRecord(r)); err != nil {
		return nil, err
	}
	a.nextSeq = r.seq + 1
	a.rounds = append(a.rounds, r)
	a.stats.Proposed++
	a.signProposal(r)
	if r.open == 0 {
		return a.close(now, r, out)
	}
	return append(out, r.proposals()), nil
}

// gatherFast takes members from the queue of those that aren't in quarantine.
func (a *Aggregator) gatherFast(now int64, g *gathering, out []AggregatorAction) []AggregatorAction {
	for a.pool.fast.n > 0 && len(g.r.members) < a.limits.Leaves && g.payloads < a.limits.BatchBytes {
		c := a.pool.fast.pop()
		if c.slow(now) {
			a.pool.slow.push(c)
			continue
		}
		c.queued = false
		var e *poolEntry
		if e, out = a.freshest(g, c, out); e == nil {
			continue
		}
		if !a.join(g, c, e) {
			a.enqueue(now, c, true)
			break
		}
	}
	return out
}

// gatherSlow takes members in quarantine. Among others they are half of the stragglers
// that there may be, lest they crowd out those who are late for once.
func (a *Aggregator) gatherSlow(now int64, g *gathering, out []AggregatorAction) []AggregatorAction {
	fast := len(g.r.members)
	for range a.pool.slow.n {
		n := len(g.r.members) + 1
		limit := a.params.MaxStragglers(g.r.mode, n)
		if fast > 0 {
			limit = a.params.MaxStragglers(g.r.mode, max(n, int(a.params.MinStragglers))) / 2
		}
		if g.slow >= limit || n > a.limits.Leaves {
			break
		}
		c := a.pool.slow.pop()
		if !c.slow(now) {
			a.pool.fast.push(c)
			continue
		}
		c.queued = false
		var e *poolEntry
		e, out = a.freshest(g, c, out)
		switch {
		case e == nil:
		case e.sig == nil:
			if !e.asked && a.params.Modes.Has(ModeEd25519) {
				e.asked = true
				out = append(out, RequestSignature{e.id, e.nonce})
			}
			a.enqueue(now, c, false)
		case a.join(g, c, e):
			g.slow++
		default:
			a.enqueue(now, c, true)
			return out
		}
	}
	return out
}

// freshest returns the next message of a client, after dropping those that expire before
// the batch does, and those signed by keys that aren't the client's any more, or for another
// mode: nobody's is executed too late, and nobody shortens the batch for all, or makes it
// invalid.
func (a *Aggregator) freshest(g *gathering, c *clientState, out []AggregatorAction) (*poolEntry, []AggregatorAction) {
	for {
		e := a.pick(c)
		if e == nil {
			return nil, out
		}
		rule := RuleTooLate
		if e.notAfter >= g.r.validUntil {
			if a.suits(e.sig) && a.holds(e) {
				return e, out
			}
			rule = RuleSubmissionSignature
			if a.view.FirstInactive([]uint64{e.id}) >= 0 {
				rule = RuleInactive
			}
		}
		a.drop(e)
		a.stats.Dropped++
		out = append(out, SendRefusal{Refusal{e.id, e.nonce, rule, 0}})
	}
}

// drop forgets a message, in the journal with the next commit.
func (a *Aggregator) drop(e *poolEntry) {
	a.remove(e)
	a.leave(e)
}

// sweep commits deletions that have piled up.
func (a *Aggregator) sweep() error {
	writes := append(a.trash, a.left()...)
	a.trash = nil
	return a.ledger.commit(writes...)
}

// join makes a message a member of the batch, if there is room for it.
func (a *Aggregator) join(g *gathering, c *clientState, e *poolEntry) bool {
	bytes := g.bytes + leafBytes(len(e.payload))
	if !a.fits(len(g.r.members)+1, bytes) {
		return false
	}
	g.bytes = bytes
	g.payloads += len(e.payload)
	g.r.members = append(g.r.members, e)
	a.fly(e, g.r)
	g.again = append(g.again, c)
	return true
}

// build makes the tree of a round whose members are known.
func (a *Aggregator) build(r *round) {
	slices.SortFunc(r.members, func(x, y *poolEntry) int { return cmp.Compare(x.id, y.id) })
	n := len(r.members)
	leaves := make([][32]byte, n)
	r.ids = make([]uint64, n)
	r.status = make([]memberStatus, n)
	for i, e := range r.members {
		leaves[i] = Leaf{e.id, e.nonce, e.notAfter, e.hash}.Hash()
		r.ids[i] = e.id
		if r.mode != ModeLean && a.clients[e.id].slow(r.proposedAt) {
			r.status[i] = memberSlow
		} else {
			r.open++
		}
	}
	r.tree = NewTree(leaves)
}

// signProposal makes the statement that a round's members are shown, the same each time.
func (a *Aggregator) signProposal(r *round) {
	r.prop.Prop = Prop{
		Net: a.cfg.Network.verifier.net, Dirver: r.view.Version(), AggID: a.cfg.ID, Seq: r.seq,
		N: uint64(len(r.members)), Root: r.tree.Root(), ValidUntil: r.validUntil,
	}
	r.prop.Signature = [64]byte(ed25519.Sign(a.cfg.Key, r.prop.Prop.Bytes()))
	r.red = r.prop.Prop.Red().Digest()
}

// proposals returns the action to send them to all who haven't answered.
func (r *round) proposals() SendProposals {
	s := SendProposals{round: r, at: make([]uint32, 0, r.open)}
	for i, status := range r.status {
		if status == memberOpen {
			s.at = append(s.at, uint32(i))
		}
	}
	return s
}

// Remind returns what clients are to be sent who weren't there for a while: proposals that
// they haven't answered, and requests for signatures. Those who have an acknowledgement
// don't ask by themselves for long, and would be missed.
func (a *Aggregator) Remind(ids []uint64) (out []AggregatorAction) {
	if !a.resumed || a.ledger.err != nil {
		return nil
	}
	for _, r := range a.rounds {
		s := SendProposals{round: r}
		for _, id := range ids {
			if at := r.find(id); at >= 0 && r.state == roundCollecting && r.status[at] == memberOpen {
				s.at = append(s.at, uint32(at))
			}
		}
		if len(s.at) > 0 {
			out = append(out, s)
		}
	}
	for _, id := range ids {
		c := a.clients[id]
		if c == nil {
			continue
		}
		for _, e := range c.entries {
			if e.asked && e.sig == nil {
				out = append(out, RequestSignature{e.id, e.nonce})
			}
		}
	}
	return out
}
