// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokentest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/groupsig/internal/zerotest"
)

// Run runs the tests that need no more than the suite has.
func (s *Suite[P, G, I, O, J, M, S, R, C]) Run(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"life cycle", s.lifeCycle}, {"other statements", s.otherStatements}, {"concurrent", s.concurrent},
		{"redacted", s.redacted}, {"wiped", s.wiped}, {"empty group", s.emptyGroup}, {"zero values", s.zeroValues},
		{"batch", s.batch}, {"revocation", s.revocation}, {"revocation in a batch", s.batchRevocation},
		{"replay", s.replay}, {"challenges", s.challenges}, {"records", s.records}, {"consent", s.consent}, {"weak opener", s.weakOpener},
		{"openings", s.openings}, {"unregistered", s.unregistered}, {"open", s.badOpen},
		{"round trips", s.roundTrips}, {"equal", s.equal}, {"hostile encodings", s.hostileEncodings},
		{"stored", s.Stored},
	} {
		t.Run(test.name, test.run)
	}
}

// refused reports what was accepted.
func refused(t *testing.T, errs map[string]error) {
	t.Helper()
	for name, err := range errs {
		t.Run(name, func(t *testing.T) {
			t.Helper()
			if err == nil {
				t.Error("accepted")
			}
		})
	}
}

func (s *Suite[P, G, I, O, J, M, S, R, C]) lifeCycle(t *testing.T) {
	f := s.Group()
	msg := []byte("hello")
	for _, name := range []string{"alice", "bob", "carol"} {
		sig := f.Sign(name, "hello")
		if err := f.G.Verify(msg, sig, nil); err != nil {
			t.Fatal(err)
		}
		if n := len(sig.Bytes()); n != s.SignatureSize {
			t.Errorf("signature of %d bytes", n)
		}
		o, err := f.Open("hello", sig)
		if err != nil || o.Member() != name {
			t.Fatalf("opened %v, %v: want %s", o, err, name)
		}
		if err := f.G.VerifyOpening(msg, sig, o, LongTermPublic(name), nil); err != nil {
			t.Error(err)
		}
	}
	if f.Sign("bob", "hello").Equal(f.Sign("bob", "hello")) {
		t.Error("two signatures are equal")
	}
	if m := f.Members["bob"]; m.Member() != "bob" || !m.Group().Equal(f.G) || f.G.Label() != "test" {
		t.Errorf("%s of %s", m.Member(), f.G.Label())
	}
}

// A signature holds for one message, context and group.
func (s *Suite[P, G, I, O, J, M, S, R, C]) otherStatements(t *testing.T) {
	f := s.Group()
	sig := Must(s.Sign(f.Members["alice"], []byte("m"), []byte("ctx")))
	ctx := &tokens.VerifyOptions{Context: []byte("ctx")}
	if err := f.G.Verify([]byte("m"), sig, ctx); err != nil {
		t.Fatal(err)
	}
	// One issuer and opener under another label are another group.
	label := Must(s.Setup("test2", f.Issuer, f.Opener))
	refused(t, map[string]error{
		"message":    f.G.Verify([]byte("n"), sig, ctx),
		"no message": f.G.Verify(nil, sig, ctx),
		"no context": f.G.Verify([]byte("m"), sig, nil),
		"context":    f.G.Verify([]byte("m"), sig, &tokens.VerifyOptions{Context: []byte("ctxm")}),
		"shifted":    f.G.Verify([]byte("xm"), sig, &tokens.VerifyOptions{Context: []byte("ct")}),
		"group":      s.Other().G.Verify([]byte("m"), sig, ctx),
		"label":      label.Verify([]byte("m"), sig, ctx),
	})
}

// flipped returns a signature whose last scalar is another.
func (s *Suite[P, G, I, O, J, M, S, R, C]) flipped(sig S) S {
	raw := sig.Bytes()
	raw[len(raw)-1] ^= 1
	return Must(s.Parse(raw))
}

func (s *Suite[P, G, I, O, J, M, S, R, C]) batch(t *testing.T) {
	f := s.Group()
	b := s.Batch(f.G, nil)
	if err := b.Verify(); err != nil {
		t.Errorf("empty batch: %v", err)
	}
	for i := range 12 {
		msg := fmt.Sprint("message ", i)
		sig := f.Sign([]string{"alice", "bob", "carol"}[i%3], msg)
		switch i {
		case 3:
			msg = "another"
		case 7:
			sig = s.flipped(sig)
		case 11:
			var none S
			sig = none
		}
		b.Add([]byte(msg), sig)
	}
	if b.Len() != 12 {
		t.Errorf("%d signatures", b.Len())
	}
	var bad *tokens.BatchError
	if err := b.Verify(); !errors.As(err, &bad) || !slices.Equal(bad.Bad, []int{3, 7, 11}) || !errors.Is(err, s.ErrSignature) {
		t.Errorf("batch: %v", err)
	}
	stale := s.Batch(f.G, &tokens.VerifyOptions{Revocation: f.List(1), Now: Now + 1000})
	if err := stale.Verify(); !errors.As(err, new(*tokens.StaleError)) {
		t.Errorf("stale list: %v", err)
	}
}

// One group key is used by many verifiers, with bad signatures among the good.
func (s *Suite[P, G, I, O, J, M, S, R, C]) concurrent(t *testing.T) {
	f := s.Group()
	good := []S{f.Sign("alice", "m"), f.Sign("bob", "m")}
	zero, bad := s.Zero().Signature, s.flipped(f.Sign("carol", "m"))
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			sig := []S{good[0], zero, good[1], bad}[i%4]
			if err := f.G.Verify([]byte("m"), sig, nil); (err == nil) != (i%2 == 0) {
				t.Errorf("goroutine %d: %v", i, err)
			}
			if i%16 == 0 {
				if sig, err := s.Sign(f.Members["alice"], []byte("m"), nil); err != nil || f.G.Verify([]byte("m"), sig, nil) != nil {
					t.Error("signing")
				}
			}
		})
	}
	wg.Wait()
}

// Printing shows no secret, whatever the verb.
func (s *Suite[P, G, I, O, J, M, S, R, C]) redacted(t *testing.T) {
	f := s.Group()
	j := f.NewJoin("zoe")
	defer f.Sessions.Cancel(j.Request().Session())
	m, z := f.Members["alice"], s.Zero()
	_, issuer, opener := s.Core(f.G, f.Issuer, f.Opener)
	x, y := issuer.Secrets()
	z0, z1 := opener.Secrets()
	seed := opener.Key.Seed()
	secrets := append(s.Secrets(m, j), x.Bytes(), y.Bytes(), seed[:])
	if !z0.IsZero() {
		secrets = append(secrets, z0.Bytes(), z1.Bytes())
	}
	values := []any{f.Issuer, f.Opener, m, j, z.Member, z.Issuer, z.Opener, z.Join}
	for _, v := range slices.Clone(values) {
		values = append(values, deref(v))
	}
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d", "%q"} {
			out := strings.ToLower(fmt.Sprintf(verb, v))
			for _, k := range secrets {
				if strings.Contains(out, fmt.Sprintf("%x", k[4:12])) {
					t.Errorf("%s of a %T shows a secret", verb, v)
				}
			}
			if len(out) > 100 {
				t.Errorf("%s of a %T: %s", verb, v, out)
			}
		}
	}
}

func (s *Suite[P, G, I, O, J, M, S, R, C]) wiped(t *testing.T) {
	f := s.New("wipe", "alice")
	sig := f.Sign("alice", "m")
	j := f.NewJoin("bob")
	cred := Must(f.Issue(j.Request()))
	m := f.Members["alice"]
	p := s.Propose("x", f.Issuer.Public(), f.Opener.Public())
	for range 2 {
		j.Wipe()
		f.Issuer.Wipe()
		f.Opener.Wipe()
		m.Wipe()
	}
	errs := map[string]error{}
	_, errs["finish"] = j.Finish(cred)
	_, errs["join"] = j.MarshalBinary()
	_, errs["sign"] = s.Sign(m, nil, nil)
	_, errs["member"] = m.MarshalBinary()
	_, errs["issuer"] = f.Issuer.MarshalBinary()
	_, errs["issue"] = f.Issue(j.Request())
	_, errs["invite"] = s.Invite(f.Issuer, f.Sessions, "x", LongTermPublic("x"), Now, 1)
	_, errs["issuer's consent"] = f.Issuer.Consent(p)
	_, errs["opener's consent"] = f.Opener.Consent(p)
	_, errs["opener"] = f.Opener.MarshalBinary()
	_, errs["open"] = f.Open("m", sig)
	_, errs["list"] = f.Opener.RevocationList(f.G, f.Opening, tokens.Terms{})
	errs["record"] = f.Opener.Record(f.G, f.Opening, f.Register.Member("bob"), LongTermPublic("bob"))
	_, errs["setup"] = s.Setup("x", f.Issuer, f.Opener)
	refused(t, errs)
	if m.Equal(m) || f.Issuer.Equal(f.Issuer) || f.Opener.Equal(f.Opener) {
		t.Error("a wiped key equals itself")
	}
}

// An empty group key verifies nothing.
func (s *Suite[P, G, I, O, J, M, S, R, C]) emptyGroup(t *testing.T) {
	sig, g := s.Group().Sign("alice", "m"), s.Zero().GroupKey
	b := s.Batch(g, nil)
	b.Add([]byte("m"), sig)
	_, list := g.ParseRevocationList(nil)
	refused(t, map[string]error{
		"alone": g.Verify([]byte("m"), sig, nil), "in a batch": b.Verify(), "a list": list,
	})
	if err := g.Verify([]byte("m"), sig, &tokens.VerifyOptions{Revocation: s.Group().List(1), Now: Now}); !errors.As(err, new(*tokens.StaleError)) {
		t.Errorf("another group's list: %v", err)
	}
}

func (s *Suite[P, G, I, O, J, M, S, R, C]) zeroValues(t *testing.T) {
	z := s.Zero()
	zerotest.Test(t, []any{
		z.Proposal, z.GroupKey, z.Issuer, z.Opener, z.Join, z.Member, z.Signature, z.Request, z.Credential,
		new(tokens.Opening), new(tokens.List), s.ZeroBatch(),
	}, "Batch.Verify", "List.Replaces", "List.Follows", "List.Check")
	// What is added to a batch of no group is refused.
	for _, b := range []Batch[S]{s.ZeroBatch(), s.Batch(z.GroupKey, nil)} {
		b.Add(nil, z.Signature)
		if b.Verify() == nil {
			t.Error("accepted")
		}
	}
}
