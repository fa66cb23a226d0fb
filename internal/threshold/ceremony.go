// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"connectrpc.com/connect"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/thresholdrsa"
)

// stepTime bounds one step at another node.
const stepTime = 20 * time.Second

// States of a node in a ceremony, as the leader sees them.
const (
	stateWaiting  = "waiting" // for a person there to join
	stateJoined   = "joined"
	stateReceived = "received" // and acknowledged
	stateRefused  = "refused"
	stateFinished = "finished"
	stateAway     = "away"
)

// StartCeremony implements [thresholdv1connect.ThresholdServiceHandler].
func (s *Service) StartCeremony(ctx context.Context, req *thresholdv1.StartCeremonyRequest) (*thresholdv1.StartCeremonyResponse, error) {
	call := rpc.CallFrom(ctx)
	k := s.keys.named(req.Key)
	if k == nil {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("threshold: the node doesn't know the key"))
	}
	if err := s.opt.Permit(ctx, k.policy); err != nil { // the call may have the node's name for it
		return nil, err
	}
	p, err := s.plan(ctx, k, req)
	if err != nil {
		return nil, err
	}
	id := p.ID()
	action, err := s.opt.Audit.Begin(audit.Entry{
		Party: call.Party, Operation: "threshold.start-ceremony", Key: k.policy, Subject: hex.EncodeToString(id[:]),
		Detail: fmt.Sprintf("epoch %d, threshold %d, %d receivers", p.Parent.Epoch(), p.Threshold, len(p.receivers())),
	})
	if err != nil {
		return nil, err
	}
	if err := s.addPlan(p); err != nil {
		return nil, errors.Join(err, action.End(audit.Failed, trim(err)))
	}
	// Who starts it agrees to it for this node.
	if me := p.node(s.opt.Identity.Fingerprint()); me != nil {
		if err := s.setPart(id, partJoined, []byte(k.name)); err != nil {
			return nil, err
		}
	}
	if err := action.End(audit.OK, ""); err != nil {
		return nil, err
	}
	st, _, err := s.gather(ctx, p)
	if err != nil {
		return nil, err
	}
	return &thresholdv1.StartCeremonyResponse{Ceremony: st}, nil
}

// plan finds out which nodes hold shares of a key, and makes the plan.
func (s *Service) plan(ctx context.Context, k *key, req *thresholdv1.StartCeremonyRequest) (*Plan, error) {
	record, mine := k.state()
	p := &Plan{Parent: record, Threshold: int(req.Threshold), Leader: s.opt.Identity.Fingerprint(), Made: s.opt.Now()}
	rand.Read(p.Nonce[:])
	if p.Threshold == 0 {
		p.Threshold = record.Threshold()
	}
	if p.Threshold > thresholdrsa.MaxHolders || len(req.Receivers) > thresholdrsa.MaxHolders {
		return nil, invalidf("threshold: more than %d holders", thresholdrsa.MaxHolders)
	}
	peers := s.opt.Peers()
	holders := s.locate(ctx, k, record, peers)
	if mine != 0 {
		holders[mine] = p.Leader
	}
	names := map[string]string{p.Leader: s.opt.Name}
	for _, peer := range peers {
		names[peer.Fingerprint] = peer.Name
	}
	nodes := make(map[string]*PlanNode)
	for i, party := range holders {
		nodes[party] = &PlanNode{Party: party, Name: record.Holders()[i-1].Name, Old: i}
	}
	if len(req.Receivers) == 0 {
		for i, h := range record.Holders() {
			party, ok := holders[i+1]
			if !ok {
				return nil, connect.NewError(connect.CodeUnavailable, fmt.Errorf("threshold: no node that answers holds the share of holder %d (%s)", i+1, h.Name))
			}
			nodes[party].New = i + 1
		}
	}
	for i, name := range req.Receivers {
		party, err := find(name, names, nodes)
		if err != nil {
			return nil, err
		}
		if nodes[party] == nil {
			nodes[party] = &PlanNode{Party: party, Name: names[party]}
		}
		if nodes[party].New != 0 {
			return nil, invalidf("threshold: %s is there twice", name)
		}
		nodes[party].New = i + 1
	}
	if err := contributors(req.Contributors, record.Threshold(), names, nodes); err != nil {
		return nil, err
	}
	for _, n := range nodes {
		p.Nodes = append(p.Nodes, *n)
	}
	slices.SortFunc(p.Nodes, func(a, b PlanNode) int { return cmp.Compare(a.Party, b.Party) })
	if err := p.check(); err != nil {
		return nil, invalidf("threshold: %w", err)
	}
	return p, nil
}

// contributors marks those who contribute: those who are named, or the first of those
// who hold shares.
func contributors(named []string, need int, names map[string]string, nodes map[string]*PlanNode) error {
	for _, name := range named {
		party, err := find(name, names, nodes)
		if err != nil {
			return err
		}
		if nodes[party] == nil || nodes[party].Old == 0 {
			return invalidf("threshold: %s holds no share, and can't contribute", name)
		}
		nodes[party].Contributes = true
	}
	if len(named) > 0 {
		return nil
	}
	var old []*PlanNode
	for _, n := range nodes {
		if n.Old != 0 {
			old = append(old, n)
		}
	}
	if len(old) < need {
		return coded(connect.CodeUnavailable, &QuorumError{Have: len(old), Need: need}, &thresholdv1.Quorum{Have: uint32(len(old)), Need: uint32(need)})
	}
	slices.SortFunc(old, func(a, b *PlanNode) int { return a.Old - b.Old })
	for _, n := range old[:need] {
		n.Contributes = true
	}
	return nil
}

// find returns the party that is meant by a fingerprint, by what the node calls it, or by
// the name of the holder.
func find(name string, names map[string]string, nodes map[string]*PlanNode) (string, error) {
	if _, ok := names[name]; ok {
		return name, nil
	}
	found := make(map[string]bool)
	for party, n := range names {
		if n == name {
			found[party] = true
		}
	}
	for party, n := range nodes {
		if n.Old != 0 && n.Name == name {
			found[party] = true
		}
	}
	// A share that goes to another one can't be called back.
	if len(found) > 1 {
		return "", invalidf("threshold: two nodes are called %q, or one and another's holder: give the fingerprint", name)
	}
	for party := range found {
		return party, nil
	}
	return "", invalidf("threshold: no node is called %q", name)
}

// locate asks all peers which share of a record they hold. Of several who say that they
// hold the same one it takes the one that this node calls by the holder's name: another
// one can't make the holder's card, but it could keep the ceremony from getting on.
func (s *Service) locate(ctx context.Context, k *key, record *thresholdrsa.PublicKey, peers []Peer) map[int]string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	id := record.ID()
	found := make(map[int]string)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, peer := range peers {
		wg.Go(func() {
			c, err := s.opt.Dial(peer, keyAnswer(record))
			if err != nil {
				return
			}
			resp, err := c.Key(ctx, &thresholdv1.KeyRequest{RecordId: id[:], Key: k.policy})
			if err != nil || len(resp.Certificates) > 0 || resp.Index == 0 || int(resp.Index) > record.NumHolders() {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if i := int(resp.Index); found[i] == "" || peer.Name == record.Holders()[i-1].Name {
				found[i] = peer.Fingerprint
			}
		})
	}
	wg.Wait()
	return found
}

// JoinCeremony implements [thresholdv1connect.ThresholdServiceHandler].
func (s *Service) JoinCeremony(ctx context.Context, req *thresholdv1.JoinCeremonyRequest) (*thresholdv1.JoinCeremonyResponse, error) {
	call := rpc.CallFrom(ctx)
	p, err := s.findPlan(req.Id)
	if err != nil {
		return nil, err
	}
	if err := s.opt.Permit(ctx, KeyName(p.Parent)); err != nil {
		return nil, err
	}
	me := p.node(s.opt.Identity.Fingerprint())
	if me == nil {
		return nil, connect.NewError(connect.CodeFailedPrecondition, errors.New("threshold: the plan doesn't have this node"))
	}
	if me.Old == 0 { // it may have had a share once
		s.learn(ctx, KeyName(p.Parent), p.Parent.ID(), p.Parent.Epoch())
	}
	s.ceremonies.Lock()
	defer s.ceremonies.Unlock()
	id := p.ID()
	k := s.keys.get(p.Parent.ID())
	switch {
	case me.Old == 0:
		if k != nil && k.holds() {
			return nil, errHolder
		}
		name := req.Name
		if name == "" && k != nil {
			name = k.name
		}
		if name == "" {
			return nil, invalidf("threshold: the key needs a name at this node")
		}
		if err := s.newcomer(name, p.Parent); err != nil {
			return nil, err
		}
		k = s.keys.get(p.Parent.ID())
	case k == nil:
		return nil, connect.NewError(connect.CodeFailedPrecondition, errors.New("threshold: the node doesn't know the key"))
	default:
		if record, index := k.state(); record.ID() != p.Parent.ID() || index != me.Old {
			return nil, connect.NewError(connect.CodeFailedPrecondition, errors.New("threshold: the node doesn't hold that share any more"))
		}
	}
	if err := s.setPart(id, partJoined, []byte(k.name)); err != nil {
		return nil, err
	}
	err = s.opt.Audit.Event(audit.Entry{
		Party: call.Party, Operation: "threshold.join-ceremony", Key: k.policy, Subject: hex.EncodeToString(id[:]), Detail: "a person joined",
	}, audit.OK)
	if err != nil {
		return nil, err
	}
	st, err := s.status(p)
	if err != nil {
		return nil, err
	}
	return &thresholdv1.JoinCeremonyResponse{Ceremony: st}, nil
}

// Ceremonies implements [thresholdv1connect.ThresholdServiceHandler].
func (s *Service) Ceremonies(ctx context.Context, _ *thresholdv1.CeremoniesRequest) (*thresholdv1.CeremoniesResponse, error) {
	list, err := s.plans()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b *Plan) int { return b.Made.Compare(a.Made) })
	resp := new(thresholdv1.CeremoniesResponse)
	for _, p := range list {
		if !s.opt.May(ctx, KeyName(p.Parent)) {
			continue
		}
		st, err := s.status(p)
		if err != nil {
			return nil, err
		}
		resp.Ceremonies = append(resp.Ceremonies, st)
	}
	return resp, nil
}

// status says what this node knows of a ceremony.
func (s *Service) status(p *Plan) (*thresholdv1.CeremonyStatus, error) {
	id := p.ID()
	data, err := p.MarshalBinary()
	if err != nil {
		return nil, err
	}
	joined, err := s.part(id, partJoined)
	if err != nil {
		return nil, err
	}
	st := &thresholdv1.CeremonyStatus{Id: hex.EncodeToString(id[:]), Plan: data, Leader: p.Leader, Joined: joined != nil}
	parent := p.Parent.ID()
	s.keys.mu.RLock()
	if next := s.keys.after[parent]; next != nil {
		st.Successor = next.child[:]
	}
	s.keys.mu.RUnlock()
	return st, nil
}
