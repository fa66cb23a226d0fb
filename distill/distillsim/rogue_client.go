// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import (
	"crypto/ed25519"
	"fmt"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
)

// A rogueClient is registered, and signs whatever it likes: two messages for one nonce,
// reductions that aren't, or nothing.
type rogueClient struct {
	node
	s     *sim
	id    uint64
	keys  distill.ClientKeys
	nonce uint64
	kind  int // how it reduces
}

// start lets the client send messages until the faults end.
func (c *rogueClient) start() {
	c.kind = c.s.rng.IntN(5)
	c.s.every(int64(1500+c.s.rng.IntN(2500)), func() bool {
		c.submit()
		return !c.s.calm && c.nonce < 2
	})
}

func (c *rogueClient) submit() {
	s := c.s
	c.nonce++
	notAfter := s.relay.best.Hgt.Height + 2*s.w.params.ValidFor + 4
	first := c.sign(c.nonce, notAfter, fmt.Appendf(nil, "%d pays one", c.id))
	second := c.sign(c.nonce, notAfter, fmt.Appendf(nil, "%d pays another one", c.id))
	for i, a := range s.aggs {
		x := first
		if i > 0 {
			x = second
		}
		s.send(&c.node, &a.node, "a message", func() { a.submission(x) })
		if s.one(2) {
			s.send(&c.node, &a.node, "another message of that nonce", func() { a.submission(second) })
		}
	}
}

func (c *rogueClient) sign(nonce, notAfter uint64, payload []byte) *distill.Submission {
	x := &distill.Submission{ID: c.id, Nonce: nonce, NotAfter: notAfter, Payload: payload}
	sub := x.Sub(c.s.w.network.ID())
	switch c.s.mode {
	case distill.ModeEd25519:
		x.Signature = ed25519.Sign(c.keys.Ed, sub.Bytes())
	case distill.ModeFolded:
		d := sub.Digest()
		if sig, err := bls.Augmented.Sign(c.keys.BLS, d[:]); err == nil {
			x.Signature = sig.Bytes()
		}
	}
	return x
}

// proposal answers a proposal, in a way.
func (c *rogueClient) proposal(a *aggregator, p *distill.Proposal) {
	if p.Prop.Seq >= 1<<30 && a.rogue != nil && a.rogue.has(forge) {
		return // among cheats that isn't interesting
	}
	r := distill.Reduction{ID: c.id, Seq: p.Prop.Seq, Digest: p.Prop.Red().Digest()}
	msg := r.Digest
	switch c.kind {
	case 0:
		return
	case 1:
		msg[0] ^= 1 // a signature of something else
	case 2:
		c.s.random(r.Signature[:]) // no point of the curve
	case 3:
		r.Digest[0] ^= 1 // of another batch
	}
	if c.kind != 2 {
		sig, err := bls.ProofOfPossession.Sign(c.keys.BLS, msg[:])
		if err != nil {
			c.s.violate(Sound, "%s: %v", c.name, err)
			return
		}
		r.Signature = [distill.ReductionSize]byte(sig.UncompressedBytes())
	}
	c.s.send(&c.node, &a.node, "a reduction", func() { a.reduction(&r) })
}
