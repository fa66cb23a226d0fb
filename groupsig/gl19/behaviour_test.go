// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package gl19

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

// query blinds one signature of each member, whose messages are their numbers.
func (g *group) query(members ...*MemberKey) (*BlindingKey, [][]byte) {
	g.t.Helper()
	b, err := g.gk.NewBlindingKey()
	if err != nil {
		g.t.Fatal(err)
	}
	var q [][]byte
	for i, m := range members {
		msg := fmt.Append(nil, i)
		x, err := b.Blind(msg, g.sign(m, string(msg)), verifyOptions)
		if err != nil {
			g.t.Fatal(err)
		}
		q = append(q, x)
	}
	return b, q
}

// answer returns the pseudonym of each message of a query.
func (g *group) answer(b *BlindingKey, converted [][]byte) map[string]string {
	g.t.Helper()
	out := map[string]string{}
	for _, c := range converted {
		nym, point, err := b.Unblind(c)
		if err != nil {
			g.t.Fatal(err)
		}
		for i := range converted {
			if msg := fmt.Append(nil, i); bytes.Equal(point, g.gk.MessagePoint(msg)) {
				out[string(msg)] = string(nym)
			}
		}
	}
	if len(out) != len(converted) {
		g.t.Fatalf("%d of %d messages came back", len(out), len(converted))
	}
	return out
}

// What distinguishes the scheme: signatures are linked by the converter, within a
// query.
func TestConversion(t *testing.T) {
	g := newGroup(t, "test", 0)
	ada, bob := g.join("ada"), g.join("bob")
	b, q := g.query(ada, bob, ada)
	converted, err := g.converter.Convert(g.gk, b.Public(), q)
	if err != nil {
		t.Fatal(err)
	}
	first := g.answer(b, converted)
	if first["0"] != first["2"] || first["0"] == first["1"] {
		t.Error("pseudonyms don't go by members")
	}
	if converted, err = g.converter.Convert(g.gk, b.Public(), q); err != nil {
		t.Fatal(err)
	}
	if second := g.answer(b, converted); second["0"] == first["0"] || second["1"] == first["1"] {
		t.Error("the same query twice, and the answers are linked")
	}
	// Who has another key gets nothing that is equal.
	c, _ := g.query(ada, bob)
	x, _, err := c.Unblind(converted[0])
	y, _, err2 := c.Unblind(converted[1])
	z, _, err3 := c.Unblind(converted[2])
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(x, y) || bytes.Equal(y, z) || bytes.Equal(x, z) {
		t.Error("another key unblinds")
	}
	// What isn't a signature, or one of another epoch, isn't blinded: the converter
	// couldn't tell.
	sig := g.sign(ada, "m")
	if _, err := b.Blind([]byte("n"), sig, verifyOptions); err == nil {
		t.Error("another message is blinded")
	}
	if _, err := b.Blind([]byte("m"), sig, VerifyOptions{MinEpoch: epoch + 1, MaxEpoch: epoch + 1}); err == nil {
		t.Error("another epoch is blinded")
	}
	// A query of one says who is whose.
	if _, err := g.converter.Convert(g.gk, b.Public(), q[:1]); err == nil {
		t.Error("a query of one is answered")
	}
	if _, err := GenerateConverterKey().Convert(g.gk, b.Public(), q); err == nil {
		t.Error("another converter answers")
	}
}

// Neither signature nor encryption shows the member to who doesn't convert.
func TestUnlinkable(t *testing.T) {
	g := newGroup(t, "test", 0)
	ada := g.join("ada")
	a, b := g.sign(ada, "m"), g.sign(ada, "m")
	for i := 0; i+48 <= len(a); i++ {
		if i+48 <= len(b) && bytes.Equal(a[i:i+48], b[i:i+48]) {
			t.Errorf("two signatures have 48 bytes in common, at %d", i)
		}
	}
}

// The issuer says which epochs count.
func TestAnnouncement(t *testing.T) {
	g := newGroup(t, "test", 0)
	ada := g.join("ada")
	sig := g.sign(ada, "m")
	a, err := g.issuer.Announce(g.gk, terms, epoch, epoch)
	if err != nil {
		t.Fatal(err)
	}
	a = again(t, a, g.gk.ParseAnnouncement)
	for at, ok := range map[int64]bool{now: true, now - 1: false, terms.Expires: true, terms.Expires + 1: false, 0: false} {
		err := g.gk.Verify([]byte("m"), sig, VerifyOptions{Announcement: a, Now: at})
		if (err == nil) != ok || err != nil && !errors.As(err, new(*StaleError)) {
			t.Errorf("at %d: %v", at, err)
		}
	}
	later, err := g.issuer.Announce(g.gk, Terms{Number: 5, Issued: now, Expires: now + 10}, epoch+1, epoch+1)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.gk.Verify([]byte("m"), sig, VerifyOptions{Announcement: later, Now: now}); err == nil || errors.As(err, new(*StaleError)) {
		t.Errorf("an epoch that has ended: %v", err)
	}
	if later.Replaces(&a.State) != nil || a.Replaces(&later.State) == nil {
		t.Error("the order of announcements")
	}
}
