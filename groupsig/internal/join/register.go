// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package join

import (
	"errors"
	"fmt"
	"iter"
	"sync"
)

// MaxRecords bounds a register.
const MaxRecords = 1 << 24

// A Register holds the records of a group: no registration point twice, and one live
// record for an identity. It may be used by several goroutines.
//
// What was issued to a member that is revoked stays valid until verifiers refuse it,
// by a list of tokens or by its epoch. If the identity could join anew before, one
// person would have two pseudonyms in each scope, and two votes. So Admit, which is
// what issuers add records by, refuses the identity with a *[RejoinError] until a
// later epoch than any that the old record got a credential for, or until the old
// record's token is listed: see Listed. In groups without epochs only that helps.
// Verifiers that still accept the old epoch, or use an older list or none, accept the old
// credential beside the new one.
type Register struct {
	// Durable, if it isn't nil, is called with the encoding of each record before
	// a credential is made for it, and returns when the record can't be lost. An
	// error ends the join. Who is revoked, and for which epochs there are
	// credentials, is in the register's own encoding alone.
	Durable func(record []byte) error

	scheme  string
	groupID [32]byte
	trace   int
	find    func(*Record) []byte // in place of trace

	mu      sync.RWMutex
	records []entry
	byPoint map[string]int
	byTrace map[string]int
	live    map[string]int
	blocked map[string]uint64 // of revoked identities that aren't listed: the last epoch
}

type entry struct {
	record *Record
	status status
	epoch  uint64 // the highest for which it got a credential
}

type status uint8

const (
	live    status = iota
	revoked        // and its token, where there are tokens, is to be listed
	listed         // revoked, and known to be listed
	retired        // neither live nor revoked
)

// A RejoinError says that an identity was revoked, and joins again too early.
type RejoinError struct {
	Member string
	Epoch  uint64 // the last one that the old credential is good for; 0 without epochs
}

func (e *RejoinError) Error() string {
	if e.Epoch == 0 {
		return fmt.Sprintf("join: %q was revoked, and may join again when its token is listed", e.Member)
	}
	return fmt.Sprintf("join: %q was revoked in epoch %d, and may join again in a later one, or when its token is listed", e.Member, e.Epoch)
}

// NewRegister returns an empty register. An opener finds a record by the bytes of
// its point from the given offset.
func NewRegister(scheme string, groupID [32]byte, trace int) *Register {
	return &Register{
		scheme: scheme, groupID: groupID, trace: trace,
		byPoint: map[string]int{}, byTrace: map[string]int{}, live: map[string]int{}, blocked: map[string]uint64{},
	}
}

// NewRegisterBy returns an empty register in which an opener finds a record by what a
// function returns of it, such as the credential in its evidence. A record for which it
// is nil isn't added.
func NewRegisterBy(scheme string, groupID [32]byte, find func(*Record) []byte) *Register {
	g := NewRegister(scheme, groupID, 0)
	g.find = find
	return g
}

// traceOf returns what a record is found by.
func (g *Register) traceOf(r *Record) []byte {
	if g.find != nil {
		return g.find(r)
	}
	return r.Point[g.trace:]
}

// checkTrace says why a record can't be found.
func (g *Register) checkTrace(r *Record) error {
	trace := g.traceOf(r)
	if trace == nil {
		return errors.New("join: the record lacks evidence")
	}
	if _, ok := g.byTrace[string(trace)]; ok {
		return errors.New("join: what the record is found by is registered already")
	}
	return nil
}

// Check says why a record can't be admitted for an epoch, which depends on its
// identity and its point alone.
func (g *Register) Check(member string, point []byte, epoch uint64) error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if err := g.check(member, point); err != nil {
		return err
	}
	return g.checkRejoin(member, epoch)
}

// CheckMember says why an identity can't join in an epoch, whatever its point will be.
func (g *Register) CheckMember(member string, epoch uint64) error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if err := g.checkMember(member); err != nil {
		return err
	}
	return g.checkRejoin(member, epoch)
}

func (g *Register) checkRejoin(member string, epoch uint64) error {
	if last, ok := g.blocked[member]; ok && epoch <= last {
		return &RejoinError{member, last}
	}
	return nil
}

func (g *Register) checkMember(member string) error {
	if err := CheckMember(member); err != nil {
		return err
	}
	if _, ok := g.live[member]; ok {
		return fmt.Errorf("join: %q is a member already", member)
	}
	return nil
}

func (g *Register) check(member string, point []byte) error {
	if err := g.checkMember(member); err != nil {
		return err
	}
	if len(point) <= g.trace || len(point) > MaxPoint {
		return errors.New("join: registration point of a wrong length")
	}
	if _, ok := g.byPoint[string(point)]; ok {
		return errors.New("join: the registration point is registered already")
	}
	if _, ok := g.byTrace[string(point[g.trace:])]; ok && g.find == nil {
		return errors.New("join: the registration point is registered already")
	}
	if len(g.records) >= MaxRecords {
		return errors.New("join: the register is full")
	}
	return nil
}

// Admit adds a record that was checked, whose credential is for an epoch, and makes
// it durable. It is for issuers.
func (g *Register) Admit(r *Record, epoch uint64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.checkRejoin(r.Member, epoch); err != nil {
		return err
	}
	return g.store(entry{r, live, epoch})
}

// Add adds a record that was checked, and makes it durable. It is for openers, who
// don't decide who may join.
func (g *Register) Add(r *Record) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.store(entry{r, live, 0})
}

func (g *Register) store(e entry) error {
	r := e.record
	if r.Scheme != g.scheme || r.GroupID != g.groupID {
		return errors.New("join: the record is for another group")
	}
	if err := r.Verify(r.Key); err != nil {
		return err
	}
	if err := g.check(r.Member, r.Point); err != nil {
		return err
	}
	if err := g.checkTrace(r); err != nil {
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
	g.add(e)
	return nil
}

func (g *Register) add(e entry) {
	i := len(g.records)
	g.records = append(g.records, e)
	g.byPoint[string(e.record.Point)] = i
	g.byTrace[string(g.traceOf(e.record))] = i
	switch e.status {
	case live:
		g.live[e.record.Member] = i
	case revoked:
		g.block(&e)
	}
}

func (g *Register) block(e *entry) {
	g.blocked[e.record.Member] = max(g.blocked[e.record.Member], e.epoch)
}

// Reissued notes that a live record gets a credential for an epoch, and refuses one
// for which a record before it that is revoked has a credential, as Admit does. The
// register is stored before the credential is released.
func (g *Register) Reissued(r *Record, epoch uint64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	i, ok := g.live[r.Member]
	if !ok || g.records[i].record != r {
		return fmt.Errorf("join: %q isn't a member", r.Member)
	}
	if err := g.checkRejoin(r.Member, epoch); err != nil {
		return err
	}
	g.records[i].epoch = max(g.records[i].epoch, epoch)
	return nil
}

// Revoke marks the live record of an identity, so that it gets no more credentials,
// and is on the opener's lists in groups with tokens. The record stays: signatures
// made under it can be opened. When the identity may join anew is said at [Register].
func (g *Register) Revoke(member string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.end(member, revoked)
}

// Retire marks the live record of an identity that has left and isn't to be listed,
// so that the opener can add another record of it. In an issuer's register it would
// let one person have two credentials: issuers use Revoke.
func (g *Register) Retire(member string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.end(member, retired)
}

func (g *Register) end(member string, s status) error {
	i, ok := g.live[member]
	if !ok {
		return fmt.Errorf("join: %q isn't a member", member)
	}
	e := &g.records[i]
	e.status = s
	delete(g.live, member)
	if s == revoked {
		g.block(e)
	}
	return nil
}

// Listed marks those revoked records of which is reports that verifiers know their
// tokens, and returns how many it has marked. Their identities may join anew.
func (g *Register) Listed(is func(*Record) bool) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	clear(g.blocked)
	for i := range g.records {
		e := &g.records[i]
		if e.status != revoked {
			continue
		}
		if is(e.record) {
			e.status = listed
			n++
		} else {
			g.block(e)
		}
	}
	return n
}

// ReadmitUnsafe lets a revoked identity join anew at once. Unless its old credential
// is of no use, because its key is known to be destroyed or its pseudonyms are listed
// in all scopes that there are, one person has two pseudonyms in each scope then.
func (g *Register) ReadmitUnsafe(member string) {
	g.Listed(func(r *Record) bool { return r.Member == member })
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

// Find returns the record whose point ends, from the register's offset, with trace, or of
// which a register of [NewRegisterBy] has it, or nil.
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
			if !yield(e.record, e.status == live) {
				return
			}
		}
	}
}

// Revoked iterates over the records that are revoked when it is called, in the order
// they came.
func (g *Register) Revoked() iter.Seq[*Record] {
	g.mu.RLock()
	records := append([]entry(nil), g.records...)
	g.mu.RUnlock()
	return func(yield func(*Record) bool) {
		for _, e := range records {
			if (e.status == revoked || e.status == listed) && !yield(e.record) {
				return
			}
		}
	}
}
