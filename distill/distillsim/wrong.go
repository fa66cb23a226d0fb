// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import (
	"slices"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
)

// Wrong is a way in which a party that should be honest is wrong on purpose. The
// invariants must find it out, in some seeds.
type Wrong uint8

const (
	// NoneWrong: nobody.
	NoneWrong Wrong = iota
	// WrongReissue: clients submit a message anew because one validator says that
	// it wasn't executed.
	WrongReissue
	// WrongRange: clients in the compact mode send a signature before the range of
	// numbers that it raises is durable.
	WrongRange
	// WrongBareHash: validators take the hash of a leaf whose client is absent, in
	// place of the leaf.
	WrongBareHash
	// WrongSequence: an aggregator that was restored from an old backup goes on with
	// the numbers that it has there.
	WrongSequence
	wrongs
)

var wrongNames = [wrongs]string{"", "reissue", "range", "bare-hash", "sequence"}

// String returns the name of w, which is empty for NoneWrong.
func (w Wrong) String() string {
	if w < wrongs {
		return wrongNames[w]
	}
	return "invalid"
}

// Wrongs returns the names of all ways to be wrong.
func Wrongs() []string { return slices.Clone(wrongNames[1:]) }

// ParseWrong returns the way of a name.
func ParseWrong(name string) (Wrong, bool) {
	i := slices.Index(wrongNames[:], name)
	return Wrong(max(i, 0)), i >= 0
}

// prepareWrong makes parties wrong, and others in whose company that matters.
func (s *sim) prepareWrong() {
	switch s.cfg.Wrong {
	case WrongReissue:
		for _, v := range s.vals {
			v.rogue = nil
		}
		s.vals[0].rogue = &rogueValidator{habits: lieAnswers, n: 1}
		s.aggs[0].rogue = newRogueAggregator(s)
		s.aggs[0].rogue.habits = noReceipts
		for _, c := range s.clients {
			c.hasty = true
		}
	case WrongBareHash:
		s.mode = distill.ModeLean
		s.aggs[0].rogue = newRogueAggregator(s)
		s.aggs[0].rogue.habits, s.aggs[0].rogue.bare = 0, true
	case WrongSequence:
		for _, a := range s.aggs {
			a.rogue, a.careless = nil, true
		}
		s.plan.restores = true
	}
}

// believe makes the application of a hasty client act upon one validator's word.
func (c *client) believe(k *distill.Look) {
	x := c.pending[k.Nonce]
	if x == nil || k.Code != distill.LookNotExecuted || k.Height <= k.NotAfter || x.state != orderPending {
		return
	}
	c.s.tracef("%s believes one validator that message %d wasn't executed", c.name, k.Nonce)
	x.state = orderTodo
	delete(c.pending, k.Nonce)
	c.handled[k.Nonce] = true
}

// A bareBatch is a batch as wrong validators take it: of two leaves of one client, the
// first of which is only a hash.
type bareBatch struct {
	prop    distill.Prop
	absent  [32]byte
	leaf    distill.Leaf
	payload []byte
}

// bait shows a client its message in a tree in which there is another one in its name.
// The client agrees to the root, for its own leaf is there.
func (r *rogueAggregator) bait(a *aggregator, sub *distill.Submission) {
	s := a.s
	c := s.honest(sub.ID)
	if c == nil || r.baited[sub.ID] {
		return
	}
	r.baited[sub.ID] = true
	own := sub.Sub(s.w.network.ID()).Leaf()
	b := &bareBatch{absent: own.Hash(), payload: []byte("all to the aggregator")}
	b.leaf = distill.Leaf{ID: sub.ID, Nonce: sub.Nonce + 1, NotAfter: sub.NotAfter, PayloadHash: distill.PayloadHash(b.payload)}
	tree := distill.NewTree([][32]byte{b.absent, b.leaf.Hash()})
	b.prop = distill.Prop{
		Net: s.w.network.ID(), Dirver: a.view.Version(), AggID: a.id, Seq: 1<<50 + sub.ID, N: 2,
		Root: tree.Root(), ValidUntil: a.a.Head() + s.w.params.ValidFor,
	}
	p := distill.Proposal{Nonce: sub.Nonce, Index: 0, Siblings: tree.Proof(0)}
	p.Prop = b.prop
	r.sign(a, &p)
	a.propose(sub.ID, p)
	s.after(1000, func() {
		if red, ok := r.reds[[2]uint64{b.prop.Seq, sub.ID}]; ok {
			s.takeBare(b, &red)
		}
	})
}

// takeBare is what wrong validators do with a bare batch: all is well with it, but that
// they haven't seen the leaf of the hash.
func (s *sim) takeBare(b *bareBatch, red *distill.Reduction) {
	view, err := s.viewAt(b.prop.Dirver)
	if err != nil {
		return
	}
	sig, err := bls.ParseUncompressedSignature(red.Signature[:])
	if err != nil {
		return
	}
	sum, err := view.SumKeys([]uint64{b.leaf.ID})
	if err != nil {
		return
	}
	height := s.log.height()
	root := distill.NewTree([][32]byte{b.absent, b.leaf.Hash()}).Root()
	digest := b.prop.Red().Digest()
	if root != b.prop.Root || height > b.prop.ValidUntil || distill.PayloadHash(b.payload) != b.leaf.PayloadHash ||
		bls.ProofOfPossession.Verify(sum.PublicKey(), digest[:], sig) != nil {
		return
	}
	s.tracef("height %d: a batch of 2, one of them absent and but a hash", height)
	s.oracle.execute(s, message{b.leaf.ID, b.leaf.Nonce}, execution{b.leaf.PayloadHash, height, distill.ResultOK, 0}, b.leaf.NotAfter)
}
