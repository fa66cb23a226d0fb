// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package strongrsa

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/legacy/internal/qrn"
	"github.com/undersign/undersign/internal/modexp"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// ErrUnknown: a valid signature fits no member of the opener's register.
var ErrUnknown = errors.New("strongrsa: the signature fits no registered member")

// evidence is what a record keeps of a credential.
type evidence struct {
	a     *modexp.Element
	e     modexp.Nat
	parts []modexp.Nat
	raw   [][]byte // of the parts
}

func (g *GroupKey) evidence(r *join.Record) (*evidence, error) {
	b := r.Evidence
	var ev evidence
	next := func(n int) []byte {
		n = min(n, len(b))
		out := b[:n]
		b = b[n:]
		return out
	}
	var err error
	if ev.a, err = g.n.Decode(next(g.n.Size())); err != nil {
		return nil, err
	}
	if ev.e, err = qrn.DecodeNat(next((g.s.e.Bits+7)/8), g.s.e.Bits); err != nil {
		return nil, err
	}
	for _, x := range g.s.slots {
		if x.issuer > 0 {
			ev.raw = append(ev.raw, next((x.issuer+7)/8))
		}
	}
	if len(b) != 0 {
		return nil, errors.New("trailing bytes")
	}
	ev.parts, err = g.s.decodeParts(ev.raw)
	return &ev, err
}

// Record puts a member's record into the opener's register. It checks the registration
// under the key that the opener knows as the member's, and the credential in it.
func (k *OpenerKey) Record(register *join.Register, r *join.Record, key ed25519.PublicKey) error {
	if k.x == nil {
		return errWiped
	}
	g := k.g
	if r.Scheme != g.s.name || r.GroupID != g.id {
		return errors.New("strongrsa: record: it is of another group")
	}
	if err := r.Verify(key); err != nil {
		return err
	}
	if g.s.point >= 0 {
		if _, err := g.base["y"].G.Decode(r.Point); err != nil {
			return fmt.Errorf("strongrsa: record: %w", err)
		}
		if len(r.Evidence) != 0 {
			return errors.New("strongrsa: record: evidence that nobody needs")
		}
		return register.Add(r)
	}
	point, err := g.n.Decode(r.Point)
	if err != nil {
		return fmt.Errorf("strongrsa: record: %w", err)
	}
	ev, err := g.evidence(r)
	if err != nil {
		return fmt.Errorf("strongrsa: record: %w", err)
	}
	if !g.n.Equal(g.n.Pow(ev.a, g.s.e.Full(ev.e)), g.n.Mul(point, g.issued(ev.parts))) {
		return errors.New("strongrsa: record: the credential is wrong")
	}
	return register.Add(r)
}

// An Opening says who made a signature, and proves it.
type Opening struct {
	record *join.Record // without evidence
	a      []byte       // what the signature opens to; empty if that is the record's point
	part   []byte       // what the issuer added to the member's secret, with a
	proof  []byte
}

// Member returns the signer's identity.
func (o *Opening) Member() string { return o.record.Member }

// memberSlot returns the slot of which the member draws a part.
func (s *Scheme) memberSlot() int {
	_, slots := s.memberSecrets()
	return slots[0]
}

// opening says that gen^X = y and T_den^X = T_num / V, and, if V is a credential's A,
//
//	A^e / prod b^w = c · point · b^(low + part),
//
// over the slots that the issuer has drawn alone. With X go e and those w: an opener
// needn't show a trapdoor to prove whose it is.
func (g *GroupKey) opening(t []*qrn.Base, v *qrn.Base, right *modexp.Element) *qrn.Statement {
	s := g.s
	st := &qrn.Statement{P: s.p, Secrets: []qrn.Range{qrn.Below(s.opener)}}
	st.Rel = append(st.Rel,
		relation([]qrn.Term{pow(g.base[s.gen], 0)}, qrn.Factor{Base: g.base["y"]}),
		relation([]qrn.Term{pow(t[s.den], 0)}, qrn.Factor{Base: t[s.num]}, qrn.Factor{Base: v, Neg: true}))
	if right != nil {
		st.Secrets = append(st.Secrets, s.e)
		terms := []qrn.Term{pow(v, 1)}
		for _, x := range s.slots {
			if x.member == 0 {
				terms = append(terms, over(g.base[x.base], len(st.Secrets)))
				st.Secrets = append(st.Secrets, x.r)
			}
		}
		st.Rel = append(st.Rel, relation(terms, qrn.Factor{Base: g.n.NewBase(right)}))
	}
	return st
}

// right returns c · point · b^(low + part).
func (g *GroupKey) right(point *modexp.Element, part modexp.Nat) *modexp.Element {
	x := g.s.slots[g.s.memberSlot()]
	return g.n.Mul(g.base[g.s.constant].X, point, g.pow(x.base, x.r.Full(part)))
}

func (g *GroupKey) openingItems(sig, context []byte, r *join.Record) *transcript.Items {
	id := sigID(sig)
	return g.items().Bytes("signature", id[:]).Bytes("context", context).Bytes("member", []byte(r.Member)).
		Bytes("key", r.Key).Bytes("point", r.Point).Bytes("session", r.Session[:])
}

// Open finds the signer of a signature on a message, which it verifies first. The
// proof is for a context of the caller's.
func (k *OpenerKey) Open(register *join.Register, msg, sctx, sig, context []byte) (*Opening, error) {
	if k.x == nil {
		return nil, errWiped
	}
	g := k.g
	t, err := g.verify(msg, sctx, sig)
	if err != nil {
		return nil, err
	}
	gr := t[g.s.den].G
	v := gr.NewBase(gr.Mul(t[g.s.num].X, gr.Pow(t[g.s.den].Inverse(), k.x)))
	r := register.Find(v.Bytes())
	if r == nil {
		return nil, ErrUnknown
	}
	public := *r
	public.Evidence = nil
	o := &Opening{record: &public}
	secrets := []modexp.Nat{k.x}
	var right *modexp.Element
	if g.s.point < 0 {
		ev, err := g.evidence(r)
		if err != nil {
			return nil, fmt.Errorf("strongrsa: open: %w", err)
		}
		point, err := g.n.Decode(r.Point)
		if err != nil {
			return nil, fmt.Errorf("strongrsa: open: %w", err)
		}
		j := g.s.memberSlot()
		o.a, o.part = v.Bytes(), qrn.Fill(ev.parts[j], g.s.slots[j].issuer)
		right = g.right(point, ev.parts[j])
		secrets = append(secrets, ev.e)
		for i, x := range g.s.slots {
			if x.member == 0 {
				secrets = append(secrets, ev.parts[i])
			}
		}
	}
	o.proof, err = g.opening(t, v, right).Prove(g.s.dst("open"), g.openingItems(sig, context, o.record), secrets)
	if err != nil {
		return nil, err
	}
	return o, nil
}

// VerifyOpening checks an opening of a signature, with the signature, and the record
// under the key that the judge knows as the member's.
func (g *GroupKey) VerifyOpening(msg, sctx, sig, context []byte, o *Opening, key ed25519.PublicKey) error {
	t, err := g.verify(msg, sctx, sig)
	if err != nil {
		return err
	}
	if o.record == nil || o.record.Scheme != g.s.name || o.record.GroupID != g.id {
		return errors.New("strongrsa: opening: it is of another group")
	}
	if err := o.record.Verify(key); err != nil {
		return fmt.Errorf("strongrsa: opening: %w", err)
	}
	gr := t[g.s.den].G
	point, err := gr.Decode(o.record.Point)
	if err != nil {
		return fmt.Errorf("strongrsa: opening: %w", err)
	}
	v := gr.NewBase(point)
	var right *modexp.Element
	if g.s.point < 0 {
		a, err := gr.Decode(o.a)
		if err != nil {
			return fmt.Errorf("strongrsa: opening: %w", err)
		}
		part, err := qrn.DecodeNat(o.part, g.s.slots[g.s.memberSlot()].issuer)
		if err != nil {
			return fmt.Errorf("strongrsa: opening: %w", err)
		}
		v, right = gr.NewBase(a), g.right(point, part)
	} else if len(o.a) != 0 || len(o.part) != 0 {
		return errors.New("strongrsa: opening: a credential that nobody needs")
	}
	if err := g.opening(t, v, right).VerifyVarTime(g.s.dst("open"), g.openingItems(sig, context, o.record), o.proof); err != nil {
		return fmt.Errorf("strongrsa: opening: %w", err)
	}
	return nil
}

// MarshalBinary returns the canonical encoding.
func (o *Opening) MarshalBinary() ([]byte, error) {
	if o.record == nil {
		return nil, errors.New("strongrsa: empty opening")
	}
	r, err := o.record.MarshalBinary()
	if err != nil {
		return nil, err
	}
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Bytes(r)
	e.Bytes(o.a)
	e.Bytes(o.part)
	e.Bytes(o.proof)
	return e.Data(), nil
}

// UnmarshalBinary decodes an opening. It checks nothing of it.
func (o *Opening) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	r := d.Bytes("record", 4096)
	q := Opening{record: new(join.Record)}
	q.a = d.Bytes("A", 1024)
	q.part = d.Bytes("part", 4096)
	q.proof = d.Bytes("proof", 8192)
	err := d.Finish()
	if err == nil {
		err = q.record.UnmarshalBinary(r)
	}
	if err == nil && len(q.record.Evidence) != 0 {
		err = errors.New("evidence in the record")
	}
	if err != nil {
		return fmt.Errorf("strongrsa: opening: %w", err)
	}
	*o = q
	return nil
}
