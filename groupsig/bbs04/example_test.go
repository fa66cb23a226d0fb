// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs04_test

import (
	"crypto/ed25519"
	"fmt"
	"log"

	"github.com/undersign/undersign/groupsig/bbs04"
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
	Enroll(*bbs04.Draft) error
	Consent(*bbs04.Draft) error
}

func Example() {
	// The roles agree to the group. Each of them is somebody else.
	issuer, opener := bbs04.GenerateIssuerKey(), bbs04.GenerateOpenerKey()
	draft := must(bbs04.NewDraft("council of 2026", 0))
	for _, r := range []role{issuer, opener} {
		check(r.Enroll(draft))
	}
	for _, r := range []role{issuer, opener} {
		check(r.Consent(draft))
	}
	group := must(bbs04.NewGroupKey(draft))

	// Members join. The fingerprint is the group's ID, as it is published.
	sessions, register := group.NewSessions(), group.NewRegister()
	now := int64(1_800_000_000)
	members := map[string]*bbs04.MemberKey{}
	keys := map[string]ed25519.PublicKey{}
	for _, name := range []string{"alice", "bob"} {
		public, private, err := ed25519.GenerateKey(nil)
		check(err)
		challenge := must(sessions.Open(name, public, bbs04.Fischlin, now, 3600))
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

	// Bob is revoked: the key moves, and alice goes along.
	check(register.Revoke("bob"))
	update := must(issuer.Update(group, register, bbs04.Terms{Number: 1, Issued: now, Expires: now + 86400}, nil))
	check(members["alice"].Update(update))
	fmt.Println("bob:", members["bob"].Update(update))
	current := must(group.Current(update, now, 1))
	sig = must(members["alice"].Sign([]byte("motion"), nil))
	fmt.Println("alice:", current.Verify([]byte("motion"), sig, nil))

	// Output:
	// 368 bytes: <nil>
	// signed by alice
	// <nil>
	// bob: groupsig: the signer is revoked
	// alice: <nil>
}

func ExampleIssuerKey_MakeMember() {
	// In a static group the issuer makes the members' keys, and can sign in their names.
	issuer, opener := bbs04.GenerateIssuerKey(), bbs04.GenerateOpenerKey()
	draft := must(bbs04.NewDraft("staff of 2026", bbs04.Static))
	for _, r := range []role{issuer, opener} {
		check(r.Enroll(draft))
	}
	for _, r := range []role{issuer, opener} {
		check(r.Consent(draft))
	}
	group := must(bbs04.NewGroupKey(draft))

	// The issuer's long-term key vouches for the names.
	public, private, err := ed25519.GenerateKey(nil)
	check(err)
	register := group.NewRegister()
	alice := must(issuer.MakeMember(group, register, "alice", private))
	sig := must(alice.Sign([]byte("motion"), nil))
	fmt.Println(len(sig), "bytes:", group.Verify([]byte("motion"), sig, nil))

	// The opener gets no key of alice's.
	record := must(group.OpenerRecord(register.Member("alice")))
	check(opener.CheckRecord(group, record, public))
	known := group.NewRegister()
	check(known.Add(record))
	opening := must(opener.Open(group, known, []byte("motion"), sig, nil, nil))
	fmt.Println("signed by", opening.Member())
	fmt.Println(group.VerifyOpening([]byte("motion"), sig, nil, opening, public, nil))

	// Output:
	// 336 bytes: <nil>
	// signed by alice
	// <nil>
}
