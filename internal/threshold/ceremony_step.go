// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"connectrpc.com/connect"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/failpoint"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// errNotJoined says that a person has to join first.
var errNotJoined = errors.New("threshold: nobody has joined the ceremony here")

// errHolder says that the plan takes a holder for somebody new. What somebody new receives
// takes the place of what it had, and the ceremony may never be committed.
var errHolder = connect.NewError(connect.CodeFailedPrecondition, errors.New("threshold: the node holds a share of the key, and the plan says that it holds none"))

// Ceremony implements [thresholdv1connect.ThresholdServiceHandler].
func (s *Service) Ceremony(ctx context.Context, req *thresholdv1.CeremonyRequest) (*thresholdv1.CeremonyResponse, error) {
	call := rpc.CallFrom(ctx)
	p := new(Plan)
	if err := p.UnmarshalBinary(req.Plan); err != nil {
		return nil, invalidf("%w", err)
	}
	if KeyName(p.Parent) != req.Key {
		return nil, invalidf("threshold: the plan is about another key than the one that the call names")
	}
	if call.Party != p.Leader {
		if err := s.mayTakeOver(call.Party, p); err != nil {
			return nil, err
		}
	}
	return s.step(call, p, req)
}

// mayTakeOver returns nil if a node that doesn't lead a ceremony may bring it to its end: it
// holds a share, and the leader has told this node of the plan. A leader that is lost, or
// keeps the acknowledgements to itself, would bar the key from all ceremonies otherwise:
// who has acknowledged one successor acknowledges no other. Nobody but the leader makes a
// proposal: see contribute.
func (s *Service) mayTakeOver(party string, p *Plan) error {
	known, err := s.part(p.ID(), partPlan)
	if err != nil {
		return err
	}
	if n := p.node(party); n == nil || n.Old == 0 || known == nil || party == s.opt.Identity.Fingerprint() {
		return connect.NewError(connect.CodePermissionDenied, errors.New("threshold: the caller doesn't lead the ceremony"))
	}
	return nil
}

// step takes part in a ceremony.
func (s *Service) step(call rpc.Call, p *Plan, req *thresholdv1.CeremonyRequest) (*thresholdv1.CeremonyResponse, error) {
	s.ceremonies.Lock()
	defer s.ceremonies.Unlock()
	me := p.node(s.opt.Identity.Fingerprint())
	if me == nil {
		return nil, connect.NewError(connect.CodeFailedPrecondition, errors.New("threshold: the plan doesn't have this node"))
	}
	t := &task{s: s, p: p, id: p.ID(), me: me, party: call.Party}
	// Of a key that isn't here there is nothing to agree to.
	if me.Old != 0 && s.keys.get(p.Parent.ID()) == nil {
		return &thresholdv1.CeremonyResponse{}, nil
	}
	if err := s.addPlan(p); err != nil {
		return nil, err
	}
	if err := t.join(call.Approve); errors.Is(err, errNotJoined) {
		return &thresholdv1.CeremonyResponse{}, nil
	} else if err != nil {
		return nil, err
	}
	resp := &thresholdv1.CeremonyResponse{Joined: true}
	var err error
	if req.GetCertificate() == nil {
		if err := t.mayStep(); err != nil {
			return nil, err
		}
	}
	switch step := req.Step.(type) {
	case *thresholdv1.CeremonyRequest_Card:
		if me.New != 0 {
			resp.Card, err = t.card()
		}
	case *thresholdv1.CeremonyRequest_Contribute:
		resp.Contribution, err = t.contribute(step.Contribute)
	case *thresholdv1.CeremonyRequest_Receive:
		resp.Ack, resp.Refusal, err = t.receive(step.Receive, nil)
	case *thresholdv1.CeremonyRequest_Certificate:
		err = t.finish(step.Certificate)
		resp.Finished = err == nil
	default:
		err = invalidf("threshold: no step that is known")
	}
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// A task is a node's part in a ceremony.
type task struct {
	s     *Service
	p     *Plan
	id    [32]byte
	me    *PlanNode
	party string // who asks
	key   *key   // once it has joined
}

// join looks whether the node takes part. New shares for the holders themselves need no
// person if the policy wants none: that the receivers are the holders is then checked by
// their identities in the record. Everything else hands the key to somebody.
func (t *task) join(approve bool) error {
	s := t.s
	name, err := s.part(t.id, partJoined)
	if err != nil {
		return err
	}
	if name != nil {
		t.key = s.keys.named(string(name))
		if t.key == nil || t.key.policy != KeyName(t.p.Parent) { // or another one is called that now
			return connect.NewError(connect.CodeFailedPrecondition, errors.New("threshold: the key isn't at the node any more"))
		}
		return nil
	}
	k := s.keys.get(t.p.Parent.ID())
	if k == nil || approve || !t.p.Same() {
		return errNotJoined
	}
	record, index := k.state()
	if record.ID() != t.p.Parent.ID() || index != t.me.Old {
		return errNotJoined
	}
	if restored, err := s.restoredHolder(record.ID()); err != nil {
		return err
	} else if restored {
		return errNotJoined
	}
	t.key = k
	if err := s.setPart(t.id, partJoined, []byte(k.name)); err != nil {
		return err
	}
	return s.opt.Audit.Event(t.entry("joined, since the receivers are the holders"), audit.OK)
}

func (t *task) entry(detail string) audit.Entry {
	return audit.Entry{Party: t.party, Operation: "threshold.ceremony", Key: KeyName(t.p.Parent), Subject: fmt.Sprintf("%x", t.id), Detail: detail}
}

// use runs fn between two records.
func (t *task) use(detail string, fn func() error) error {
	action, err := t.s.opt.Audit.Begin(t.entry(detail))
	if err != nil {
		return err
	}
	if err := fn(); err != nil {
		if e := action.End(audit.Failed, trim(err)); e != nil {
			return e
		}
		return err
	}
	return action.End(audit.OK, "")
}

// cardFile is where the secret half of the node's card is.
func (t *task) cardFile() string {
	return filepath.Join(t.s.opt.Dir, sharesDir, t.key.name+"."+shortID(t.id)+".card")
}

func (t *task) openCardKey() (*thresholdrsa.ReceiverKey, *sealedFile, error) {
	return openSecret[*thresholdrsa.ReceiverKey](t.s.keys.lock, t.cardFile())
}

// card returns the node's card, and makes it the first time.
func (t *task) card() (*thresholdv1.SignedCard, error) {
	s := t.s
	data, err := s.part(t.id, partCard)
	if err != nil {
		return nil, err
	}
	if data == nil { // which a holder signs by its identity, a secret of its share
		err := t.use("make a card", func() error {
			if data, err = t.makeCard(); err != nil {
				return err
			}
			return s.setPart(t.id, partCard, data)
		})
		if err != nil {
			return nil, err
		}
	}
	return signCard(s.opt.Identity.SigningKey(), t.id, data), nil
}

func (t *task) makeCard() ([]byte, error) {
	rk, err := t.newCardKey()
	if err != nil {
		return nil, err
	}
	defer rk.Wipe()
	to, err := t.s.keys.lock.newRecipients()
	if err != nil {
		return nil, connect.NewError(connect.CodeFailedPrecondition, err)
	}
	f := &sealedFile{path: t.cardFile(), to: to}
	if err := f.write(rk); err != nil {
		return nil, err
	}
	card, err := rk.Receiver()
	if err != nil {
		return nil, err
	}
	return card.MarshalBinary()
}

func (t *task) newCardKey() (*thresholdrsa.ReceiverKey, error) {
	if t.me.Old == 0 {
		return thresholdrsa.NewReceiver(t.me.Name)
	}
	share, err := t.key.copyShare()
	if err != nil {
		return nil, err
	}
	if share == nil {
		return nil, connect.NewError(connect.CodeFailedPrecondition, errors.New("threshold: the node holds no share"))
	}
	defer share.Wipe()
	return share.NewReceiver()
}

// contribute makes the node's contribution, once.
func (t *task) contribute(step *thresholdv1.ContributeStep) ([]byte, error) {
	if !t.me.Contributes {
		return nil, invalidf("threshold: the node doesn't contribute")
	}
	pr, err := t.p.readProposal(step.Proposal, step.Cards)
	if err != nil {
		return nil, invalidf("%w", err)
	}
	prID := pr.ID()
	data, err := t.s.part(t.id, partMine)
	if err != nil {
		return nil, err
	}
	if data != nil {
		if !bytes.HasPrefix(data, prID[:]) {
			return nil, connect.NewError(connect.CodeFailedPrecondition, errors.New("threshold: the node has contributed to another proposal of this ceremony"))
		}
		return data[len(prID):], nil
	}
	if t.party != t.p.Leader {
		return nil, connect.NewError(connect.CodeFailedPrecondition, errors.New("threshold: the node hasn't contributed, and only who leads the ceremony makes a proposal"))
	}
	err = t.use(fmt.Sprintf("contribute to proposal %x", prID), func() error {
		share, err := t.key.copyShare()
		if err != nil {
			return err
		}
		if share == nil {
			return connect.NewError(connect.CodeFailedPrecondition, errors.New("threshold: the node holds no share"))
		}
		defer share.Wipe()
		c, err := share.Contribute(pr)
		if err != nil {
			return err
		}
		if data, err = c.MarshalBinary(); err != nil {
			return err
		}
		return t.s.setPart(t.id, partMine, append(prID[:], data...))
	})
	return data, err
}

// keep stores what it takes to lead the ceremony from here, once the node has acknowledged
// its outcome.
func (t *task) keep(pr *thresholdrsa.Proposal, contributions []*thresholdrsa.Contribution, step *thresholdv1.ReceiveStep) error {
	if t.p.Leader == t.s.opt.Identity.Fingerprint() {
		return nil
	}
	cards, err := encodeCards(step.Cards)
	if err != nil {
		return err
	}
	for i, c := range contributions {
		if !slices.Contains(pr.Contributors(), c.Index()) {
			return nil
		}
		if err := t.s.setPart(t.id, fmt.Sprint(partContribution, c.Index()), step.Contributions[i]); err != nil {
			return err
		}
	}
	if err := t.s.setPart(t.id, partProposal, step.Proposal); err != nil {
		return err
	}
	return t.s.setPart(t.id, partCards, cards)
}

// receive takes the node's share. A refusal is an answer too.
func (t *task) receive(step *thresholdv1.ReceiveStep, committed *thresholdrsa.Certificate) (ackData, refusal []byte, err error) {
	if t.me.New == 0 {
		return nil, nil, invalidf("threshold: the node gets no share")
	}
	pr, err := t.p.readProposal(step.Proposal, step.Cards)
	if err != nil {
		return nil, nil, invalidf("%w", err)
	}
	var contributions []*thresholdrsa.Contribution
	for _, data := range step.Contributions {
		c := new(thresholdrsa.Contribution)
		if err := c.UnmarshalBinary(data); err != nil {
			return nil, nil, invalidf("%w", err)
		}
		contributions = append(contributions, c)
	}
	opts := &thresholdrsa.ReceiveOptions{Certificate: committed, InsecureSecond: strings.EqualFold(t.s.opt.Config.InsecureSecond, hex.EncodeToString(t.id[:]))}
	cardKey, cardFile, err := t.openCardKey()
	if err != nil {
		return nil, nil, err
	}
	defer cardKey.Wipe()
	var refused *thresholdrsa.CeremonyError
	err = t.use(fmt.Sprintf("receive by proposal %x", pr.ID()), func() error {
		return t.key.change(func(share *thresholdrsa.KeyShare) (*thresholdrsa.KeyShare, bool, error) {
			var ack *thresholdrsa.Ack
			next := share
			if t.me.Old != 0 {
				if share == nil {
					return nil, false, connect.NewError(connect.CodeFailedPrecondition, errors.New("threshold: the node holds no share"))
				}
				ack, err = share.Receive(cardKey, pr, contributions, opts)
			} else if t.key.holds() { // since it joined
				return nil, false, errHolder
			} else {
				next, ack, err = cardKey.Receive(t.p.Parent, pr, contributions, opts)
				if share != nil {
					share.Wipe()
				}
			}
			if errors.As(err, &refused) && refused.Refusal == nil {
				refused = nil
			}
			if err != nil && refused == nil {
				return nil, false, t.blame(pr, contributions, invalidf("%w", err))
			}
			// Both remember what was answered, and are stored before the answer goes out.
			if e := cardFile.write(cardKey); e != nil {
				return nil, false, e
			}
			if refused != nil {
				refusal, err = refused.Refusal.MarshalBinary()
				return next, err == nil && next != nil, err
			}
			ackData, err = ack.MarshalBinary()
			return next, err == nil, err
		})
	})
	if err == nil && refusal == nil && committed == nil {
		err = t.keep(pr, contributions, step)
	}
	if err == nil {
		err = failpoint.Hit("threshold.received")
	}
	return ackData, refusal, err
}

// blame returns an error that names a holder who signed another contribution than the one
// by which the node has acknowledged the outcome already, or err if there is none. A second
// outcome of a proposal comes from such a holder alone.
func (t *task) blame(pr *thresholdrsa.Proposal, contributions []*thresholdrsa.Contribution, err error) error {
	signed := func(list []*thresholdrsa.Contribution) bool {
		_, err := pr.Successor(t.p.Parent, list)
		return err == nil
	}
	if !signed(contributions) { // it isn't certain who sent what
		return err
	}
	for i, c := range contributions {
		data, e := t.s.part(t.id, fmt.Sprint(partContribution, c.Index()))
		first := new(thresholdrsa.Contribution)
		if e != nil || data == nil || first.UnmarshalBinary(data) != nil || first.Equal(c) {
			continue
		}
		with := slices.Clone(contributions)
		if with[i] = first; !signed(with) {
			continue
		}
		name := t.p.Parent.Holders()[c.Index()-1].Name
		return connect.NewError(connect.CodeFailedPrecondition, fmt.Errorf("threshold: holder %d (%s) signed two different contributions to this proposal: it is at fault", c.Index(), name))
	}
	return err
}

// finish ends the ceremony at the node. Until here the old share signs.
func (t *task) finish(step *thresholdv1.CertificateStep) error {
	c := new(thresholdrsa.Certificate)
	if err := c.UnmarshalBinary(step.Certificate); err != nil {
		return invalidf("%w", err)
	}
	if _, err := c.Verify(t.p.Parent, nil); err != nil {
		return invalidf("%w", err)
	}
	record, _ := t.key.state()
	if record.ID() == c.PublicKey().ID() {
		return t.cleanup() // it is done
	}
	if record.ID() != t.p.Parent.ID() {
		return connect.NewError(connect.CodeFailedPrecondition, errors.New("threshold: the certificate isn't about the key's record"))
	}
	if t.me.New != 0 && !t.key.acknowledged(c.PublicKey().ID()) {
		proposal, err := c.Proposal().MarshalBinary()
		if err != nil {
			return err
		}
		_, refusal, err := t.receive(&thresholdv1.ReceiveStep{Proposal: proposal, Cards: step.Cards, Contributions: step.Contributions}, c)
		if err != nil {
			return err
		}
		if refusal != nil {
			return connect.NewError(connect.CodeFailedPrecondition, errors.New("threshold: the node refuses the share"))
		}
	}
	err := t.use(fmt.Sprintf("finish: epoch %d", c.PublicKey().Epoch()), func() error {
		// The certificate first: a crash after it is made up for by settle.
		if err := t.s.keys.certify(t.key, c); err != nil {
			return err
		}
		if err := failpoint.Hit("threshold.certified"); err != nil {
			return err
		}
		if t.me.New == 0 { // the node goes on as a coordinator
			if err := t.s.writeRecord(t.key.name, c.PublicKey()); err != nil {
				return err
			}
		}
		if err := t.key.finish(c, t.p.Parent); err != nil {
			return err
		}
		return t.s.keys.advance(t.key)
	})
	if err != nil {
		return err
	}
	return t.cleanup()
}

// cleanup erases the secret half of the node's card, which has served.
func (t *task) cleanup() error { return removeFile(t.cardFile()) }

// acknowledged reports whether the share of a successor is there.
func (k *key) acknowledged(record [32]byte) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.share == nil {
		return false
	}
	if k.share.Provisional() {
		return k.share.PublicKey().ID() == record
	}
	for _, p := range k.share.Pending() {
		if p.ID() == record {
			return true
		}
	}
	return false
}

// newcomer makes a key known of which the node holds no share yet.
func (s *Service) newcomer(name string, p *thresholdrsa.PublicKey) error {
	if k := s.keys.get(p.ID()); k != nil {
		if k.name != name {
			return invalidf("threshold: the key is called %s here", k.name)
		}
		return nil
	}
	if err := checkKeyFileName(name); err != nil {
		return invalidf("%w", err)
	}
	if s.keys.named(name) != nil {
		return invalidf("threshold: another key is called %s here", name)
	}
	// Before it is written: a node that starts takes the first record of a key that it finds.
	if k := s.keys.named(KeyName(p)); k != nil {
		return invalidf("threshold: the key is called %s here, and no certificate leads from its record to the plan's", k.name)
	}
	if _, err := s.keys.lock.newRecipients(); err != nil {
		return connect.NewError(connect.CodeFailedPrecondition, err)
	}
	if err := s.writeRecord(name, p); err != nil {
		return err
	}
	_, err := s.keys.add(name, p)
	return err
}

// writeRecord puts a record beside the shares, for a key of which the node holds none.
func (s *Service) writeRecord(name string, p *thresholdrsa.PublicKey) error {
	data, err := keyfile.Encode(p)
	if err != nil {
		return err
	}
	for _, dir := range []string{keysDir, sharesDir} {
		if err := makeDir(filepath.Join(s.opt.Dir, dir)); err != nil {
			return err
		}
	}
	return writeFile(filepath.Join(s.opt.Dir, keysDir, name+keySuffix), data)
}

// checkKeyFileName checks a name that is to be part of file names.
func checkKeyFileName(name string) error {
	if name == "" || len(name) > 64 {
		return errors.New("threshold: a key's name has 1 to 64 characters")
	}
	for i, c := range name {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '-' && c != '_') {
			return fmt.Errorf("threshold: %q can't be a key's name: letters, digits, - and _", name)
		}
	}
	// Policies have such names for keys, and one key mustn't pass for another.
	if hash, ok := strings.CutPrefix(name, "rsa-"); ok && len(hash) == 40 {
		if _, err := hex.DecodeString(hash); err == nil {
			return fmt.Errorf("threshold: %s is what policies call a key", name)
		}
	}
	return nil
}
