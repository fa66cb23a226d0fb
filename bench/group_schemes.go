// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/groupsig/klap20"
	"github.com/undersign/undersign/groupsig/ps16"
)

const (
	groupNow  = 1_800_000_000
	groupHour = 3600

	groupLinked  = 10 // signatures of a link or a conversion
	groupMembers = 10 // of the larger group that is opened
)

// A groupSigned is a signature by the member, with what it is for.
type groupSigned struct {
	msg, scope, sig []byte
}

// A groupScheme is a group with a member who signs. Functions are nil where the
// scheme has nothing of the kind.
type groupScheme struct {
	name   string
	size   int  // of a signature in the compact layout
	scoped bool // it has pseudonyms within scopes

	setup    func() error            // all roles' keys, and the group key
	join     func(name string) error // both sides, without the opener
	sign     func(msg, scope []byte) ([]byte, error)
	verify   func(*groupSigned) error
	parse    func(*groupSigned) (func() error, error) // verifies what is parsed already
	forBatch func(*groupSigned) ([]byte, error)       // another layout
	batch    func([]groupSigned) error
	// parseBatch verifies what is parsed already.
	parseBatch func([]groupSigned) (func() error, error)
	open       func(*groupSigned) error // the signer is the first member, and the only one
	openMany   func(*groupSigned) error // the signer is the last of groupMembers
	link       func([]groupSigned) (prove, verify func() error)
	convert    func([]groupSigned) error
}

var groupSchemes = []struct {
	name string
	make func() (*groupScheme, error)
}{
	{"bbsgs", newBBSGS}, {"dl21", newDL21}, {"dl21seq", newDL21SEQ}, {"gl19", newGL19}, {"ps16", newPS16}, {"klap20", newKLAP20},
	{"dp06", newSDH("dp06", groupsig.DP06(), 0)}, {"hlccn11", newSDH("hlccn11", groupsig.HLCCN11(), 0)},
	{"bbs04", newSDH("bbs04", groupsig.BBS04(), 0)}, {"bbs04-static", newSDH("bbs04-static", groupsig.BBS04(), groupsig.Static)},
	{"cpy06", newSDH("cpy06", groupsig.CPY06(), 0)}, {"ds18", newSDH("ds18", groupsig.DS18(), 0)},
}

func longTermKey(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("long-term key of " + name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func opened(name string) error {
	if name != "member" {
		return fmt.Errorf("the opening names %q", name)
	}
	return nil
}

func newPS16() (*groupScheme, error) {
	issuer, opener := ps16.GenerateIssuerKey(), ps16.GenerateOpenerKey()
	gk, err := ps16.Setup("bench", issuer, opener)
	if err != nil {
		return nil, err
	}
	sessions, register := gk.NewSessions(), gk.NewRegister()
	join := func(name string) (*ps16.MemberKey, error) {
		key := longTermKey(name)
		c, err := issuer.Invite(sessions, name, key.Public().(ed25519.PublicKey), ps16.Fischlin, groupNow, groupHour)
		if err != nil {
			return nil, err
		}
		defer sessions.Cancel(c.Session)
		j, err := ps16.NewJoin(gk, gk.ID(), c, name, key)
		if err != nil {
			return nil, err
		}
		credential, err := issuer.Issue(gk, sessions, register, j.Request(), groupNow)
		if err != nil {
			return nil, err
		}
		return j.Finish(credential)
	}
	member, err := join("member")
	if err != nil {
		return nil, err
	}
	registers, err := openers(gk.NewRegister, func(name string, r *ps16.Register) error {
		if register.Member(name) == nil {
			if _, err := join(name); err != nil {
				return err
			}
		}
		return opener.Record(gk, r, register.Member(name), longTermKey(name).Public().(ed25519.PublicKey))
	})
	if err != nil {
		return nil, err
	}
	open := func(r *ps16.Register) func(*groupSigned) error {
		return func(x *groupSigned) error {
			sig, err := ps16.ParseSignature(x.sig)
			if err != nil {
				return err
			}
			o, err := opener.Open(gk, r, x.msg, sig, nil)
			if err != nil {
				return err
			}
			return opened(o.Member())
		}
	}
	parseBatch := func(set []groupSigned) (func() error, error) {
		var sigs []*ps16.Signature
		for _, x := range set {
			sig, err := ps16.ParseSignature(x.sig)
			if err != nil {
				return nil, err
			}
			sigs = append(sigs, sig)
		}
		return func() error {
			b := gk.Batch(nil)
			for i, sig := range sigs {
				b.Add(set[i].msg, sig)
			}
			return b.Verify()
		}, nil
	}
	return &groupScheme{
		name: "ps16", size: ps16.SignatureSize,
		setup: func() error {
			_, err := ps16.Setup("bench", ps16.GenerateIssuerKey(), ps16.GenerateOpenerKey())
			return err
		},
		join: func(name string) error { _, err := join(name); return err },
		sign: func(msg, _ []byte) ([]byte, error) {
			sig, err := member.Sign(msg, nil)
			if err != nil {
				return nil, err
			}
			return sig.Bytes(), nil
		},
		verify: func(x *groupSigned) error {
			sig, err := ps16.ParseSignature(x.sig)
			if err != nil {
				return err
			}
			return gk.Verify(x.msg, sig, nil)
		},
		parse: func(x *groupSigned) (func() error, error) {
			sig, err := ps16.ParseSignature(x.sig)
			return func() error { return gk.Verify(x.msg, sig, nil) }, err
		},
		batch: func(set []groupSigned) error {
			verify, err := parseBatch(set)
			if err != nil {
				return err
			}
			return verify()
		},
		parseBatch: parseBatch,
		open:       open(registers[0]), openMany: open(registers[1]),
	}, nil
}

// openers returns an opener's registers: of the member alone, and with others before
// it, which is the order in which it is found.
func openers[R any](empty func() R, record func(string, R) error) (out [2]R, err error) {
	for i, n := range []int{1, groupMembers} {
		out[i] = empty()
		for k := range n - 1 {
			if err := record(fmt.Sprint("earlier ", k), out[i]); err != nil {
				return out, err
			}
		}
		if err := record("member", out[i]); err != nil {
			return out, err
		}
	}
	return out, nil
}

func newKLAP20() (*groupScheme, error) {
	issuer, opener := klap20.GenerateIssuerKey(), klap20.GenerateOpenerKey()
	gk, err := klap20.Setup("bench", issuer, opener)
	if err != nil {
		return nil, err
	}
	sessions, register := gk.NewSessions(), gk.NewRegister()
	join := func(name string) (*klap20.MemberKey, error) {
		key := longTermKey(name)
		c, err := issuer.Invite(sessions, name, key.Public().(ed25519.PublicKey), groupNow, groupHour)
		if err != nil {
			return nil, err
		}
		defer sessions.Cancel(c.Session)
		j, err := klap20.NewJoin(gk, gk.ID(), c, name, key)
		if err != nil {
			return nil, err
		}
		credential, err := issuer.Issue(gk, sessions, register, j.Request(), groupNow)
		if err != nil {
			return nil, err
		}
		return j.Finish(credential)
	}
	member, err := join("member")
	if err != nil {
		return nil, err
	}
	registers, err := openers(gk.NewRegister, func(name string, r *klap20.Register) error {
		if register.Member(name) == nil {
			if _, err := join(name); err != nil {
				return err
			}
		}
		return opener.Record(gk, r, register.Member(name), longTermKey(name).Public().(ed25519.PublicKey))
	})
	if err != nil {
		return nil, err
	}
	// parse takes both layouts.
	parse := func(x *groupSigned) (*klap20.Signature, error) {
		if len(x.sig) == klap20.BatchSignatureSize {
			return gk.ParseBatchSignature(x.sig, x.msg, nil)
		}
		return klap20.ParseSignature(x.sig)
	}
	open := func(r *klap20.Register) func(*groupSigned) error {
		return func(x *groupSigned) error {
			sig, err := parse(x)
			if err != nil {
				return err
			}
			o, err := opener.Open(gk, r, x.msg, sig, nil)
			if err != nil {
				return err
			}
			return opened(o.Member())
		}
	}
	parseBatch := func(set []groupSigned) (func() error, error) {
		var sigs []*klap20.Signature
		for _, x := range set {
			sig, err := parse(&x)
			if err != nil {
				return nil, err
			}
			sigs = append(sigs, sig)
		}
		return func() error {
			b := gk.Batch(nil)
			for i, sig := range sigs {
				b.Add(set[i].msg, sig)
			}
			return b.Verify()
		}, nil
	}
	return &groupScheme{
		name: "klap20", size: klap20.SignatureSize,
		setup: func() error {
			_, err := klap20.Setup("bench", klap20.GenerateIssuerKey(), klap20.GenerateOpenerKey())
			return err
		},
		join: func(name string) error { _, err := join(name); return err },
		sign: func(msg, _ []byte) ([]byte, error) {
			sig, err := member.Sign(msg, nil)
			if err != nil {
				return nil, err
			}
			return sig.Bytes(), nil
		},
		verify: func(x *groupSigned) error {
			sig, err := parse(x)
			if err != nil {
				return err
			}
			return gk.Verify(x.msg, sig, nil)
		},
		parse: func(x *groupSigned) (func() error, error) {
			sig, err := parse(x)
			return func() error { return gk.Verify(x.msg, sig, nil) }, err
		},
		forBatch: func(x *groupSigned) ([]byte, error) {
			sig, err := parse(x)
			if err != nil {
				return nil, err
			}
			return sig.BatchBytes(), nil
		},
		batch: func(set []groupSigned) error {
			verify, err := parseBatch(set)
			if err != nil {
				return err
			}
			return verify()
		},
		parseBatch: parseBatch,
		open:       open(registers[0]), openMany: open(registers[1]),
	}, nil
}
