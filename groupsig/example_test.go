// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig_test

import (
	"crypto/ed25519"
	"fmt"

	"github.com/undersign/undersign/groupsig"
)

// A service that reads the name of a scheme from its configuration.
func Example() {
	scheme, err := groupsig.ByName("bbsgs")
	if err != nil {
		panic(err)
	}
	features, err := groupsig.ParseFeatures("scope,escrow")
	if err != nil {
		panic(err)
	}
	draft, err := scheme.NewDraft("works council", features)
	if err != nil {
		panic(err)
	}
	issuer := scheme.GenerateIssuerKey()
	opener, err := scheme.GenerateOpenerKey(features)
	if err != nil {
		panic(err)
	}
	for _, role := range []groupsig.Role{issuer, opener} {
		if err := role.Enroll(draft); err != nil {
			panic(err)
		}
	}
	for _, role := range []groupsig.Role{issuer, opener} {
		if err := role.Consent(draft); err != nil {
			panic(err)
		}
	}
	group, err := draft.GroupKey()
	if err != nil {
		panic(err)
	}

	// Alice has a long-term key that issuer and opener know.
	public, private, _ := ed25519.GenerateKey(nil)
	sessions, register, opening := group.NewSessions(), group.NewRegister(), group.NewRegister()
	challenge, err := issuer.Invite(group, sessions, "alice", public, 1_800_000_000, 3600)
	if err != nil {
		panic(err)
	}
	pending, application, err := group.NewJoin(group.ID(), challenge, "alice", private)
	if err != nil {
		panic(err)
	}
	credential, err := issuer.Issue(group, sessions, register, application, 1_800_000_000, 0)
	if err != nil {
		panic(err)
	}
	alice, err := pending.Finish(credential, 0)
	if err != nil {
		panic(err)
	}
	if err := opener.Record(group, opening, register.Member("alice"), public); err != nil {
		panic(err)
	}

	msg, scope := []byte("yes"), []byte("ballot 7")
	sig, err := alice.Sign(msg, groupsig.SignOptions{Scope: scope})
	if err != nil {
		panic(err)
	}
	opts := groupsig.VerifyOptions{Scope: scope}
	fmt.Println("verified:", group.Verify(msg, sig, opts) == nil)

	if nyms, ok := groupsig.As[groupsig.LinkVerifier](group); ok {
		again, _ := alice.Sign([]byte("no"), groupsig.SignOptions{Scope: scope})
		a, _ := nyms.Pseudonym(sig)
		b, _ := nyms.Pseudonym(again)
		fmt.Println("voted twice:", string(a) == string(b))
	}
	o, err := opener.Open(group, opening, msg, sig, opts, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println("signed by", o.Member())
	_, ok := groupsig.As[groupsig.SequenceLinker](alice)
	fmt.Println("sequences:", ok)

	// Output:
	// verified: true
	// voted twice: true
	// signed by alice
	// sequences: false
}

// What a verifier keeps of the states that it is sent.
func ExampleReplaces() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	scheme := groupsig.DL21()
	draft, err := scheme.NewDraft("readers", groupsig.Epoch)
	check(err)
	issuer := scheme.GenerateIssuerKey()
	check(issuer.Enroll(draft))
	check(issuer.Consent(draft))
	group, err := draft.GroupKey()
	check(err)

	// The issuer announces epoch 1, and a day later epoch 2.
	const now, day = 1_800_000_000, 24 * 3600
	announcer := issuer.(groupsig.Announcer)
	first, err := announcer.Announce(group, groupsig.Terms{Number: 1, Issued: now, Expires: now + 2*day}, 1, 1)
	check(err)
	second, err := announcer.Announce(group, groupsig.Terms{Number: 2, Issued: now + day, Expires: now + 3*day}, 2, 2)
	check(err)

	reader, ok := groupsig.As[groupsig.AnnouncementReader](group)
	fmt.Println(ok)
	var have groupsig.Announcement
	for _, sent := range []groupsig.Announcement{first, second, first} {
		data, err := sent.MarshalBinary()
		check(err)
		next, err := reader.ParseAnnouncement(data)
		check(err)
		if err := groupsig.Replaces(next, have); err != nil {
			fmt.Println(err)
			continue
		}
		have = next
	}
	fmt.Println("epoch", have.Epoch())
	// Output:
	// true
	// groupsig: announcement of epochs: number 1, and there has been 2
	// epoch 2
}
