// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package join

import (
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/undersign/undersign/internal/wire"
)

// MaxRecords bounds a register.
const MaxRecords = 1 << 24

// A Register holds the records of a group: no registration point twice, and one live
// record for an identity. It may be used by several goroutines.
type Register struct {
	// Durable, if it isn't nil, is called with the encoding of each record before
	// a credential is made for it, and returns when the record can't be lost. An
	// error ends the join.
	Durable func(record []byte) error

	scheme  string
	groupID [32]byte
	trace   int

	mu      sync.RWMutex
	records []entry
	byPoint map[string]int
	byTrace map[string]int
	live    map[string]int
}

type entry struct {
	record  *Record
	revoked bool
}

// NewRegister returns an empty register. An opener finds a record by the bytes of
// its point from the given offset.
func NewRegister(scheme string, groupID [32]byte, trace int) *Register {
	return &Register{
		scheme: scheme, groupID: groupID, trace: trace,
		byPoint: map[string]int{}, byTrace: map[string]int{}, live: map[string]int{},
	}
}

// Check says why a record can't be added, which depends on its identity and its
// point alone.
func (g *Register) Check(member string, point []byte) error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.check(member, point)
}

func (g *Register) check(member string, point []byte) error {
	if err := CheckMember(member); err != nil {
		return err
	}
	if len(point) <= g.trace || len(point) > MaxPoint {
		return errors.New("join: registration point of a wrong length")
	}
	if _, ok := g.byPoint[string(point)]; ok {
		return errors.New("join: the registration point is registered already")
	}
	if _, ok := g.byTrace[string(point[g.trace:])]; ok {
		return errors.New("join: the registration point is registered already")
	}
	if _, ok := g.live[member]; ok {
		return fmt.Errorf("join: %q is a member already", member)
	}
	if len(g.records) >= MaxRecords {
		return errors.New("join: the register is full")
	}
	return nil
}

// Add adds a record that was checked, and makes it durable.
func (g *Register) Add(r *Record) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r.Scheme != g.scheme || r.GroupID != g.groupID {
		return errors.New("join: the record is for another group")
	}
	if err := r.Verify(r.Key); err != nil {
		return err
	}
	if err := g.check(r.Member, r.Point); err != nil {
		return err
	}
	b, err := r.MarshalBinary()
	if err != nil {
		return err
	}
	if g.Durable != nil {
		if err := g.Durable(b); err != nil {
			return fmt.Errorf("join: storing the record: %w", err)
		}
	}
	g.add(entry{r, false})
	return nil
}

func (g *Register) add(e entry) {
	i := len(g.records)
	g.records = append(g.records, e)
	g.byPoint[string(e.record.Point)] = i
	g.byTrace[string(e.record.Point[g.trace:])] = i
	if !e.revoked {
		g.live[e.record.Member] = i
	}
}

// Revoke marks the live record of an identity, so that it gets no more credentials
// and may join anew. The record stays: signatures made under it can be opened.
//
// What was issued stays valid until verifiers refuse it, by a revocation state or by
// its epoch. Who lets the identity join anew before has one person with two
// pseudonyms in each scope.
func (g *Register) Revoke(member string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	i, ok := g.live[member]
	if !ok {
		return fmt.Errorf("join: %q isn't a member", member)
	}
	g.records[i].revoked = true
	delete(g.live, member)
	return nil
}

// Member returns the live record of an identity, or nil.
func (g *Register) Member(member string) *Record {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if i, ok := g.live[member]; ok {
		return g.records[i].record
	}
	return nil
}

// Find returns the record whose point ends, from the register's offset, with trace,
// or nil.
func (g *Register) Find(trace []byte) *Record {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if i, ok := g.byTrace[string(trace)]; ok {
		return g.records[i].record
	}
	return nil
}

// Len returns the number of records.
func (g *Register) Len() int {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return len(g.records)
}

// All iterates over the records that there are when it is called, in the order they
// came, with whether each is live.
func (g *Register) All() iter.Seq2[*Record, bool] {
	g.mu.RLock()
	records := append([]entry(nil), g.records...)
	g.mu.RUnlock()
	return func(yield func(*Record, bool) bool) {
		for _, e := range records {
			if !yield(e.record, !e.revoked) {
				return
			}
		}
	}
}

// MarshalBinary returns the canonical encoding.
func (g *Register) MarshalBinary() ([]byte, error) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Bytes([]byte(g.scheme))
	e.Fixed(g.groupID[:])
	e.U16(uint16(g.trace))
	e.U32(uint32(len(g.records)))
	for _, r := range g.records {
		b, err := r.record.MarshalBinary()
		if err != nil {
			return nil, err
		}
		var revoked uint8
		if r.revoked {
			revoked = 1
		}
		e.U8(revoked)
		e.Bytes(b)
	}
	return e.Data(), nil
}

// UnmarshalBinary decodes a register and checks every record's signature under the
// key that the record names. The register must have been made with NewRegister for
// the same group, and be empty.
func (g *Register) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	scheme := string(d.Bytes("scheme", maxScheme))
	var groupID [32]byte
	d.Read("group", groupID[:])
	trace := int(d.U16("trace"))
	n := d.U32("records")
	if err := d.Err(); err != nil {
		return fmt.Errorf("join: register: %w", err)
	}
	if scheme != g.scheme || groupID != g.groupID || trace != g.trace {
		return errors.New("join: the register is of another group")
	}
	if n > MaxRecords {
		return errors.New("join: the register is too long")
	}
	fresh := NewRegister(scheme, groupID, trace)
	for range n {
		revoked := d.U8("revoked")
		if revoked > 1 {
			d.Fail("revoked", "%d", revoked)
		}
		b := d.Bytes("record", 1<<16)
		if err := d.Err(); err != nil {
			return fmt.Errorf("join: register: %w", err)
		}
		r := new(Record)
		if err := r.UnmarshalBinary(b); err != nil {
			return err
		}
		if r.Scheme != scheme || r.GroupID != groupID {
			return errors.New("join: register: a record is for another group")
		}
		if err := r.Verify(r.Key); err != nil {
			return err
		}
		err := fresh.check(r.Member, r.Point)
		if revoked == 1 { // others may live under the same name
			live, ok := fresh.live[r.Member]
			delete(fresh.live, r.Member)
			err = fresh.check(r.Member, r.Point)
			if ok {
				fresh.live[r.Member] = live
			}
		}
		if err != nil {
			return err
		}
		fresh.add(entry{r, revoked == 1})
	}
	if err := d.Finish(); err != nil {
		return fmt.Errorf("join: register: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.records) > 0 {
		return errors.New("join: the register isn't empty")
	}
	g.records, g.byPoint, g.byTrace, g.live = fresh.records, fresh.byPoint, fresh.byTrace, fresh.live
	return nil
}
