// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbsgs_test

import (
	"bytes"
	"crypto/ed25519"
	"fmt"

	"github.com/undersign/undersign/groupsig/bbsgs"
)

// Members vote once each; an opener finds out who misbehaves.
func Example() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	// Issuer and opener set up a group.
	draft, err := bbsgs.NewDraft("board 2027", bbsgs.Scope|bbsgs.Escrow)
	check(err)
	issuer := bbsgs.GenerateIssuerKey()
	opener, err := bbsgs.GenerateOpenerKey(bbsgs.Scope | bbsgs.Escrow)
	check(err)
	issuer.Enroll(draft)
	opener.Enroll(draft)
	check(issuer.Consent(draft))
	check(opener.Consent(draft))
	group, err := bbsgs.NewGroupKey(draft)
	check(err)

	// Ada joins. The issuer knows her long-term key.
	public, private, err := ed25519.GenerateKey(nil)
	check(err)
	sessions, register := group.NewSessions(), group.NewRegister()
	const now, hour = 1_800_000_000, 3600
	challenge, err := sessions.Open("ada", public, bbsgs.Fischlin, now, hour)
	check(err)
	pending, application, err := group.NewJoin(group.ID(), challenge, "ada", private)
	check(err)
	credential, err := issuer.Issue(group, sessions, register, application, now, 0)
	check(err)
	ada, err := pending.Finish(credential, 0)
	check(err)

	// She votes, and tries to vote again.
	ballot := bbsgs.SignOptions{Scope: []byte("motion 7")}
	vote, err := ada.Sign([]byte("aye"), ballot)
	check(err)
	again, err := ada.Sign([]byte("no"), ballot)
	check(err)
	opts := bbsgs.VerifyOptions{Scope: ballot.Scope}
	fmt.Println(len(vote), "bytes:", group.Verify([]byte("aye"), vote, opts))
	first, err := group.Pseudonym(vote)
	check(err)
	second, err := group.Pseudonym(again)
	check(err)
	fmt.Println("second vote:", bytes.Equal(first, second))

	// Anyone can check who it was.
	opening, err := opener.Open(group, register, []byte("no"), again, opts, nil)
	check(err)
	fmt.Println(opening.Member(), group.VerifyOpening([]byte("no"), again, opts, opening, public, nil))
	// Output:
	// 528 bytes: <nil>
	// second vote: true
	// ada <nil>
}
