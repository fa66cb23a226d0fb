// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package strongrsa

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/legacy/internal/qrn"
	"github.com/undersign/undersign/internal/modexp"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// A MemberKey signs. It is secret.
type MemberKey struct {
	g      *GroupKey
	a      *modexp.Element
	e      modexp.Nat   // less low
	w      []modexp.Nat // secrets of the slots, less low; nil if wiped
	member string
}

// Finish checks the issuer's answer and returns the member's key. The Join may be
// wiped then.
func (j *Join) Finish(c *Credential) (*MemberKey, error) {
	if j.u == nil {
		return nil, errWiped
	}
	if c.session != j.challenge.Session {
		return nil, errors.New("strongrsa: finish: the credential is for another session")
	}
	m := &MemberKey{g: j.g, member: j.challenge.Member}
	if err := m.set(c, j.u); err != nil {
		m.Wipe()
		return nil, fmt.Errorf("strongrsa: finish: %w", err)
	}
	return m, nil
}

// set puts the member's and the issuer's parts together.
func (m *MemberKey) set(c *Credential, u []modexp.Nat) (err error) {
	s := m.g.s
	parts, err := s.decodeParts(c.parts)
	if err != nil {
		return err
	}
	if m.a, err = m.g.n.Decode(c.a); err != nil {
		return err
	}
	if m.e, err = qrn.DecodeNat(c.e, s.e.Bits); err != nil {
		return err
	}
	for i, x := range s.slots {
		zero := modexp.NewNat(1)
		v, w := parts[i], u[i]
		if v == nil {
			v = zero
		}
		if w == nil {
			w = zero
		}
		m.w = append(m.w, qrn.Sum(v, w, x.r.Bits))
	}
	return m.check()
}

// decodeParts returns the issuer's parts by slot.
func (s *Scheme) decodeParts(b [][]byte) ([]modexp.Nat, error) {
	parts := make([]modexp.Nat, len(s.slots))
	for i, x := range s.slots {
		if x.issuer == 0 {
			continue
		}
		if len(b) == 0 {
			return nil, errors.New("a part is missing")
		}
		var err error
		if parts[i], err = qrn.DecodeNat(b[0], x.issuer); err != nil {
			return nil, err
		}
		b = b[1:]
	}
	if len(b) != 0 {
		return nil, errors.New("too many parts")
	}
	return parts, nil
}

// check tests A^e = c · prod b^w.
func (m *MemberKey) check() error {
	g := m.g
	if (m.e[0]^uint64(g.s.e.Low.Bit(0)))&1 != 1 {
		return errors.New("e is even")
	}
	e := g.s.e.Full(m.e)
	left := g.n.Pow(m.a, e)
	e.Wipe()
	if !g.n.Equal(left, g.issued(m.w)) {
		return errors.New("the credential is wrong")
	}
	return nil
}

// Group returns the group key.
func (m *MemberKey) Group() *GroupKey { return m.g }

// Wipe overwrites the key. It is of no use afterwards.
func (m *MemberKey) Wipe() {
	if m.a != nil {
		m.a.Wipe()
	}
	m.e.Wipe()
	qrn.Wipe(m.w...)
	m.w = nil
}

// String shows nothing of the secrets.
func (m MemberKey) String() string { return fmt.Sprintf("strongrsa.MemberKey(%q)", m.member) }

// GoString is String.
func (m MemberKey) GoString() string { return m.String() }

// Format writes String, whatever the verb.
func (m MemberKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, m.String()) }

// MarshalBinary returns the canonical encoding, which is secret; clear it after use. The
// group key isn't in it.
func (m *MemberKey) MarshalBinary() ([]byte, error) {
	if m.w == nil {
		return nil, errWiped
	}
	s := m.g.s
	var e wire.Encoder
	size := 128 + len(m.member) + m.g.n.Size() + s.e.Bits/8
	for _, x := range s.slots {
		size += 8 + x.r.Bits/8
	}
	e.Grow(size)
	e.U8(version)
	e.U8(suite)
	e.Fixed(m.g.id[:])
	e.Bytes([]byte(m.member))
	put := func(b []byte) {
		e.Bytes(b)
		clear(b)
	}
	put(m.g.n.Encode(m.a))
	put(qrn.Fill(m.e, s.e.Bits))
	for i, x := range s.slots {
		put(qrn.Fill(m.w[i], x.r.Bits))
	}
	return e.Data(), nil
}

// ParseMemberKey decodes a member's key of the group and checks it.
func (g *GroupKey) ParseMemberKey(data []byte) (*MemberKey, error) {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	id := d.Fixed("gid", 32)
	m := &MemberKey{g: g, member: string(d.Bytes("member", join.MaxMember))}
	a := d.Bytes("A", 1024)
	e := d.Bytes("e", 4096)
	ws := make([][]byte, len(g.s.slots))
	for i := range ws {
		ws[i] = d.Bytes("w", 4096)
	}
	defer func() {
		clear(a)
		clear(e)
		for _, b := range ws {
			clear(b)
		}
	}()
	err := d.Finish()
	if err == nil && string(id) != string(g.id[:]) {
		err = errors.New("it is of another group")
	}
	if err == nil {
		err = join.CheckMember(m.member)
	}
	if err == nil {
		m.a, err = g.n.Decode(a)
	}
	if err == nil {
		m.e, err = qrn.DecodeNat(e, g.s.e.Bits)
	}
	for i, x := range g.s.slots {
		if err == nil {
			var w modexp.Nat
			w, err = qrn.DecodeNat(ws[i], x.r.Bits)
			m.w = append(m.w, w)
		}
	}
	if err == nil {
		err = m.check()
	}
	if err != nil {
		m.Wipe()
		return nil, fmt.Errorf("strongrsa: member key: %w", err)
	}
	return m, nil
}

// SignatureSize returns the length of a signature.
func (s *Scheme) SignatureSize() int {
	n := qrn.Size(s.p, s.secrets)
	for _, sub := range s.inSub {
		if sub {
			n += subgroup().group.Size()
		} else {
			n += s.p.Modulus / 8
		}
	}
	return n
}

// signed returns the statement of a signature and the context of its challenge.
func (g *GroupKey) signed(msg, sctx []byte, t []*qrn.Base) (*qrn.Statement, *transcript.Items) {
	items := g.items().Bytes("context", sctx).Message("m", transcript.MessageOf(msg))
	for _, x := range t {
		items.Bytes("T", x.Bytes())
	}
	return &qrn.Statement{P: g.s.p, Secrets: g.s.secrets, Rel: g.s.relations(g, t)}, items
}

// Sign signs a message in a context, which verifiers have to know.
func (m *MemberKey) Sign(msg, context []byte) ([]byte, error) {
	if m.w == nil {
		return nil, errWiped
	}
	g := m.g
	secret := new(transcript.Items).Grow(64 + g.s.e.Bits/8)
	b := qrn.Fill(m.e, g.s.e.Bits)
	secret.Bytes("e", b)
	for i, x := range g.s.slots {
		w := qrn.Fill(m.w[i], x.r.Bits)
		secret.Grow(len(w)+64).Bytes("w", w)
		clear(w)
	}
	clear(b)
	n := transcript.NewNonces(g.s.dst("blind"), secret, g.items().Bytes("context", context).Message("m", transcript.MessageOf(msg)))
	secret.Wipe()
	blinds := make([]modexp.Nat, len(g.s.blinds))
	for i, r := range g.s.blinds {
		blinds[i] = qrn.Random(n.Read, r.Bits)
	}
	n.Wipe()
	ts, v := g.s.hide(m, blinds)
	t := make([]*qrn.Base, len(ts))
	var sig []byte
	for i := range ts {
		t[i] = g.group(i).NewBase(ts[i])
		sig = append(sig, t[i].Bytes()...)
	}
	st, items := g.signed(msg, context, t)
	proof, err := st.Prove(g.s.dst("sig"), items, v)
	qrn.Wipe(blinds...)
	for _, x := range v[len(m.w)+1:] { // the others are the key's own
		x.Wipe()
	}
	if err != nil {
		return nil, err
	}
	return append(sig, proof...), nil
}

// elements decodes the elements of a signature.
func (g *GroupKey) elements(sig []byte) ([]*qrn.Base, error) {
	if len(sig) != g.s.SignatureSize() {
		return nil, fmt.Errorf("strongrsa: signature of %d bytes, want %d", len(sig), g.s.SignatureSize())
	}
	t := make([]*qrn.Base, g.s.elements)
	for i := range t {
		gr := g.group(i)
		x, err := gr.Decode(sig[:gr.Size()])
		if err != nil {
			return nil, fmt.Errorf("strongrsa: signature: %w", err)
		}
		sig = sig[gr.Size():]
		t[i] = gr.NewBase(x)
	}
	return t, nil
}

// Verify checks a signature on a message in a context.
func (g *GroupKey) Verify(msg, context, sig []byte) error {
	_, err := g.verify(msg, context, sig)
	return err
}

func (g *GroupKey) verify(msg, context, sig []byte) ([]*qrn.Base, error) {
	t, err := g.elements(sig)
	if err != nil {
		return nil, err
	}
	st, items := g.signed(msg, context, t)
	if err := st.VerifyVarTime(g.s.dst("sig"), items, sig[len(sig)-st.ProofSize():]); err != nil {
		return nil, fmt.Errorf("strongrsa: signature: %w", err)
	}
	return t, nil
}

// sigID names a signature.
func sigID(sig []byte) [32]byte { return new(transcript.Items).Bytes("signature", sig).Sum() }
