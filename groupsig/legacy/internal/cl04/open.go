// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cl04

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// ErrUnknown: a valid signature fits no member of the opener's register.
var ErrUnknown = errors.New("cl04: the signature fits no registered member")

// Record puts a member's record into the opener's register, after its registration was
// checked under the key that the opener knows as the member's.
func (k *OpenerKey) Record(register *join.Register, r *join.Record, key ed25519.PublicKey) error {
	if k.g == nil {
		return errWiped
	}
	if r.Scheme != scheme || r.GroupID != k.g.id || len(r.Evidence) != 0 {
		return errors.New("cl04: record: it is of another group")
	}
	if err := r.Verify(key); err != nil {
		return err
	}
	if err := new(bls12381.G1).SetBytes(r.Point); err != nil {
		return fmt.Errorf("cl04: record: %w", err)
	}
	return register.Add(r)
}

// An Opening says who made a signature, and proves it.
type Opening struct {
	record *join.Record
	proof  []byte
}

// Member returns the signer's identity.
func (o *Opening) Member() string { return o.record.Member }

// decrypted says that y1 = x1·P1 + x2·h and T3 - P = x1·T1 + x2·T2.
func (g *GroupKey) decrypted(t *[7]bls12381.G1, p *bls12381.G1) *sigma.Statement {
	mask := new(bls12381.G1).Sub(&t[2], p)
	bls12381.NormalizeG1(mask)
	return &sigma.Statement{Secrets: 2, G1: []sigma.Relation{
		{Y: &g.ys[0], Terms: []sigma.Term{{W: 0, P: bls12381.G1Generator()}, {W: 1, P: &g.h}}},
		{Y: mask, Terms: []sigma.Term{{W: 0, P: &t[0]}, {W: 1, P: &t[1]}}},
	}}
}

func (g *GroupKey) openingItems(sig, context []byte, r *join.Record) *transcript.Items {
	id := sigID(sig)
	return g.items().Bytes("signature", id[:]).Bytes("context", context).Bytes("member", []byte(r.Member)).
		Bytes("key", r.Key).Bytes("point", r.Point).Bytes("session", r.Session[:])
}

// Open finds the signer of a signature on a message, which it verifies first. The
// proof is for a context of the caller's.
//
// The ciphertext's own check, T4 = (x3 + H·x5)·T1 + (x4 + H·x6)·T2, follows from the
// signature's proof. It is made all the same.
func (k *OpenerKey) Open(register *join.Register, msg, sctx, sig, context []byte) (*Opening, error) {
	if k.g == nil {
		return nil, errWiped
	}
	g := k.g
	t, proof, err := decode(sig)
	if err != nil {
		return nil, err
	}
	if err := g.verify(msg, sctx, t, proof); err != nil {
		return nil, err
	}
	h := g.hash(t)
	var s bls12381.Scalar
	var a, b, p bls12381.G1
	a.ScalarMult(s.MulAdd(h, &k.x[4], &k.x[2]), &t[0])
	b.ScalarMult(s.MulAdd(h, &k.x[5], &k.x[3]), &t[1])
	s.Wipe()
	if !a.Add(&a, &b).Equal(&t[3]) {
		return nil, errors.New("cl04: open: the ciphertext is invalid")
	}
	p.Sub(&t[2], a.ScalarMult(&k.x[0], &t[0]))
	p.Sub(&p, b.ScalarMult(&k.x[1], &t[1]))
	bls12381.NormalizeG1(&p)
	r := register.Find(p.Bytes())
	if r == nil {
		return nil, ErrUnknown
	}
	o := &Opening{record: r}
	w := []bls12381.Scalar{k.x[0], k.x[1]}
	defer func() {
		w[0].Wipe()
		w[1].Wipe()
	}()
	q, err := g.decrypted(t, &p).Prove(dstOpen, g.openingItems(sig, context, r), w)
	if err != nil {
		return nil, err
	}
	o.proof = q.Append(nil)
	return o, nil
}

// VerifyOpening checks an opening of a signature, with the signature, and the record
// under the key that the judge knows as the member's.
func (g *GroupKey) VerifyOpening(msg, sctx, sig, context []byte, o *Opening, key ed25519.PublicKey) error {
	t, p, err := decode(sig)
	if err != nil {
		return err
	}
	if err := g.verify(msg, sctx, t, p); err != nil {
		return err
	}
	if o.record == nil || o.record.Scheme != scheme || o.record.GroupID != g.id {
		return errors.New("cl04: opening: it is of another group")
	}
	if err := o.record.Verify(key); err != nil {
		return fmt.Errorf("cl04: opening: %w", err)
	}
	var point bls12381.G1
	if err := point.SetBytes(o.record.Point); err != nil {
		return fmt.Errorf("cl04: opening: %w", err)
	}
	q, err := sigma.Decode(o.proof, 2)
	if err != nil {
		return fmt.Errorf("cl04: opening: %w", err)
	}
	if err := g.decrypted(t, &point).VerifyVarTime(dstOpen, g.openingItems(sig, context, o.record), q); err != nil {
		return fmt.Errorf("cl04: opening: %w", err)
	}
	return nil
}

// MarshalBinary returns the canonical encoding.
func (o *Opening) MarshalBinary() ([]byte, error) {
	if o.record == nil {
		return nil, errors.New("cl04: empty opening")
	}
	r, err := o.record.MarshalBinary()
	if err != nil {
		return nil, err
	}
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Bytes(r)
	e.Bytes(o.proof)
	return e.Data(), nil
}

// UnmarshalBinary decodes an opening. It checks nothing of it.
func (o *Opening) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	r := d.Bytes("record", 4096)
	q := Opening{record: new(join.Record)}
	q.proof = d.Bytes("proof", sigma.Size(2))
	err := d.Finish()
	if err == nil {
		err = q.record.UnmarshalBinary(r)
	}
	if err == nil && len(q.record.Evidence) != 0 {
		err = errors.New("evidence in the record")
	}
	if err != nil {
		return fmt.Errorf("cl04: opening: %w", err)
	}
	*o = q
	return nil
}
