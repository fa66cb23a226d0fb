// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package gl19

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/bbstest"
)

// query blinds one signature of each member, whose messages are their numbers.
func query(g *group, members ...*MemberKey) (*BlindingKey, [][]byte) {
	g.T.Helper()
	b, err := g.Key.NewBlindingKey()
	if err != nil {
		g.T.Fatal(err)
	}
	var q [][]byte
	for i, m := range members {
		msg := fmt.Append(nil, i)
		x, err := b.Blind(msg, g.Sign(m, string(msg)), common.Options())
		if err != nil {
			g.T.Fatal(err)
		}
		q = append(q, x)
	}
	return b, q
}

// answer returns the pseudonym of each message of a query.
func answer(g *group, b *BlindingKey, converted [][]byte) map[string]string {
	g.T.Helper()
	out := map[string]string{}
	for _, c := range converted {
		nym, point, err := b.Unblind(c)
		if err != nil {
			g.T.Fatal(err)
		}
		for i := range converted {
			if msg := fmt.Append(nil, i); bytes.Equal(point, g.Key.MessagePoint(msg)) {
				out[string(msg)] = string(nym)
			}
		}
	}
	if len(out) != len(converted) {
		g.T.Fatalf("%d of %d messages came back", len(out), len(converted))
	}
	return out
}

// What distinguishes the scheme: signatures are linked by the converter, within a
// query.
func TestConversion(t *testing.T) {
	g := common.New(t, "test", 0)
	ada, bob := g.Join("ada"), g.Join("bob")
	b, q := query(g, ada, bob, ada)
	converted, err := g.Converter.(*ConverterKey).Convert(g.Key, b.Public(), q)
	if err != nil {
		t.Fatal(err)
	}
	first := answer(g, b, converted)
	if first["0"] != first["2"] || first["0"] == first["1"] {
		t.Error("pseudonyms don't go by members")
	}
	if converted, err = g.Converter.(*ConverterKey).Convert(g.Key, b.Public(), q); err != nil {
		t.Fatal(err)
	}
	if second := answer(g, b, converted); second["0"] == first["0"] || second["1"] == first["1"] {
		t.Error("the same query twice, and the answers are linked")
	}
	// Who has another key gets nothing that is equal.
	c, _ := query(g, ada, bob)
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
	sig := g.Sign(ada, "m")
	if _, err := b.Blind([]byte("n"), sig, common.Options()); err == nil {
		t.Error("another message is blinded")
	}
	if _, err := b.Blind([]byte("m"), sig, VerifyOptions{MinEpoch: common.Epoch + 1, MaxEpoch: common.Epoch + 1}); err == nil {
		t.Error("another epoch is blinded")
	}
	// A query of one says who is whose.
	if _, err := g.Converter.(*ConverterKey).Convert(g.Key, b.Public(), q[:1]); err == nil {
		t.Error("a query of one is answered")
	}
	if _, err := GenerateConverterKey().Convert(g.Key, b.Public(), q); err == nil {
		t.Error("another converter answers")
	}
}

// Neither signature nor encryption shows the member to who doesn't convert.
func TestUnlinkable(t *testing.T) {
	g := common.New(t, "test", 0)
	ada := g.Join("ada")
	a, b := g.Sign(ada, "m"), g.Sign(ada, "m")
	for i := 0; i+48 <= len(a); i++ {
		if i+48 <= len(b) && bytes.Equal(a[i:i+48], b[i:i+48]) {
			t.Errorf("two signatures have 48 bytes in common, at %d", i)
		}
	}
}

// The issuer says which epochs count.
func TestAnnouncement(t *testing.T) {
	g := common.New(t, "test", 0)
	ada := g.Join("ada")
	sig := g.Sign(ada, "m")
	a, err := g.Issuer.Announce(g.Key, bbstest.Terms, common.Epoch, common.Epoch)
	if err != nil {
		t.Fatal(err)
	}
	a = bbstest.Again(t, a, g.Key.ParseAnnouncement)
	for at, ok := range map[int64]bool{bbstest.Now: true, bbstest.Now - 1: false, bbstest.Terms.Expires: true, bbstest.Terms.Expires + 1: false, 0: false} {
		err := g.Key.Verify([]byte("m"), sig, VerifyOptions{Announcement: a, Now: at})
		if (err == nil) != ok || err != nil && !errors.As(err, new(*StaleError)) {
			t.Errorf("at %d: %v", at, err)
		}
	}
	later, err := g.Issuer.Announce(g.Key, Terms{Number: 5, Issued: bbstest.Now, Expires: bbstest.Now + 10}, common.Epoch+1, common.Epoch+1)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Key.Verify([]byte("m"), sig, VerifyOptions{Announcement: later, Now: bbstest.Now}); err == nil || errors.As(err, new(*StaleError)) {
		t.Errorf("an epoch that has ended: %v", err)
	}
	if later.Replaces(&a.State) != nil || a.Replaces(&later.State) == nil {
		t.Error("the order of announcements")
	}
}
