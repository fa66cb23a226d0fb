// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package dl21_test

import (
	"bytes"
	"crypto/ed25519"
	"fmt"

	"github.com/undersign/undersign/groupsig/dl21"
)

// A member writes reviews that nobody can link, and later shows that two are its own.
func Example() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	draft, err := dl21.NewDraft("readers", 0)
	check(err)
	issuer := dl21.GenerateIssuerKey()
	issuer.Enroll(draft)
	check(issuer.Consent(draft))
	group, err := dl21.NewGroupKey(draft)
	check(err)

	const now, hour = 1_800_000_000, 3600
	public, private, err := ed25519.GenerateKey(nil)
	check(err)
	sessions, register := group.NewSessions(), group.NewRegister()
	challenge, err := sessions.Open("ada", public, dl21.Fischlin, now, hour)
	check(err)
	pending, application, err := group.NewJoin(group.ID(), challenge, "ada", private)
	check(err)
	credential, err := issuer.Issue(group, sessions, register, application, now, 0)
	check(err)
	ada, err := pending.Finish(credential, 0)
	check(err)

	// One review for each book: the book is the scope.
	var reviews []dl21.Signed
	for _, book := range []string{"Middlemarch", "Emma"} {
		text, scope := []byte("I liked "+book), []byte(book)
		sig, err := ada.Sign(text, dl21.SignOptions{Scope: scope})
		check(err)
		reviews = append(reviews, dl21.Signed{Message: text, Signature: sig, Options: dl21.VerifyOptions{Scope: scope}})
	}
	first, err := group.Pseudonym(reviews[0].Signature)
	check(err)
	second, err := group.Pseudonym(reviews[1].Signature)
	check(err)
	fmt.Println("seen to be of one member:", bytes.Equal(first, second))

	link, err := ada.Link(reviews, []byte("my collected reviews"))
	check(err)
	fmt.Println("proved to be:", group.VerifyLink(reviews, []byte("my collected reviews"), link) == nil)

	// The issuer revokes who signed under a pseudonym.
	list, err := issuer.RevocationList(group, dl21.Terms{Number: 1, Issued: now, Expires: now + 24*hour},
		dl21.Revoked{Pseudonyms: [][]byte{second}})
	check(err)
	for _, r := range reviews {
		opts := r.Options
		opts.Revocation, opts.Now = list, now+hour
		fmt.Println(group.Verify(r.Message, r.Signature, opts))
	}
	// Output:
	// seen to be of one member: false
	// proved to be: true
	// <nil>
	// groupsig: the signer is revoked
}
