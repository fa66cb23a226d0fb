// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"
)

// A Network is what clients and aggregators go by: a genesis, with the keys of its
// aggregators and validators. One serves all the clients of a process, and verifies what
// many of them are shown only once. It may be used by several goroutines.
type Network struct {
	committee   *Committee
	verifier    *Verifier
	aggregators []uint64 // ids

	mu       sync.Mutex
	verified map[[32]byte]struct{} // hashes of statements with valid signatures
	recent   [verifiedRecently][32]byte
	next     int
}

// verifiedRecently is how many signatures a Network remembers.
const verifiedRecently = 1 << 10

// NewNetwork returns the network of g, which it verifies.
func NewNetwork(g *Genesis) (*Network, error) {
	committee, err := NewCommittee(g)
	if err != nil {
		return nil, err
	}
	verifier, err := NewVerifier(g)
	if err != nil {
		return nil, err
	}
	n := &Network{
		committee: committee, verifier: verifier,
		verified: make(map[[32]byte]struct{}, verifiedRecently),
	}
	for _, a := range g.Aggregators {
		n.aggregators = append(n.aggregators, a.ID)
	}
	return n, nil
}

// ID returns the network's id.
func (n *Network) ID() NetworkID { return n.verifier.net }

// Params returns the network's parameters.
func (n *Network) Params() Params { return n.verifier.params }

// Committee returns the validators.
func (n *Network) Committee() *Committee { return n.committee }

// Verifier returns the verifier of batches.
func (n *Network) Verifier() *Verifier { return n.verifier }

// VerifyProp verifies an aggregator's signature of a proposal.
func (n *Network) VerifyProp(p *SignedProp) error {
	if p.Prop.Net != n.ID() {
		return reject(RuleNetwork)
	}
	key := n.verifier.aggregators[p.Prop.AggID]
	if key == nil {
		return reject(RuleAggregator)
	}
	msg := p.Prop.Bytes()
	return n.once(msg, nil, p.Signature[:], func() error {
		if key.Verify(msg, p.Signature[:]) != nil {
			return reject(RuleAggregatorSignature)
		}
		return nil
	})
}

// VerifyHead verifies that F+1 validators have signed a height.
func (n *Network) VerifyHead(h *SignedHead) error { return n.verify(h.Hgt, &h.Certificate) }

// VerifyRcpt verifies that F+1 validators have signed a receipt.
func (n *Network) VerifyRcpt(r *SignedRcpt) error { return n.verify(r.Rcpt, &r.Certificate) }

func (n *Network) verify(s Statement, c *Certificate) error {
	return n.once(s.Bytes(), c.Bitmap, c.Signature[:], func() error { return n.committee.Verify(s, c) })
}

// once verifies, unless the same has been verified recently.
func (n *Network) once(statement, bitmap, sig []byte, verify func() error) error {
	h := sha256.New()
	var length [8]byte
	for _, part := range [...][]byte{statement, bitmap, sig} {
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		h.Write(length[:])
		h.Write(part)
	}
	key := [32]byte(h.Sum(nil))
	n.mu.Lock()
	_, known := n.verified[key]
	n.mu.Unlock()
	if known {
		return nil
	}
	if err := verify(); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.verified[key]; !known {
		delete(n.verified, n.recent[n.next])
		n.recent[n.next] = key
		n.verified[key] = struct{}{}
		n.next = (n.next + 1) % verifiedRecently
	}
	return nil
}
