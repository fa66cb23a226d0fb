// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package dp06_test

import (
	"crypto/ed25519"
	"fmt"
	"log"

	"github.com/undersign/undersign/groupsig/dp06"
)

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

type role interface {
	Enroll(*dp06.Draft) error
	Consent(*dp06.Draft) error
}

func Example() {
	// The roles agree to the group. Each of them is somebody else.
	issuer, opener := dp06.GenerateIssuerKey(), dp06.GenerateOpenerKey()
	draft := must(dp06.NewDraft("council of 2026", 0))
	for _, r := range []role{issuer, opener} {
		check(r.Enroll(draft))
	}
	for _, r := range []role{issuer, opener} {
		check(r.Consent(draft))
	}
	group := must(dp06.NewGroupKey(draft))

	// Members join. The fingerprint is the group's ID, as it is published.
	sessions, register := group.NewSessions(), group.NewRegister()
	now := int64(1_800_000_000)
	members := map[string]*dp06.MemberKey{}
	keys := map[string]ed25519.PublicKey{}
	for _, name := range []string{"alice", "bob"} {
		public, private, err := ed25519.GenerateKey(nil)
		check(err)
		challenge := must(sessions.Open(name, public, dp06.Fischlin, now, 3600))
		pending, application, err := group.NewJoin(group.ID(), challenge, name, private)
		check(err)
		credential := must(issuer.Issue(group, sessions, register, application, now))
		members[name], keys[name] = must(pending.Finish(credential)), public
		check(opener.CheckRecord(group, register.Member(name), public))
	}

	sig := must(members["alice"].Sign([]byte("motion"), nil))
	fmt.Println(len(sig), "bytes:", group.Verify([]byte("motion"), sig, nil))

	opening := must(opener.Open(group, register, []byte("motion"), sig, nil, []byte("complaint 12")))
	fmt.Println("signed by", opening.Member())
	fmt.Println(group.VerifyOpening([]byte("motion"), sig, nil, opening, keys["alice"], []byte("complaint 12")))

	// Output:
	// 352 bytes: <nil>
	// signed by alice
	// <nil>
}
