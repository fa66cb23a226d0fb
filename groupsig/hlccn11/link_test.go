// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package hlccn11

import (
	"testing"

	"github.com/undersign/undersign/groupsig/internal/sdhtest"
)

// What distinguishes the scheme: the linker says which signatures have one signer, and not who.
func TestLinking(t *testing.T) {
	g := common.New(t)
	ada, bob := g.Join("ada"), g.Join("bob")
	signed := func(m *MemberKey, msg string) Signed {
		return Signed{Message: []byte(msg), Signature: g.Sign(m, msg), Context: sdhtest.Context}
	}
	linker := g.Linker.(*LinkerKey)
	set := []Signed{signed(ada, "1"), signed(ada, "2")}
	other := signed(bob, "1")
	tag := func(s Signed) string {
		b, err := linker.Tag(g.Key, s)
		g.Check(err)
		return string(b)
	}
	if tag(set[0]) != tag(set[1]) || tag(set[0]) == tag(other) {
		t.Error("tags don't go by members")
	}
	link, err := linker.ProveLink(g.Key, set, []byte("why"))
	g.Check(err)
	g.Check(g.Key.VerifyLink(set, []byte("why"), link))
	if g.Key.VerifyLink(set, nil, link) == nil || g.Key.VerifyLink([]Signed{set[0], other}, []byte("why"), link) == nil {
		t.Error("a link for something else is accepted")
	}
	if _, err := linker.ProveLink(g.Key, []Signed{set[0], other}, nil); err == nil {
		t.Error("two members are linked")
	}
}
