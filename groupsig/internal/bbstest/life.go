// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbstest

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/bbs"
	"github.com/undersign/undersign/groupsig/internal/zerotest"
)

// Run runs all tests.
func (s *Suite[D, G, I, O, N, M]) Run(t *testing.T) {
	t.Run("life cycle", s.lifeCycle)
	t.Run("size", s.size)
	t.Run("foreign features", s.foreignFeatures)
	t.Run("concurrent", s.concurrent)
	t.Run("zero values", s.zeroValues)
	t.Run("vectors", s.vectors)
}

func (s *Suite[D, G, I, O, N, M]) lifeCycle(t *testing.T) {
	g := s.New(t, "test", s.Features)
	_, gk, _, _, _, _ := s.Zero()
	if gk = Again(t, g.Key, into(gk)); !gk.Equal(g.Key) {
		t.Fatal("group key")
	}
	opts := s.Options()
	ada, bob := g.Join("ada"), g.Join("bob")
	sig := g.Sign(ada, "yes")
	if len(sig) != gk.SignatureSize() {
		t.Errorf("%d bytes", len(sig))
	}
	if err := gk.Verify([]byte("yes"), sig, opts); err != nil {
		t.Fatal(err)
	}
	if gk.Verify([]byte("no"), sig, opts) == nil {
		t.Error("another message is accepted")
	}
	if s.New(t, "other", s.Features).Key.Verify([]byte("yes"), sig, opts) == nil {
		t.Error("another group accepts")
	}
	batch := s.Batch(gk)
	for i := range 6 {
		m := "yes"
		if i == 4 {
			m = "no"
		}
		batch.Add([]byte(m), sig, opts)
	}
	if err, ok := batch.Verify().(*bbs.BatchError); !ok || fmt.Sprint(err.Bad) != "[4]" || batch.Len() != 6 {
		t.Errorf("batch says %v", err)
	}
	fast, err := gk.ForBatch(s.Scope, sig)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := gk.Compact([]byte("yes"), s.Scope, fast); err != nil || !bytes.Equal(back, sig) {
		t.Error("layouts", err)
	}
	yes, why := []byte("yes"), []byte("why")
	o, err := g.Opener.Open(gk, g.Register, yes, sig, opts, why)
	if err != nil {
		t.Fatal(err)
	}
	if o.Member() != "ada" {
		t.Errorf("opened to %q", o.Member())
	}
	if err := gk.VerifyOpening(yes, sig, opts, o, Public("ada"), why); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"reason":    gk.VerifyOpening(yes, sig, opts, o, Public("ada"), nil),
		"key":       gk.VerifyOpening(yes, sig, opts, o, Public("bob"), why),
		"message":   gk.VerifyOpening([]byte("no"), sig, opts, o, Public("ada"), why),
		"signature": gk.VerifyOpening(yes, g.Sign(bob, "yes"), opts, o, Public("ada"), why),
	} {
		if err == nil {
			t.Errorf("an opening for another %s is accepted", what)
		}
	}
	if _, err := g.Opener.Open(gk, g.Register, []byte("no"), sig, opts, nil); err == nil {
		t.Error("opens what isn't a signature")
	}
	if s.Links != nil {
		s.links(t, g, ada, bob, sig)
	}
	if s.Features&bbs.Token != 0 {
		s.revocation(t, g, bob, sig)
	}
	if s.Features&bbs.Epoch != 0 || s.Epoch != 0 {
		cred, err := g.Issuer.Reissue(gk, g.Register, "bob", s.Epoch+1)
		if err != nil {
			t.Fatal(err)
		}
		if err := bob.Update(cred, s.Epoch+1); err != nil || bob.Epoch() != s.Epoch+1 {
			t.Fatal(bob.Epoch(), err)
		}
		if gk.Verify([]byte("x"), g.Sign(bob, "x"), opts) == nil {
			t.Error("an epoch that isn't in the window is accepted")
		}
	}
	for _, v := range []any{ada, g.Issuer, g.Opener, g.Converter} {
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
	if _, err := ada.Sign(nil, bbs.SignOptions{Scope: s.Scope}); err == nil {
		t.Error("a wiped key signs")
	}
}

// links tests claims and links of ada's signature of "yes", and of another.
func (s *Suite[D, G, I, O, N, M]) links(t *testing.T, g *Group[D, G, I, O, N, M], ada, bob M, sig []byte) {
	gk, opts, l := g.Key, s.Options(), s.Links
	set := []Signed{{[]byte("yes"), sig, opts}, {[]byte("a"), g.Sign(ada, "a"), opts}}
	link, err := l.Link(ada, set, []byte("audit"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.VerifyLink(gk, set, []byte("audit"), link); err != nil {
		t.Error(err)
	}
	if l.VerifyLink(gk, set, []byte("other"), link) == nil || l.VerifyLink(gk, set[:1], []byte("audit"), link) == nil {
		t.Error("a link of something else is accepted")
	}
	claim, err := l.Claim(ada, set[0], []byte("claim"))
	if err != nil {
		t.Fatal(err)
	}
	if l.VerifyClaim(gk, set[0], []byte("claim"), claim) != nil || l.VerifyClaim(gk, set[0], nil, claim) == nil || l.VerifyClaim(gk, set[1], []byte("claim"), claim) == nil {
		t.Error("claims")
	}
	nym := g.Pseudonym(sig)
	if !bytes.Equal(nym, g.Pseudonym(set[1].Signature)) {
		t.Error("two pseudonyms in one scope")
	}
	if bytes.Equal(nym, g.Pseudonym(g.Sign(bob, "no"))) {
		t.Error("one pseudonym for two")
	}
	if own, err := l.Identify(bob, set[0]); own || err != nil {
		t.Error("bob takes ada's signature for his own")
	}
	if l.SequenceLink == nil {
		return
	}
	seq, err := l.SequenceLink(ada, set, []byte("audit"), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.VerifySequenceLink(gk, set, []byte("audit"), seq, true); err != nil {
		t.Error(err)
	}
	if l.VerifySequenceLink(gk, set[1:], []byte("audit"), seq[:len(seq)-32], true) == nil || l.SequenceIndex(ada) != 3 {
		t.Error("sequences")
	}
}

// revocation revokes ada, who made a signature of "yes", and nobody else.
func (s *Suite[D, G, I, O, N, M]) revocation(t *testing.T, g *Group[D, G, I, O, N, M], bob M, sig []byte) {
	if err := g.Register.Revoke("ada"); err != nil {
		t.Fatal(err)
	}
	list, err := any(g.Opener).(revoker[G]).RevocationList(g.Key, Terms, bbs.Revoked{Register: g.Register})
	if err != nil {
		t.Fatal(err)
	}
	gk := any(g.Key).(revocable)
	opts := s.Options()
	opts.Revocation, opts.Now = Again(t, list, gk.ParseRevocation), Now
	if n, err := gk.MarkListed(g.Register, list, Now); err != nil || n != 1 {
		t.Errorf("%d listed, %v", n, err)
	}
	if err := g.Key.Verify([]byte("yes"), sig, opts); err != bbs.ErrRevoked {
		t.Errorf("%v, want %v", err, bbs.ErrRevoked)
	}
	if err := g.Key.Verify([]byte("x"), g.Sign(bob, "x"), opts); err != nil {
		t.Error(err)
	}
}

// Signatures have the published size.
func (s *Suite[D, G, I, O, N, M]) size(t *testing.T) {
	if n := s.New(t, "test", s.SizeFeatures).Key.SignatureSize(); n != s.SignatureSize {
		t.Errorf("%d bytes", n)
	}
}

func (s *Suite[D, G, I, O, N, M]) foreignFeatures(t *testing.T) {
	for bit := range 16 {
		if f := bbs.Features(1) << bit; f&s.Known == 0 {
			if _, err := s.NewDraft("test", f); err == nil {
				t.Errorf("features %#x", uint16(f))
			}
		}
	}
}

// One group key serves many goroutines, with hostile signatures mixed in. None of them
// poisons what is precomputed: neither the identity, for which every later check could
// hold, nor a forgery.
func (s *Suite[D, G, I, O, N, M]) concurrent(t *testing.T) {
	g := s.New(t, "test", s.SizeFeatures)
	ada, opts := g.Join("ada"), s.Options()
	good := g.Sign(ada, "yes")
	identity := bytes.Clone(good)
	for i := range 2 {
		copy(identity[48*i:], append([]byte{0xc0}, make([]byte, 47)...))
	}
	swapped := slices.Concat(good[48:96], good[48:])
	scalar := bytes.Clone(good)
	scalar[len(scalar)-10] ^= 1
	sigs := [][]byte{good, identity, swapped, scalar}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for j := range sigs {
				n := (i + j) % len(sigs)
				if err := g.Key.Verify([]byte("yes"), sigs[n], opts); (err == nil) != (n == 0) {
					t.Errorf("signature %d: %v", n, err)
				}
			}
			if i%16 == 0 {
				b := s.Batch(g.Key)
				for j := range 8 {
					b.Add([]byte("yes"), sigs[j%4], opts)
				}
				if err, ok := b.Verify().(*bbs.BatchError); !ok || len(err.Bad) != 6 {
					t.Errorf("batch says %v", err)
				}
				if _, err := ada.Sign([]byte("no"), bbs.SignOptions{Scope: s.Scope}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func (s *Suite[D, G, I, O, N, M]) zeroValues(t *testing.T) {
	d, g, i, o, n, m := s.Zero()
	zerotest.Test(t, append([]any{d, g, i, o, n, m, s.ZeroBatch(), new(bbs.Opening), new(bbs.Announcement)}, s.ZeroOthers...),
		"Batch.Verify", "Announcement.Replaces", "Announcement.Follows", "Revocation.Replaces", "Revocation.Follows")
	// What is added to a batch of no group is refused.
	for _, b := range []Batch{s.ZeroBatch(), s.Batch(g)} {
		b.Add(nil, nil, bbs.VerifyOptions{})
		if b.Verify() == nil {
			t.Error("accepted")
		}
	}
}
