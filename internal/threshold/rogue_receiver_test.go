// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"connectrpc.com/connect"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/thresholdrsa"
)

// A rogueReceiver takes part in ceremonies as a holder, but for what it acknowledges.
type rogueReceiver struct {
	rogue
	share *thresholdrsa.KeyShare
	node  *testNode
	card  *thresholdv1.SignedCard
	ack   func(proposal []byte) []byte
	forge atomic.Bool // the signature of its contribution
}

func (r *rogueReceiver) Ceremony(_ context.Context, req *thresholdv1.CeremonyRequest) (*thresholdv1.CeremonyResponse, error) {
	p := new(threshold.Plan)
	if err := p.UnmarshalBinary(req.Plan); err != nil {
		return nil, err
	}
	switch step := req.Step.(type) {
	case *thresholdv1.CeremonyRequest_Card:
		if r.card == nil {
			key, err := r.share.NewReceiver()
			if err != nil {
				return nil, err
			}
			card, err := key.Receiver()
			if err != nil {
				return nil, err
			}
			data, err := card.MarshalBinary()
			if err != nil {
				return nil, err
			}
			id, h := p.ID(), sha256.Sum256(data)
			message := slices.Concat([]byte("undersign/ceremony-card/v1"), id[:], h[:])
			r.card = &thresholdv1.SignedCard{Card: data, Party: r.node.id.PublicKey(), Signature: ed25519.Sign(r.node.id.SigningKey(), message)}
		}
		return &thresholdv1.CeremonyResponse{Joined: true, Card: r.card}, nil
	case *thresholdv1.CeremonyRequest_Contribute:
		pr := new(thresholdrsa.Proposal)
		if err := pr.UnmarshalBinary(step.Contribute.Proposal); err != nil {
			return nil, err
		}
		c, err := r.share.Contribute(pr)
		if err != nil {
			return nil, err
		}
		data, err := c.MarshalBinary()
		if err == nil && r.forge.Load() {
			data[len(data)-1] ^= 1
		}
		return &thresholdv1.CeremonyResponse{Joined: true, Contribution: data}, err
	case *thresholdv1.CeremonyRequest_Receive:
		return &thresholdv1.CeremonyResponse{Joined: true, Ack: r.ack(step.Receive.Proposal)}, nil
	}
	return nil, connect.NewError(connect.CodeInternal, nil)
}

func (r *rogueReceiver) Key(context.Context, *thresholdv1.KeyRequest) (*thresholdv1.KeyResponse, error) {
	return &thresholdv1.KeyResponse{Index: uint32(r.share.Index())}, nil
}

// receiver puts a rogue in the place of the last node, which acknowledges its own run with a
// signature of nobody's.
func (c *cluster) receiver() *rogueReceiver {
	c.t.Helper()
	last := len(c.nodes) - 1
	if err := c.nodes[last].stop(); err != nil {
		c.t.Fatal(err)
	}
	r := &rogueReceiver{share: c.shares[last], node: c.nodes[last], ack: func(proposal []byte) []byte {
		pr := new(thresholdrsa.Proposal)
		if err := pr.UnmarshalBinary(proposal); err != nil {
			c.t.Error(err)
		}
		id := pr.ID()
		return slices.Concat(proposal[:2], id[:], make([]byte, 32), []byte{byte(last + 1)}, bytes.Repeat([]byte{7}, ed25519.SignatureSize))
	}}
	r.set(hang)
	serveAt(c.t, r.node.id, r.node.Addr().String(), r)
	return r
}

// A receiver that acknowledges something wrong is named, and keeps nobody else from the
// new shares.
func TestWrongAcknowledgement(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 4, nil)
	c.receiver()
	st := c.nodes[0].startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"})
	st = c.nodes[0].finishCeremony(st.Id)
	for name, state := range states(st) {
		if name != "dave" && state != "finished" {
			t.Errorf("%s: %s", name, state)
		}
	}
	for _, n := range c.nodes[:3] {
		if p, _ := n.held(); p.Epoch() != c.key.Epoch()+1 {
			t.Errorf("%s is at epoch %d", n.name, p.Epoch())
		}
	}
}

// If the others are too few nothing is committed, and the ceremony's state says why.
func TestWrongAcknowledgementOfFew(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 3, nil)
	c.receiver()
	st := c.nodes[0].startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"})
	st = c.nodes[0].finishCeremony(st.Id)
	if s := states(st); len(st.Successor) != 0 || !strings.Contains(s["carol"], "signature of its acknowledgement is wrong") || strings.Contains(s["bob"], ":") {
		t.Error(s)
	}
}

// A contribution that isn't signed is refused by who leads, and its holder named; nobody else
// is asked for anything, and the right one can come later.
func TestForgedContribution(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 4, nil)
	rogue := c.receiver()
	rogue.forge.Store(true)
	st := c.nodes[0].startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code", Contributors: []string{"alice", "dave"}})
	s := states(c.nodes[0].finishCeremony(st.Id))
	if !strings.Contains(s["dave"], "the signature is wrong") || s["bob"] != "joined" || s["carol"] != "joined" || s["alice"] != "joined" {
		t.Error(s)
	}
	rogue.forge.Store(false)
	s = states(c.nodes[0].finishCeremony(st.Id))
	for _, name := range []string{"alice", "bob", "carol"} {
		if s[name] != "finished" {
			t.Errorf("%s: %s", name, s[name])
		}
	}
}
