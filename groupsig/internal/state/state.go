// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

const (
	version = 1
	suite   = 1 // BLS12-381, SHA-256, SHAKE256, Ed25519, AES-256-GCM

	headSize = 2 + 32 + 3*8
	maxTime  = 1 << 62
)

// Terms are a state's number and validity, in seconds since 1970.
type Terms struct {
	Number          uint64
	Issued, Expires int64 // the first and the last second
}

// A Section is a list of entries of one length, in ascending order.
type Section struct {
	Name     string
	Size     int
	Min, Max int // how many
}

// A Format is how states of one kind are made and read, in one group.
type Format struct {
	What     string // for errors
	DST      []byte // of what is signed
	Group    [32]byte
	Sections []Section
	SigSize  int
	// Verify checks the signature of a message that begins with the tag.
	Verify func(msg, sig []byte) error
}

// A State is immutable. The zero value is of no group.
type State struct {
	what    string
	group   [32]byte
	terms   Terms
	entries [][][]byte // by section
	data    []byte
}

// Number returns the state's number.
func (s *State) Number() uint64 { return s.terms.Number }

// Issued returns the first second in which the state may be used, since 1970.
func (s *State) Issued() int64 { return s.terms.Issued }

// Expires returns the last second in which the state may be used.
func (s *State) Expires() int64 { return s.terms.Expires }

// Entries returns the entries of a section. They mustn't be changed.
func (s *State) Entries(section int) [][]byte {
	if section >= len(s.entries) {
		return nil
	}
	return s.entries[section]
}

// MarshalBinary returns the canonical encoding.
func (s *State) MarshalBinary() ([]byte, error) {
	if len(s.data) == 0 {
		return nil, errors.New("groupsig: empty state")
	}
	return bytes.Clone(s.data), nil
}

func (t Terms) check() error {
	if t.Issued < 0 || t.Expires < t.Issued || t.Expires >= maxTime {
		return errors.New("issued before 1970, or expires before it is issued")
	}
	return nil
}

// Sign makes a state of the entries of all sections, which it sorts. An entry that
// occurs twice is an error.
func (f *Format) Sign(terms Terms, entries [][][]byte, sign func(msg []byte) ([]byte, error)) (*State, error) {
	if err := terms.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.What, err)
	}
	if len(entries) != len(f.Sections) {
		return nil, fmt.Errorf("%s: %d sections", f.What, len(entries))
	}
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(f.Group[:])
	e.U64(terms.Number)
	e.U64(uint64(terms.Issued))
	e.U64(uint64(terms.Expires))
	for i, s := range f.Sections {
		list := slices.Clone(entries[i])
		slices.SortFunc(list, bytes.Compare)
		if len(list) < s.Min || len(list) > s.Max {
			return nil, fmt.Errorf("%s: %d %s, at most %d", f.What, len(list), s.Name, s.Max)
		}
		e.U32(uint32(len(list)))
		for j, b := range list {
			if len(b) != s.Size {
				return nil, fmt.Errorf("%s: %s of %d bytes", f.What, s.Name, len(b))
			}
			if j > 0 && bytes.Equal(b, list[j-1]) {
				return nil, fmt.Errorf("%s: %s: one occurs twice", f.What, s.Name)
			}
			e.Fixed(b)
		}
	}
	sig, err := sign(f.message(e.Data()))
	if err != nil {
		return nil, err
	}
	e.Fixed(sig)
	return f.Parse(e.Data())
}

func (f *Format) message(body []byte) []byte {
	return new(transcript.Items).Bytes("dst", f.DST).Bytes("list", body).Data()
}

// Parse decodes a state and checks its signature, which is right before anything is
// made of an entry.
func (f *Format) Parse(data []byte) (*State, error) {
	limit := headSize + f.SigSize
	for _, s := range f.Sections {
		limit += 4 + s.Size*s.Max
	}
	if len(data) > limit {
		return nil, fmt.Errorf("%s: %d bytes, at most %d", f.What, len(data), limit)
	}
	s := &State{what: f.What, data: bytes.Clone(data)}
	d := wire.NewDecoder(s.data)
	d.Header(version, suite)
	d.Read("group", s.group[:])
	s.terms.Number = d.U64("number")
	issued, expires := d.U64("issued"), d.U64("expires")
	s.terms.Issued, s.terms.Expires = int64(issued), int64(expires)
	if d.Err() == nil {
		if s.group != f.Group {
			d.Fail("group", "it is of another group")
		} else if err := s.terms.check(); err != nil || issued >= maxTime {
			d.Fail("expires", "issued before 1970, or expires before it is issued")
		}
	}
	for _, section := range f.Sections {
		list, err := readSection(d, section)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.What, err)
		}
		s.entries = append(s.entries, list)
	}
	sig := d.Fixed("signature", f.SigSize)
	if err := d.Finish(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.What, err)
	}
	if err := f.Verify(f.message(s.data[:len(s.data)-len(sig)]), sig); err != nil {
		return nil, fmt.Errorf("%s: %w", f.What, err)
	}
	return s, nil
}

// readSection reads one section, in place.
func readSection(d *wire.Decoder, s Section) ([][]byte, error) {
	n := int(d.U32(s.Name))
	if d.Err() == nil && (n < s.Min || n > s.Max || n > d.Remaining()/s.Size) {
		d.Fail(s.Name, "%d don't fit", n)
	}
	if err := d.Err(); err != nil {
		return nil, err
	}
	raw := d.Fixed(s.Name, n*s.Size)
	list := make([][]byte, n)
	for i := range list {
		list[i] = raw[i*s.Size : (i+1)*s.Size : (i+1)*s.Size]
		if i > 0 && bytes.Compare(list[i-1], list[i]) >= 0 {
			d.Fail(s.Name, "not in ascending order")
		}
	}
	return list, d.Err()
}

// Fresh returns a *[StaleError] unless the state is one of the group, in force now,
// and its number not lower than the highest that the verifier has seen.
func (s *State) Fresh(group [32]byte, now int64, minNumber uint64) error {
	switch {
	case len(s.data) == 0 || s.group != group:
		return s.stale("it is of another group")
	case s.terms.Number < minNumber:
		return s.stale(fmt.Sprintf("number %d, and there has been %d", s.terms.Number, minNumber))
	case now <= 0:
		return s.stale("the time isn't given")
	case now < s.terms.Issued:
		return s.stale("it isn't in force yet")
	case now > s.terms.Expires:
		return s.stale("it has expired")
	}
	return nil
}

func (s *State) stale(reason string) error {
	what := s.what
	if what == "" {
		what = "state"
	}
	return &StaleError{what, reason}
}

// Replaces returns a *[StaleError] unless the state may take the place of one that
// the verifier has, which may be nil: it is the same, or of the same group and kind
// with a higher number. Two different ones with one number are the signer's fault.
func (s *State) Replaces(old *State) error {
	switch {
	case old == nil || len(old.data) == 0:
		return nil
	case s.group != old.group || s.what != old.what:
		return s.stale("it is of another group, or of another kind")
	case s.terms.Number < old.terms.Number:
		return s.stale(fmt.Sprintf("number %d, and there has been %d", s.terms.Number, old.terms.Number))
	case s.terms.Number == old.terms.Number && !bytes.Equal(s.data, old.data):
		return s.stale(fmt.Sprintf("there is another one with the number %d", s.terms.Number))
	}
	return nil
}

// Follows returns an error unless terms are those of a state that comes after this
// one.
func (s *State) Follows(terms Terms) error {
	if len(s.data) != 0 && terms.Number <= s.terms.Number {
		return fmt.Errorf("groupsig: %s: number %d after %d", s.what, terms.Number, s.terms.Number)
	}
	return nil
}
