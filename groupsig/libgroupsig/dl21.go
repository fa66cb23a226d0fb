// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import "github.com/undersign/undersign/internal/bls12381"

// A keyDL21 is a group key of Diaz and Lehmann, Group Signatures with User-Controlled and
// Sequential Linkability (PKC 2021; IACR ePrint 2021/181): a member has (A, x, y, s) with
// e(A, ipk+x·g2) = e(g1+y·h1+s·h2, g2).
type keyDL21 struct {
	sequence   bool
	g1, h1, h2 *bls12381.G1
	g2, ipk    *bls12381.Lines
}

func readDL21(r *reader, sequence bool) (*keyDL21, error) {
	g1, g2 := r.g1("g1"), r.g2("g2")
	h1, h2 := r.g1("h1"), r.g1("h2")
	ipk := r.g2("ipk")
	if r.err != nil {
		return nil, r.err
	}
	return &keyDL21{sequence, g1, h1, h2, bls12381.NewLinesVarTime(g2), bls12381.NewLinesVarTime(ipk)}, nil
}

// Indices of bases in the proof.
const (
	baseScope = iota
	baseAA
	baseH2
	baseD
	baseH1
)

// relationsDL21 are, for secrets -x, y, r2, r3, -s', -y:
//
//	nym = y·hs, A_-D = -x·AA + r2·h2, g1 = r3·D - s'·h2 - y·h1
//
// y and -y are two secrets, so nothing makes the pseudonym's y the credential's.
func relationsDL21(nym, diff, g1 *bls12381.G1) []relation {
	return []relation{
		{nym, []term{{1, baseScope}}},
		{diff, []term{{0, baseAA}, {2, baseH2}}},
		{g1, []term{{3, baseD}, {4, baseH2}, {5, baseH1}}},
	}
}

const secretsDL21 = 6

// signedDL21 is the length of a signature up to the values of a sequence.
const signedDL21 = 1 + 4*(4+bls12381.G1Size) + (1+secretsDL21)*(4+bls12381.ScalarSize)

// lenSequence is the length of each of the three values of a sequence.
const lenSequence = 32

// verify checks e(AA,ipk) = e(A_,g2) and the proof, over the text alone: the scope is in
// it by its point.
func (k *keyDL21) verify(r *reader, scope, text []byte) (*bls12381.G1, error) {
	aa, a, d := r.g1("AA"), r.g1("A_"), r.g1("D")
	c := r.scalar("c")
	s := r.scalars(secretsDL21)
	nym := r.g1("nym")
	if k.sequence {
		// Exports have addresses in their place, and no hash has them.
		r.bytes("seq1", lenSequence, false)
		r.bytes("seq2", lenSequence, true) // a member's first has none
		r.bytes("seq3", lenSequence, false)
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	hs := hashToG1(scope)
	if hs == nil {
		return nil, refuse("no point belongs to the scope")
	}
	bases := []*bls12381.G1{baseScope: hs, baseAA: aa, baseH2: k.h2, baseD: d, baseH1: k.h1}
	diff := new(bls12381.G1).Sub(a, d)
	minus := new(bls12381.G1).Neg(a)
	if !verifyRep(text, relationsDL21(nym, diff, k.g1), bases, c, s) ||
		!bls12381.PairingCheckVarTime(bls12381.PairWith(aa, k.ipk), bls12381.PairWith(minus, k.g2)) {
		return nil, ErrSignature
	}
	return nym, nil
}

// entry fails: the scheme has no lists.
func (k *keyDL21) entry(r *reader, _ Edition, _ *Member) { r.fail("entry", errNoList) }

func (k *keyDL21) checkEntries([]Member) error { return nil }
