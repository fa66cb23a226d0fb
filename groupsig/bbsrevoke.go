// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig

import (
	"errors"

	"github.com/undersign/undersign/groupsig/internal/bbs"
)

const (
	version = 1
	suite   = 1 // BLS12-381
)

// bbsList returns what is behind a list, or nil if there is none.
func bbsList(x Revocation) (*bbs.Revocation, error) {
	if x == nil {
		return nil, nil
	}
	r, ok := x.(*bbs.Revocation)
	if !ok || r == nil {
		return nil, &StaleError{What: "revocation list", Reason: "it is of another scheme"}
	}
	return r, nil
}

func (i *bbsIssuer) RevokePseudonyms(x GroupKey, terms Terms, base Revocation, nyms ...[]byte) (Revocation, error) {
	k, err := bbsGroupOf(x)
	if err != nil {
		return nil, err
	}
	b, err := bbsList(base)
	if err != nil {
		return nil, err
	}
	return revocation(i.k.RevocationList(k, terms, bbs.Revoked{Base: b, Pseudonyms: nyms}))
}

func (o *bbsOpener) RevokePseudonyms(x GroupKey, terms Terms, base Revocation, nyms ...[]byte) (Revocation, error) {
	k, err := bbsGroupOf(x)
	if err != nil {
		return nil, err
	}
	b, err := bbsList(base)
	if err != nil {
		return nil, err
	}
	return revocation(o.k.RevocationList(k, terms, bbs.Revoked{Base: b, Pseudonyms: nyms}))
}

func (o *bbsOpener) RevocationList(x GroupKey, register *Register, terms Terms, base Revocation) (Revocation, error) {
	k, err := bbsGroupOf(x)
	if err != nil {
		return nil, err
	}
	b, err := bbsList(base)
	if err != nil {
		return nil, err
	}
	if register == nil {
		return nil, errors.New("groupsig: no register")
	}
	return revocation(o.k.RevocationList(k, terms, bbs.Revoked{Base: b, Register: register}))
}

// revocation keeps a nil pointer from becoming an interface that isn't nil.
func revocation(r *bbs.Revocation, err error) (Revocation, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (g *bbsGroup) ParseRevocation(data []byte) (Revocation, error) {
	return revocation(g.k.ParseRevocation(data))
}

func (g *bbsGroup) MarkListed(register *Register, x Revocation, now int64) (int, error) {
	r, err := bbsList(x)
	if err != nil {
		return 0, err
	}
	return g.k.MarkListed(register, r, now)
}

func (i *bbsIssuer) Announce(x GroupKey, terms Terms, oldest, epoch uint64) (Announcement, error) {
	k, err := bbsGroupOf(x)
	if err != nil {
		return nil, err
	}
	a, err := i.k.Announce(k, terms, oldest, epoch)
	if err != nil {
		return nil, err
	}
	return a, nil
}

func (g *bbsGroup) ParseAnnouncement(data []byte) (Announcement, error) {
	a, err := g.k.ParseAnnouncement(data)
	if err != nil {
		return nil, err
	}
	return a, nil
}
