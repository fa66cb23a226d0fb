// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"testing"

	"github.com/undersign/undersign/groupsig/internal/zerotest"
)

func TestZeroValues(t *testing.T) {
	zerotest.Test(t, []any{
		new(Draft), new(GroupKey), new(RoleKeys), new(PendingMember), new(MemberKey), new(Opening), new(Update), new(Batch),
	}, "Batch.Verify", "Update.Follows")
	for _, b := range []*Batch{new(Batch), new(GroupKey).Batch()} {
		b.Add(message("m"), nil, nil)
		if b.Verify() == nil {
			t.Error("accepted")
		}
	}
}

// Keys of a group are refused by what is empty, and the other way round.
func TestEmptyGroup(t *testing.T) {
	for _, s := range []*Scheme{HLCCN11, BBS04} {
		g := newGroup(t, s, "empty")
		sig := g.sign(g.join("ada"), "m")
		for _, k := range []*GroupKey{nil, new(GroupKey)} {
			_, err1 := g.issuer.Issue(k, g.sessions, g.register, nil, now)
			_, err2 := g.opener.Open(k, g.register, message("m"), nil, nil, nil)
			_, err3 := g.issuer.Update(k, g.register, termsOf(1), nil)
			_, err4 := g.linker.Tag(k, Signed{})
			_, err5 := g.linker.ProveLink(k, nil, nil)
			_, err6 := k.MarkListed(g.register, nil, now)
			_, err7 := k.Fresh(nil, now, 0)
			_, _, err8 := k.NewJoin(g.gk.ID(), nil, "ada", longTerm("ada"))
			for i, err := range []error{err1, err2, err3, err4, err5, err6, err7, err8,
				g.opener.CheckRecord(k, g.register.Member("ada"), public("ada")), k.VerifyLink(nil, nil, nil),
				k.Verify(message("m"), []byte("context"), sig), k.VerifyOpening(message("m"), nil, sig, nil, nil, nil)} {
				if err == nil {
					t.Errorf("number %d: no error", i+1)
				}
			}
			if k.Equal(g.gk) || g.gk.Equal(k) || k.Equal(k) || k.FindRecord(g.register, nil) != nil {
				t.Error("an empty key is equal to something")
			}
		}
		if _, err := g.opener.Open(g.gk, nil, message("m"), []byte("context"), sig, nil); err == nil {
			t.Error("opened without a register")
		}
	}
}
