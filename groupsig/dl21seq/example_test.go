// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package dl21seq_test

import (
	"crypto/ed25519"
	"fmt"

	"github.com/undersign/undersign/groupsig/dl21seq"
)

// A meter signs its readings, and shows that it has left none out.
func Example() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	draft, err := dl21seq.NewDraft("meters", 0)
	check(err)
	issuer := dl21seq.GenerateIssuerKey()
	issuer.Enroll(draft)
	check(issuer.Consent(draft))
	group, err := dl21seq.NewGroupKey(draft)
	check(err)

	const now, hour = 1_800_000_000, 3600
	public, private, err := ed25519.GenerateKey(nil)
	check(err)
	sessions, register := group.NewSessions(), group.NewRegister()
	challenge, err := sessions.Open("meter 17", public, dl21seq.Fischlin, now, hour)
	check(err)
	pending, application, err := group.NewJoin(group.ID(), challenge, "meter 17", private)
	check(err)
	credential, err := issuer.Issue(group, sessions, register, application, now, 0)
	check(err)
	meter, err := pending.Finish(credential, 0)
	check(err)

	// Each signature moves the key on: store it before the signature is released.
	var readings []dl21seq.Signed
	for hour := range 4 {
		text, scope := fmt.Appendf(nil, "%d kWh", hour), fmt.Appendf(nil, "hour %d", hour)
		sig, err := meter.Sign(text, dl21seq.SignOptions{Scope: scope})
		check(err)
		readings = append(readings, dl21seq.Signed{Message: text, Signature: sig, Options: dl21seq.VerifyOptions{Scope: scope}})
	}
	link, err := meter.SequenceLink(readings, []byte("bill"), true)
	check(err)
	fmt.Println("all from the first:", group.VerifySequenceLink(readings, []byte("bill"), link, true) == nil)

	// Without the second it can't.
	short := append(readings[:1:1], readings[2:]...)
	_, err = meter.SequenceLink(short, []byte("bill"), true)
	fmt.Println("one left out:", err)
	// Output:
	// all from the first: true
	// one left out: groupsig: signature 1 isn't the next in the sequence
}
