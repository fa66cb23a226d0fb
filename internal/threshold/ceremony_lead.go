// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"connectrpc.com/connect"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/failpoint"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/thresholdrsa"
)

// FinishCeremony implements [thresholdv1connect.ThresholdServiceHandler].
func (s *Service) FinishCeremony(ctx context.Context, req *thresholdv1.FinishCeremonyRequest) (*thresholdv1.FinishCeremonyResponse, error) {
	p, err := s.findPlan(req.Id)
	if err != nil {
		return nil, err
	}
	if err := s.opt.Permit(ctx, KeyName(p.Parent)); err != nil {
		return nil, err
	}
	if ok, err := s.leads(p); err != nil {
		return nil, err
	} else if !ok {
		return nil, connect.NewError(connect.CodeFailedPrecondition, errors.New("threshold: another node leads the ceremony"))
	}
	s.leading.Lock()
	defer s.leading.Unlock()
	st, err := s.lead(ctx, p)
	if err != nil {
		return nil, encodeError(err)
	}
	return &thresholdv1.FinishCeremonyResponse{Ceremony: st}, nil
}

// leads reports whether this node leads a ceremony, or can in the leader's place: it has
// acknowledged the outcome, and has all that it was made of.
func (s *Service) leads(p *Plan) (bool, error) {
	self := s.opt.Identity.Fingerprint()
	if p.Leader == self {
		return true, nil
	}
	if n := p.node(self); n == nil || n.Old == 0 {
		return false, nil
	}
	cards, err := s.part(p.ID(), partCards) // which are stored last
	return cards != nil, err
}

// lead goes as far as it can. Each step's result is stored, and every step can be asked
// for again, so that it goes on where it was after whatever ended it.
func (s *Service) lead(ctx context.Context, p *Plan) (*thresholdv1.CeremonyStatus, error) {
	id := p.ID()
	certificate, err := s.part(id, partCertificate)
	if err != nil {
		return nil, err
	}
	st, cards, err := s.gather(ctx, p)
	if err != nil {
		return nil, err
	}
	if certificate == nil {
		if cards, err = s.fix(p, cards); err != nil || cards == nil {
			return st, err
		}
		if certificate, err = s.commit(ctx, p, st, cards); err != nil || certificate == nil {
			return st, err
		}
		if err := s.setPart(id, partCertificate, certificate); err != nil {
			return nil, err
		}
		if err := failpoint.Hit("threshold.committed"); err != nil {
			return nil, err
		}
	}
	return st, s.handOut(ctx, p, st, certificate)
}

// each asks nodes of the plan at the same time, and notes who is away.
func (s *Service) each(ctx context.Context, p *Plan, st *thresholdv1.CeremonyStatus, want func(PlanNode) bool, req *thresholdv1.CeremonyRequest, done func(int, *thresholdv1.CeremonyResponse) error) error {
	data, err := p.MarshalBinary()
	if err != nil {
		return err
	}
	req.Plan, req.Key = data, KeyName(p.Parent)
	peers := make(map[string]Peer)
	for _, peer := range s.opt.Peers() {
		peers[peer.Fingerprint] = peer
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var first error
	for i, n := range p.Nodes {
		if !want(n) {
			continue
		}
		wg.Go(func() {
			resp, err := s.ask(ctx, p, n, peers, req)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				kind, reason := classify(DecodeError(rpc.DecodeError(s.opt.Identity.Fingerprint(), err)))
				if kind == Silent {
					st.Participants[i].State = stateAway
				}
				st.Participants[i].Problem = reason
				return
			}
			st.Participants[i].Problem = ""
			if !resp.Joined {
				st.Participants[i].State = stateWaiting
				return
			}
			if err := done(i, resp); err != nil && first == nil {
				first = err
			}
		})
	}
	wg.Wait()
	return first
}

func (s *Service) ask(ctx context.Context, p *Plan, n PlanNode, peers map[string]Peer, req *thresholdv1.CeremonyRequest) (*thresholdv1.CeremonyResponse, error) {
	if n.Party == s.opt.Identity.Fingerprint() {
		return s.step(rpc.Call{Party: n.Party, Self: true}, p, req)
	}
	peer, ok := peers[n.Party]
	if !ok {
		return nil, connect.NewError(connect.CodeUnavailable, errors.New("threshold: the node isn't known, or has no address"))
	}
	c, err := s.opt.Dial(peer, MaxMessage)
	if err != nil {
		return nil, connect.NewError(connect.CodeUnavailable, err)
	}
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	return c.Ceremony(ctx, req)
}

// gather asks all who take part for their cards. Cards are complete, or nil.
func (s *Service) gather(ctx context.Context, p *Plan) (*thresholdv1.CeremonyStatus, []*thresholdv1.SignedCard, error) {
	st, err := s.status(p)
	if err != nil {
		return nil, nil, err
	}
	names := make(map[string]string)
	for _, peer := range s.opt.Peers() {
		names[peer.Fingerprint] = peer.Name
	}
	for _, n := range p.Nodes {
		name := names[n.Party]
		if name == "" {
			name = n.Name
		}
		st.Participants = append(st.Participants, &thresholdv1.Participant{
			Party: n.Party, Name: name, OldIndex: uint32(n.Old), NewIndex: uint32(n.New), State: stateWaiting,
		})
	}
	certificate, err := s.part(p.ID(), partCertificate)
	if err != nil || certificate != nil {
		return st, nil, err
	}
	cards := make([]*thresholdv1.SignedCard, len(p.receivers()))
	missing := 0
	for _, n := range p.Nodes {
		if n.New != 0 || n.Contributes {
			missing++
		}
	}
	step := &thresholdv1.CeremonyRequest{Step: &thresholdv1.CeremonyRequest_Card{Card: &thresholdv1.CardStep{}}}
	err = s.each(ctx, p, st, func(PlanNode) bool { return true }, step, func(i int, resp *thresholdv1.CeremonyResponse) error {
		n := p.Nodes[i]
		if n.New != 0 {
			if _, err := p.openCard(n, resp.Card); err != nil {
				st.Participants[i].Problem = trim(err)
				return nil
			}
			cards[n.New-1] = resp.Card
		}
		st.Participants[i].State = stateJoined
		if n.New != 0 || n.Contributes {
			missing--
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if missing > 0 {
		cards = nil
	}
	return st, cards, nil
}

// fix stores the cards and the proposal that is made of them, once.
func (s *Service) fix(p *Plan, cards []*thresholdv1.SignedCard) ([]*thresholdv1.SignedCard, error) {
	id := p.ID()
	stored, err := s.part(id, partCards)
	if err != nil {
		return nil, err
	}
	if stored != nil {
		return decodeCards(stored)
	}
	if cards == nil {
		return nil, nil
	}
	list, err := p.openCards(cards)
	if err != nil {
		return nil, err
	}
	pr, err := p.propose(list)
	if err != nil {
		return nil, connect.NewError(connect.CodeFailedPrecondition, err)
	}
	proposal, err := pr.MarshalBinary()
	if err != nil {
		return nil, err
	}
	encoded, err := encodeCards(cards)
	if err != nil {
		return nil, err
	}
	if err := s.setPart(id, partProposal, proposal); err != nil {
		return nil, err
	}
	return cards, s.setPart(id, partCards, encoded)
}

// commit collects contributions and acknowledgements, and returns the certificate, or nil
// if that isn't possible yet.
func (s *Service) commit(ctx context.Context, p *Plan, st *thresholdv1.CeremonyStatus, cards []*thresholdv1.SignedCard) ([]byte, error) {
	id := p.ID()
	proposal, err := s.part(id, partProposal)
	if err != nil {
		return nil, err
	}
	pr, err := p.readProposal(proposal, cards)
	if err != nil {
		return nil, err
	}
	byOld := make([]*thresholdrsa.Contribution, p.Parent.NumHolders()+1)
	if err := s.contributions(ctx, p, st, pr, proposal, cards, byOld); err != nil {
		return nil, err
	}
	var contributions []*thresholdrsa.Contribution
	var encoded [][]byte
	for _, i := range p.contributors() {
		if byOld[i] == nil {
			return nil, nil
		}
		data, err := byOld[i].MarshalBinary()
		if err != nil {
			return nil, err
		}
		contributions, encoded = append(contributions, byOld[i]), append(encoded, data)
	}
	if ok, err := s.usable(p, st, pr, contributions); err != nil || !ok {
		return nil, err
	}
	acks := make([]*thresholdrsa.Ack, len(cards))
	step := &thresholdv1.CeremonyRequest{Step: &thresholdv1.CeremonyRequest_Receive{Receive: &thresholdv1.ReceiveStep{
		Proposal: proposal, Cards: cards, Contributions: encoded,
	}}}
	err = s.each(ctx, p, st, func(n PlanNode) bool { return n.New != 0 }, step, func(i int, resp *thresholdv1.CeremonyResponse) error {
		st.Participants[i].State = stateReceived
		if resp.Refusal != nil {
			st.Participants[i].State, st.Participants[i].Problem = stateRefused, s.refusal(p, byOld, pr, resp.Refusal)
			return nil
		}
		ack := new(thresholdrsa.Ack)
		if err := ack.UnmarshalBinary(resp.Ack); err != nil || ack.Index() != p.Nodes[i].New {
			st.Participants[i].Problem = "sent no acknowledgement of its own"
			return nil
		}
		acks[ack.Index()-1] = ack
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.certificate(p, st, pr, contributions, acks)
}

// usable reports whether contributions are right as far as everybody can see. One that isn't
// is forgotten, and its holder named, before any receiver is asked: another may come yet.
func (s *Service) usable(p *Plan, st *thresholdv1.CeremonyStatus, pr *thresholdrsa.Proposal, contributions []*thresholdrsa.Contribution) (bool, error) {
	_, err := pr.Successor(p.Parent, contributions)
	var wrong *thresholdrsa.CeremonyError
	switch {
	case err == nil:
		return true, nil
	case !errors.As(err, &wrong) || wrong.Role != "contributor":
		return false, connect.NewError(connect.CodeFailedPrecondition, err)
	}
	for i, n := range p.Nodes {
		if n.Contributes && n.Old == wrong.Index {
			st.Participants[i].Problem = "its contribution: " + wrong.Reason
		}
	}
	return false, s.dropPart(p.ID(), fmt.Sprint(partContribution, wrong.Index))
}

// certificate makes the certificate of those acknowledgements that are right, or returns nil
// if they are too few. Who sends another one doesn't keep the others from their shares.
func (s *Service) certificate(p *Plan, st *thresholdv1.CeremonyStatus, pr *thresholdrsa.Proposal, contributions []*thresholdrsa.Contribution, acks []*thresholdrsa.Ack) ([]byte, error) {
	for {
		good := slices.DeleteFunc(slices.Clone(acks), func(a *thresholdrsa.Ack) bool { return a == nil })
		if len(good) < pr.Quorum() {
			return nil, nil
		}
		c, err := thresholdrsa.Commit(p.Parent, pr, contributions, good, nil)
		var wrong *thresholdrsa.CeremonyError
		switch {
		case err == nil:
			return c.MarshalBinary()
		case !errors.As(err, &wrong) || wrong.Role != "receiver" || wrong.Index < 1 || wrong.Index > len(acks) || acks[wrong.Index-1] == nil:
			return nil, connect.NewError(connect.CodeFailedPrecondition, err)
		}
		acks[wrong.Index-1] = nil
		for i, n := range p.Nodes {
			if n.New == wrong.Index {
				st.Participants[i].State, st.Participants[i].Problem = stateJoined, wrong.Reason
			}
		}
	}
}

// refusal says in words what a refusal means.
func (s *Service) refusal(p *Plan, byOld []*thresholdrsa.Contribution, pr *thresholdrsa.Proposal, data []byte) string {
	f := new(thresholdrsa.Refusal)
	if err := f.UnmarshalBinary(data); err != nil {
		return "sent neither an acknowledgement nor a refusal"
	}
	i := f.Contributor()
	if i < 1 || i >= len(byOld) || byOld[i] == nil {
		return "refuses: " + shorten(f.Reason())
	}
	verdict, err := f.Judge(p.Parent, pr, byOld[i])
	if err != nil {
		return "sent a refusal that shows nothing: " + trim(err)
	}
	return fmt.Sprintf("refuses the contribution of holder %d: %s (%v)", i, shorten(f.Reason()), verdict)
}

// contributions collects the contributions, those that are stored and the others.
func (s *Service) contributions(ctx context.Context, p *Plan, st *thresholdv1.CeremonyStatus, pr *thresholdrsa.Proposal, proposal []byte, cards []*thresholdv1.SignedCard, byOld []*thresholdrsa.Contribution) error {
	id := p.ID()
	for _, i := range p.contributors() {
		data, err := s.part(id, fmt.Sprint(partContribution, i))
		if err != nil {
			return err
		}
		if data != nil {
			c := new(thresholdrsa.Contribution)
			if err := c.UnmarshalBinary(data); err != nil {
				return err
			}
			byOld[i] = c
		}
	}
	step := &thresholdv1.CeremonyRequest{Step: &thresholdv1.CeremonyRequest_Contribute{Contribute: &thresholdv1.ContributeStep{Proposal: proposal, Cards: cards}}}
	wanted := func(n PlanNode) bool { return n.Contributes && byOld[n.Old] == nil }
	got := make(map[int]*thresholdrsa.Contribution)
	err := s.each(ctx, p, st, wanted, step, func(i int, resp *thresholdv1.CeremonyResponse) error {
		c := new(thresholdrsa.Contribution)
		if err := c.UnmarshalBinary(resp.Contribution); err != nil || c.Index() != p.Nodes[i].Old || c.ProposalID() != pr.ID() {
			st.Participants[i].Problem = "sent no contribution of its own"
			return nil
		}
		if err := s.setPart(id, fmt.Sprint(partContribution, c.Index()), resp.Contribution); err != nil {
			return err
		}
		got[c.Index()] = c
		return nil
	})
	for i, c := range got {
		byOld[i] = c
	}
	return err
}

// handOut gives the certificate to all, and what those need who were away.
func (s *Service) handOut(ctx context.Context, p *Plan, st *thresholdv1.CeremonyStatus, certificate []byte) error {
	id := p.ID()
	c := new(thresholdrsa.Certificate)
	if err := c.UnmarshalBinary(certificate); err != nil {
		return err
	}
	if _, err := c.Verify(p.Parent, nil); err != nil {
		return err
	}
	child := c.PublicKey().ID()
	st.Successor = child[:]
	data, err := s.part(id, partCards)
	if err != nil {
		return err
	}
	cards, err := decodeCards(data)
	if err != nil {
		return err
	}
	var contributions [][]byte
	for _, i := range p.contributors() {
		data, err := s.part(id, fmt.Sprint(partContribution, i))
		if err != nil {
			return err
		}
		contributions = append(contributions, data)
	}
	step := &thresholdv1.CeremonyRequest{Step: &thresholdv1.CeremonyRequest_Certificate{Certificate: &thresholdv1.CertificateStep{
		Certificate: certificate, Cards: cards, Contributions: contributions,
	}}}
	todo := make(map[int]bool)
	for i, n := range p.Nodes {
		done, err := s.part(id, partFinished+n.Party)
		if err != nil {
			return err
		}
		if todo[i] = done == nil; !todo[i] {
			st.Participants[i].State = stateFinished
		}
	}
	err = s.each(ctx, p, st, func(n PlanNode) bool {
		for i := range p.Nodes {
			if p.Nodes[i].Party == n.Party {
				return todo[i]
			}
		}
		return false
	}, step, func(i int, resp *thresholdv1.CeremonyResponse) error {
		if !resp.Finished {
			return nil
		}
		st.Participants[i].State = stateFinished
		return s.setPart(id, partFinished+p.Nodes[i].Party, nil)
	})
	if err != nil {
		return err
	}
	// A leader that holds no share learns of the certificate as well.
	k := s.keys.get(p.Parent.ID())
	if k == nil || p.node(s.opt.Identity.Fingerprint()) != nil {
		return nil
	}
	if err := s.keys.certify(k, c); err != nil {
		return err
	}
	return s.keys.advance(k)
}
