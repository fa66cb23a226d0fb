// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// An Opening says who made a signature, and proves it. If the opener knows nobody
// who is registered under the decrypted value there is no record, and the opening
// accuses the issuer, which answers with the record if it has one.
type Opening struct {
	yh     bls12381.G1 // what was decrypted
	record *join.Record
	proof  *sigma.Proof
}

// Member returns the identity of the signer, or "" if it isn't registered.
func (o *Opening) Member() string {
	if o.record == nil {
		return ""
	}
	return o.record.Member
}

// Value returns what was decrypted: an issuer that an opening without a record
// accuses looks for it in its register, with [join.Register.Find]. An opener may have
// an old register, or leave a record out.
func (o *Opening) Value() []byte { return o.yh.Bytes() }

// Record returns the signer's registration, or nil.
func (o *Opening) Record() *join.Record { return o.record }

// maxRecord bounds an encoded record.
const maxRecord = 1 << 16

// MarshalBinary returns the canonical encoding.
func (o *Opening) MarshalBinary() ([]byte, error) {
	if o.proof == nil {
		return nil, errors.New("groupsig: empty opening")
	}
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(o.yh.Bytes())
	e.Fixed(o.proof.Append(nil))
	var record []byte
	if o.record != nil {
		var err error
		if record, err = o.record.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	e.Bytes(record)
	return e.Data(), nil
}

// UnmarshalBinary decodes an opening. It checks nothing but the form.
func (o *Opening) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	var q Opening
	codec.ReadG1(d, "value", &q.yh)
	if b := d.Fixed("proof", sigma.Size(1)); b != nil {
		var err error
		if q.proof, err = sigma.Decode(b, 1); err != nil {
			d.Fail("proof", "%v", err)
		}
	}
	record := d.Bytes("record", maxRecord)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("groupsig: opening: %w", err)
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

// openStatement is z_1 in opk1 = z_1·g and E2 - Yh = z_1·E1.
func (k *GroupKey) openStatement(g *signature, yh *bls12381.G1) *sigma.Statement {
	e := k.draft.Features.ptE()
	diff := new(bls12381.G1).Sub(&g.p[e+1], yh)
	bls12381.NormalizeG1(diff)
	return sigma.EqDlog(&k.g.p, &g.p[e], &k.opk[0].p, diff)
}

// openContext is what the proof absorbs before its statement. The record is part of it,
// where there is one: what was decrypted stays as it is when somebody else signs a
// record with the same point, who then would be named.
func (k *GroupKey) openContext(g *signature, context []byte, o *Opening) (*transcript.Items, error) {
	id := k.sigID(g)
	items := k.context("open").Bytes("sigID", id[:]).Bytes("context", context).G1("Yh", &o.yh)
	if o.record == nil {
		return items, nil
	}
	named := *o.record
	named.Evidence = nil
	b, err := named.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return items.Bytes("record", b), nil
}

// Open says who made a signature. It verifies the signature first: what it decrypts
// would be anything else otherwise. The proof is bound to a context, such as why the
// signature is opened; a judge gives the same.
func (z *OpenerKey) Open(k *GroupKey, register *join.Register, msg transcript.Message, sig []byte, opts VerifyOptions, context []byte) (*Opening, error) {
	if err := z.matches(k); err != nil {
		return nil, err
	}
	opts.Revocation = nil // of all times, and of revoked members too
	g, err := k.verify(msg, sig, &opts)
	if err != nil {
		return nil, err
	}
	e := k.draft.Features.ptE()
	var m bls12381.G1
	for j := range z.z {
		var mj bls12381.G1
		mj.ScalarMult(&z.z[j], &g.p[e])
		mj.Sub(&g.p[e+1+j], &mj)
		if j > 0 && !mj.Equal(&m) {
			return nil, errors.New("groupsig: the encryptions to the opener's keys differ") // the proof excludes it
		}
		m.Set(&mj)
	}
	bls12381.NormalizeG1(&m)
	if m.IsIdentity() {
		return nil, errors.New("groupsig: the signature holds nothing to open")
	}
	o := new(Opening)
	if r := register.Find(m.Bytes()); r != nil {
		named := *r
		named.Evidence = nil // isn't signed, and no judge needs it
		o.record = &named
	}
	o.yh.Set(&m)
	items, err := k.openContext(g, context, o)
	if err != nil {
		return nil, err
	}
	if o.proof, err = k.openStatement(g, &o.yh).Prove(k.dst("open"), items, z.z[:1]); err != nil {
		return nil, err
	}
	return o, nil
}

// VerifyOpening checks an opening as a judge does, who knows the long-term key of the
// member that it names, in this order: the signature; a value that isn't the
// identity; the proof; the registration. If it names nobody the key must be nil, and the
// opening proves what was decrypted, but not that nobody is registered under it: the
// issuer made a member that it didn't register unless it shows the record.
func (k *GroupKey) VerifyOpening(msg transcript.Message, sig []byte, opts VerifyOptions, o *Opening, key ed25519.PublicKey, context []byte) error {
	if !k.Features().Has(Escrow) {
		return errors.New("groupsig: the group has no opener")
	}
	if o == nil || o.proof == nil {
		return errors.New("groupsig: empty opening")
	}
	opts.Revocation = nil
	g, err := k.verify(msg, sig, &opts)
	if err != nil {
		return err
	}
	if o.yh.IsIdentity() {
		return errors.New("groupsig: the opening is empty")
	}
	items, err := k.openContext(g, context, o)
	if err != nil {
		return err
	}
	if k.openStatement(g, &o.yh).VerifyVarTime(k.dst("open"), items, o.proof) != nil {
		return errors.New("groupsig: the proof of the opening is wrong")
	}
	if o.record == nil {
		if key != nil {
			return errors.New("groupsig: the opening names nobody")
		}
		return nil
	}
	r := o.record
	if r.GroupID != k.id || r.Scheme != k.draft.Scheme {
		return errors.New("groupsig: the opening names a member of another group")
	}
	if len(r.Point) != 2*bls12381.G1Size || string(r.Point[bls12381.G1Size:]) != string(o.yh.Bytes()) {
		return errors.New("groupsig: the opening names another member")
	}
	return r.Verify(key)
}

// CheckRecord is what an opener checks of a record when it comes in, without relying
// on the issuer: proof, registration signature by the member's long-term key, and
// with tokens that they decrypt to the member's.
func (z *OpenerKey) CheckRecord(k *GroupKey, r *join.Record, key ed25519.PublicKey) error {
	if err := z.matches(k); err != nil {
		return err
	}
	m, err := k.checkRecord(r)
	if err != nil {
		return err
	}
	if err := r.Verify(key); err != nil {
		return err
	}
	if k.draft.Features.Has(Token) {
		_, err = z.decryptToken(k, m)
	}
	return err
}

// Token returns the token y·P2 of a member, checked against its record. To publish it
// revokes the member in all scopes, and betrays all that it ever signed.
func (z *OpenerKey) Token(k *GroupKey, r *join.Record) ([]byte, error) {
	if err := z.matches(k); err != nil {
		return nil, err
	}
	if !k.draft.Features.Has(Token) {
		return nil, errNoTokens
	}
	m, err := k.checkRecord(r)
	if err != nil {
		return nil, err
	}
	tok, err := z.decryptToken(k, m)
	if err != nil {
		return nil, err
	}
	return tok.Bytes(), nil
}

// decryptToken decrypts a token and checks e(H, P2) = e(h1, tok), both sides to a
// random power: the pairing may leak its arguments.
func (z *OpenerKey) decryptToken(k *GroupKey, m *application) (*bls12381.G2, error) {
	tok := new(bls12381.G2).ScalarMult(&z.token[0], &m.ss)
	tok.Sub(&m.ff, tok)
	tokens.Normalize(tok)
	var rho bls12381.Scalar
	rho.Random()
	var h, neg bls12381.G1
	var blind bls12381.G2
	h.ScalarMult(&rho, &m.h)
	neg.Neg(&k.h1.p)
	blind.ScalarMult(&rho, tok)
	if !bls12381.PairingCheckVarTime(bls12381.PairWith(&h, k.linesP2), bls12381.PairOf(&neg, &blind)) {
		return nil, errors.New("groupsig: the record holds another token")
	}
	return tok, nil
}
