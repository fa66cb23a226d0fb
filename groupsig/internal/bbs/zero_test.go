// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"reflect"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/zerotest"
)

func TestZeroValues(t *testing.T) {
	zerotest.Test(t, []any{
		new(Draft), new(GroupKey), new(IssuerKey), new(OpenerKey), new(ConverterKey), new(PendingMember), new(MemberKey),
		new(BlindingKey), new(Opening), new(Revocation), new(Announcement), new(Batch),
	}, "Batch.Verify", "Revocation.Replaces", "Revocation.Follows", "Announcement.Replaces", "Announcement.Follows")
}

// The packages on this core have pointers to what is here, nil in their zero values.
func TestNil(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[*GroupKey](), reflect.TypeFor[*IssuerKey](), reflect.TypeFor[*OpenerKey](), reflect.TypeFor[*ConverterKey](),
		reflect.TypeFor[*PendingMember](), reflect.TypeFor[*MemberKey](), reflect.TypeFor[*BlindingKey](),
	} {
		for i := range typ.NumMethod() {
			m := typ.Method(i)
			if m.Name == "String" || m.Name == "GoString" || m.Name == "Format" || m.Name == "UnmarshalBinary" {
				continue // of values, or of fresh ones
			}
			func() {
				defer func() {
					if r := recover(); r != nil {
						t.Errorf("%v.%s panics: %v", typ, m.Name, r)
					}
				}()
				args := []reflect.Value{reflect.Zero(typ)}
				for j := 1; j < m.Type.NumIn(); j++ {
					in := m.Type.In(j)
					if in.Kind() == reflect.Pointer && in != reflect.TypeFor[*GroupKey]() {
						args = append(args, reflect.New(in.Elem()))
					} else {
						args = append(args, reflect.Zero(in))
					}
				}
				out := m.Func.Call(args)
				if len(out) > 0 && out[len(out)-1].Type() == reflect.TypeFor[error]() && out[len(out)-1].IsNil() {
					t.Errorf("%v.%s returns no error", typ, m.Name)
				}
			}()
		}
	}
}

// A batch of no group refuses what is added.
func TestZeroBatch(t *testing.T) {
	for _, b := range []*Batch{new(Batch), (*GroupKey)(nil).Batch(), new(GroupKey).Batch()} {
		b.Add(msg("m"), nil, VerifyOptions{})
		if b.Verify() == nil {
			t.Error("accepted")
		}
	}
}

// Keys of a group are refused by what is empty, and the other way round.
func TestEmptyGroup(t *testing.T) {
	g := newGroup(t, Scope|Escrow|Epoch|Token|Convert)
	ada := g.join("ada")
	for _, k := range []*GroupKey{nil, new(GroupKey)} {
		_, err1 := g.issuer.Announce(k, listTerms, 1, 1)
		_, err2 := g.issuer.Issue(k, g.sessions, g.register, nil, now, 1)
		_, err3 := g.issuer.Reissue(k, g.register, "ada", 1)
		_, err4 := g.opener.RevocationList(k, listTerms, Revoked{})
		_, err5 := g.opener.Open(k, g.register, msg("m"), nil, VerifyOptions{}, nil)
		_, err6 := g.opener.Token(k, g.register.Member("ada"))
		_, err7 := g.converter.Convert(k, nil, nil)
		for i, err := range []error{err1, err2, err3, err4, err5, err6, err7, g.opener.CheckRecord(k, g.register.Member("ada"), g.public("ada")),
			k.Verify(msg("m"), g.sign(ada, "m", "s", false), g.opts("s"))} {
			if err == nil {
				t.Errorf("number %d: no error", i)
			}
		}
		if k.Equal(g.k) || g.k.Equal(k) || k.Equal(k) {
			t.Error("an empty key is equal to something")
		}
	}
}
