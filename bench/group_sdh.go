// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ed25519"

	"github.com/undersign/undersign/groupsig"
)

// newSDH returns a group of a scheme whose members have credentials of Boneh and Boyen, or
// of another one without scopes and epochs. The layer that all schemes have in common adds nothing that could be measured.
func newSDH(name string, scheme groupsig.Scheme, f groupsig.Features) func() (*groupScheme, error) {
	return func() (*groupScheme, error) { return makeSDH(name, scheme, f) }
}

// A sdhGroup is a group with its roles.
type sdhGroup struct {
	gk     groupsig.GroupKey
	issuer groupsig.IssuerKey
	opener groupsig.Opener
	linker groupsig.LinkingAuthority
}

func setupSDH(scheme groupsig.Scheme, f groupsig.Features) (*sdhGroup, error) {
	d, err := scheme.NewDraft("bench", f)
	if err != nil {
		return nil, err
	}
	g := &sdhGroup{issuer: scheme.GenerateIssuerKey()}
	if g.opener, err = scheme.GenerateOpenerKey(f); err != nil {
		return nil, err
	}
	roles := []groupsig.Role{g.issuer, g.opener}
	if s, ok := scheme.(groupsig.LinkingScheme); ok {
		g.linker = s.GenerateLinkerKey()
		roles = append(roles, g.linker)
	}
	for _, r := range roles {
		if err := r.Enroll(d); err != nil {
			return nil, err
		}
	}
	for _, r := range roles {
		if err := r.Consent(d); err != nil {
			return nil, err
		}
	}
	g.gk, err = d.GroupKey()
	return g, err
}

func makeSDH(name string, scheme groupsig.Scheme, f groupsig.Features) (*groupScheme, error) {
	g, err := setupSDH(scheme, f)
	if err != nil {
		return nil, err
	}
	gk := g.gk
	sessions, register := gk.NewSessions(), gk.NewRegister()
	join := func(name string) (groupsig.MemberKey, error) {
		key := longTermKey(name)
		c, err := g.issuer.Invite(gk, sessions, name, key.Public().(ed25519.PublicKey), groupNow, groupHour)
		if err != nil {
			return nil, err
		}
		defer sessions.Cancel(c.Session)
		p, application, err := gk.NewJoin(gk.ID(), c, name, key)
		if err != nil {
			return nil, err
		}
		credential, err := g.issuer.Issue(gk, sessions, register, application, groupNow, 0)
		if err != nil {
			return nil, err
		}
		return p.Finish(credential, 0)
	}
	member, err := join("member")
	if err != nil {
		return nil, err
	}
	registers, err := openers(gk.NewRegister, func(name string, r *groupsig.Register) error {
		if register.Member(name) == nil {
			if _, err := join(name); err != nil {
				return err
			}
		}
		return g.opener.Record(gk, r, register.Member(name), longTermKey(name).Public().(ed25519.PublicKey))
	})
	if err != nil {
		return nil, err
	}
	var opts groupsig.VerifyOptions
	if gk.Features().Has(groupsig.Rekey) {
		terms := groupsig.Terms{Number: 1, Issued: groupNow, Expires: groupNow + groupHour}
		if opts.Revocation, err = g.issuer.(groupsig.Revoker).RevocationList(gk, register, terms, nil); err != nil {
			return nil, err
		}
		opts.Now = groupNow
	}
	open := func(r *groupsig.Register) func(*groupSigned) error {
		return func(x *groupSigned) error {
			o, err := g.opener.Open(gk, r, x.msg, x.sig, groupsig.VerifyOptions{}, nil)
			if err != nil {
				return err
			}
			return opened(o.Member())
		}
	}
	s := &groupScheme{
		name: name, size: gk.SignatureSize(),
		setup: func() error { _, err := setupSDH(scheme, f); return err },
		join:  func(name string) error { _, err := join(name); return err },
		sign:  func(msg, _ []byte) ([]byte, error) { return member.Sign(msg, groupsig.SignOptions{}) },
		verify: func(x *groupSigned) error {
			return gk.Verify(x.msg, x.sig, opts)
		},
		batch: func(set []groupSigned) error {
			b := gk.(groupsig.BatchVerifier).Batch(opts)
			for _, x := range set {
				b.Add(x.msg, x.sig)
			}
			return b.Verify()
		},
		open: open(registers[0]), openMany: open(registers[1]),
	}
	if v, ok := gk.(groupsig.BatchVerifier); ok && scheme == groupsig.DS18() { // of these it has two layouts
		s.forBatch = func(x *groupSigned) ([]byte, error) { return v.ForBatch(x.msg, x.sig, opts) }
	}
	if v, ok := groupsig.As[groupsig.LinkingVerifier](gk); ok {
		s.link = func(set []groupSigned) (prove, verify func() error) {
			var in []groupsig.Signed
			for _, x := range set {
				in = append(in, groupsig.Signed{Message: x.msg, Signature: x.sig})
			}
			var proof []byte
			return func() (err error) { proof, err = g.linker.ProveLink(gk, in, nil); return err },
				func() error { return v.VerifyLink(in, nil, proof) }
		}
	}
	return s, nil
}
