// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"bytes"
	"sync"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
)

// fuzzed is a group of each scheme, the same in all targets.
var fuzzed = sync.OnceValue(func() (list []*group) {
	for _, s := range schemes {
		list = append(list, newGroup(new(testing.T), s, "fuzz"))
	}
	return list
})

func FuzzGroupKey(f *testing.F) {
	for _, g := range fuzzed() {
		b, _ := g.gk.MarshalBinary()
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, s := range []*Scheme{DP06, HLCCN11, BBS04} {
			d, err := ParseDraft(s, data)
			if err != nil {
				continue
			}
			if b, err := d.MarshalBinary(); err != nil || !bytes.Equal(b, data) {
				t.Errorf("not canonical: %v", err)
			}
			NewGroupKey(d)
		}
	})
}

func FuzzRoleKey(f *testing.F) {
	for _, s := range schemes {
		for _, k := range []*RoleKeys{GenerateIssuerKey(s), GenerateOpenerKey(s), GenerateLinkerKey(s)} {
			if k != nil {
				b, _ := k.MarshalBinary()
				f.Add(b)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, s := range schemes {
			for _, parse := range []func(*Scheme, []byte) (*RoleKeys, error){ParseIssuerKey, ParseOpenerKey, ParseLinkerKey} {
				k, err := parse(s, data)
				if err != nil {
					continue
				}
				if b, err := k.MarshalBinary(); err != nil || !bytes.Equal(b, data) {
					t.Errorf("not canonical: %v", err)
				}
			}
		}
	})
}

// FuzzSignature demands that what decodes is canonical, and isn't a signature of a
// message that nobody signed.
func FuzzSignature(f *testing.F) {
	groups := fuzzed()
	for _, g := range groups {
		f.Add(g.sign(g.join("signature"), "m"))
		f.Add(make([]byte, g.gk.SignatureSize()))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, g := range groups {
			sig, err := g.gk.s.parse(raw)
			if err != nil {
				continue
			}
			if !bytes.Equal(sig.bytes(0), raw) {
				t.Error("not canonical")
			}
			if g.verify("not signed", raw) == nil {
				t.Error("forged")
			}
		}
	})
}

// FuzzMember decodes what members keep, and what they get.
func FuzzMember(f *testing.F) {
	groups := fuzzed()
	for _, g := range groups {
		b, _ := g.join("member").MarshalBinary()
		f.Add(b)
		p, m2 := g.apply("pending")
		b, _ = p.MarshalBinary()
		f.Add(b)
		m3, err := g.issuer.Issue(g.gk, g.sessions, g.register, m2, now)
		g.check(err)
		f.Add(m3)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, g := range groups {
			if m, err := g.gk.ParseMemberKey(data); err == nil {
				if b, err := m.MarshalBinary(); err != nil || !bytes.Equal(b, data) {
					t.Errorf("member's key: not canonical: %v", err)
				}
			}
			if p, err := g.gk.ParsePendingMember(data); err == nil {
				if b, err := p.MarshalBinary(); err != nil || !bytes.Equal(b, data) {
					t.Errorf("pending member: not canonical: %v", err)
				}
				p.Finish(data)
			}
		}
	})
}

// FuzzRecord decodes what issuers and openers get.
func FuzzRecord(f *testing.F) {
	groups := fuzzed()
	for _, g := range groups {
		g.join("record")
		b, _ := g.register.Member("record").MarshalBinary()
		f.Add(b)
		_, m2 := g.apply("application")
		f.Add(m2)
		r, err := g.gk.OpenerRecord(g.register.Member("record"))
		g.check(err)
		b, _ = r.MarshalBinary()
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := new(join.Record)
		if r.UnmarshalBinary(data) != nil {
			return
		}
		for _, g := range groups {
			if r.GroupID != g.gk.ID() {
				continue
			}
			if g.opener.CheckRecord(g.gk, r, public("record")) == nil {
				own, err := g.gk.OpenerRecord(r)
				if err != nil || g.opener.CheckRecord(g.gk, own, public("record")) != nil {
					t.Errorf("a record is good, and not what the opener gets of it: %v", err)
				}
			}
			g.issuer.Issue(g.gk, g.sessions, g.gk.NewRegister(), data, now)
		}
	})
}

func FuzzOpening(f *testing.F) {
	for _, g := range fuzzed() {
		o, err := g.opener.Open(g.gk, g.register, message("m"), []byte("context"), g.sign(g.join("opening"), "m"), nil)
		g.check(err)
		b, _ := o.MarshalBinary()
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o := new(Opening)
		if o.UnmarshalBinary(data) != nil {
			return
		}
		if b, err := o.MarshalBinary(); err != nil || !bytes.Equal(b, data) {
			t.Errorf("not canonical: %v", err)
		}
	})
}

// FuzzSteps decodes what a hostile issuer has signed.
func FuzzSteps(f *testing.F) {
	g := newGroup(f, BBS04, "fuzz")
	start := g.gk.start()
	first := g.issuer.divide(1, start, &g.issuer.secrets[0])
	f.Add(first.append(1))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) != g.gk.s.stepSize() {
			return
		}
		if s, err := g.gk.readStep(1, start, data); err == nil && !bytes.Equal(s.append(1), data) {
			t.Error("not canonical")
		}
	})
}

func FuzzLink(f *testing.F) {
	g := newGroup(f, HLCCN11, "fuzz")
	alice, bob := g.join("alice"), g.join("bob")
	signed := func(m *MemberKey) Signed {
		return Signed{Message: message("m"), Context: []byte("context"), Signature: g.sign(m, "m")}
	}
	link, err := g.linker.ProveLink(g.gk, []Signed{signed(alice), signed(alice)}, nil)
	g.check(err)
	f.Add(link)
	set := []Signed{signed(alice), signed(bob)}
	f.Fuzz(func(t *testing.T, data []byte) {
		if g.gk.VerifyLink(set, nil, data) == nil {
			t.Error("two members are linked")
		}
	})
}
