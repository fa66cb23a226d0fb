// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// A member claims what it signed, and shows that some signatures are its own, by proving one
// y for all of them:
//
//	T5_i = E_i^y,  E_i = e(B, T4_i)
//
// The challenge absorbs the group, what the proof is for, and all signatures. The issuer,
// who knows C, can't: y isn't known to it.

// claims are the verified signatures of a proof.
type claims struct {
	op    string
	t     []*traced
	items *transcript.Items
}

const (
	claimOp = "claim"
	equalOp = "equality"
)

// newClaims verifies signatures.
func (k *GroupKey) newClaims(op string, set []Signed, context []byte) (*claims, error) {
	if err := k.traces(); err != nil {
		return nil, err
	}
	if len(set) == 0 || len(set) > MaxLinked {
		return nil, fmt.Errorf("groupsig: a proof is about 1 to %d signatures", MaxLinked)
	}
	x := &claims{op: op, items: k.context(op).Bytes("context", context).Uint64("signatures", uint64(len(set)))}
	seen := make(map[[32]byte]bool)
	for i, s := range set {
		sig, err := k.verified(s.Message, s.Context, s.Signature)
		if err != nil {
			return nil, fmt.Errorf("signature %d: %w", i, err)
		}
		id := signatureID(s.Signature)
		if seen[id] {
			return nil, fmt.Errorf("groupsig: signature %d is there twice", i)
		}
		seen[id] = true
		t := sig.traced[0]
		x.items.Bytes("context", s.Context).Message("m", s.Message).Bytes("sigID", id[:]).G2("T", &t.t4).GT("T", &t.t5)
		x.t = append(x.t, t)
	}
	return x, nil
}

// commit computes the commitments.
func (x *claims) commit(bases []*bls12381.GT, nonce *bls12381.Scalar) {
	for i, t := range x.t {
		t.r.Exp(bases[i], nonce)
	}
}

// challenge absorbs the commitments.
func (x *claims) challenge(k *GroupKey) *bls12381.Scalar {
	items := x.items.Clone()
	for _, t := range x.t {
		items.GT("R", &t.r)
	}
	return items.Challenge(k.dst(x.op))
}

// base returns E = e(B, T4).
func (k *GroupKey) base(t *traced) *bls12381.GT {
	return new(bls12381.GT).PairVarTime(&k.consts[k.s.Trace.Const].p, &t.t4)
}

// made reports whether the member made a signature, of which it is given E.
func (m *MemberKey) made(t *traced, e *bls12381.GT) bool {
	return new(bls12381.GT).Exp(e, &m.y[0]).Equal(&t.t5)
}

// Identify reports whether a valid signature is the member's own.
func (m *MemberKey) Identify(s Signed) (bool, error) {
	if m.wiped() {
		return false, errWiped
	}
	if err := m.gk.traces(); err != nil {
		return false, err
	}
	sig, err := m.gk.verified(s.Message, s.Context, s.Signature)
	if err != nil {
		return false, err
	}
	return m.made(sig.traced[0], m.gk.base(sig.traced[0])), nil
}

// prove proves that all signatures are the member's.
func (m *MemberKey) proveClaims(op string, set []Signed, context []byte) ([]byte, error) {
	if m.wiped() {
		return nil, errWiped
	}
	k := m.gk
	x, err := k.newClaims(op, set, context)
	if err != nil {
		return nil, err
	}
	bases := make([]*bls12381.GT, len(x.t))
	for i, t := range x.t {
		bases[i] = k.base(t)
		if !m.made(t, bases[i]) {
			return nil, fmt.Errorf("groupsig: signature %d isn't the member's own", i)
		}
	}
	nonces := sigma.Nonces(k.dst(op), m.y, x.items)
	defer wipe(nonces)
	x.commit(bases, &nonces[0])
	p := &sigma.Proof{C: *x.challenge(k)}
	p.S = sigma.Respond(&p.C, nonces, m.y)
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(p.Append(nil))
	return e.Data(), nil
}

// verifyClaims checks a proof, and the signatures: R = e(s·B, T4)·T5^c.
func (k *GroupKey) verifyClaims(op string, set []Signed, context, proof []byte) error {
	x, err := k.newClaims(op, set, context)
	if err != nil {
		return err
	}
	d := wire.NewDecoder(proof)
	d.Header(version, suite)
	b := d.Fixed("proof", sigma.Size(1))
	if err := d.Finish(); err != nil {
		return fmt.Errorf("groupsig: %s: %w", op, err)
	}
	p, err := sigma.Decode(b, 1)
	if err != nil {
		return fmt.Errorf("groupsig: %s: %w", op, err)
	}
	sb := new(bls12381.G1).MultiMultVarTime(bls12381.MulG1Table(&p.S[0], k.consts[k.s.Trace.Const].table))
	bls12381.NormalizeG1(sb)
	for _, t := range x.t {
		t.commit(sb, &p.C)
	}
	if !x.challenge(k).Equal(&p.C) {
		return errors.New("groupsig: the proof of " + op + " is wrong")
	}
	return nil
}

// Claim proves to anyone that the member made a signature.
func (m *MemberKey) Claim(s Signed, context []byte) ([]byte, error) {
	return m.proveClaims(claimOp, []Signed{s}, context)
}

// VerifyClaim checks the proof, and the signature.
func (k *GroupKey) VerifyClaim(s Signed, context, claim []byte) error {
	return k.verifyClaims(claimOp, []Signed{s}, context, claim)
}

// ProveEquality proves to anyone that the member made all signatures of a set, without
// saying who it is.
func (m *MemberKey) ProveEquality(set []Signed, context []byte) ([]byte, error) {
	return m.proveClaims(equalOp, set, context)
}

// VerifyEquality checks the proof, and the signatures.
func (k *GroupKey) VerifyEquality(set []Signed, context, proof []byte) error {
	return k.verifyClaims(equalOp, set, context, proof)
}
