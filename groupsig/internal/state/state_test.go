// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// format is one whose signature is a digest: these tests are about what is signed.
func format(group byte, operation string) *Format {
	sign := func(msg []byte) []byte { d := sha256.Sum256(msg); return d[:] }
	return &Format{
		What: "list", DST: []byte("test/" + operation), Group: [32]byte{group}, SigSize: 32,
		Sections: []Section{{Name: "small", Size: 2, Max: 5}, {Name: "one", Size: 3, Min: 1, Max: 1}},
		Verify: func(msg, sig []byte) error {
			if !bytes.Equal(sign(msg), sig) {
				return errors.New("wrong signature")
			}
			return nil
		},
	}
}

func digest(msg []byte) ([]byte, error) { d := sha256.Sum256(msg); return d[:], nil }

var sample = [][][]byte{{{9, 9}, {1, 2}, {1, 3}}, {{7, 7, 7}}}

func TestState(t *testing.T) {
	f := format(1, "list")
	s, err := f.Sign(Terms{3, 10, 20}, sample, digest)
	if err != nil {
		t.Fatal(err)
	}
	if s.Number() != 3 || s.Issued() != 10 || s.Expires() != 20 {
		t.Errorf("state %+v", s)
	}
	if got := s.Entries(0); !slices.EqualFunc(got, [][]byte{{1, 2}, {1, 3}, {9, 9}}, bytes.Equal) {
		t.Errorf("entries %v", got)
	}
	if len(s.Entries(1)) != 1 || s.Entries(2) != nil {
		t.Error("sections")
	}
	data, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		for bit := range 8 {
			b := bytes.Clone(data)
			b[i] ^= 1 << bit
			if _, err := f.Parse(b); err == nil {
				t.Errorf("byte %d changed: parsed", i)
			}
		}
		if _, err := f.Parse(data[:i]); err == nil {
			t.Errorf("%d bytes: parsed", i)
		}
	}
	if _, err := f.Parse(append(bytes.Clone(data), 0)); err == nil {
		t.Error("trailing byte")
	}
	for what, other := range map[string]*Format{"another group": format(2, "list"), "another operation": format(1, "other")} {
		if _, err := other.Parse(data); err == nil {
			t.Errorf("%s: parsed", what)
		}
	}

	// The signer signs something that isn't canonical.
	resign := func(change func([]byte) []byte) error {
		b := change(bytes.Clone(data[:len(data)-32]))
		sig, _ := digest(f.message(b))
		_, err := f.Parse(append(b, sig...))
		return err
	}
	if err := resign(func(b []byte) []byte { return b }); err != nil {
		t.Fatal(err)
	}
	u32 := func(b []byte, i int, n uint32) []byte { binary.BigEndian.PutUint32(b[i:], n); return b }
	const one = headSize + 4 + 6 // the second section
	for what, change := range map[string]func([]byte) []byte{
		"version":     func(b []byte) []byte { b[0]++; return b },
		"suite":       func(b []byte) []byte { b[1]++; return b },
		"group":       func(b []byte) []byte { b[9]++; return b },
		"before 1970": func(b []byte) []byte { b[headSize-16] = 0x80; return b },
		"times":       func(b []byte) []byte { b[headSize-1] = 9; return b },
		"far future":  func(b []byte) []byte { b[headSize-8] = 0x40; return b },
		"fewer":       func(b []byte) []byte { return u32(b, headSize, 2) },
		"more":        func(b []byte) []byte { return u32(b, headSize, 4) },
		"many":        func(b []byte) []byte { return u32(b, headSize, 1<<32-1) },
		"over limit":  func(b []byte) []byte { return slices.Insert(u32(b, headSize, 6), headSize+4, 0, 1, 0, 2, 0, 3) },
		"order":       func(b []byte) []byte { b[headSize+4] = 5; return b },
		"twice":       func(b []byte) []byte { b[headSize+7] = 2; return b },
		"none of one": func(b []byte) []byte { return u32(b, one, 0)[:one+4] },
		"two of one":  func(b []byte) []byte { return append(u32(b, one, 2), 9, 9, 9) },
		"trailing":    func(b []byte) []byte { return append(b, 0) },
		"empty":       func([]byte) []byte { return nil },
	} {
		if resign(change) == nil {
			t.Errorf("%s: parsed", what)
		}
	}
	if _, err := f.Parse(make([]byte, 1<<10)); err == nil {
		t.Error("a state that is too long")
	}

	for what, c := range map[string]struct {
		terms   Terms
		entries [][][]byte
	}{
		"before 1970":   {Terms{1, -1, 1}, sample},
		"times":         {Terms{1, 2, 1}, sample},
		"far future":    {Terms{1, 2, 1 << 62}, sample},
		"twice":         {Terms{}, [][][]byte{{{1, 1}, {2, 2}, {1, 1}}, sample[1]}},
		"wrong length":  {Terms{}, [][][]byte{{{1}}, sample[1]}},
		"many":          {Terms{}, [][][]byte{{{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}}, sample[1]}},
		"none of one":   {Terms{}, [][][]byte{sample[0], nil}},
		"one section":   {Terms{}, sample[:1]},
		"many sections": {Terms{}, append(slices.Clone(sample), nil)},
	} {
		if _, err := f.Sign(c.terms, c.entries, digest); err == nil {
			t.Errorf("%s: signed", what)
		}
	}
	if _, err := f.Sign(Terms{}, sample, func([]byte) ([]byte, error) { return nil, errors.New("no") }); err == nil {
		t.Error("signed without a signature")
	}
}

func TestFresh(t *testing.T) {
	f := format(1, "list")
	s, err := f.Sign(Terms{3, 10, 20}, sample, digest)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what  string
		s     *State
		group byte
		now   int64
		min   uint64
		ok    bool
	}{
		{"first second", s, 1, 10, 0, true},
		{"last second", s, 1, 20, 3, true},
		{"another group", s, 2, 15, 0, false},
		{"no group", s, 0, 15, 0, false},
		{"no state", new(State), 0, 15, 0, false},
		{"older", s, 1, 15, 4, false},
		{"early", s, 1, 9, 0, false},
		{"late", s, 1, 21, 0, false},
		{"no time", s, 1, 0, 0, false},
		{"before 1970", s, 1, -15, 0, false},
	} {
		var stale *StaleError
		if err := c.s.Fresh([32]byte{c.group}, c.now, c.min); (err == nil) != c.ok || err != nil && !errors.As(err, &stale) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

func TestReplaces(t *testing.T) {
	sign := func(f *Format, terms Terms, entries [][][]byte) *State {
		t.Helper()
		s, err := f.Sign(terms, entries, digest)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	f := format(1, "list")
	other := format(1, "list")
	other.What = "other"
	s := sign(f, Terms{3, 10, 20}, sample)
	for _, c := range []struct {
		what string
		next *State
		ok   bool
	}{
		{"itself", sign(f, Terms{3, 10, 20}, sample), true},
		{"the next", sign(f, Terms{4, 10, 20}, nil2), true},
		{"a later one", sign(f, Terms{9, 30, 40}, sample), true},
		{"an older one", sign(f, Terms{2, 10, 20}, sample), false},
		{"another one of the same number", sign(f, Terms{3, 10, 20}, nil2), false},
		{"another validity under the same number", sign(f, Terms{3, 10, 21}, sample), false},
		{"another group's", sign(format(2, "list"), Terms{4, 10, 20}, sample), false},
		{"another kind", sign(other, Terms{4, 10, 20}, sample), false},
		{"none", new(State), false},
	} {
		var stale *StaleError
		if err := c.next.Replaces(s); (err == nil) != c.ok || err != nil && !errors.As(err, &stale) {
			t.Errorf("%s: %v", c.what, err)
		}
		if err := c.next.Replaces(nil); err != nil {
			t.Errorf("%s, as the first: %v", c.what, err)
		}
	}
	for number, ok := range map[uint64]bool{2: false, 3: false, 4: true} {
		if err := s.Follows(Terms{Number: number}); (err == nil) != ok {
			t.Errorf("%d after 3: %v", number, err)
		}
	}
	if err := new(State).Follows(Terms{}); err != nil {
		t.Error(err)
	}
	if _, err := new(State).MarshalBinary(); err == nil {
		t.Error("encoded nothing")
	}
}

var nil2 = [][][]byte{nil, {{7, 7, 7}}}

func TestBatchError(t *testing.T) {
	if err := NewBatchError(make([]error, 3)); err != nil {
		t.Error(err)
	}
	err := NewBatchError([]error{nil, ErrRevoked, nil, &StaleError{"list", "old"}})
	var be *BatchError
	if !errors.As(err, &be) || !slices.Equal(be.Bad, []int{1, 3}) || !errors.Is(err, ErrRevoked) || !errors.As(err, new(*StaleError)) {
		t.Errorf("%v", err)
	}
	if new(BatchError).Error() == "" {
		t.Error("nothing to say")
	}
}

func FuzzParse(f *testing.F) {
	format := format(1, "list")
	s, err := format.Sign(Terms{3, 10, 20}, sample, digest)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(s.data[:len(s.data)-32])
	f.Fuzz(func(t *testing.T, body []byte) {
		sig, _ := digest(format.message(body))
		data := append(bytes.Clone(body), sig...)
		s, err := format.Parse(data)
		if err != nil {
			return
		}
		again, err := format.Sign(Terms{s.Number(), s.Issued(), s.Expires()}, [][][]byte{s.Entries(0), s.Entries(1)}, digest)
		if err != nil || !bytes.Equal(again.data, data) {
			t.Errorf("not canonical: %v", err)
		}
	})
}
