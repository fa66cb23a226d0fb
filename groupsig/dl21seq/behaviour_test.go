// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package dl21seq

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/bbstest"
)

// seqBytes is the length of a signature's place, which is at its end.
const seqBytes = 96

func series(g *group, m *MemberKey, n int) []Signed {
	g.T.Helper()
	var set []Signed
	for i := range n {
		scope := fmt.Appendf(nil, "scope %d", i)
		sig, err := m.Sign([]byte("m"), SignOptions{Scope: scope})
		if err != nil {
			g.T.Fatal(err)
		}
		set = append(set, Signed{[]byte("m"), sig, VerifyOptions{Scope: scope}})
	}
	return set
}

// What distinguishes the scheme: order and completeness.
func TestSequence(t *testing.T) {
	g := common.New(t, "test", 0)
	ada := g.Join("ada")
	if ada.SequenceIndex() != 1 {
		t.Errorf("starts at %d", ada.SequenceIndex())
	}
	set := series(g, ada, 4)
	link, err := ada.SequenceLink(set, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Key.VerifySequenceLink(set, nil, link, true); err != nil {
		t.Error(err)
	}
	tail, err := ada.SequenceLink(set[1:], nil, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Key.VerifySequenceLink(set[1:], nil, tail, false); err != nil {
		t.Error(err)
	}
	if g.Key.VerifySequenceLink(set[1:], nil, tail, true) == nil {
		t.Error("starts from the second, and passes as from the first")
	}
	for what, bad := range map[string][]Signed{
		"a gap":            {set[0], set[2], set[3]},
		"another order":    {set[1], set[0], set[2], set[3]},
		"non-consecutive":  {set[0], set[3]},
		"the last missing": set[:3],
		"none":             nil,
	} {
		for _, first := range []bool{false, true} {
			if g.Key.VerifySequenceLink(bad, nil, link, first) == nil {
				t.Errorf("%s: accepted", what)
			}
			if l, err := ada.SequenceLink(bad, nil, first); err == nil && (len(bad) != 3 || !bytes.Equal(bad[0].Signature, set[0].Signature)) &&
				g.Key.VerifySequenceLink(bad, nil, l, first) == nil {
				t.Errorf("%s: proved", what)
			}
		}
	}
	// The link says nothing of values that aren't there, or are too many.
	for _, bad := range [][]byte{nil, link[:64], link[:len(link)-32], append(bytes.Clone(link), make([]byte, 32)...)} {
		if g.Key.VerifySequenceLink(set, nil, bad, true) == nil {
			t.Errorf("a link of %d bytes is accepted", len(bad))
		}
	}
}

// The place is part of what is signed: nobody swaps or clears the places of two
// signatures.
func TestSwappedPlaces(t *testing.T) {
	g := common.New(t, "test", 0)
	set := series(g, g.Join("ada"), 2)
	a, b := set[0].Signature, set[1].Signature
	n := len(a) - seqBytes
	for what, place := range map[string][]byte{
		"swapped": b[n:], "zero": make([]byte, seqBytes), "the first digest swapped": append(bytes.Clone(b[n:n+32]), a[n+32:]...),
		"the last digest swapped": append(bytes.Clone(a[n:n+64]), b[n+64:]...),
	} {
		forged := append(bytes.Clone(a[:n]), place...)
		if err := g.Key.Verify(set[0].Message, forged, set[0].Options); !errors.Is(err, ErrSignature) {
			t.Errorf("%s: %v, want %v", what, err, ErrSignature)
		}
	}
	if err := g.Key.Verify(set[0].Message, a[:n], set[0].Options); err == nil {
		t.Error("cut off: accepted")
	}
}

// A key that goes on after a restart goes on in the sequence.
func TestStoredState(t *testing.T) {
	g := common.New(t, "test", 0)
	ada := g.Join("ada")
	set := series(g, ada, 2)
	ada = bbstest.Again(t, ada, g.Key.ParseMemberKey)
	if ada.SequenceIndex() != 3 {
		t.Errorf("goes on at %d", ada.SequenceIndex())
	}
	set = append(set, series(g, ada, 3)[2])
	if _, err := ada.SequenceLink(set, nil, true); err == nil {
		t.Error("a gap is linked")
	}
}

// With an opener the opener signs lists.
func TestList(t *testing.T) {
	g := common.New(t, "test", Escrow|Token)
	ada, bob := g.Join("ada"), g.Join("bob")
	if err := g.Register.Revoke("ada"); err != nil {
		t.Fatal(err)
	}
	list, err := g.Opener.RevocationList(g.Key, bbstest.Terms, Revoked{Register: g.Register})
	if err != nil {
		t.Fatal(err)
	}
	list = bbstest.Again(t, list, g.Key.ParseRevocation)
	for m, want := range map[*MemberKey]error{ada: ErrRevoked, bob: nil} {
		s := series(g, m, 1)[0]
		s.Options.Revocation, s.Options.Now = list, bbstest.Now
		if err := g.Key.Verify(s.Message, s.Signature, s.Options); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}
