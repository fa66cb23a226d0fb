// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import "github.com/undersign/undersign/bls"

// HandleProposal examines a proposal that came from an aggregator, and signs it if the
// client's own message is in it. If the aggregator is found to have signed another
// proposal of that number, the evidence is among the actions, whatever the error.
func (c *Client) HandleProposal(now int64, aggID uint64, p *Proposal) (out []ClientAction, err error) {
	if c.ledger.err != nil {
		return nil, c.ledger.err
	}
	params := &c.cfg.Network.verifier.params
	prop := &p.Prop

	// The channel, the keys, and the aggregator's signature.
	switch {
	case prop.AggID != aggID:
		return nil, reject(RuleChannel)
	case prop.Net != c.cfg.Network.ID():
		return nil, reject(RuleNetwork)
	case prop.Dirver < c.cfg.Keys.Since:
		return nil, reject(RuleClientKeys)
	}
	if err := c.cfg.Network.VerifyProp(&p.SignedProp); err != nil {
		return nil, err
	}
	other := c.remember(&p.SignedProp)
	if other != nil {
		out = append(out, ReportEquivocation{*other, p.SignedProp})
	}

	// The shape.
	switch {
	case prop.N > params.MaxLeaves:
		return out, reject(RuleLeaves)
	case p.Index >= prop.N:
		return out, reject(RuleProofIndex)
	case len(p.Siblings) != Depth(prop.N):
		return out, reject(RuleProofDepth)
	}

	// The heights: no slack, for there is none to agree on.
	i := c.find(p.Nonce)
	if i < 0 || c.flights[i].state != flightSent && c.flights[i].state != flightAcked {
		return out, reject(RuleNotInFlight)
	}
	f := c.flights[i]
	switch {
	case !c.hasHead:
		return out, reject(RuleNoHead)
	case prop.ValidUntil < c.head:
		return out, reject(RuleProposalExpired)
	case prop.ValidUntil > f.notAfter:
		return out, reject(RuleProposalLate)
	}

	// The own leaf, made of what is in the journal, and nothing that came along.
	leaf := Leaf{c.cfg.ID, f.nonce, f.notAfter, f.hash}
	if err := VerifyProof(prop.Root, prop.N, p.Index, leaf.Hash(), p.Siblings); err != nil {
		return out, err
	}
	if !f.mayReduce(aggID, &prop.Root) {
		return out, reject(RuleRoots)
	}
	if other != nil {
		return out, reject(RuleEquivocation)
	}

	r := Reduction{ID: c.cfg.ID, Seq: prop.Seq, Digest: prop.Red().Digest()}
	sig, err := bls.ProofOfPossession.Sign(c.cfg.Keys.BLS, r.Digest[:])
	if err != nil {
		return out, err
	}
	r.Signature = [ReductionSize]byte(sig.UncompressedBytes())
	f.sign(aggID, &prop.Root)
	f.state, f.resendAt = flightAcked, never // who proposes it has it
	return append(out, SendReduction{aggID, r}), nil
}

// remember keeps a proposal, and returns another one of the same number if there is one.
func (c *Client) remember(p *SignedProp) (other *SignedProp) {
	for i := range c.seen {
		s := &c.seen[i]
		if s.Prop.AggID != p.Prop.AggID || s.Prop.Seq != p.Prop.Seq {
			continue
		}
		if s.Prop == p.Prop {
			return nil
		}
		first := *s
		return &first
	}
	if len(c.seen) == maxSeen {
		c.seen = append(c.seen[:0], c.seen[1:]...)
	}
	c.seen = append(c.seen, *p)
	return nil
}

// mayReduce reports whether another root of an aggregator may be signed for f, or it is
// one that was.
func (f *flight) mayReduce(aggID uint64, root *[32]byte) bool {
	n := 0
	for i := range f.roots {
		if f.roots[i].aggID == aggID {
			if f.roots[i].root == *root {
				return true
			}
			n++
		}
	}
	return n < maxRoots
}

// sign notes that a root was signed.
func (f *flight) sign(aggID uint64, root *[32]byte) {
	s := signedRoot{aggID, *root}
	for i := range f.roots {
		if f.roots[i] == s {
			return
		}
	}
	f.roots = append(f.roots, s)
}
