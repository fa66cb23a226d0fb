// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import (
	"fmt"

	"github.com/undersign/undersign/internal/bls12381"
)

// An opener proves knowledge of a point of G2 by which it recognised the signer:
//
//	hom(g; K; msg): e(g,X) = K; R = e(g,S)·K^(-c), c = HB(msg || g || K || R)
//
// The proof doesn't name a member, and the library compares it with none. The list of
// members says who has such a point.

// An Opening is a proof that was checked.
type Opening struct {
	scheme Scheme
	is     func(*Member) bool
}

// Member returns the ID of who is named, if the list says so. Those that IBM's edition
// wrote for KLAP20 don't have what says it.
func (o *Opening) Member(l *MemberList) (id uint64, ok bool) {
	if l.Scheme != o.scheme {
		return 0, false
	}
	for i := range l.Members {
		if o.is(&l.Members[i]) {
			return l.Members[i].ID, true
		}
	}
	return 0, false
}

// VerifyOpening checks an opening of a signature in PS16 and KLAP20, and the signature
// first. Errors of the proof are [ErrProof]. It says something only with the list of
// members: see [Opening.Member].
//
// The proof of PS16 is an export, or its base64. That of KLAP20 can't be exported, since the
// library crashes: here it is the scheme's code and c, S and tau, each after its length.
func (k *GroupKey) VerifyOpening(msg, sig, proof []byte) (*Opening, error) {
	o, ok := k.key.(opener)
	if !ok {
		return nil, fmt.Errorf("libgroupsig: %s has no proofs of openings", k.scheme)
	}
	if _, err := k.Verify(msg, sig); err != nil {
		return nil, err
	}
	sig, err := decodeText(sig)
	if err != nil {
		return nil, refuse("%w", err)
	}
	r, err := k.readProof(proof)
	if err != nil {
		return nil, err
	}
	is, err := o.verifyOpening(sig, r)
	if r.err != nil {
		return nil, refuseProof("%w", r.err)
	}
	if err != nil {
		return nil, err
	}
	return &Opening{k.scheme, is}, nil
}

// An opener is a key of a scheme whose openings have proofs.
type opener interface {
	// verifyOpening checks the rest of a proof about a valid signature, and returns what
	// tells whether the proof is about a member.
	verifyOpening(sig []byte, proof *reader) (is func(*Member) bool, err error)
}

// readProof checks the code that a proof begins with.
func (k *GroupKey) readProof(proof []byte) (*reader, error) {
	proof, err := decodeText(proof)
	if err != nil {
		return nil, refuseProof("%w", err)
	}
	r := &reader{b: proof}
	code := r.next("header", 1)
	switch {
	case code == nil:
		return nil, refuseProof("%w", r.err)
	case Scheme(code[0]) != k.scheme:
		return nil, refuseProof("it is one of %s, and the group's scheme is %s", Scheme(code[0]), k.scheme)
	}
	return r, nil
}

// verifyOpening has K = e(s2,gg)/e(s1,X), which the member has with e(s1,ttau) = K.
func (k *keyPS16) verifyOpening(sig []byte, proof *reader) (func(*Member) bool, error) {
	r := &reader{b: sig[1:]}
	s1, s2 := r.g1("s1"), r.g1("s2")
	s, c := proof.g2("S"), proof.scalar("c")
	if err := proof.end(); err != nil {
		return nil, err
	}
	minus := new(bls12381.G1).Neg(s1)
	opened := new(bls12381.GT).PairingProductVarTime(bls12381.PairWith(s2, k.gg), bls12381.PairWith(minus, k.x))
	t := powerOver(s1, s, opened, c)
	if !hashBLAKE(sig, s1, opened, t).Equal(c) {
		return nil, ErrProof
	}
	return func(m *Member) bool { return new(bls12381.GT).PairVarTime(s1, m.g2[0]).Equal(opened) }, nil
}

// verifyOpening has two pairs with one secret: e(uu,X) = e(ww,gg) and e(g,X) = tau.
func (k *keyKLAP20) verifyOpening(sig []byte, proof *reader) (func(*Member) bool, error) {
	r := &reader{b: sig[1:]}
	uu := r.g1("uu")
	r.g1("vv")
	ww := r.g1("ww")
	c, s, tau := proof.scalar("c"), proof.g2("S"), proof.gt("tau")
	if err := proof.end(); err != nil {
		return nil, err
	}
	opened := new(bls12381.GT).PairingProductVarTime(bls12381.PairWith(ww, k.gg))
	r1, r2 := powerOver(uu, s, opened, c), powerOver(k.g, s, tau, c)
	if !hashBLAKE(uu, k.g, opened, tau, r1, r2, sig).Equal(c) {
		return nil, ErrProof
	}
	return func(m *Member) bool { return m.tau != nil && m.tau.Equal(tau) }, nil
}

// powerOver returns e(p,q)·z^(-c).
func powerOver(p *bls12381.G1, q *bls12381.G2, z *bls12381.GT, c *bls12381.Scalar) *bls12381.GT {
	t := new(bls12381.GT).ExpVarTime(z, c)
	return t.Div(new(bls12381.GT).PairVarTime(p, q), t)
}
