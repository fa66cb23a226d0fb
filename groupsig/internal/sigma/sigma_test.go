// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sigma

import (
	"testing"

	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

var dst = transcript.DST("test", "sigma")

func context(s string) *transcript.Items { return new(transcript.Items).Bytes("context", []byte(s)) }

func base(s string) *bls12381.G1 { return new(bls12381.G1).HashVarTime([]byte(s), []byte("test/h2c")) }

func mul(k *bls12381.Scalar, p *bls12381.G1) *bls12381.G1 {
	q := new(bls12381.G1).ScalarMult(k, p)
	bls12381.NormalizeG1(q)
	return q
}

// sample returns a statement with relations in both groups and its secrets: Y0 =
// w0·G + w1·H, Y1 = w1·K, and in G2 Z = w0·P2 + w2·Q.
func sample() (*Statement, []bls12381.Scalar) {
	w := make([]bls12381.Scalar, 3)
	for i := range w {
		w[i].Random()
	}
	g, h, k := base("g"), base("h"), base("k")
	p2, q := bls12381.G2Generator(), new(bls12381.G2).HashVarTime([]byte("q"), []byte("test/h2c"))
	y0 := new(bls12381.G1).Add(mul(&w[0], g), mul(&w[1], h))
	bls12381.NormalizeG1(y0)
	z := new(bls12381.G2).ScalarMult(&w[0], p2)
	z.Add(z, new(bls12381.G2).ScalarMult(&w[2], q))
	bls12381.NormalizeG2(z)
	return &Statement{
		Secrets: 3,
		G1: []Relation{
			{Y: y0, Terms: []Term{{W: 0, P: g, Comb: bls12381.NewG1Comb(g)}, {W: 1, P: h, Table: bls12381.NewG1TableVarTime(h)}}},
			{Y: mul(&w[1], k), Terms: []Term{{W: 1, P: k}}},
		},
		G2: []RelationG2{{z, []TermG2{{W: 0, P: p2}, {W: 2, P: q, Comb: bls12381.NewG2Comb(q)}}}},
	}, w
}

func TestProof(t *testing.T) {
	st, w := sample()
	p, err := st.Prove(dst, context("a"), w)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.VerifyVarTime(dst, context("a"), p); err != nil {
		t.Fatal(err)
	}
	b := p.Append(nil)
	q, err := Decode(b, 3)
	if err != nil || st.VerifyVarTime(dst, context("a"), q) != nil {
		t.Fatal("a decoded proof isn't accepted", err)
	}
	if st.VerifyVarTime(dst, context("b"), p) == nil {
		t.Error("another context is accepted")
	}
	if st.VerifyVarTime(transcript.DST("test", "other"), context("a"), p) == nil {
		t.Error("another tag is accepted")
	}
	for i := range 4 { // every scalar off by one
		c := append([]byte(nil), b...)
		c[32*i+31] ^= 1
		if q, err := Decode(c, 3); err == nil && st.VerifyVarTime(dst, context("a"), q) == nil {
			t.Errorf("scalar %d changed, and accepted", i)
		}
	}
	for i := range 2 {
		y := st.G1[i].Y
		st.G1[i].Y = base("g")
		if st.VerifyVarTime(dst, context("a"), p) == nil {
			t.Errorf("another Y%d is accepted", i)
		}
		st.G1[i].Y = y
	}
	z := st.G2[0].Y
	st.G2[0].Y = bls12381.G2Generator()
	if st.VerifyVarTime(dst, context("a"), p) == nil {
		t.Error("another Y in G2 is accepted")
	}
	st.G2[0].Y = z
	p.S = p.S[:2]
	if st.VerifyVarTime(dst, context("a"), p) == nil {
		t.Error("a missing response is accepted")
	}
}

// A prover whose relations hold with different values of one secret is refused.
func TestOneSecret(t *testing.T) {
	st, w := sample()
	k := new(bls12381.Scalar).Random()
	st.G1[1].Y = mul(k, st.G1[1].Terms[0].P) // and w[1] in the first
	p, err := st.Prove(dst, context("a"), w)
	if err != nil {
		t.Fatal(err)
	}
	if st.VerifyVarTime(dst, context("a"), p) == nil {
		t.Error("one secret with two values is accepted")
	}
}

func TestIdentityBase(t *testing.T) {
	st, w := sample()
	p, _ := st.Prove(dst, context("a"), w)
	st.G1[1] = Relation{Y: bls12381.NewG1(), Terms: []Term{{W: 1, P: bls12381.NewG1()}}}
	if _, err := st.Prove(dst, context("a"), w); err == nil {
		t.Error("proof with the identity as a base")
	}
	if st.VerifyVarTime(dst, context("a"), p) == nil {
		t.Error("the identity as a base is accepted")
	}
	st, _ = sample()
	st.G2[0].Terms[1].P = bls12381.NewG2()
	if st.VerifyVarTime(dst, context("a"), p) == nil {
		t.Error("the identity as a base in G2 is accepted")
	}
}

func TestDecode(t *testing.T) {
	st, w := sample()
	p, _ := st.Prove(dst, context("a"), w)
	b := p.Append(nil)
	if len(b) != Size(3) {
		t.Fatalf("%d bytes", len(b))
	}
	if _, err := Decode(b[:len(b)-1], 3); err == nil {
		t.Error("truncated proof")
	}
	if _, err := Decode(append(b, 0), 3); err == nil {
		t.Error("trailing byte")
	}
	for i := range 4 {
		c := append([]byte(nil), b...)
		for j := range 32 {
			c[32*i+j] = 0xff
		}
		if _, err := Decode(c, 3); err == nil {
			t.Errorf("scalar %d isn't canonical", i)
		}
	}
}

// collect adds the proof to a sum and returns its commitments.
func collect(a *Sum, weights *transcript.Weights, st *Statement, p *Proof) *Commitments {
	t := st.RecomputeVarTime(&p.C, p.S)
	st.AddTo(a, weights, t, &p.C, p.S)
	return t
}

func TestSum(t *testing.T) {
	a := NewSum()
	weights := transcript.NewWeights(context("x").Sum())
	for range 3 {
		st, w := sample()
		p, _ := st.Prove(dst, context("a"), w)
		collect(a, weights, st, p)
	}
	if !a.IsZeroVarTime() {
		t.Fatal("good proofs don't sum to zero")
	}

	// Errors that cancel under equal weights: one relation off by +E, the other by -E.
	st, w := sample()
	p, _ := st.Prove(dst, context("a"), w)
	e := base("e")
	for _, both := range []bool{false, true} {
		a = NewSum()
		com := st.RecomputeVarTime(&p.C, p.S)
		com.G1[0].Add(&com.G1[0], e)
		if both {
			com.G1[1].Sub(&com.G1[1], e)
		}
		st.AddTo(a, weights, com, &p.C, p.S)
		if a.IsZeroVarTime() {
			t.Errorf("wrong commitments are accepted, both=%v", both)
		}
	}
	a = NewSum()
	com := st.RecomputeVarTime(&p.C, p.S)
	com.G2[0].Add(&com.G2[0], bls12381.G2Generator())
	st.AddTo(a, weights, com, &p.C, p.S)
	if a.IsZeroVarTime() {
		t.Error("a wrong commitment in G2 is accepted")
	}
}

func TestEqDlog(t *testing.T) {
	g, h := base("g"), base("h")
	w := new(bls12381.Scalar).Random()
	v := new(bls12381.Scalar).Random()
	p, err := EqDlog(g, h, mul(w, g), mul(w, h)).Prove(dst, context("a"), []bls12381.Scalar{*w})
	if err != nil || EqDlog(g, h, mul(w, g), mul(w, h)).VerifyVarTime(dst, context("a"), p) != nil {
		t.Fatal("a good proof is refused")
	}
	p, _ = EqDlog(g, h, mul(w, g), mul(v, h)).Prove(dst, context("a"), []bls12381.Scalar{*w})
	if EqDlog(g, h, mul(w, g), mul(v, h)).VerifyVarTime(dst, context("a"), p) == nil {
		t.Error("different logarithms are accepted")
	}
}

func TestHom(t *testing.T) {
	w := new(bls12381.Scalar).Random()
	tok := new(bls12381.G2).ScalarBaseMult(w)
	pairs := func(k *bls12381.Scalar) (out []HomPair) {
		for _, s := range []string{"g", "h"} {
			q := new(bls12381.G2).ScalarBaseMult(k)
			out = append(out, HomPair{base(s), new(bls12381.GT).PairVarTime(base(s), q)})
		}
		return out
	}
	good := pairs(w)
	p, err := ProveHom(dst, context("a"), good, tok)
	if err != nil {
		t.Fatal(err)
	}
	b := p.Append(nil)
	p, err = DecodeHom(b)
	if err != nil || VerifyHomVarTime(dst, context("a"), good, p) != nil {
		t.Fatal("a good proof is refused", err)
	}
	if VerifyHomVarTime(dst, context("b"), good, p) == nil {
		t.Error("another context is accepted")
	}
	bad := pairs(new(bls12381.Scalar).Random())
	if VerifyHomVarTime(dst, context("a"), bad, p) == nil {
		t.Error("other values are accepted")
	}
	mixed := []HomPair{good[0], bad[1]}
	if q, _ := ProveHom(dst, context("a"), mixed, tok); VerifyHomVarTime(dst, context("a"), mixed, q) == nil {
		t.Error("a T that fits one of two is accepted")
	}
	if _, err := ProveHom(dst, context("a"), nil, tok); err == nil {
		t.Error("no pairs")
	}
	if VerifyHomVarTime(dst, context("a"), []HomPair{{bls12381.NewG1(), new(bls12381.GT)}}, p) == nil {
		t.Error("the identity is accepted")
	}
	if _, err := DecodeHom(b[1:]); err == nil {
		t.Error("truncated proof")
	}
	b[40] ^= 0xff
	if q, err := DecodeHom(b); err == nil && VerifyHomVarTime(dst, context("a"), good, q) == nil {
		t.Error("a changed proof is accepted")
	}
}
