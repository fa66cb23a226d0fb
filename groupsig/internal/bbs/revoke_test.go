// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/bls12381"
)

var listTerms = Terms{Number: 5, Issued: now, Expires: now + 100}

// list makes a list by the role that signs them, through its encoding.
func (g *group) list(terms Terms, v Revoked) *Revocation {
	g.t.Helper()
	r, err := g.tryList(terms, v)
	if err == nil {
		r, err = g.k.ParseRevocation(r.data())
	}
	if err != nil {
		g.t.Fatal(err)
	}
	return r
}

func (g *group) tryList(terms Terms, v Revoked) (*Revocation, error) {
	if g.opener != nil {
		return g.opener.RevocationList(g.k, terms, v)
	}
	return g.issuer.RevocationList(g.k, terms, v)
}

func (g *group) nym(m *MemberKey, scope string) []byte {
	g.t.Helper()
	nym, err := g.k.Pseudonym(g.sign(m, "x", scope, false))
	if err != nil {
		g.t.Fatal(err)
	}
	return nym
}

// judged demands a verdict on a member under some options: nil, ErrRevoked or a
// *StaleError, alone and in a batch, in both layouts.
func (g *group) judged(what string, m *MemberKey, opts VerifyOptions, want error) {
	g.t.Helper()
	is := func(err error) bool {
		if s, ok := want.(*StaleError); ok {
			return errors.As(err, &s)
		}
		return errors.Is(err, want)
	}
	for _, batch := range []bool{false, true} {
		sig := g.sign(m, "m", string(opts.Scope), batch)
		if err := g.k.Verify(msg("m"), sig, opts); !is(err) {
			g.t.Errorf("%s: %v, want %v", what, err, want)
		}
		b := g.k.Batch()
		good := opts
		good.Revocation, good.Announcement, good.MinEpoch, good.MaxEpoch = nil, nil, g.epoch, g.epoch
		for range 5 {
			b.Add(msg("m"), sig, good)
		}
		b.Add(msg("m"), sig, opts)
		err := b.Verify()
		if !is(err) {
			g.t.Errorf("%s: the batch says %v, want %v", what, err, want)
		}
		if be, ok := err.(*BatchError); ok && (!slices.Equal(be.Bad, []int{5}) || len(be.Errs) != 1 || !is(be.Errs[0])) {
			g.t.Errorf("%s: the batch says %+v", what, be)
		}
	}
}

func (g *group) under(r *Revocation, scope string, at int64) VerifyOptions {
	opts := g.opts(scope)
	opts.Revocation, opts.Now = r, at
	return opts
}

func TestRevocation(t *testing.T) {
	g := newGroup(t, Scope|Escrow|Token)
	ada, bob := g.join("ada"), g.join("bob")
	r := g.register.Member("ada")
	if err := g.opener.CheckRecord(g.k, r, g.public("ada")); err != nil {
		t.Fatal(err)
	}
	if g.opener.CheckRecord(g.k, r, g.public("bob")) == nil {
		t.Error("a record under another key")
	}
	empty := g.list(listTerms, Revoked{})
	if empty.Len() != 0 {
		t.Errorf("%d revoked", empty.Len())
	}
	g.judged("nobody revoked", ada, g.under(empty, "s", now), nil)

	nyms := g.list(listTerms, Revoked{Pseudonyms: [][]byte{g.nym(ada, "s")}})
	g.judged("her pseudonym", ada, g.under(nyms, "s", now), ErrRevoked)
	g.judged("another scope", ada, g.under(nyms, "other", now), nil)
	g.judged("another member", bob, g.under(nyms, "s", now), nil)

	if err := g.register.Revoke("ada"); err != nil {
		t.Fatal(err)
	}
	tokens := g.list(listTerms, Revoked{Register: g.register})
	g.judged("her token", ada, g.under(tokens, "s", now), ErrRevoked)
	g.judged("her token in another scope", ada, g.under(tokens, "other", now), ErrRevoked)
	g.judged("another member's token", bob, g.under(tokens, "s", now), nil)

	// The next list keeps what the last one had.
	next := listTerms
	next.Number++
	both := g.list(next, Revoked{Base: tokens, Pseudonyms: [][]byte{g.nym(bob, "s"), g.nym(bob, "s")}})
	if both.Len() != 2 {
		t.Errorf("%d revoked, want 2", both.Len())
	}
	g.judged("the last list's", ada, g.under(both, "other", now), ErrRevoked)
	g.judged("the new one's", bob, g.under(both, "s", now), ErrRevoked)
	g.judged("the new one's in another scope", bob, g.under(both, "other", now), nil)
	if err := both.Replaces(&tokens.State); err != nil {
		t.Error(err)
	}
	if tokens.Replaces(&both.State) == nil {
		t.Error("an older list replaces a newer one")
	}

	// A record whose token is another's.
	bad := *r
	bad.Evidence = bytes.Clone(r.Evidence)
	copy(bad.Evidence[33:33+192], g.register.Member("bob").Evidence[33:33+192])
	if _, err := g.opener.Token(g.k, &bad); err == nil {
		t.Error("another member's token")
	}
	register := g.k.NewRegister()
	if err := errors.Join(register.Add(&bad), register.Revoke("ada")); err != nil {
		t.Fatal(err)
	}
	if _, err := g.opener.RevocationList(g.k, listTerms, Revoked{Register: register}); err == nil {
		t.Error("a list of another member's token")
	}
}

// Lists that aren't in force are refused, not passed over.
func TestStaleLists(t *testing.T) {
	stale := new(StaleError)
	for _, f := range []Features{Scope, Scope | Escrow | Token | Epoch} {
		g := newGroup(t, f)
		ada := g.join("ada")
		list := g.list(listTerms, Revoked{})
		g.judged("first second", ada, g.under(list, "s", now), nil)
		g.judged("last second", ada, g.under(list, "s", now+100), nil)
		g.judged("expired", ada, g.under(list, "s", now+101), stale)
		g.judged("not in force", ada, g.under(list, "s", now-1), stale)
		// A verifier that forgets to say what time it is doesn't use it for ever.
		g.judged("at no time", ada, g.under(list, "s", 0), stale)
		g.judged("before 1970", ada, g.under(list, "s", -now), stale)
		opts := g.under(list, "s", now)
		opts.MinNumber = 5
		g.judged("the newest", ada, opts, nil)
		opts.MinNumber = 6
		g.judged("an older one", ada, opts, stale)
		other := newGroup(t, f)
		g.judged("another group's", ada, g.under(other.list(listTerms, Revoked{}), "s", now), stale)
		g.judged("nobody's", ada, g.under(new(Revocation), "s", now), stale)
	}
}

// Who may sign lists, and of what.
func TestListAuthority(t *testing.T) {
	plain, escrow, tokens := newGroup(t, Scope), newGroup(t, Scope|Escrow), newGroup(t, Scope|Escrow|Token)
	noScope := newGroup(t, Escrow)
	other, err := GenerateOpenerKey(Scope | Escrow | Token)
	if err != nil {
		t.Fatal(err)
	}
	point := plain.k.h.p.Bytes()
	refused := func(what string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s: signed", what)
		}
	}
	list := func(_ *Revocation, err error) error { return err }
	refused("the issuer, beside an opener", list(escrow.issuer.RevocationList(escrow.k, listTerms, Revoked{})))
	refused("another issuer", list(GenerateIssuerKey().RevocationList(plain.k, listTerms, Revoked{})))
	refused("another opener", list(other.RevocationList(tokens.k, listTerms, Revoked{})))
	refused("a register, without tokens", list(escrow.opener.RevocationList(escrow.k, listTerms, Revoked{Register: escrow.register})))
	refused("a register, without an opener", list(plain.issuer.RevocationList(plain.k, listTerms, Revoked{Register: plain.register})))
	refused("pseudonyms, without scopes", list(noScope.opener.RevocationList(noScope.k, listTerms, Revoked{Pseudonyms: [][]byte{point}})))
	refused("nothing, without scopes", list(noScope.opener.RevocationList(noScope.k, listTerms, Revoked{})))
	for what, nym := range map[string][]byte{
		"no point": make([]byte, 48), "identity": append([]byte{0xc0}, make([]byte, 47)...),
		"order 3": append([]byte{0x80}, make([]byte, 47)...), "short": point[:47], "empty": nil,
	} {
		refused("pseudonym: "+what, list(plain.tryList(listTerms, Revoked{Pseudonyms: [][]byte{nym}})))
	}
	base := plain.list(listTerms, Revoked{Pseudonyms: [][]byte{point}})
	refused("the same number", list(plain.tryList(listTerms, Revoked{Base: base})))
	older := listTerms
	older.Number--
	refused("a lower number", list(plain.tryList(older, Revoked{Base: base})))
	next := listTerms
	next.Number++
	refused("another group's base", list(escrow.tryList(next, Revoked{Base: base})))
	refused("an empty base", list(plain.tryList(next, Revoked{Base: new(Revocation)})))
	refused("expired", list(plain.tryList(Terms{Number: 6, Issued: now, Expires: now - 1}, Revoked{Base: base})))

	// Signed by the role that mustn't, or for another purpose.
	for what, c := range map[string]struct {
		g    *group
		sign func(g *group) (*Revocation, error)
	}{
		"by the issuer": {escrow, func(g *group) (*Revocation, error) {
			s, err := g.k.format("revocation list", listOp, issuerRole, g.k.listFormat().Sections...).
				Sign(listTerms, [][][]byte{nil, nil}, g.k.signer(listOp, issuerRole, &g.issuer.isk[0]))
			return &Revocation{State: *s}, err
		}},
		"as an announcement": {plain, func(g *group) (*Revocation, error) {
			s, err := g.k.format("revocation list", announceOp, issuerRole, g.k.listFormat().Sections...).
				Sign(listTerms, [][][]byte{nil, nil}, g.k.signer(announceOp, issuerRole, &g.issuer.isk[0]))
			return &Revocation{State: *s}, err
		}},
	} {
		r, err := c.sign(c.g)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.g.k.ParseRevocation(r.data()); err == nil {
			t.Errorf("%s: parsed", what)
		}
	}
	// The opener lists what isn't a token, or a token where there are none.
	for _, g := range []*group{escrow, tokens} {
		for what, q := range map[string][]byte{"no point": make([]byte, 96), "point": new(bls12381.G2).ScalarBaseMult(new(bls12381.Scalar).SetUint64(5)).Bytes()} {
			s, err := g.k.listFormat().Sign(listTerms, [][][]byte{nil, {q}}, g.k.signer(listOp, openerRole, &g.opener.z[0]))
			if err != nil {
				t.Fatal(err)
			}
			data, _ := s.MarshalBinary()
			if _, err := g.k.ParseRevocation(data); (err == nil) != (what == "point" && g == tokens) {
				t.Errorf("features %#x: %s: %v", g.k.Features(), what, err)
			}
		}
	}
}

func TestListEncoding(t *testing.T) {
	g := newGroup(t, Scope|Escrow|Token)
	ada := g.join("ada")
	g.join("bob")
	g.register.Revoke("bob")
	list := g.list(listTerms, Revoked{Register: g.register, Pseudonyms: [][]byte{g.nym(ada, "s"), g.nym(ada, "t")}})
	data := list.data()
	again, err := g.k.ParseRevocation(data)
	if err != nil || !bytes.Equal(again.data(), data) || again.Len() != 3 {
		t.Fatal("another list", err)
	}
	for i := range data {
		b := bytes.Clone(data)
		b[i] ^= 1 << (i % 8)
		if _, err := g.k.ParseRevocation(b); err == nil {
			t.Errorf("byte %d changed: parsed", i)
		}
	}
	for _, b := range [][]byte{nil, data[:40], data[:len(data)-1], append(bytes.Clone(data), 0)} {
		if _, err := g.k.ParseRevocation(b); err == nil {
			t.Errorf("%d bytes: parsed", len(b))
		}
	}
	if _, err := newGroup(t, Scope|Escrow|Token).k.ParseRevocation(data); err == nil {
		t.Error("another group parses the list")
	}
}

func TestAnnouncement(t *testing.T) {
	stale := new(StaleError)
	g := newGroup(t, Scope|Epoch)
	ada := g.join("ada") // of epoch 7
	announce := func(terms Terms, oldest, epoch uint64) *Announcement {
		t.Helper()
		a, err := g.issuer.Announce(g.k, terms, oldest, epoch)
		if err != nil {
			t.Fatal(err)
		}
		data, err := a.MarshalBinary()
		if err == nil {
			a, err = g.k.ParseAnnouncement(data)
		}
		if err != nil || a.Oldest() != oldest || a.Epoch() != epoch {
			t.Fatal("another announcement", err)
		}
		return a
	}
	under := func(a *Announcement, at int64) VerifyOptions {
		return VerifyOptions{Scope: []byte("s"), Announcement: a, Now: at}
	}
	a := announce(listTerms, 6, 8)
	g.judged("accepted", ada, under(a, now), nil)
	g.judged("last second", ada, under(a, now+100), nil)
	g.judged("expired", ada, under(a, now+101), stale)
	g.judged("not in force", ada, under(a, now-1), stale)
	g.judged("at no time", ada, under(a, 0), stale)
	g.judged("nobody's", ada, under(new(Announcement), now), stale)
	opts := under(a, now)
	opts.MinAnnouncement = 6
	g.judged("an older one", ada, opts, stale)
	opts.MinAnnouncement, opts.MinNumber = 5, 99 // the number of lists, of which there is none
	g.judged("the newest", ada, opts, nil)
	sig := g.sign(ada, "m", "s", false)
	for what, opts := range map[string]VerifyOptions{
		"ended":         under(announce(listTerms, 8, 9), now),
		"to come":       under(announce(listTerms, 5, 6), now),
		"said twice":    {Scope: []byte("s"), Announcement: a, Now: now, MinEpoch: 7, MaxEpoch: 7},
		"limited twice": {Scope: []byte("s"), Announcement: a, Now: now, MaxEpoch: 9},
	} {
		if g.k.Verify(msg("m"), sig, opts) == nil {
			t.Errorf("%s: accepted", what)
		}
	}
	if _, err := g.issuer.Announce(g.k, listTerms, 8, 7); err == nil {
		t.Error("no epoch is accepted")
	}
	if _, err := GenerateIssuerKey().Announce(g.k, listTerms, 7, 7); err == nil {
		t.Error("another issuer announces")
	}
	none := newGroup(t, Scope)
	if _, err := none.issuer.Announce(none.k, listTerms, 7, 7); err == nil {
		t.Error("announces epochs that there aren't")
	}
	data, _ := a.MarshalBinary()
	if _, err := none.k.ParseAnnouncement(data); err == nil {
		t.Error("a group without epochs parses an announcement")
	}
	bob := none.join("bob")
	if none.k.Verify(msg("m"), none.sign(bob, "m", "s", false), under(a, now)) == nil {
		t.Error("an announcement in a group without epochs")
	}
	if _, err := newGroup(t, Scope|Epoch).k.ParseAnnouncement(data); err == nil {
		t.Error("another group parses the announcement")
	}
	for i := range data {
		b := bytes.Clone(data)
		b[i] ^= 1 << (i % 8)
		if _, err := g.k.ParseAnnouncement(b); err == nil {
			t.Errorf("byte %d changed: parsed", i)
		}
	}
	// A list isn't an announcement, nor the other way round.
	if _, err := g.k.ParseAnnouncement(g.list(listTerms, Revoked{}).data()); err == nil {
		t.Error("a list is an announcement")
	}
	if _, err := g.k.ParseRevocation(data); err == nil {
		t.Error("an announcement is a list")
	}
}

// A member that is revoked and joins again has two pseudonyms in one scope while both
// credentials are accepted: it can't join before the next epoch, unless its token is
// listed.
func TestRejoin(t *testing.T) {
	early := func(g *group, epoch uint64) {
		t.Helper()
		_, m2 := g.apply("ada")
		if _, err := g.issuer.Issue(g.k, g.sessions, g.register, m2, now+1, epoch); !errors.As(err, new(*join.RejoinError)) {
			t.Errorf("features %#x, epoch %d: %v, want that it is too early", g.k.Features(), epoch, err)
		}
	}
	for _, f := range []Features{Scope, Scope | Epoch, Scope | Escrow | Epoch | Token, Scope | Escrow | Token} {
		g := newGroup(t, f)
		g.join("ada")
		g.join("bob")
		if f.Has(Epoch) {
			if _, err := g.issuer.Reissue(g.k, g.register, "ada", g.epoch+1); err != nil {
				t.Fatal(err)
			}
		}
		if err := g.register.Revoke("ada"); err != nil {
			t.Fatal(err)
		}
		if f.Has(Epoch) {
			early(g, g.epoch+1)
		}
		early(g, g.epoch)
		if f.Has(Token) {
			opening := g.k.NewRegister()
			for r := range g.register.All() {
				if err := opening.Add(r); err != nil {
					t.Fatal(err)
				}
			}
			other := g.list(listTerms, Revoked{Register: opening})
			if n, err := g.k.MarkListed(g.register, other, now); err != nil || n != 0 {
				t.Errorf("an empty list marks %d, %v", n, err)
			}
			early(g, g.epoch)
			if err := opening.Revoke("ada"); err != nil {
				t.Fatal(err)
			}
			list := g.list(listTerms, Revoked{Register: opening})
			if _, err := g.k.MarkListed(g.register, list, now+101); err == nil {
				t.Error("a stale list marks")
			}
			if _, err := g.k.MarkListed(g.register, nil, now); err == nil {
				t.Error("no list marks")
			}
			if n, err := g.k.MarkListed(g.register, list, now); err != nil || n != 1 {
				t.Fatalf("marked %d, %v", n, err)
			}
			g.join("ada")
			continue
		}
		if f.Has(Epoch) {
			g.epoch += 2
			g.join("ada")
		}
	}
}
