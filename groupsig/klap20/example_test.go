// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package klap20_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/klap20"
)

// A member joins and signs; a verifier learns that a member did, and the opener who.
func Example() {
	issuer, opener := klap20.GenerateIssuerKey(), klap20.GenerateOpenerKey()
	group, err := klap20.Setup("gates", issuer, opener)
	if err != nil {
		panic(err)
	}

	// Alice has a long-term key that issuer and opener know. Times are in seconds
	// since 1970.
	public, private, _ := ed25519.GenerateKey(nil)
	sessions, register, opening := group.NewSessions(), group.NewRegister(), group.NewRegister()
	now, day := int64(1_800_000_000), int64(24*3600)
	challenge, err := issuer.Invite(sessions, "alice", public, now, day)
	if err != nil {
		panic(err)
	}
	join, err := klap20.NewJoin(group, group.ID(), challenge, "alice", private)
	if err != nil {
		panic(err)
	}
	credential, err := issuer.Issue(group, sessions, register, join.Request(), now)
	if err != nil {
		panic(err)
	}
	member, err := join.Finish(credential)
	if err != nil {
		panic(err)
	}
	if err := opener.Record(group, opening, register.Member("alice"), public); err != nil {
		panic(err)
	}

	msg := []byte("gate 4, 08:00")
	sig, err := member.Sign(msg, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(len(sig.Bytes()), "bytes, verified:", group.Verify(msg, sig, nil) == nil)

	o, err := opener.Open(group, opening, msg, sig, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println("signed by", o.Member(), "- proved:", group.VerifyOpening(msg, sig, o, public, nil) == nil)

	// Output:
	// 208 bytes, verified: true
	// signed by alice - proved: true
}

func ExampleOpenerKey_RevocationList() {
	issuer, opener := klap20.GenerateIssuerKey(), klap20.GenerateOpenerKey()
	group, err := klap20.Setup("gates", issuer, opener)
	if err != nil {
		panic(err)
	}
	opening := group.NewRegister() // with the records of all members

	list, err := opener.RevocationList(group, opening, klap20.RevocationTerms{Number: 1, Issued: 1_800_000_000, Expires: 1_800_086_400})
	if err != nil {
		panic(err)
	}
	data, _ := list.MarshalBinary()

	// A verifier has the list from anywhere, and its own clock.
	list, err = group.ParseRevocationList(data)
	fmt.Println(list.Len(), "revoked", err)
	opts := &klap20.VerifyOptions{Revocation: list, Now: 1_900_000_000}
	fmt.Println(group.Verify(nil, nil, opts))

	// Output:
	// 0 revoked <nil>
	// groupsig: revocation list: it has expired
}

// A gate checks many tickets at once, and learns which are bad.
func ExampleGroupKey_Batch() {
	issuer, opener := klap20.GenerateIssuerKey(), klap20.GenerateOpenerKey()
	group, err := klap20.Setup("gates", issuer, opener)
	if err != nil {
		panic(err)
	}
	public, private, _ := ed25519.GenerateKey(nil)
	sessions, register := group.NewSessions(), group.NewRegister()
	challenge, err := issuer.Invite(sessions, "alice", public, 1_800_000_000, 3600)
	if err != nil {
		panic(err)
	}
	join, err := klap20.NewJoin(group, group.ID(), challenge, "alice", private)
	if err != nil {
		panic(err)
	}
	credential, err := issuer.Issue(group, sessions, register, join.Request(), 1_800_000_000)
	if err != nil {
		panic(err)
	}
	member, err := join.Finish(credential)
	if err != nil {
		panic(err)
	}

	batch := group.Batch(nil)
	for i := range 10 {
		msg := fmt.Append(nil, "ticket ", i)
		sig, err := member.Sign(msg, nil)
		if err != nil {
			panic(err)
		}
		if i == 7 {
			msg = []byte("ticket 70")
		}
		// Senders choose the layout that batches verify faster.
		sig, err = group.ParseBatchSignature(sig.BatchBytes(), msg, nil)
		if err != nil {
			panic(err)
		}
		batch.Add(msg, sig)
	}
	var bad *klap20.BatchError
	if errors.As(batch.Verify(), &bad) {
		fmt.Println("bad:", bad.Bad)
	}

	// Output:
	// bad: [7]
}
