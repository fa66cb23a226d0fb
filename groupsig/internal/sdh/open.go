// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// An Opening says who made a signature, and proves it: what the signature carries is A;
// A and x are a credential of T; and the member signed T. In the static form T is x·P2, and x
// isn't shown, since it would make a key of the opening. If nobody is registered with
// A there is no record, and the opening accuses the issuer; but where keys move there are no
// such openings, since anybody can make credentials for the keys before the last: see
// [Update].
type Opening struct {
	a      bls12381.G1
	record *join.Record    // without evidence, or nil
	x      bls12381.Scalar // 0 in the static form
	proof  *sigma.Proof
}

// Member returns the identity of the signer, or "" if it isn't registered.
func (o *Opening) Member() string {
	if o == nil || o.record == nil {
		return ""
	}
	return o.record.Member
}

// Value returns A, by which an accused issuer finds the record in its register.
func (o *Opening) Value() []byte { return o.a.Bytes() }

// Record returns the signer's registration, or nil.
func (o *Opening) Record() *join.Record { return o.record }

const (
	maxRecord  = 1 << 12
	maxSecrets = 4
)

// MarshalBinary returns the canonical encoding.
func (o *Opening) MarshalBinary() ([]byte, error) {
	if o.proof == nil {
		return nil, errors.New("groupsig: empty opening")
	}
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(o.a.Bytes())
	e.Bytes(o.proof.Append(nil))
	var record []byte
	if o.record != nil {
		var err error
		if record, err = o.record.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	e.Bytes(record)
	if o.record != nil && !o.x.IsZero() {
		e.Fixed(o.x.Bytes())
	}
	return e.Data(), nil
}

// UnmarshalBinary decodes an opening. It checks nothing but the form.
func (o *Opening) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	var q Opening
	codec.ReadG1(d, "A", &q.a)
	b := d.Bytes("proof", sigma.Size(maxSecrets))
	record := d.Bytes("record", maxRecord)
	if len(record) > 0 && d.Remaining() > 0 {
		codec.ReadSecret(d, "x", &q.x)
	}
	if err := d.Finish(); err != nil {
		return fmt.Errorf("groupsig: opening: %w", err)
	}
	n := len(b)/bls12381.ScalarSize - 1
	if n < 1 || n > maxSecrets {
		return errors.New("groupsig: opening: a proof of a wrong length")
	}
	var err error
	if q.proof, err = sigma.Decode(b, n); err != nil {
		return fmt.Errorf("groupsig: opening: proof: %w", err)
	}
	if len(record) > 0 {
		q.record = new(join.Record)
		if err := q.record.UnmarshalBare(record); err != nil {
			return err
		}
	}
	*o = q
	return nil
}

// openStatement is that the opener's constants are those of secrets, and that
// T_A - A = Σ ξ_j·T_j with the same.
func (k *GroupKey) openStatement(sig *signature, a *bls12381.G1) *sigma.Statement {
	diff := new(bls12381.G1).Sub(&sig.points[k.s.carrier()], a)
	bls12381.NormalizeG1(diff)
	r := sigma.Relation{Y: diff}
	for j, i := range k.s.Open {
		r.Terms = append(r.Terms, sigma.Term{W: j, P: &sig.points[i]})
	}
	return &sigma.Statement{Secrets: len(k.s.Opener), G1: append(k.roleRelations(k.s.Opener), r)}
}

// openContext is what the proof absorbs before its statement. The record is part of it,
// where there is one: A stays as it is when somebody else signs a record with the same
// T, who then would be named.
func (k *GroupKey) openContext(raw []byte, context []byte, o *Opening) (*transcript.Items, error) {
	id := signatureID(raw)
	items := k.context("open").Bytes("sigID", id[:]).Bytes("context", context).G1("A", &o.a)
	if o.record == nil {
		return items.Bytes("record", nil), nil
	}
	b, err := o.record.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return items.Bytes("record", b).Scalar("x", &o.x), nil
}

// Open verifies a signature, and finds out who made it, in a time that doesn't depend on
// the number of members. The context is what the opening is for.
func (k *RoleKeys) Open(g *GroupKey, register *join.Register, msg transcript.Message, sigContext, raw, context []byte) (*Opening, error) {
	if err := k.as(openerRole, g); err != nil {
		return nil, err
	}
	if err := g.Verify(msg, sigContext, raw); err != nil {
		return nil, err
	}
	sig, err := g.s.parse(raw)
	if err != nil {
		return nil, err
	}
	o := new(Opening)
	o.a.Set(&sig.points[g.s.carrier()])
	var p bls12381.G1
	for j, i := range g.s.Open {
		o.a.Sub(&o.a, p.ScalarMult(&k.secrets[j], &sig.points[i]))
	}
	p.Wipe()
	bls12381.NormalizeG1(&o.a)
	if register == nil {
		return nil, errors.New("groupsig: no register")
	}
	if r := g.find(register, &o.a); r != nil {
		if r.GroupID != g.id || r.Scheme != g.s.Name {
			return nil, errors.New("groupsig: the register is of another group")
		}
		own := *r
		own.Evidence = nil
		if o.record = &own; !g.s.Static {
			c, _, err := g.evidence(r)
			if err != nil {
				return nil, err
			}
			o.x = c.x
		}
	}
	if o.record == nil && g.Moves() {
		return nil, tokens.ErrUnknown
	}
	items, err := g.openContext(raw, context, o)
	if err != nil {
		return nil, err
	}
	o.proof, err = g.openStatement(sig, &o.a).Prove(g.dst("open"), items, k.secrets)
	return o, err
}

// An index finds the records of a register by e(A·d, g2), see find.
type index struct {
	mu       sync.Mutex
	register *join.Register
	records  map[[sha256.Size]byte]*join.Record
	n        int // how many of the register's are there
}

// update makes the index one of a register, which can only have grown.
func (x *index) update(k *GroupKey, register *join.Register) {
	if x.register != register {
		x.register, x.records, x.n = register, make(map[[sha256.Size]byte]*join.Record), 0
	}
	var z bls12381.GT
	var first bls12381.G1
	i := 0
	for r := range register.All() {
		if i++; i <= x.n {
			continue
		}
		x.n = i
		if len(r.Evidence) >= bls12381.G1Size && first.SetBytes(r.Evidence[:bls12381.G1Size]) == nil {
			x.records[indexed(z.PairingProductVarTime(bls12381.PairWith(&first, k.linesP2)))] = r
		}
	}
}

func indexed(z *bls12381.GT) [sha256.Size]byte { return sha256.Sum256(z.Bytes()) }

// find returns the record of A, or nil. The register has A as it was in the first version,
// A·d with P2 = g2·d: e(A·d, g2) = e(A, P2). So in later versions each record takes a pairing,
// once for a key.
func (k *GroupKey) find(register *join.Register, a *bls12381.G1) *join.Record {
	f := k.first()
	if k == f {
		return register.Find(a.Bytes())
	}
	x := &k.index
	x.mu.Lock()
	defer x.mu.Unlock()
	x.update(k, register)
	var z bls12381.GT
	return x.records[indexed(z.PairingProductVarTime(bls12381.PairWith(a, f.linesP2)))]
}

// FindRecord returns the record that an opening's Value is of, or nil: what an issuer does
// that an opening accuses. The key is of the version that the signature was.
func (k *GroupKey) FindRecord(register *join.Register, value []byte) *join.Record {
	var a bls12381.G1
	if k.empty() || register == nil || a.SetBytes(value) != nil {
		return nil
	}
	return k.find(register, &a)
}

// VerifyOpening is what a judge does, who knows the long-term key of the member that the
// opening names. It checks the signature as well. An opening that names nobody shows that
// the issuer made a member that the opener doesn't know; its key is not looked at.
func (k *GroupKey) VerifyOpening(msg transcript.Message, sigContext, raw []byte, o *Opening, key ed25519.PublicKey, context []byte) error {
	if err := k.Verify(msg, sigContext, raw); err != nil {
		return err
	}
	if o == nil || o.proof == nil || len(o.proof.S) != len(k.s.Opener) || o.a.IsIdentity() {
		return errors.New("groupsig: the opening isn't one of this scheme")
	}
	sig, err := k.s.parse(raw)
	if err != nil {
		return err
	}
	items, err := k.openContext(raw, context, o)
	if err != nil {
		return err
	}
	if err := k.openStatement(sig, &o.a).VerifyVarTime(k.dst("open"), items, o.proof); err != nil {
		return errors.New("groupsig: the opening's proof is wrong")
	}
	if o.record == nil {
		if k.Moves() {
			return errors.New("groupsig: an opening that names nobody, of a group whose key moves, proves nothing")
		}
		return nil
	}
	if o.record.GroupID != k.id || o.record.Scheme != k.s.Name {
		return errors.New("groupsig: the opening's record is of another group")
	}
	if k.s.Trace != nil {
		if err := k.checkTraced(&credential{o.a, o.x}, o.record.Point); err != nil {
			return err
		}
		return o.record.Verify(key)
	}
	t, err := k.pointOf(o.record)
	switch {
	case err != nil:
	case !k.s.Static:
		err = k.check(&credential{o.a, o.x}, t)
	case !o.x.IsZero():
		err = errors.New("it shows a number")
	default:
		err = k.checkStatic(&o.a, o.record.Point)
	}
	if err != nil {
		return fmt.Errorf("groupsig: opening: %w", err)
	}
	return o.record.Verify(key)
}
