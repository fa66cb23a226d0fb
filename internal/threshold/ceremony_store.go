// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/store"
)

// Parts of a ceremony in the store. Those of which there are several end with an index.
const (
	partPlan         = "plan"
	partJoined       = "joined" // the key's name at the node
	partCard         = "card"   // this node's
	partProposal     = "proposal"
	partCards        = "cards"
	partMine         = "mine" // this node's contribution, behind the ID of its proposal
	partContribution = "contribution."
	partCertificate  = "certificate"
	partFinished     = "finished."
)

const (
	maxCeremonies = 1000                // are kept
	maxOfLeader   = 64                  // of those, of one other node's
	keepCeremony  = 90 * 24 * time.Hour // at most, once there are so many
	maxPlanAge    = 24 * time.Hour      // of a plan that is new to the node, clocks being as they are
)

func (s *Service) part(id [32]byte, name string) (value []byte, err error) {
	err = s.opt.Store.View(func(tx *store.Tx) error {
		var v []byte
		ok, err := tx.Row([]any{&v}, "SELECT value FROM threshold_ceremony WHERE id = ? AND part = ?", id[:], name)
		if ok {
			value = append([]byte{}, v...) // not nil, even if it is empty
		}
		return err
	})
	return value, err
}

func (s *Service) setPart(id [32]byte, name string, value []byte) error {
	if value == nil {
		value = []byte{}
	}
	return s.opt.Store.Update(func(tx *store.Tx) error {
		_, err := tx.Exec("INSERT OR REPLACE INTO threshold_ceremony (id, part, value) VALUES (?, ?, ?)", id[:], name, value)
		return err
	})
}

func (s *Service) dropPart(id [32]byte, name string) error {
	return s.opt.Store.Update(func(tx *store.Tx) error {
		_, err := tx.Exec("DELETE FROM threshold_ceremony WHERE id = ? AND part = ?", id[:], name)
		return err
	})
}

// addPlan notes a plan, unless it is known.
func (s *Service) addPlan(p *Plan) error {
	id := p.ID()
	if known, err := s.part(id, partPlan); err != nil || known != nil {
		return err
	}
	now := s.opt.Now()
	if d := now.Sub(p.Made); d > maxPlanAge || d < -maxPlanAge {
		return invalidf("threshold: the plan is of %s, which is too long ago or to come", p.Made.UTC().Format(time.RFC3339))
	}
	list, err := s.planHeads()
	if err != nil {
		return err
	}
	old, err := s.crowded(p, list)
	if err != nil {
		return err
	}
	if len(list)-len(old) >= maxCeremonies {
		for _, q := range list {
			if now.Sub(q.made) > keepCeremony {
				old = append(old, q.id)
			}
		}
		if len(list)-len(old) >= maxCeremonies {
			return connect.NewError(connect.CodeResourceExhausted, errors.New("threshold: too many ceremonies"))
		}
	}
	data, err := p.MarshalBinary()
	if err != nil {
		return err
	}
	return s.opt.Store.Update(func(tx *store.Tx) error {
		for _, o := range old {
			if _, err := tx.Exec("DELETE FROM threshold_ceremony WHERE id = ?", o[:]); err != nil {
				return err
			}
		}
		_, err := tx.Exec("INSERT OR IGNORE INTO threshold_ceremony (id, part, value) VALUES (?, ?, ?)", id[:], partPlan, data)
		return err
	})
}

// crowded returns plans of another node that make room for one more of it: those that
// nobody has joined here. Plans cost who makes them nothing.
func (s *Service) crowded(p *Plan, list []planHead) (old [][32]byte, err error) {
	if p.Leader == s.opt.Identity.Fingerprint() {
		return nil, nil
	}
	list = slices.DeleteFunc(slices.Clone(list), func(q planHead) bool { return q.leader != p.Leader })
	if len(list) < maxOfLeader {
		return nil, nil
	}
	slices.SortFunc(list, func(a, b planHead) int { return a.made.Compare(b.made) })
	for _, q := range list {
		joined, err := s.part(q.id, partJoined)
		if err != nil {
			return nil, err
		}
		if joined == nil {
			return [][32]byte{q.id}, nil
		}
	}
	return nil, connect.NewError(connect.CodeResourceExhausted, errors.New("threshold: too many ceremonies of one node"))
}

// plans lists the plans that are known.
func (s *Service) plans() (list []*Plan, err error) {
	err = s.eachPlan(func(data []byte) error {
		p := new(Plan)
		if err := p.UnmarshalBinary(data); err != nil {
			return err
		}
		list = append(list, p)
		return nil
	})
	return list, err
}

func (s *Service) planHeads() (list []planHead, err error) {
	err = s.eachPlan(func(data []byte) error {
		h, err := readPlanHead(data)
		list = append(list, h)
		return err
	})
	return list, err
}

// eachPlan calls fn with a copy of each plan's encoding.
func (s *Service) eachPlan(fn func(data []byte) error) error {
	return s.opt.Store.View(func(tx *store.Tx) error {
		var data []byte
		return tx.Rows([]any{&data}, func() error { return fn(bytes.Clone(data)) }, "SELECT value FROM threshold_ceremony WHERE part = ?", partPlan)
	})
}

// findPlan returns the plan with an ID, of which the start is enough.
func (s *Service) findPlan(prefix string) (*Plan, error) {
	var found [][]byte
	err := s.eachPlan(func(data []byte) error {
		id := planID(data)
		if text := hex.EncodeToString(id[:]); len(prefix) >= minPrefix && len(prefix) <= len(text) && text[:len(prefix)] == prefix {
			found = append(found, data)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("threshold: %d ceremonies have an ID that begins with %q", len(found), prefix))
	}
	p := new(Plan)
	return p, p.UnmarshalBinary(found[0])
}

// cardList is how cards are stored: as the message in which they travel.
func encodeCards(cards []*thresholdv1.SignedCard) ([]byte, error) {
	return proto.Marshal(&thresholdv1.ReceiveStep{Cards: cards})
}

func decodeCards(data []byte) ([]*thresholdv1.SignedCard, error) {
	m := new(thresholdv1.ReceiveStep)
	err := proto.Unmarshal(data, m)
	return m.Cards, err
}
