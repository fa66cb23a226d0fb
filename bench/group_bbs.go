// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/bbsgs"
	"github.com/undersign/undersign/groupsig/dl21"
	"github.com/undersign/undersign/groupsig/dl21seq"
	"github.com/undersign/undersign/groupsig/gl19"
)

// The packages of the BBS family have the same methods, on types of their own.
type (
	bbsRole[D any] interface {
		Enroll(D)
		Consent(D) error
	}
	bbsIssuer[D, G any] interface {
		bbsRole[D]
		Issue(gk G, s *bbsgs.Sessions, r *bbsgs.Register, application []byte, now int64, epoch uint64) ([]byte, error)
	}
	bbsGroup[P, B any] interface {
		NewSessions() *bbsgs.Sessions
		NewRegister() *bbsgs.Register
		ID() [32]byte
		NewJoin(fingerprint [32]byte, c *bbsgs.Challenge, member string, key ed25519.PrivateKey) (P, []byte, error)
		SignatureSize() int
		Verify(msg, sig []byte, opts bbsgs.VerifyOptions) error
		ForBatch(scope, sig []byte) ([]byte, error)
		Batch() B
	}
	bbsPending[M any] interface {
		Finish(credential []byte, epoch uint64) (M, error)
	}
	bbsMember interface {
		Sign(msg []byte, opts bbsgs.SignOptions) ([]byte, error)
	}
	bbsBatch interface {
		Add(msg, sig []byte, opts bbsgs.VerifyOptions)
		Verify() error
	}
)

// A bbsKit is what isn't a method, or has other types in every package.
type bbsKit[D, I, G, M any] struct {
	name     string
	features bbsgs.Features
	draft    func(label string, f bbsgs.Features) (D, error)
	issuer   func() I
	group    func(D) (G, error)
	// others returns the roles beside the issuer, and what they do, nil for what
	// the scheme lacks.
	others func() ([]bbsRole[D], bbsOpen[G], bbsConvert[G], error)
	// link proves and verifies a link.
	link func(gk G, m M, set []bbsgs.Signed) (prove, verify func() error)
}

type (
	bbsOpen[G any]    func(gk G, r *bbsgs.Register, msg, sig []byte, opts bbsgs.VerifyOptions) error
	bbsConvert[G any] func(gk G, set []bbsgs.Signed) error
)

func newBBS[D any, I bbsIssuer[D, G], G bbsGroup[P, B], P bbsPending[M], M bbsMember, B bbsBatch](kit bbsKit[D, I, G, M]) (*groupScheme, error) {
	setup := func() (gk G, issuer I, open bbsOpen[G], convert bbsConvert[G], err error) {
		d, err := kit.draft("bench", kit.features)
		if err != nil {
			return
		}
		issuer = kit.issuer()
		roles, open, convert, err := kit.others()
		if err != nil {
			return
		}
		roles = append(roles, issuer)
		for _, r := range roles {
			r.Enroll(d)
		}
		for _, r := range roles {
			if err = r.Consent(d); err != nil {
				return
			}
		}
		gk, err = kit.group(d)
		return
	}
	gk, issuer, open, convert, err := setup()
	if err != nil {
		return nil, err
	}
	sessions, register := gk.NewSessions(), gk.NewRegister()
	join := func(name string) (m M, err error) {
		key := longTermKey(name)
		c, err := sessions.Open(name, key.Public().(ed25519.PublicKey), bbsgs.Fischlin, groupNow, groupHour)
		if err != nil {
			return
		}
		defer sessions.Cancel(c.Session)
		pending, application, err := gk.NewJoin(gk.ID(), c, name, key)
		if err != nil {
			return
		}
		credential, err := issuer.Issue(gk, sessions, register, application, groupNow, 0)
		if err != nil {
			return
		}
		return pending.Finish(credential, 0)
	}
	member, err := join("member")
	if err != nil {
		return nil, err
	}
	s := &groupScheme{
		name: kit.name, size: gk.SignatureSize(), scoped: kit.link != nil,
		setup: func() error { _, _, _, _, err := setup(); return err },
		join:  func(name string) error { _, err := join(name); return err },
		sign: func(msg, scope []byte) ([]byte, error) {
			return member.Sign(msg, bbsgs.SignOptions{Scope: scope})
		},
		verify: func(x *groupSigned) error {
			return gk.Verify(x.msg, x.sig, bbsgs.VerifyOptions{Scope: x.scope})
		},
		forBatch: func(x *groupSigned) ([]byte, error) { return gk.ForBatch(x.scope, x.sig) },
		batch: func(set []groupSigned) error {
			b := gk.Batch()
			for _, x := range set {
				b.Add(x.msg, x.sig, bbsgs.VerifyOptions{Scope: x.scope})
			}
			return b.Verify()
		},
	}
	signed := func(set []groupSigned) (out []bbsgs.Signed) {
		for _, x := range set {
			out = append(out, bbsgs.Signed{Message: x.msg, Signature: x.sig, Options: bbsgs.VerifyOptions{Scope: x.scope}})
		}
		return out
	}
	if open != nil {
		s.open = func(x *groupSigned) error {
			return open(gk, register, x.msg, x.sig, bbsgs.VerifyOptions{Scope: x.scope})
		}
	}
	if convert != nil {
		s.convert = func(set []groupSigned) error { return convert(gk, signed(set)) }
	}
	if kit.link != nil {
		s.link = func(set []groupSigned) (prove, verify func() error) { return kit.link(gk, member, signed(set)) }
	}
	return s, nil
}

func newBBSGS() (*groupScheme, error) {
	const features = bbsgs.Scope | bbsgs.Escrow
	return newBBS(bbsKit[*bbsgs.Draft, *bbsgs.IssuerKey, *bbsgs.GroupKey, *bbsgs.MemberKey]{
		name: "bbsgs", features: features,
		draft: bbsgs.NewDraft, issuer: bbsgs.GenerateIssuerKey, group: bbsgs.NewGroupKey,
		others: func() ([]bbsRole[*bbsgs.Draft], bbsOpen[*bbsgs.GroupKey], bbsConvert[*bbsgs.GroupKey], error) {
			k, err := bbsgs.GenerateOpenerKey(features)
			open := func(gk *bbsgs.GroupKey, r *bbsgs.Register, msg, sig []byte, opts bbsgs.VerifyOptions) error {
				o, err := k.Open(gk, r, msg, sig, opts, nil)
				if err != nil {
					return err
				}
				return opened(o.Member())
			}
			return []bbsRole[*bbsgs.Draft]{k}, open, nil, err
		},
		link: func(gk *bbsgs.GroupKey, m *bbsgs.MemberKey, set []bbsgs.Signed) (prove, verify func() error) {
			var link []byte
			prove = func() (err error) { link, err = m.Link(set, nil); return err }
			return prove, func() error { return gk.VerifyLink(set, nil, link) }
		},
	})
}

func newDL21() (*groupScheme, error) {
	return newBBS(bbsKit[*dl21.Draft, *dl21.IssuerKey, *dl21.GroupKey, *dl21.MemberKey]{
		name: "dl21", draft: dl21.NewDraft, issuer: dl21.GenerateIssuerKey, group: dl21.NewGroupKey,
		others: func() ([]bbsRole[*dl21.Draft], bbsOpen[*dl21.GroupKey], bbsConvert[*dl21.GroupKey], error) {
			return nil, nil, nil, nil
		},
		link: func(gk *dl21.GroupKey, m *dl21.MemberKey, set []bbsgs.Signed) (prove, verify func() error) {
			var signed []dl21.Signed
			for _, x := range set {
				signed = append(signed, dl21.Signed(x))
			}
			var link []byte
			prove = func() (err error) { link, err = m.Link(signed, nil); return err }
			return prove, func() error { return gk.VerifyLink(signed, nil, link) }
		},
	})
}

func newDL21SEQ() (*groupScheme, error) {
	return newBBS(bbsKit[*dl21seq.Draft, *dl21seq.IssuerKey, *dl21seq.GroupKey, *dl21seq.MemberKey]{
		name: "dl21seq", draft: dl21seq.NewDraft, issuer: dl21seq.GenerateIssuerKey, group: dl21seq.NewGroupKey,
		others: func() ([]bbsRole[*dl21seq.Draft], bbsOpen[*dl21seq.GroupKey], bbsConvert[*dl21seq.GroupKey], error) {
			return nil, nil, nil, nil
		},
		link: func(gk *dl21seq.GroupKey, m *dl21seq.MemberKey, set []bbsgs.Signed) (prove, verify func() error) {
			var signed []dl21seq.Signed
			for _, x := range set {
				signed = append(signed, dl21seq.Signed(x))
			}
			var link []byte
			prove = func() (err error) { link, err = m.Link(signed, nil); return err }
			return prove, func() error { return gk.VerifyLink(signed, nil, link) }
		},
	})
}

func newGL19() (*groupScheme, error) {
	return newBBS(bbsKit[*gl19.Draft, *gl19.IssuerKey, *gl19.GroupKey, *gl19.MemberKey]{
		name: "gl19", features: gl19.Escrow,
		draft: gl19.NewDraft, issuer: gl19.GenerateIssuerKey, group: gl19.NewGroupKey,
		others: func() ([]bbsRole[*gl19.Draft], bbsOpen[*gl19.GroupKey], bbsConvert[*gl19.GroupKey], error) {
			converter := gl19.GenerateConverterKey()
			k, err := gl19.GenerateOpenerKey(gl19.Escrow)
			open := func(gk *gl19.GroupKey, r *bbsgs.Register, msg, sig []byte, opts bbsgs.VerifyOptions) error {
				o, err := k.Open(gk, r, msg, sig, opts, nil)
				if err != nil {
					return err
				}
				return opened(o.Member())
			}
			convert := func(gk *gl19.GroupKey, set []bbsgs.Signed) error { return convertGL19(converter, gk, set) }
			return []bbsRole[*gl19.Draft]{k, converter}, open, convert, err
		},
	})
}

// convertGL19 is a whole query, by all its parties.
func convertGL19(converter *gl19.ConverterKey, gk *gl19.GroupKey, set []bbsgs.Signed) error {
	key, err := gk.NewBlindingKey()
	if err != nil {
		return err
	}
	var query [][]byte
	for _, x := range set {
		b, err := key.Blind(x.Message, x.Signature, x.Options)
		if err != nil {
			return err
		}
		query = append(query, b)
	}
	answer, err := converter.Convert(gk, key.Public(), query)
	if err != nil {
		return err
	}
	if len(answer) != len(set) {
		return fmt.Errorf("gl19: %d converted of %d", len(answer), len(set))
	}
	var first string
	for i, c := range answer {
		nym, _, err := key.Unblind(c)
		if err != nil {
			return err
		}
		if i == 0 {
			first = string(nym)
		} else if string(nym) != first {
			return errors.New("gl19: one member has two pseudonyms")
		}
	}
	return nil
}
