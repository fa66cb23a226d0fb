// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import (
	"crypto/ed25519"
	"slices"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
)

// A rogueAggregator meddles with what an honest one does. It has its key, and knows all
// that its clients have sent.
type rogueAggregator struct {
	habits int
	subs   map[message]*distill.Submission
	reds   map[[2]uint64]distill.Reduction // by number of the batch and id
	late   map[uint64][]byte               // batches that are held back, by number
	pairs  int                             // batches that were published twice, or made bad
	forged map[[2]uint64]*distill.Batch    // by the same: what is wanted to be signed
	bare   bool                            // attacks by absent leaves, see [WrongBareHash]
	baited map[uint64]bool
}

// The habits of rogue aggregators.
const (
	equivocate = 1 << iota // other proposals of the same number
	wrongRoots             // proposals of trees in which the client isn't
	twoBatches             // of one number
	badBatches             // altered
	replays                // old batches
	noReceipts             // clients don't get them, or false ones
	swallow                // acknowledges messages and forgets them
	forge                  // asks clients to sign for what they haven't chosen
	hoard                  // publishes batches late

	allAggHabits = 1<<iota - 1
)

func newRogueAggregator(s *sim) *rogueAggregator {
	r := &rogueAggregator{
		habits: 1 << s.rng.IntN(9), subs: make(map[message]*distill.Submission),
		reds: make(map[[2]uint64]distill.Reduction), baited: make(map[uint64]bool),
		forged: make(map[[2]uint64]*distill.Batch), late: make(map[uint64][]byte),
	}
	if s.one(2) {
		r.habits |= 1 + s.rng.IntN(allAggHabits)
	}
	return r
}

func (r *rogueAggregator) has(habit int) bool { return r.habits&habit != 0 }

// submission reports whether a message is swallowed.
func (r *rogueAggregator) submission(a *aggregator, sub *distill.Submission) bool {
	r.subs[message{sub.ID, sub.Nonce}] = sub
	if r.bare {
		r.bait(a, sub)
	}
	if r.has(swallow) && a.s.one(2) {
		a.act(distill.SendAck{ID: sub.ID, Nonce: sub.Nonce})
		return true
	}
	return false
}

func (r *rogueAggregator) reduction(a *aggregator, red *distill.Reduction) {
	key := [2]uint64{red.Seq, red.ID}
	r.reds[key] = *red
	b := r.forged[key]
	if b == nil {
		return
	}
	if sig, err := bls.ParseUncompressedSignature(red.Signature[:]); err == nil {
		b.Aggregate = sig.Bytes()
		if encoded, err := b.Sign(a.s.w.aggs[a.index]); err == nil {
			a.s.log.add(a.s, encoded)
		}
	}
}

// propose asks a client to sign for a message in its name that it hasn't chosen: the tree
// has one leaf, and it is another one.
func (r *rogueAggregator) propose(a *aggregator, id uint64, p distill.Proposal) {
	payload := []byte("all to the aggregator")
	leaf := distill.Leaf{ID: id, Nonce: p.Nonce, NotAfter: p.Prop.ValidUntil + 1, PayloadHash: distill.PayloadHash(payload)}
	if a.s.one(2) {
		leaf.Nonce += 100
	}
	p.Prop.Seq += 1<<30 + id
	p.Prop.Root, p.Prop.N, p.Index, p.Siblings = leaf.Hash(), 1, 0, nil
	r.sign(a, &p)
	b := &distill.Batch{
		Net: p.Prop.Net, Dirver: p.Prop.Dirver, AggID: a.id, Seq: p.Prop.Seq, ValidUntil: p.Prop.ValidUntil, Mode: a.s.mode,
		IDs: []uint64{id}, Nonces: []uint64{leaf.Nonce}, NotAfter: []uint64{leaf.NotAfter},
	}
	b.Payloads.Append(payload)
	r.forged[[2]uint64{b.Seq, id}] = b
	a.propose(id, p)
}

// proposal sends a proposal, and perhaps others in its place.
func (r *rogueAggregator) proposal(a *aggregator, id uint64, p distill.Proposal) {
	s := a.s
	if r.has(wrongRoots) && s.one(3) {
		q := p
		q.Prop.Root[5] ^= 1
		q.Prop.Seq += 1 << 40
		r.sign(a, &q)
		a.propose(id, q)
	}
	if r.has(forge) && s.one(2) {
		r.propose(a, id, p)
	}
	if r.has(equivocate) && s.one(2) {
		q := p
		if sub := r.subs[message{id, p.Nonce}]; sub != nil && s.one(2) {
			// A tree of the client alone, to which it would agree.
			q.Prop.Root = sub.Sub(s.w.network.ID()).Leaf().Hash()
			q.Prop.N, q.Index, q.Siblings = 1, 0, nil
		} else {
			q.Prop.ValidUntil--
		}
		if q.Prop != p.Prop {
			r.sign(a, &q)
			a.propose(id, q)
		}
	}
	a.propose(id, p)
}

func (r *rogueAggregator) sign(a *aggregator, p *distill.Proposal) {
	p.Signature = [64]byte(ed25519.Sign(a.s.w.aggs[a.index], p.Prop.Bytes()))
}

// receipt reports whether a receipt isn't to be sent.
func (r *rogueAggregator) receipt(a *aggregator, x distill.Receipt) bool {
	if !r.has(noReceipts) {
		return false
	}
	if a.s.one(2) {
		x.Result.Code, x.Result.FirstCode, x.Result.AppCode, x.Result.ExecHeight = distill.ResultSkipped, 0, 0, 0
		if a.s.one(2) { // with a root of its own, which nobody has signed
			x.Rcpt.ResultRoot, x.Rcpt.N, x.Index, x.Siblings = x.Result.Hash(), 1, 0, nil
		}
		a.to(x.Result.ID, "a false receipt", func(c *client) { c.receipt(&x) }, func(*rogueClient) {})
	}
	return true
}

// published adds other batches to one that is published. It reports whether that itself is
// held back.
func (r *rogueAggregator) published(a *aggregator, p distill.Publish) (held bool) {
	if held = r.has(hoard) && p.Seq%2 == 1; held && r.late[p.Seq] == nil {
		r.late[p.Seq] = p.Encoded
		a.s.after(int64(1500+a.s.rng.IntN(8000)), func() { a.s.log.pending = append(a.s.log.pending, p.Encoded) })
	}
	r.others(a, p)
	return held
}

func (r *rogueAggregator) others(a *aggregator, p distill.Publish) {
	s := a.s
	toLog := func(what string, encoded []byte) {
		s.send(&a.node, &s.log.node, what, func() { s.log.add(s, encoded) })
	}
	if r.has(replays) && len(s.log.old) > 0 {
		s.log.pending = append(s.log.pending, s.log.old[s.rng.IntN(len(s.log.old))])
	}
	if r.pairs >= 2 {
		return
	}
	b, err := distill.DecodeBatch(p.Encoded, &s.w.params)
	if err != nil {
		s.violate(Sound, "%s: its own batch can't be read: %v", a.name, err)
		return
	}
	if r.has(forge) {
		r.pairs++
		if encoded := r.forgery(a, b); encoded != nil {
			toLog("a forged batch", encoded)
		}
	}
	if r.has(twoBatches) {
		if other := r.other(s, b); other != nil {
			if encoded, err := other.Sign(s.w.aggs[a.index]); err == nil {
				r.pairs++
				toLog("another batch of that number", encoded)
			}
		}
	}
	if r.has(badBatches) {
		if encoded := r.bad(a, b); encoded != nil {
			r.pairs++
			toLog("a bad batch", encoded)
		}
	}
}

// forgery returns a batch in which the first client is a straggler, with a message that it
// hasn't chosen, and a signature that is somebody's, or its own of something else.
func (r *rogueAggregator) forgery(a *aggregator, b *distill.Batch) []byte {
	x := &distill.Batch{
		Net: b.Net, Dirver: b.Dirver, AggID: a.id, Seq: b.Seq + 1<<21, ValidUntil: b.ValidUntil, Mode: b.Mode,
		IDs: b.IDs[:1], Nonces: []uint64{b.Nonces[0] + 50}, NotAfter: b.NotAfter[:1],
	}
	x.Payloads.Append([]byte("all to the aggregator"))
	sub := r.subs[message{b.IDs[0], b.Nonces[0]}]
	switch {
	case sub == nil || len(sub.Signature) == 0:
		x.Mode = distill.ModeEd25519
		x.Stragglers, x.StragglerSigs = []uint32{0}, make([]byte, 64)
	case x.Mode == distill.ModeEd25519:
		x.Stragglers, x.StragglerSigs = []uint32{0}, sub.Signature
	default:
		x.Stragglers, x.Aggregate = []uint32{0}, sub.Signature
	}
	encoded, err := x.Sign(a.s.w.aggs[a.index])
	if err != nil {
		return nil
	}
	return encoded
}

// other returns a valid batch of the same number, in which somebody who signed is a
// straggler, or absent.
func (r *rogueAggregator) other(s *sim, b *distill.Batch) *distill.Batch {
	if len(b.Stragglers)+1 > s.w.params.MaxStragglers(b.Mode, b.Len()) || b.Mode == distill.ModeFolded {
		return nil
	}
	x := *b
	x.Payloads, x.StragglerSigs, x.Stragglers = distill.Payloads{}, nil, nil
	var sigs []*bls.Signature
	moved := false
	at := b.StragglerSigs
	for i, id := range b.IDs {
		payload := b.Payloads.At(i)
		straggler := slices.Contains(b.Stragglers, uint32(i))
		if straggler && b.Mode == distill.ModeEd25519 {
			x.StragglerSigs, at = append(x.StragglerSigs, at[:64]...), at[64:]
		}
		if !straggler && !moved {
			sub := r.subs[message{id, b.Nonces[i]}]
			if sub == nil {
				return nil
			}
			moved, straggler = true, true
			if b.Mode == distill.ModeLean {
				hash := distill.PayloadHash(payload)
				payload = hash[:]
			} else if len(sub.Signature) != 64 {
				return nil
			} else {
				x.StragglerSigs = append(x.StragglerSigs, sub.Signature...)
			}
		} else if !straggler {
			red, ok := r.reds[[2]uint64{b.Seq, id}]
			sig, err := bls.ParseUncompressedSignature(red.Signature[:])
			if !ok || err != nil {
				return nil
			}
			sigs = append(sigs, sig)
		}
		if straggler {
			x.Stragglers = append(x.Stragglers, uint32(i))
		}
		x.Payloads.Append(payload)
	}
	x.Aggregate = nil
	if len(sigs) > 0 {
		sum, err := bls.Aggregate(sigs...)
		if err != nil {
			return nil
		}
		x.Aggregate = sum.Bytes()
	} else if b.Mode == distill.ModeLean {
		return nil // nobody would be there
	}
	if !moved {
		return nil
	}
	return &x
}

// bad returns an altered batch of another number, which the aggregator has signed.
func (r *rogueAggregator) bad(a *aggregator, b *distill.Batch) []byte {
	s := a.s
	key := s.w.aggs[a.index]
	x := *b
	x.Seq += 1 << 20
	x.IDs, x.Nonces, x.NotAfter = slices.Clone(b.IDs), slices.Clone(b.Nonces), slices.Clone(b.NotAfter)
	x.Payloads.Data = slices.Clone(b.Payloads.Data)
	switch s.rng.IntN(6) {
	case 0:
		x.Payloads.Data[0] ^= 1
	case 1:
		x.Nonces[0] += 1000
	case 2:
		x.NotAfter[0]++
	case 3:
		x.IDs[len(x.IDs)-1] = 1 << 40
	case 4:
		if x.Aggregate != nil {
			x.Aggregate = append([]byte{0xc0}, make([]byte, 95)...)
		}
	case 5:
		unsigned, err := x.Unsigned()
		if err != nil {
			return nil
		}
		encoded := append(slices.Clip(unsigned), 0) // a byte too many
		bat := distill.Bat{Net: x.Net, AggID: x.AggID, Seq: x.Seq, BatchDigest: distill.BatchDigest(append(slices.Clone(encoded), make([]byte, 64)...))}
		return append(encoded, ed25519.Sign(key, bat.Bytes())...)
	}
	// The number is another one, so that nobody has signed that.
	encoded, err := x.Sign(key)
	if err != nil {
		return nil
	}
	return encoded
}
