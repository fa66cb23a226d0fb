// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package gl19_test

import (
	"bytes"
	"crypto/ed25519"
	"fmt"

	"github.com/undersign/undersign/groupsig/gl19"
)

// A study compares answers of one person with each other, and can't beyond itself.
func Example() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	draft, err := gl19.NewDraft("study", 0)
	check(err)
	issuer, converter := gl19.GenerateIssuerKey(), gl19.GenerateConverterKey()
	issuer.Enroll(draft)
	converter.Enroll(draft)
	check(issuer.Consent(draft))
	check(converter.Consent(draft))
	group, err := gl19.NewGroupKey(draft)
	check(err)

	const now, hour, epoch = 1_800_000_000, 3600, 1
	sessions, register := group.NewSessions(), group.NewRegister()
	members := map[string]*gl19.MemberKey{}
	for _, name := range []string{"ada", "bob"} {
		public, private, err := ed25519.GenerateKey(nil)
		check(err)
		challenge, err := sessions.Open(name, public, gl19.Fischlin, now, hour)
		check(err)
		pending, application, err := group.NewJoin(group.ID(), challenge, name, private)
		check(err)
		credential, err := issuer.Issue(group, sessions, register, application, now, epoch)
		check(err)
		members[name], err = pending.Finish(credential, epoch)
		check(err)
	}
	// The issuer says which epochs count.
	announcement, err := issuer.Announce(group, gl19.Terms{Number: 1, Issued: now, Expires: now + 24*hour}, epoch, epoch)
	check(err)
	opts := gl19.VerifyOptions{Announcement: announcement, Now: now + hour}

	// The study verifies and blinds what it has collected.
	blinding, err := group.NewBlindingKey()
	check(err)
	answers := []string{"often", "never", "seldom"}
	var query [][]byte
	for i, name := range []string{"ada", "bob", "ada"} {
		sig, err := members[name].Sign([]byte(answers[i]), gl19.SignOptions{})
		check(err)
		blinded, err := blinding.Blind([]byte(answers[i]), sig, opts)
		check(err)
		query = append(query, blinded)
	}
	// The converter sees neither signatures nor answers, and mixes them.
	converted, err := converter.Convert(group, blinding.Public(), query)
	check(err)
	nyms := map[string][]byte{}
	for _, c := range converted {
		nym, message, err := blinding.Unblind(c)
		check(err)
		for _, answer := range answers {
			if bytes.Equal(message, group.MessagePoint([]byte(answer))) {
				nyms[answer] = nym
			}
		}
	}
	fmt.Println("often and seldom are one person's:", bytes.Equal(nyms["often"], nyms["seldom"]))
	fmt.Println("often and never are one person's:", bytes.Equal(nyms["often"], nyms["never"]))
	// Output:
	// often and seldom are one person's: true
	// often and never are one person's: false
}
