// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// A Revealed traces one member: it has C, and the record in which the member registered a
// hash of e(C, P2). The opener signs it, with what it is for, by a proof of its secrets. It
// shows everybody what the member signed and will sign.
type Revealed struct {
	record *join.Record // without evidence
	c      bls12381.G1
	proof  *sigma.Proof
}

const revealOp = "reveal"

var errReveal = errors.New("groupsig: empty revelation")

func (v *Revealed) empty() bool { return v == nil || v.record == nil || v.proof == nil }

// Member returns the identity of the member.
func (v *Revealed) Member() string {
	if v.empty() {
		return ""
	}
	return v.record.Member
}

// revealContext is what the opener's proof absorbs.
func (k *GroupKey) revealContext(v *Revealed, context []byte) (*transcript.Items, error) {
	b, err := v.record.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return k.context(revealOp).Bytes("context", context).Bytes("record", b).G1("C", &v.c), nil
}

// Reveal returns what traces a member of the opener's register, who may be revoked: of one who
// joined again it is the live registration's. The context is what for.
func (k *RoleKeys) Reveal(g *GroupKey, register *join.Register, member string, context []byte) (*Revealed, error) {
	if err := k.as(openerRole, g); err != nil {
		return nil, err
	}
	if err := g.traces(); err != nil {
		return nil, err
	}
	if register == nil {
		return nil, errors.New("groupsig: no register")
	}
	r := register.Member(member)
	if r == nil { // revoked: the newest
		for x := range register.All() {
			if x.Member == member {
				r = x
			}
		}
	}
	if r == nil || r.GroupID != g.id || r.Scheme != g.s.Name {
		return nil, fmt.Errorf("groupsig: %q isn't registered in the group", member)
	}
	_, m, err := g.evidence(r)
	if err != nil {
		return nil, err
	}
	own := *r
	own.Evidence = nil
	v := &Revealed{record: &own, c: m.t}
	items, err := g.revealContext(v, context)
	if err != nil {
		return nil, err
	}
	v.proof, err = g.consent(openerRole).Prove(g.dst(revealOp), items, k.secrets)
	return v, err
}

// MarshalBinary returns the canonical encoding.
func (v *Revealed) MarshalBinary() ([]byte, error) {
	if v.empty() {
		return nil, errReveal
	}
	b, err := v.record.MarshalBinary()
	if err != nil {
		return nil, err
	}
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Bytes(b)
	e.Fixed(v.c.Bytes())
	e.Bytes(v.proof.Append(nil))
	return e.Data(), nil
}

// UnmarshalBinary decodes what is revealed. It checks nothing but the form.
func (v *Revealed) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	q := Revealed{record: new(join.Record)}
	record := d.Bytes("record", maxRecord)
	codec.ReadG1(d, "C", &q.c)
	b := d.Bytes("proof", sigma.Size(maxSecrets))
	if err := d.Finish(); err != nil {
		return fmt.Errorf("groupsig: revelation: %w", err)
	}
	if err := q.record.UnmarshalBare(record); err != nil {
		return err
	}
	n := len(b)/bls12381.ScalarSize - 1
	if n < 1 || n > maxSecrets {
		return errors.New("groupsig: revelation: a proof of a wrong length")
	}
	var err error
	if q.proof, err = sigma.Decode(b, n); err != nil {
		return fmt.Errorf("groupsig: revelation: %w", err)
	}
	*v = q
	return nil
}

// CheckRevealed checks that C traces the member that the record names, whose long-term key
// the caller knows, and that the opener has revealed it for a context.
func (k *GroupKey) CheckRevealed(v *Revealed, key ed25519.PublicKey, context []byte) error {
	if err := k.traces(); err != nil {
		return err
	}
	if v.empty() {
		return errReveal
	}
	if v.record.GroupID != k.id || v.record.Scheme != k.s.Name {
		return errors.New("groupsig: revelation: the record is of another group")
	}
	items, err := k.revealContext(v, context)
	if err != nil {
		return err
	}
	if k.consent(openerRole).VerifyVarTime(k.dst(revealOp), items, v.proof) != nil {
		return errors.New("groupsig: revelation: the opener's proof is wrong")
	}
	z := new(bls12381.GT).PairingProductVarTime(bls12381.PairWith(&v.c, k.linesP2))
	if err := k.checkRegistered(z, v.record.Point); err != nil {
		return err
	}
	return v.record.Verify(key)
}

// Trace verifies a signature, and reports whether the member of a revelation, which
// CheckRevealed has checked, made it.
func (k *GroupKey) Trace(v *Revealed, s Signed) (bool, error) {
	if err := k.traces(); err != nil {
		return false, err
	}
	if v.empty() || v.record.GroupID != k.id {
		return false, errReveal
	}
	sig, err := k.verified(s.Message, s.Context, s.Signature)
	if err != nil {
		return false, err
	}
	return sig.traced[0].of(&v.c), nil
}
