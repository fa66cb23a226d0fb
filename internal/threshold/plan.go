// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/wire"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// A Plan is what everybody who takes part in a ceremony agrees to before it begins: the
// record, the new threshold, and which nodes give and get shares. Its ID binds all of it.
//
// A receiver's node signs the receiver's card together with the ID, so that who leads the
// ceremony can't put a card of their own in its place: the contributors know the
// receivers' nodes by the fingerprints in the plan, to which they have agreed.
type Plan struct {
	Parent    *thresholdrsa.PublicKey
	Threshold int
	Leader    string // fingerprint of the node that collects and hands out
	Made      time.Time
	Nonce     [16]byte
	Nodes     []PlanNode
}

// A PlanNode is a node in a plan.
type PlanNode struct {
	Party       string // fingerprint
	Name        string // of the holder in the record, or of the one who is to be
	Old, New    int    // indices, 0 for none
	Contributes bool
}

const (
	maxPlan  = 1 << 20
	maxNodes = 2 * thresholdrsa.MaxHolders
)

// MarshalBinary returns the canonical encoding.
func (p *Plan) MarshalBinary() ([]byte, error) {
	record, err := p.Parent.MarshalBinary()
	if err != nil {
		return nil, err
	}
	var e wire.Encoder
	e.U8(1) // version
	e.Bytes(record)
	e.U16(uint16(p.Threshold))
	e.Bytes([]byte(p.Leader))
	e.U64(uint64(p.Made.UnixMilli()))
	e.Fixed(p.Nonce[:])
	e.U16(uint16(len(p.Nodes)))
	for _, n := range p.Nodes {
		e.Bytes([]byte(n.Party))
		e.Bytes([]byte(n.Name))
		e.U8(uint8(n.Old))
		e.U8(uint8(n.New))
		c := uint8(0)
		if n.Contributes {
			c = 1
		}
		e.U8(c)
	}
	return e.Data(), nil
}

// UnmarshalBinary decodes a plan and checks what it says.
func (p *Plan) UnmarshalBinary(data []byte) error {
	if len(data) > maxPlan {
		return errors.New("threshold: plan: too long")
	}
	d := wire.NewDecoder(data)
	var q Plan
	record := q.readHead(d)
	d.Read("nonce", q.Nonce[:])
	n := int(d.U16("number of nodes"))
	if n > maxNodes {
		d.Fail("number of nodes", "more than %d", maxNodes)
		n = 0
	}
	for range n {
		node := PlanNode{
			Party: string(d.Bytes("party", 128)), Name: string(d.Bytes("name", 64)),
			Old: int(d.U8("old index")), New: int(d.U8("new index")),
		}
		c := d.U8("contributes")
		if c > 1 {
			d.Fail("contributes", "neither 0 nor 1")
		}
		node.Contributes = c == 1
		if d.Err() != nil {
			break
		}
		q.Nodes = append(q.Nodes, node)
	}
	if err := d.Finish(); err != nil {
		return fmt.Errorf("threshold: plan: %w", err)
	}
	q.Parent = new(thresholdrsa.PublicKey)
	if err := q.Parent.UnmarshalBinary(record); err != nil {
		return err
	}
	if err := q.check(); err != nil {
		return fmt.Errorf("threshold: plan: %w", err)
	}
	*p = q
	return nil
}

// readHead reads what is before the nonce, and returns the record's encoding.
func (p *Plan) readHead(d *wire.Decoder) (record []byte) {
	if v := d.U8("version"); d.Err() == nil && v != 1 {
		d.Fail("version", "%d isn't known", v)
	}
	record = d.Bytes("record", maxPlan)
	p.Threshold, p.Leader = int(d.U16("threshold")), string(d.Bytes("leader", 128))
	made := d.U64("time")
	if made > 1<<53 {
		d.Fail("time", "out of range")
	}
	p.Made = time.UnixMilli(int64(made))
	return record
}

// A planHead is what it takes to make room for other plans. To read it takes a small part of
// what reading and checking a record takes.
type planHead struct {
	id     [32]byte
	leader string
	made   time.Time
}

func readPlanHead(data []byte) (planHead, error) {
	d := wire.NewDecoder(data)
	var p Plan
	p.readHead(d)
	return planHead{planID(data), p.Leader, p.Made}, d.Err()
}

func (p *Plan) check() error {
	if _, err := keyfile.ParseFingerprint(p.Leader); err != nil {
		return fmt.Errorf("the leader has no fingerprint: %w", err)
	}
	holders := p.Parent.Holders()
	parties := make(map[string]bool)
	names := make(map[string]bool) // of receivers
	old, next := make(map[int]bool), make(map[int]bool)
	contributors := 0
	for _, n := range p.Nodes {
		if _, err := keyfile.ParseFingerprint(n.Party); err != nil || parties[n.Party] {
			return errors.New("a node has no fingerprint, or is there twice")
		}
		parties[n.Party] = true
		if n.Name == "" || !utf8.ValidString(n.Name) || (n.New != 0 && names[n.Name]) {
			return errors.New("a receiver has no name, or two have the same")
		}
		names[n.Name] = names[n.Name] || n.New != 0
		switch {
		case n.Old > len(holders), n.Old != 0 && old[n.Old]:
			return errors.New("an index of a holder is wrong, or there twice")
		case n.Old != 0 && holders[n.Old-1].Name != n.Name:
			return fmt.Errorf("holder %d is %q, and not %q", n.Old, holders[n.Old-1].Name, n.Name)
		case n.New != 0 && next[n.New]:
			return errors.New("two receivers get the same index")
		case n.Old == 0 && (n.New == 0 || n.Contributes):
			return errors.New("a node has nothing to do in it, or nothing to give")
		}
		old[n.Old], next[n.New] = true, true
		if n.Contributes {
			contributors++
		}
	}
	delete(next, 0)
	for i := 1; i <= len(next); i++ {
		if !next[i] {
			return errors.New("the new indices have gaps")
		}
	}
	if p.Threshold < 2 || p.Threshold > len(next) {
		return fmt.Errorf("%d receivers can't have the threshold %d", len(next), p.Threshold)
	}
	if contributors < p.Parent.Threshold() {
		return fmt.Errorf("%d contribute, and it takes %d", contributors, p.Parent.Threshold())
	}
	return nil
}

// ID returns the hash of the plan.
func (p *Plan) ID() [32]byte {
	data, err := p.MarshalBinary()
	if err != nil {
		return [32]byte{}
	}
	return planID(data)
}

func planID(data []byte) [32]byte {
	return sha256.Sum256(append([]byte("undersign/ceremony-plan/v1"), data...))
}

// Same reports whether the receivers are the holders, with the same threshold.
func (p *Plan) Same() bool {
	n := 0
	for _, node := range p.Nodes {
		if node.New != 0 && node.New != node.Old {
			return false
		}
		if node.New != 0 {
			n++
		}
	}
	return n == p.Parent.NumHolders() && p.Threshold == p.Parent.Threshold()
}

// node returns what a party has to do, or nil.
func (p *Plan) node(fingerprint string) *PlanNode {
	for i := range p.Nodes {
		if p.Nodes[i].Party == fingerprint {
			return &p.Nodes[i]
		}
	}
	return nil
}

// receivers returns the nodes that get shares, in the order of their new indices.
func (p *Plan) receivers() []PlanNode {
	list := slices.DeleteFunc(slices.Clone(p.Nodes), func(n PlanNode) bool { return n.New == 0 })
	slices.SortFunc(list, func(a, b PlanNode) int { return a.New - b.New })
	return list
}

func (p *Plan) contributors() (indices []int) {
	for _, n := range p.Nodes {
		if n.Contributes {
			indices = append(indices, n.Old)
		}
	}
	slices.Sort(indices)
	return indices
}

// cardMessage is what a receiver's node signs.
func cardMessage(plan [32]byte, card []byte) []byte {
	h := sha256.Sum256(card)
	return slices.Concat([]byte("undersign/ceremony-card/v1"), plan[:], h[:])
}

func signCard(key ed25519.PrivateKey, plan [32]byte, card []byte) *thresholdv1.SignedCard {
	return &thresholdv1.SignedCard{
		Card: card, Party: key.Public().(ed25519.PublicKey), Signature: ed25519.Sign(key, cardMessage(plan, card)),
	}
}

// openCard returns the card of a node, if it is the node that vouches for it and if it
// names the receiver that the plan does.
func (p *Plan) openCard(n PlanNode, sc *thresholdv1.SignedCard) (*thresholdrsa.Receiver, error) {
	if sc == nil || len(sc.Party) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("threshold: no card of %s", n.Name)
	}
	party := ed25519.PublicKey(sc.Party)
	if keyfile.Fingerprint(&keyfile.Party{Key: party}) != n.Party || !ed25519.Verify(party, cardMessage(p.ID(), sc.Card), sc.Signature) {
		return nil, fmt.Errorf("threshold: the card of %s isn't signed by its node", n.Name)
	}
	card := new(thresholdrsa.Receiver)
	if err := card.UnmarshalBinary(sc.Card); err != nil {
		return nil, err
	}
	if card.Name() != n.Name {
		return nil, fmt.Errorf("threshold: the card of %s is in the name of %q", n.Name, card.Name())
	}
	if n.Old != 0 && !bytes.Equal(card.Identity(), p.Parent.Holders()[n.Old-1].Identity) {
		return nil, fmt.Errorf("threshold: the card of %s has another identity than the holder", n.Name)
	}
	return card, nil
}

// openCards returns the cards of all receivers.
func (p *Plan) openCards(list []*thresholdv1.SignedCard) ([]*thresholdrsa.Receiver, error) {
	nodes := p.receivers()
	if len(list) != len(nodes) {
		return nil, fmt.Errorf("threshold: %d cards for %d receivers", len(list), len(nodes))
	}
	var cards []*thresholdrsa.Receiver
	for i, n := range nodes {
		card, err := p.openCard(n, list[i])
		if err != nil {
			return nil, err
		}
		cards = append(cards, card)
	}
	return cards, nil
}

// propose makes the plan's proposal.
func (p *Plan) propose(cards []*thresholdrsa.Receiver) (*thresholdrsa.Proposal, error) {
	if p.Same() {
		return thresholdrsa.ProposeRefresh(p.Parent, p.contributors(), cards...)
	}
	return thresholdrsa.ProposeReshare(p.Parent, p.contributors(), p.Threshold, cards)
}

// readProposal reads a proposal, and checks that it is what the plan says.
func (p *Plan) readProposal(data []byte, list []*thresholdv1.SignedCard) (*thresholdrsa.Proposal, error) {
	pr := new(thresholdrsa.Proposal)
	if err := pr.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	if err := pr.Check(p.Parent); err != nil {
		return nil, err
	}
	cards, err := p.openCards(list)
	if err != nil {
		return nil, err
	}
	if pr.Threshold() != p.Threshold || !slices.Equal(pr.Contributors(), p.contributors()) ||
		!slices.EqualFunc(pr.Receivers(), cards, func(a, b *thresholdrsa.Receiver) bool { return a.Equal(b) }) {
		return nil, errors.New("threshold: the proposal isn't what was agreed to")
	}
	return pr, nil
}

// shortID returns the start of an ID, for people.
func shortID(id [32]byte) string { return hex.EncodeToString(id[:8]) }
