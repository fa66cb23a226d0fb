// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokentest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/bls12381"
)

// A request gets one answer: libgroupsig's issuer takes the same message twice.
func (s *Suite[P, G, I, O, J, M, S, R, C]) replay(t *testing.T) {
	f := s.New("replay")
	c := f.Invite("alice")
	j := Must(s.NewJoin(f.G, f.G.ID(), c, "alice", LongTerm("alice")))
	first := Must(f.Issue(j.Request()))
	again, err := f.Issue(j.Request())
	if err != nil || !bytes.Equal(Must(again.MarshalBinary()), Must(first.MarshalBinary())) {
		t.Errorf("the same request got another answer: %v", err)
	}
	if f.Register.Len() != 1 {
		t.Errorf("%d records", f.Register.Len())
	}
	errs := map[string]error{}
	_, errs["another request in the session"] = f.Issue(Must(s.NewJoin(f.G, f.G.ID(), c, "alice", LongTerm("alice"))).Request())
	_, errs["a live member's second credential"] = f.Issue(f.NewJoin("alice").Request())
	_, errs["a registered point, by another"] = f.Issue(Must(s.Answer(j, f.Invite("bob"), LongTerm("bob"))))
	refused(t, errs)
	if f.Register.Len() != 1 {
		t.Errorf("%d records", f.Register.Len())
	}
}

// Requests tests the issuer's checks. A request that fails leaves the session open, and the
// register empty. The edits change a request of alice, without a new proof, with bob's at
// hand; the forged requests, for the same join, are the package's.
func (s *Suite[P, G, I, O, J, M, S, R, C]) Requests(t *testing.T, edits map[string]func(r, bobs R) R, forged map[string]func(j J, c *join.Challenge) R) {
	f := s.New("requests")
	c := f.Invite("alice")
	j := Must(s.NewJoin(f.G, f.G.ID(), c, "alice", LongTerm("alice")))
	good, bobs := j.Request(), f.NewJoin("bob").Request()
	stranger := s.Other().NewJoin("alice")
	defer s.Other().Sessions.Cancel(stranger.Request().Session())
	prepared := func(name string, edit func(*join.Challenge)) R {
		other := *c
		edit(&other)
		return Must(s.Answer(j, &other, LongTerm(name)))
	}
	bad := map[string]R{
		"empty":               s.Zero().Request,
		"of another group":    stranger.Request(),
		"another's signature": prepared("bob", func(*join.Challenge) {}),
		"another nonce":       prepared("alice", func(c *join.Challenge) { c.Nonce[0] ^= 1 }),
		"another identity":    prepared("alice", func(c *join.Challenge) { c.Member = "bob" }),
	}
	for name, edit := range edits {
		bad[name] = edit(good, bobs)
	}
	for name, forge := range forged {
		bad[name] = forge(j, c)
	}
	errs := map[string]error{}
	for name, r := range bad {
		_, errs[name] = f.Issue(r)
	}
	if f.Register.Len() != 0 {
		t.Errorf("%d records", f.Register.Len())
	}
	_, errs["after the session's end"] = f.Issuer.Issue(f.G, f.Sessions, f.Register, good, Now+3600)
	_, errs["for another issuer's group"] = f.Issuer.Issue(s.Other().G, f.Sessions, f.Register, good, Now)
	_, errs["by another issuer"] = s.Other().Issuer.Issue(f.G, f.Sessions, f.Register, good, Now)
	_, errs["with the register of another group"] = f.Issuer.Issue(f.G, f.Sessions, s.Other().G.NewRegister(), good, Now)
	f.Register.Durable = func([]byte) error { return errors.New("disk full") }
	_, errs["without a durable record"] = f.Issue(good)
	refused(t, errs)
	stored := 0
	f.Register.Durable = func([]byte) error { stored++; return nil }
	if _, err := f.Issue(good); err != nil || stored != 1 {
		t.Errorf("%v; %d records stored", err, stored)
	}
}

// What a member refuses to answer.
func (s *Suite[P, G, I, O, J, M, S, R, C]) challenges(t *testing.T) {
	f := s.New("challenges")
	c := f.Invite("alice")
	key := LongTerm("alice")
	other := *c
	other.Scheme = "another"
	errs := map[string]error{}
	_, errs["another fingerprint"] = s.NewJoin(f.G, s.Other().G.ID(), c, "alice", key)
	_, errs["another group"] = s.NewJoin(s.Other().G, s.Other().G.ID(), c, "alice", key)
	_, errs["another identity"] = s.NewJoin(f.G, f.G.ID(), c, "bob", key)
	_, errs["a bad key"] = s.NewJoin(f.G, f.G.ID(), c, "alice", key[:10])
	_, errs["an empty group"] = s.NewJoin(s.Zero().GroupKey, [32]byte{}, c, "alice", key)
	_, errs["another scheme"] = s.NewJoin(f.G, f.G.ID(), &other, "alice", key)
	_, errs["an invitation of nobody"] = s.Invite(f.Issuer, f.Sessions, "", LongTermPublic("x"), Now, 60)
	refused(t, errs)
}

// Credentials tests what a member refuses of a malicious issuer. Move returns a copy of a
// credential, for the session of another. The edits change alice's, with bob's at hand.
func (s *Suite[P, G, I, O, J, M, S, R, C]) Credentials(t *testing.T, move func(c, to C) C, edits map[string]func(c, bobs C)) {
	f := s.New("credentials")
	j, forOther := f.NewJoin("alice"), f.NewJoin("bob")
	cred, bobs := Must(f.Issue(j.Request())), Must(f.Issue(forOther.Request()))
	errs := map[string]error{}
	_, errs["empty"] = j.Finish(move(s.Zero().Credential, cred))
	_, errs["another session's"] = j.Finish(move(cred, bobs))
	_, errs["another's"] = j.Finish(move(bobs, cred))
	_, errs["another's, in its session"] = j.Finish(bobs)
	_, errs["another issuer's"] = j.Finish(s.Credential(s.Other().Issuer, f.G, j.Request()))
	for name, edit := range edits {
		c := move(cred, cred)
		edit(c, bobs)
		_, errs[name] = j.Finish(c)
	}
	refused(t, errs)
	if _, err := j.Finish(cred); err != nil {
		t.Error(err)
	}
}

// The opener checks a record by itself.
func (s *Suite[P, G, I, O, J, M, S, R, C]) records(t *testing.T) {
	f := s.New("records")
	Must(f.Issue(f.NewJoin("alice").Request()))
	good := f.Register.Member("alice")
	key := LongTermPublic("alice")
	generator := bls12381.G1Generator().Bytes()
	errs := map[string]error{}
	for name, edit := range map[string]func(*join.Record){
		"empty":         func(r *join.Record) { *r = join.Record{} },
		"group":         func(r *join.Record) { r.GroupID[0] ^= 1 },
		"scheme":        func(r *join.Record) { r.Scheme = "another" },
		"session":       func(r *join.Record) { r.Session[0] ^= 1 },
		"member":        func(r *join.Record) { r.Member = "bob" },
		"point":         func(r *join.Record) { r.Point = bytes.Repeat(generator, len(r.Point)/len(generator)) },
		"signature":     func(r *join.Record) { r.Signature[3] ^= 1 },
		"no evidence":   func(r *join.Record) { r.Evidence = nil },
		"nonce":         func(r *join.Record) { r.Evidence[0] ^= 1 },
		"proof":         func(r *join.Record) { r.Evidence[len(r.Evidence)-1] ^= 1 },
		"token":         func(r *join.Record) { copy(r.Evidence[s.TokenAt:], bls12381.G2Generator().Bytes()) },
		"trailing byte": func(r *join.Record) { r.Evidence = append(r.Evidence, 0) },
	} {
		r := *good
		r.Evidence, r.Signature = bytes.Clone(r.Evidence), bytes.Clone(r.Signature)
		edit(&r)
		errs[name] = f.Opener.Record(f.G, f.Opening, &r, key)
	}
	// Somebody else's registration of alice's points.
	stolen := *good
	stolen.Member = "mallory"
	if err := stolen.Sign(LongTerm("mallory")); err != nil {
		t.Fatal(err)
	}
	errs["another's points"] = f.Opener.Record(f.G, f.Opening, &stolen, LongTermPublic("mallory"))
	errs["another's long-term key"] = f.Opener.Record(f.G, f.Opening, good, LongTermPublic("bob"))
	errs["by another opener"] = s.Other().Opener.Record(f.G, f.Opening, good, key)
	errs["in another group's register"] = f.Opener.Record(f.G, s.Other().G.NewRegister(), good, key)
	if f.Opening.Len() != 0 {
		t.Errorf("%d records", f.Opening.Len())
	}
	if err := f.Opener.Record(f.G, f.Opening, good, key); err != nil {
		t.Error(err)
	}
	errs["twice"] = f.Opener.Record(f.G, f.Opening, good, key)
	refused(t, errs)
}

// Issuer and opener must both have agreed to a group.
func (s *Suite[P, G, I, O, J, M, S, R, C]) consent(t *testing.T) {
	f := s.Group()
	issuer, opener := f.Issuer.Public(), f.Opener.Public()
	p, q := s.Propose("consent", issuer, opener), s.Propose("consent2", issuer, opener)
	a, b := Must(f.Issuer.Consent(p)), Must(f.Opener.Consent(p))
	a2, b2 := Must(f.Issuer.Consent(q)), Must(f.Opener.Consent(q))
	errs := map[string]error{}
	for name, c := range map[string][2][]byte{
		"none": {}, "no issuer": {nil, b}, "no opener": {a, nil}, "swapped": {b, a},
		"issuer to another group": {a2, b}, "opener to another group": {a, b2},
		"long": {append(bytes.Clone(a), 0), b}, "opener's is long": {a, append(bytes.Clone(b), 0)},
	} {
		_, errs[name] = p.GroupKey(c[0], c[1])
	}
	_, errs["another issuer's"] = s.Other().Issuer.Consent(p)
	_, errs["another opener's"] = s.Other().Opener.Consent(p)
	g, err := p.GroupKey(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if id, err := p.ID(); err != nil || id != g.ID() {
		t.Errorf("%v: the fingerprint isn't that of the proposal", err)
	}
	bad := map[string]P{
		"no label":        s.Propose("", issuer, opener),
		"a long label":    s.Propose(string(make([]byte, 256)), issuer, opener),
		"not UTF-8":       s.Propose("\xff", issuer, opener),
		"without issuer":  s.Propose("x", nil, opener),
		"without opener":  s.Propose("x", issuer, nil),
		"a short issuer":  s.Propose("x", issuer[:97], opener),
		"trailing issuer": s.Propose("x", append(bytes.Clone(issuer), 0), opener),
		"trailing opener": s.Propose("x", issuer, append(bytes.Clone(opener), 0)),
	}
	if _, _, k := s.Core(f.G, f.Issuer, f.Opener); len(k.Public()) > 2+bls12381.G2Size {
		equal := bytes.Clone(opener)
		copy(equal[2+bls12381.G2Size:], equal[2:2+bls12381.G2Size])
		bad["Z1 = Z0"] = s.Propose("x", issuer, equal)
	}
	for name, p := range bad {
		_, errs["ID: "+name] = p.ID()
		_, errs["issuer: "+name] = f.Issuer.Consent(p)
		_, errs["opener: "+name] = f.Opener.Consent(p)
		_, errs["group: "+name] = p.GroupKey(a, b)
	}
	refused(t, errs)
}

// Anybody can sign for an opener's key of small order: lists, and openings. One key must not
// decrypt both encryptions.
func (s *Suite[P, G, I, O, J, M, S, R, C]) weakOpener(t *testing.T) {
	opener := s.NewOpener()
	weak := opener.Public()
	list := weak[len(weak)-32:]
	clear(list)
	list[0] = 1
	if _, err := s.Propose("test", s.NewIssuer().Public(), weak).ID(); err == nil {
		t.Error("accepted")
	}
	b := Must(opener.MarshalBinary())
	if len(b) < 2+2*bls12381.ScalarSize {
		return // it has no keys to decrypt by
	}
	copy(b[2+bls12381.ScalarSize:], b[2:2+bls12381.ScalarSize])
	if s.Zero().Opener.UnmarshalBinary(b) == nil {
		t.Error("z1 = z0 is accepted")
	}
}
