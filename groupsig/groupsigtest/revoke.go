// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsigtest

import (
	"errors"
	"slices"

	"github.com/undersign/undersign/groupsig"
)

// stale demands that a state is refused, not used and not passed over.
func (g *group) stale(what string, s groupsig.Signed) {
	g.t.Helper()
	var se *groupsig.StaleError
	if err := g.verify(s); !errors.As(err, &se) {
		g.t.Errorf("%s: %v, want that the state is stale", what, err)
	}
	b := g.gk.(groupsig.BatchVerifier).Batch(s.Options)
	b.Add(s.Message, s.Signature)
	if err := b.Verify(); !errors.As(err, &se) {
		g.t.Errorf("%s: batch: %v, want that the state is stale", what, err)
	}
}

// with returns a signature to verify under a state.
func with(s groupsig.Signed, r groupsig.Revocation, at int64) groupsig.Signed {
	s.Options.Revocation, s.Options.Now = r, at
	return s
}

var terms = groupsig.Terms{Number: 5, Issued: now, Expires: now + hour}

// staleStates tries a good signature under states that aren't in force.
func (g *group) staleStates(s groupsig.Signed, r groupsig.Revocation) {
	g.t.Helper()
	if r.Number() != 5 || r.Issued() != now || r.Expires() != now+hour {
		g.t.Error("another state than what was asked for")
	}
	g.check(g.verify(with(s, r, now)))
	g.check(g.verify(with(s, r, now+hour)))
	g.stale("expired", with(s, r, now+hour+1))
	g.stale("not in force", with(s, r, now-1))
	g.stale("at no time", with(s, r, 0))
	old := with(s, r, now)
	old.Options.MinNumber = 5
	g.check(g.verify(old))
	old.Options.MinNumber = 6
	g.stale("an older one", old)

	other := newGroup(g.t, g.scheme, g.f, "conformance")
	if _, err := other.gk.(groupsig.RevocationReader).ParseRevocation(g.encoded(r)); err == nil {
		g.t.Error("another group takes the state")
	}
	if g.f.Has(groupsig.Token) {
		foreign := must(other.opener.(groupsig.Revoker).RevocationList(other.gk, other.opening, terms, nil))(g)
		g.stale("another group's", with(s, foreign, now))
	}
}

func testRevokeList(g *group) {
	if !g.f.Has(groupsig.Token) {
		if r, ok := g.opener.(groupsig.Revoker); ok {
			if _, err := r.RevocationList(g.gk, g.opening, terms, nil); err == nil {
				g.t.Error("a list without tokens")
			}
		}
		return
	}
	revoker, parse := g.opener.(groupsig.Revoker), g.gk.(groupsig.RevocationReader).ParseRevocation
	ada, bob := g.signed("ada", "m", "s"), g.signed("bob", "m", "s")
	elsewhere := g.signed("ada", "m", "elsewhere")
	empty := again(g, must(revoker.RevocationList(g.gk, g.opening, terms, nil))(g), parse)
	if empty.Len() != 0 {
		g.t.Errorf("%d are revoked", empty.Len())
	}
	g.check(g.verify(with(ada, empty, now)))

	opening := must(into(g.gk.NewRegister)(g.encoded(g.opening)))(g)
	g.check(opening.Revoke("ada"))
	opening = again(g, opening, into(g.gk.NewRegister))
	list := again(g, must(revoker.RevocationList(g.gk, opening, terms, nil))(g), parse)
	if list.Len() != 1 {
		g.t.Errorf("%d are revoked", list.Len())
	}
	for _, s := range []groupsig.Signed{ada, elsewhere} {
		if err := g.verify(with(s, list, now)); !errors.Is(err, groupsig.ErrRevoked) {
			g.t.Errorf("%v, want %v", err, groupsig.ErrRevoked)
		}
		s.Message = []byte("n")
		if err := g.verify(with(s, list, now)); !errors.Is(err, groupsig.ErrSignature) {
			g.t.Errorf("%v, want %v", err, groupsig.ErrSignature)
		}
	}
	g.staleStates(bob, list)
	b := g.gk.(groupsig.BatchVerifier).Batch(with(bob, list, now).Options)
	for i := range 8 {
		s := bob
		if i == 6 {
			s = ada
		}
		b.Add(s.Message, s.Signature)
	}
	g.bad(b, []int{6})
	// Who is revoked can still be opened.
	if o, err := g.opener.Open(g.gk, opening, ada.Message, ada.Signature, ada.Options, nil); err != nil || o.Member() != "ada" {
		g.t.Error("opening a revoked member's signature", err)
	}
	// A list that somebody else makes, or changes.
	if _, err := must(g.scheme.GenerateOpenerKey(g.f))(g).(groupsig.Revoker).RevocationList(g.gk, opening, terms, nil); err == nil {
		g.t.Error("another opener makes a list")
	}
	g.flips(g.encoded(list), 1, func(i int, data []byte) {
		if _, err := parse(data); err == nil {
			g.t.Errorf("byte %d of the list changed, and decoded", i)
		}
	})
	g.replaces(list, func(terms groupsig.Terms, base groupsig.Revocation) (groupsig.Revocation, error) {
		return revoker.RevocationList(g.gk, opening, terms, base)
	})
	if _, err := revoker.RevocationList(g.gk, opening, groupsig.Terms{Issued: now, Expires: now - 1}, nil); err == nil {
		g.t.Error("a list that expires before it is issued")
	}
}

// replaces tries states that may take the place of one with the number 5, and others.
func (g *group) replaces(state groupsig.Revocation, sign func(groupsig.Terms, groupsig.Revocation) (groupsig.Revocation, error)) {
	g.t.Helper()
	next := terms
	next.Number++
	later := must(sign(next, state))(g)
	g.check(groupsig.Replaces(state, nil))
	g.check(groupsig.Replaces(state, state))
	g.check(groupsig.Replaces(later, state))
	twice := terms
	twice.Expires++
	for what, err := range map[string]error{
		"an older one":                   groupsig.Replaces(state, later),
		"another one of the same number": groupsig.Replaces(must(sign(twice, nil))(g), state),
		"none":                           groupsig.Replaces(nil, state),
	} {
		if !errors.As(err, new(*groupsig.StaleError)) {
			g.t.Errorf("%s: %v, want that it is stale", what, err)
		}
	}
	for _, terms := range []groupsig.Terms{terms, {Number: 4, Issued: now, Expires: now + hour}} {
		if _, err := sign(terms, state); err == nil {
			g.t.Errorf("signed number %d after 5", terms.Number)
		}
	}
}

func testRevokePseudonyms(g *group) {
	r, ok := g.issuer.(groupsig.PseudonymRevoker)
	other := must(g.scheme.ParseIssuerKey(g.encoded(g.scheme.GenerateIssuerKey())))(g).(groupsig.Role)
	if g.opener != nil {
		if ok {
			if _, err := r.RevokePseudonyms(g.gk, terms, nil); err == nil {
				g.t.Error("the issuer signs a list in a group with an opener")
			}
		}
		r, ok = g.opener.(groupsig.PseudonymRevoker)
		other = must(g.scheme.GenerateOpenerKey(g.f))(g)
	}
	if !g.f.Has(groupsig.Scope) {
		if ok {
			if _, err := r.RevokePseudonyms(g.gk, terms, nil); err == nil {
				g.t.Error("a list of pseudonyms in a group without")
			}
		}
		return
	}
	reader, _ := groupsig.As[groupsig.RevocationReader](g.gk)
	parse := reader.ParseRevocation
	nyms := g.gk.(groupsig.LinkVerifier)
	ada, elsewhere, bob := g.signed("ada", "m", "s"), g.signed("ada", "m", "elsewhere"), g.signed("bob", "m", "s")
	nym := func(s groupsig.Signed) []byte { return must(nyms.Pseudonym(s.Signature))(g) }
	state := again(g, must(r.RevokePseudonyms(g.gk, terms, nil, nym(ada)))(g), parse)
	if err := g.verify(with(g.signed("ada", "x", "s"), state, now)); !errors.Is(err, groupsig.ErrRevoked) {
		g.t.Errorf("%v, want %v", err, groupsig.ErrRevoked)
	}
	g.check(g.verify(with(elsewhere, state, now)))
	g.staleStates(bob, state)
	g.flips(g.encoded(state), 1, func(i int, data []byte) {
		if _, err := parse(data); err == nil {
			g.t.Errorf("byte %d of the list changed, and decoded", i)
		}
	})
	g.replaces(state, func(terms groupsig.Terms, base groupsig.Revocation) (groupsig.Revocation, error) {
		return r.RevokePseudonyms(g.gk, terms, base)
	})
	next := terms
	next.Number++
	more := again(g, must(r.RevokePseudonyms(g.gk, next, state, nym(bob), nym(bob)))(g), parse)
	if more.Len() != 2 {
		g.t.Errorf("%d are revoked", more.Len())
	}
	for _, s := range []groupsig.Signed{ada, bob} {
		if err := g.verify(with(s, more, now)); !errors.Is(err, groupsig.ErrRevoked) {
			g.t.Errorf("%v, want %v", err, groupsig.ErrRevoked)
		}
	}
	// A batch says of each why it is refused.
	b := g.gk.(groupsig.BatchVerifier).Batch(with(bob, state, now).Options)
	for i := range 8 {
		switch i {
		case 2:
			b.Add(ada.Message, ada.Signature)
		case 5:
			b.Add([]byte("n"), bob.Signature)
		default:
			b.Add(bob.Message, bob.Signature)
		}
	}
	var be *groupsig.BatchError
	if err := b.Verify(); !errors.As(err, &be) || !slices.Equal(be.Bad, []int{2, 5}) || len(be.Errs) != 2 ||
		!errors.Is(be.Errs[0], groupsig.ErrRevoked) || !errors.Is(be.Errs[1], groupsig.ErrSignature) || errors.Is(be.Errs[1], groupsig.ErrRevoked) {
		g.t.Errorf("batch says %v", err)
	}
	// A list that a mere member makes.
	if _, err := other.(groupsig.PseudonymRevoker).RevokePseudonyms(g.gk, terms, nil, nym(ada)); err == nil {
		g.t.Error("a key that isn't the group's signs a list")
	}
	for _, bad := range [][]byte{nil, point(0xc0, 0), point(0x80, 0), nym(ada)[:47]} {
		if _, err := r.RevokePseudonyms(g.gk, terms, nil, bad); err == nil {
			g.t.Errorf("%x is a pseudonym", bad)
		}
	}
}

// testAnnounce has the issuer say which epochs are accepted.
func testAnnounce(g *group) {
	reader, ok := groupsig.As[groupsig.AnnouncementReader](g.gk)
	if ok != g.f.Has(groupsig.Epoch) {
		g.t.Fatal("As doesn't go by the features")
	}
	issuer, _ := g.issuer.(groupsig.Announcer)
	if !ok {
		if issuer != nil {
			if _, err := issuer.Announce(g.gk, terms, epoch, epoch); err == nil {
				g.t.Error("announces epochs that there aren't")
			}
		}
		return
	}
	announce := func(oldest, newest uint64) groupsig.Announcement {
		g.t.Helper()
		a := again(g, must(issuer.Announce(g.gk, terms, oldest, newest))(g), reader.ParseAnnouncement)
		if a.Oldest() != oldest || a.Epoch() != newest || a.Number() != 5 {
			g.t.Error("another announcement")
		}
		return a
	}
	s := g.signed("ada", "m", "s")
	under := func(a groupsig.Announcement, at int64) groupsig.Signed {
		s := s
		s.Options.MinEpoch, s.Options.MaxEpoch = 0, 0
		s.Options.Announcement, s.Options.Now = a, at
		return s
	}
	a := announce(epoch-1, epoch)
	g.check(g.verify(under(a, now)))
	g.stale("expired", under(a, now+hour+1))
	g.stale("not in force", under(a, now-1))
	g.stale("at no time", under(a, 0))
	old := under(a, now)
	old.Options.MinAnnouncement = 6
	g.stale("an older one", old)
	for what, a := range map[string]groupsig.Announcement{"ended": announce(epoch+1, epoch+2), "to come": announce(0, epoch-1)} {
		x := under(a, now)
		g.refuses(what, x.Message, x.Signature, x.Options)
	}
	both := under(a, now)
	both.Options.MaxEpoch = epoch
	if g.verify(both) == nil {
		g.t.Error("epochs are said twice")
	}
	g.flips(g.encoded(a), 1, func(i int, data []byte) {
		if _, err := reader.ParseAnnouncement(data); err == nil {
			g.t.Errorf("byte %d of the announcement changed, and decoded", i)
		}
	})
	g.check(groupsig.Replaces(a, a))
	if err := groupsig.Replaces(announce(epoch, epoch), a); !errors.As(err, new(*groupsig.StaleError)) {
		g.t.Errorf("%v, want that there is another one with the number", err)
	}
	other := newGroup(g.t, g.scheme, g.f, "conformance")
	if _, err := other.gk.(groupsig.AnnouncementReader).ParseAnnouncement(g.encoded(a)); err == nil {
		g.t.Error("another group takes the announcement")
	}
	if _, err := other.issuer.(groupsig.Announcer).Announce(g.gk, terms, epoch, epoch); err == nil {
		g.t.Error("another issuer announces")
	}
	if _, err := issuer.Announce(g.gk, terms, epoch+1, epoch); err == nil {
		g.t.Error("no epoch is accepted")
	}
}

// testRejoin has a member revoked who joins again while its old credential is still
// accepted: it would have two pseudonyms in a scope.
func testRejoin(g *group) {
	h := *g
	h.register = must(into(g.gk.NewRegister)(g.encoded(g.register)))(g)
	h.sessions = g.gk.NewSessions()
	again := func(epoch uint64) error {
		g.t.Helper()
		_, m2 := h.apply("bob")
		_, err := g.issuer.Issue(g.gk, h.sessions, h.register, m2, now, epoch)
		return err
	}
	early := func(what string) {
		g.t.Helper()
		var re *groupsig.RejoinError
		if err := again(g.epoch); !errors.As(err, &re) || re.Member != "bob" || re.Epoch != g.epoch {
			g.t.Errorf("%s: %v, want that it is too early", what, err)
		}
	}
	if err := again(g.epoch); err == nil || errors.As(err, new(*groupsig.RejoinError)) {
		g.t.Errorf("a live member: %v", err)
	}
	g.check(h.register.Revoke("bob"))
	h.register = must(into(g.gk.NewRegister)(g.encoded(h.register)))(g)
	early("at once")
	if g.f.Has(groupsig.Token) {
		opening := must(into(g.gk.NewRegister)(g.encoded(g.opening)))(g)
		reader := g.gk.(groupsig.RevocationReader)
		mark := func(want int) {
			g.t.Helper()
			list := must(g.opener.(groupsig.Revoker).RevocationList(g.gk, opening, terms, nil))(g)
			if _, err := reader.MarkListed(h.register, list, now+hour+1); err == nil {
				g.t.Error("a stale list marks members")
			}
			if n := must(reader.MarkListed(h.register, list, now))(g); n != want {
				g.t.Errorf("%d marked, want %d", n, want)
			}
		}
		g.check(opening.Revoke("ada"))
		mark(0)
		early("somebody else is listed")
		g.check(opening.Revoke("bob"))
		mark(1)
		h.register = must(into(g.gk.NewRegister)(g.encoded(h.register)))(g)
		g.check(again(g.epoch))
		return
	}
	if g.f.Has(groupsig.Epoch) {
		g.check(again(g.epoch + 1))
	}
}

func testRevokeEpoch(g *group) {
	_, ok := groupsig.As[groupsig.Updater](g.members["carol"])
	if ok != g.f.Has(groupsig.Epoch) {
		g.t.Fatal("As doesn't go by the features")
	}
	if !ok {
		if r, ok := g.issuer.(groupsig.Reissuer); ok {
			if _, err := r.Reissue(g.gk, g.register, "carol", 1); err == nil {
				g.t.Error("a credential for an epoch")
			}
		}
		return
	}
	h := *g
	h.members = map[string]groupsig.MemberKey{"carol": must(g.gk.ParseMemberKey(g.encoded(g.members["carol"])))(g)}
	m, _ := groupsig.As[groupsig.Updater](h.members["carol"])
	register := must(into(g.gk.NewRegister)(g.encoded(g.register)))(g)
	issuer := g.issuer.(groupsig.Reissuer)
	next := must(issuer.Reissue(g.gk, register, "carol", epoch+1))(g)
	for what, err := range map[string]error{
		"another epoch than the announced one": m.Update(next, epoch+2),
		"another member's":                     m.Update(must(issuer.Reissue(g.gk, register, "ada", epoch+1))(g), epoch+1),
		"none":                                 m.Update(nil, epoch+1),
	} {
		if err == nil {
			g.t.Errorf("credential: %s: taken", what)
		}
	}
	g.flips(next, 1, func(i int, b []byte) {
		if m.Update(b, epoch+1) == nil {
			g.t.Errorf("byte %d of the credential changed, and taken", i)
		}
	})
	if m.Epoch() != epoch {
		g.t.Errorf("in epoch %d", m.Epoch())
	}
	g.check(m.Update(next, epoch+1))
	s := h.signed("carol", "m", "s")
	g.refuses("the next epoch's", s.Message, s.Signature, g.options("s"))
	h.epoch++
	g.check(g.gk.Verify(s.Message, s.Signature, h.options("s")))
	old := g.signed("ada", "m", "s")
	g.refuses("the last epoch's", old.Message, old.Signature, h.options("s"))

	g.check(register.Revoke("carol"))
	if _, err := issuer.Reissue(g.gk, register, "carol", epoch+2); err == nil {
		g.t.Error("a revoked member gets a credential")
	}
	if _, err := issuer.Reissue(g.gk, register, "nobody", epoch+2); err == nil {
		g.t.Error("nobody gets a credential")
	}
}
