// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import "github.com/undersign/undersign/internal/bls12381"

// A keyKLAP20 is a group key of Kim, Lee, Abdalla and Park, Practical Dynamic Group
// Signature with Efficient Concurrent Joins and Batch Verifications (IACR ePrint
// 2020/921): a member has (alpha, u, v, w) with w = alpha·u and v = x·u + y·w.
type keyKLAP20 struct {
	g          *bls12381.G1
	gg, xx, yy *bls12381.Lines
}

func readKLAP20(r *reader) (*keyKLAP20, error) {
	g := r.g1("g")
	gg, xx, yy := r.g2("gg"), r.g2("XX"), r.g2("YY")
	r.g2("ZZ0") // the opener's
	r.g2("ZZ1")
	if r.err != nil {
		return nil, r.err
	}
	return &keyKLAP20{g, bls12381.NewLinesVarTime(gg), bls12381.NewLinesVarTime(xx), bls12381.NewLinesVarTime(yy)}, nil
}

// verify checks e(vv,gg) = e(uu,XX)·e(ww,YY) and the proof of alpha with ww = alpha·uu,
// which the message is in, before all else, and SHA-1. The library takes the identity for
// uu, vv and ww, which fits every message.
func (k *keyKLAP20) verify(r *reader, _, text []byte) (*bls12381.G1, error) {
	uu, vv, ww := r.g1("uu"), r.g1("vv"), r.g1("ww")
	c, s := r.scalar("c"), r.scalar("s")
	if err := r.end(); err != nil {
		return nil, err
	}
	minus := new(bls12381.G1).Neg(vv)
	if !verifyLog(text, ww, uu, c, s) ||
		!bls12381.PairingCheckVarTime(bls12381.PairWith(minus, k.gg), bls12381.PairWith(uu, k.xx), bls12381.PairWith(ww, k.yy)) {
		return nil, ErrSignature
	}
	return nil, nil
}

// entry reads the two encryptions of the member's token, and e(f,gg), which the edition
// of IBM leaves out: there four zero bytes take its place.
func (k *keyKLAP20) entry(r *reader, e Edition, m *Member) {
	m.g2points(r, "SS0", "SS1", "ff0", "ff1")
	if e == IBM {
		m.nothing(r)
		return
	}
	m.tau = r.gt("tau")
}

// checkEntries has nothing to check: f isn't in the list, and what is is encrypted.
func (k *keyKLAP20) checkEntries([]Member) error { return nil }
