// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdhtest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/sdh"
	"github.com/undersign/undersign/groupsig/internal/state"
	"github.com/undersign/undersign/groupsig/internal/zerotest"
)

// Run runs the tests that need no more than the suite has.
func (s *Suite[D, G, I, O, N, M]) Run(t *testing.T) {
	t.Run("life cycle", s.lifeCycle)
	t.Run("keys", s.keys)
	t.Run("zero values", s.zeroValues)
}

func (s *Suite[D, G, I, O, N, M]) lifeCycle(t *testing.T) {
	g := s.New(t)
	ada, bob := g.Join("ada"), g.Join("bob")
	yes := []byte("yes")
	sig := g.Sign(ada, "yes")
	if len(sig) != s.SignatureSize || g.Key.SignatureSize() != s.SignatureSize {
		t.Errorf("%d bytes", len(sig))
	}
	g.Check(g.Key.Verify(yes, sig, Context))
	for what, err := range map[string]error{
		"message":   g.Key.Verify([]byte("no"), sig, Context),
		"context":   g.Key.Verify(yes, sig, nil),
		"group":     s.New(t).Key.Verify(yes, sig, Context),
		"truncated": g.Key.Verify(yes, sig[:len(sig)-1], Context),
	} {
		if !errors.Is(err, sdh.ErrSignature) {
			t.Errorf("another %s: %v", what, err)
		}
	}
	batch := s.Batch(g.Key)
	for i := range 4 {
		m := "yes"
		if i == 2 {
			m = "no"
		}
		batch.Add([]byte(m), sig, Context)
	}
	if err, ok := batch.Verify().(*state.BatchError); !ok || fmt.Sprint(err.Bad) != "[2]" || batch.Len() != 4 {
		t.Errorf("batch says %v", err)
	}
	id, err := g.Key.SignatureID(sig)
	g.Check(err)
	if other, err := g.Key.SignatureID(g.Sign(ada, "yes")); err != nil || other == id {
		t.Error("two signatures have one name")
	}
	why := []byte("why")
	o, err := g.Opener.Open(g.Key, g.Register, yes, sig, Context, why)
	g.Check(err)
	if o.Member() != "ada" || g.Key.FindRecord(g.Register, o.Value()).Member != "ada" {
		t.Errorf("opened to %q", o.Member())
	}
	g.Check(g.Key.VerifyOpening(yes, sig, Context, o, Public("ada"), why))
	for what, err := range map[string]error{
		"reason":    g.Key.VerifyOpening(yes, sig, Context, o, Public("ada"), nil),
		"key":       g.Key.VerifyOpening(yes, sig, Context, o, Public("bob"), why),
		"signature": g.Key.VerifyOpening(yes, g.Sign(bob, "yes"), Context, o, Public("ada"), why),
	} {
		if err == nil {
			t.Errorf("an opening for another %s is accepted", what)
		}
	}
	if _, err := g.Opener.Open(g.Key, g.Register, []byte("no"), sig, Context, nil); err == nil {
		t.Error("opens what isn't a signature")
	}
	for _, v := range []any{ada, g.Issuer, g.Opener, g.Linker} {
		if v == nil {
			continue
		}
		for _, v := range []any{v, reflect.ValueOf(v).Elem().Interface()} {
			if out := fmt.Sprintf("%v %+v %#v", v, v, v); strings.Count(out, "secret key") != 3 {
				t.Errorf("prints %s", out)
			}
		}
	}
	ada.Wipe()
	if _, err := ada.Sign(nil, nil); err == nil {
		t.Error("a wiped key signs")
	}
}

// Keys decode as what they are, and as nothing else.
func (s *Suite[D, G, I, O, N, M]) keys(t *testing.T) {
	g := s.New(t)
	d, k, issuer, opener, _, _ := s.Zero()
	b, err := g.Issuer.MarshalBinary()
	g.Check(err)
	g.Check(issuer.UnmarshalBinary(b))
	if c, err := issuer.MarshalBinary(); err != nil || !bytes.Equal(b, c) {
		t.Error("another issuer's key", err)
	}
	if opener.UnmarshalBinary(b) == nil || d.UnmarshalBinary(b) == nil || k.UnmarshalBinary(b) == nil {
		t.Error("an issuer's key is something else")
	}
	b, err = g.Opener.MarshalBinary()
	g.Check(err)
	g.Check(opener.UnmarshalBinary(b))
	if issuer.UnmarshalBinary(b) == nil {
		t.Error("an opener's key is an issuer's")
	}
	if g.Linker != nil {
		b, err := g.Linker.MarshalBinary()
		g.Check(err)
		if opener.UnmarshalBinary(b) == nil {
			t.Error("a linker's key is an opener's")
		}
	}
	opener.Wipe()
	d, _, _, _, _, _ = s.Zero()
	if opener.Enroll(d) == nil || s.NewIssuer().Enroll(d) == nil {
		t.Error("enrolled with nothing")
	}
	if _, err := s.NewDraft(""); err == nil {
		t.Error("a group without a label")
	}
}

func (s *Suite[D, G, I, O, N, M]) zeroValues(t *testing.T) {
	d, g, i, o, n, m := s.Zero()
	zerotest.Test(t, append([]any{d, g, i, o, n, m, new(sdh.Opening), s.ZeroBatch()}, s.ZeroOthers...),
		append([]string{"Batch.Verify"}, s.ZeroFine...)...)
	// What is added to a batch of no group is refused.
	for _, b := range []Batch{s.ZeroBatch(), s.Batch(g)} {
		b.Add(nil, nil, nil)
		if b.Verify() == nil {
			t.Error("accepted")
		}
	}
}
