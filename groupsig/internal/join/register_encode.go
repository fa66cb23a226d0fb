// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package join

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/internal/wire"
)

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
		e.U8(uint8(r.status))
		e.U64(r.epoch)
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
	fresh.find = g.find
	for range n {
		st := status(d.U8("status"))
		if st > retired {
			d.Fail("status", "%d", st)
		}
		epoch := d.U64("epoch")
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
		if st != live { // others may live under the same name
			i, ok := fresh.live[r.Member]
			delete(fresh.live, r.Member)
			err = fresh.check(r.Member, r.Point)
			if ok {
				fresh.live[r.Member] = i
			}
		}
		if err == nil {
			err = fresh.checkTrace(r)
		}
		if err != nil {
			return err
		}
		fresh.add(entry{r, st, epoch})
	}
	if err := d.Finish(); err != nil {
		return fmt.Errorf("join: register: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.records) > 0 {
		return errors.New("join: the register isn't empty")
	}
	g.records, g.byPoint, g.byTrace, g.live, g.blocked = fresh.records, fresh.byPoint, fresh.byTrace, fresh.live, fresh.blocked
	return nil
}
