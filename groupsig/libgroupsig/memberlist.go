// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/undersign/undersign/internal/bls12381"
)

// An Edition is one of those of the library that write different lists.
type Edition byte

const (
	// Fork is the edition that goes on from where IBM's ended.
	Fork Edition = iota
	// IBM is IBM's, to version 1.1.0. It can't read its own lists of BBS04 and KLAP20.
	IBM
)

// String returns the edition's name.
func (e Edition) String() string {
	if e == IBM {
		return "ibm"
	}
	return "fork"
}

// A MemberList is the manager's list of members (GML), by which it opens signatures.
type MemberList struct {
	Scheme Scheme
	// Editions are those that write such a list.
	Editions []Edition
	Members  []Member
	// Repeated are the indices of members whose entries are there already under another
	// ID. With the library one who joins can have itself listed again.
	Repeated []int
}

// A Member is an entry of the list. In PS16 it is secret: by it everybody can tell what
// the member signed.
type Member struct {
	ID uint64

	entry []byte // without ID
	g1    []*bls12381.G1
	g2    []*bls12381.G2
	tau   *bls12381.GT // in KLAP20, and there not in IBM's edition
}

// String shows the ID only.
func (m Member) String() string { return fmt.Sprintf("libgroupsig.Member(%d)", m.ID) }

// GoString shows the ID only.
func (m Member) GoString() string { return m.String() }

func (m *Member) points(r *reader, fields ...string) {
	for _, f := range fields {
		m.g1 = append(m.g1, r.g1(f))
	}
}

func (m *Member) g2points(r *reader, fields ...string) {
	for _, f := range fields {
		m.g2 = append(m.g2, r.g2(f))
	}
}

// nothing reads the length 0 of an element that isn't there.
func (m *Member) nothing(r *reader) {
	if b := r.next("absent element", 4); b != nil && !isZero(b) {
		r.fail("absent element", errors.New("its length isn't 0"))
	}
}

var errNoList = errors.New("the scheme has no lists of members")

// listSizes are the lengths of an entry with its ID, in the fork and in IBM's edition.
var listSizes = map[Scheme][2]int{
	BBS04:  {8 + 52, 8 + 52 + 4},
	PS16:   {8 + 52 + 100, 8 + 52 + 100},
	KLAP20: {8 + 4*100 + 580, 8 + 4*100 + 4},
}

// ParseMemberList decodes and checks a list of the group's members, as either edition
// writes it, or its base64, but not whether it is the group's where entries don't show that. That is so
// with all but PS16.
func (k *GroupKey) ParseMemberList(data []byte) (*MemberList, error) {
	sizes, ok := listSizes[k.scheme]
	if !ok {
		return nil, fmt.Errorf("libgroupsig: %s: %w", k.scheme, errNoList)
	}
	data, err := decodeListText(data)
	if err != nil {
		return nil, fmt.Errorf("libgroupsig: list: %w", err)
	}
	r := &reader{b: data}
	n := r.u64("number of members")
	if r.err != nil {
		return nil, fmt.Errorf("libgroupsig: list: %w", r.err)
	}
	l := &MemberList{Scheme: k.scheme}
	for _, e := range []Edition{Fork, IBM} {
		if size := uint64(sizes[e]); uint64(len(r.b))%size == 0 && uint64(len(r.b))/size == n {
			l.Editions = append(l.Editions, e)
		}
	}
	if len(l.Editions) == 0 {
		return nil, fmt.Errorf("libgroupsig: a list of %d members of %s hasn't %d bytes", n, k.scheme, len(data))
	}
	l.Members = make([]Member, 0, n) // which the length of the data has confirmed
	ids, entries := map[uint64]bool{}, map[string]bool{}
	for i := range int(n) {
		m := Member{ID: r.u64("id")}
		m.entry = r.b
		k.key.entry(r, l.Editions[0], &m)
		if r.err != nil {
			return nil, fmt.Errorf("libgroupsig: entry %d of the list: %w", i, r.err)
		}
		m.entry = slices.Clone(m.entry[:len(m.entry)-len(r.b)])
		if ids[m.ID] {
			return nil, fmt.Errorf("libgroupsig: the list has the ID %d twice", m.ID)
		}
		if entries[string(m.entry)] {
			l.Repeated = append(l.Repeated, i)
		}
		ids[m.ID], entries[string(m.entry)] = true, true
		l.Members = append(l.Members, m)
	}
	if err := r.end(); err != nil {
		return nil, fmt.Errorf("libgroupsig: list: %w", err)
	}
	if err := k.key.checkEntries(l.Members); err != nil {
		return nil, err
	}
	return l, nil
}

// MarshalBinary returns the list as the first of its editions writes it.
func (l *MemberList) MarshalBinary() ([]byte, error) {
	var b bytes.Buffer
	b.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(l.Members))))
	for _, m := range l.Members {
		b.Write(binary.LittleEndian.AppendUint64(nil, m.ID))
		b.Write(m.entry)
	}
	return b.Bytes(), nil
}
