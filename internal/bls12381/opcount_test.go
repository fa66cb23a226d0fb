// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"testing"

	"github.com/undersign/undersign/internal/opcount"
)

// Each operation and element is reported once, by whichever name it is called, and tables and
// subgroup checks aren't.
func TestOperationsAreCounted(t *testing.T) {
	k, l := new(Scalar).Random(), new(Scalar).Random()
	p, q := new(G1).ScalarBaseMult(k), new(G2).ScalarBaseMult(k)
	z := new(GT).PairVarTime(p, q)
	var r1 G1
	var r2 G2
	var rt GT
	c1, c2, ct := NewG1Comb(p), NewG2Comb(q), NewGTComb(z)
	table, lines := NewG1TableVarTime(p), NewLinesVarTime(q)
	pBytes, qBytes, zBytes, kBytes := p.Bytes(), q.Bytes(), z.Bytes(), k.Bytes()
	pLong, qLong := p.UncompressedBytes(), q.UncompressedBytes()
	many := make([]G1Term, g1StrausMax)
	for i := range many {
		many[i] = MulG1(k, p)
	}
	for name, c := range map[string]struct {
		f    func()
		want opcount.Counts
	}{
		"G1.ScalarMult":        {func() { r1.ScalarMult(k, p) }, opcount.Counts{opcount.MulG1: 1}},
		"G1.ScalarBaseMult":    {func() { r1.ScalarBaseMult(k) }, opcount.Counts{opcount.MulG1: 1}},
		"G1.CombMult":          {func() { r1.CombMult(k, c1) }, opcount.Counts{opcount.MulG1: 1}},
		"G1.ScalarMultVarTime": {func() { r1.ScalarMultVarTime(k, p) }, opcount.Counts{opcount.MulG1: 1}},
		"G1.MultiMultVarTime":  {func() { r1.MultiMultVarTime(MulG1(k, p), MulG1Table(l, table)) }, opcount.Counts{opcount.MulG1: 2}},
		"G1, many":             {func() { r1.MultiMultVarTime(many...) }, opcount.Counts{opcount.MulG1: len(many)}},
		"G1SumsVarTime":        {func() { G1SumsVarTime(many[:2], many[:1]) }, opcount.Counts{opcount.MulG1: 3}},
		"G1.HashVarTime":       {func() { r1.HashVarTime(kBytes, []byte("test")) }, opcount.Counts{opcount.HashG1: 1}},
		"G1.HashSumVarTime":    {func() { r1.HashSumVarTime([][]byte{kBytes, pBytes}, []byte("test")) }, opcount.Counts{opcount.HashG1: 2}},
		"G1 is decoded":        {func() { r1.SetBytes(pBytes); r1.SetBytesOrIdentity(pBytes) }, opcount.Counts{opcount.DecodeG1: 1, opcount.DecodedBytes: G1Size}},
		"G1, uncompressed":     {func() { r1.SetUncompressed(pLong); r1.SetUncompressedUnsafe(pLong) }, opcount.Counts{opcount.DecodeG1: 1, opcount.DecodedBytes: G1SizeUncompressed}},
		"G1 tables":            {func() { NewG1Comb(p); NewG1TableVarTime(p); p.InSubgroupVarTime() }, opcount.Counts{}},

		"G2.ScalarMult":        {func() { r2.ScalarMult(k, q) }, opcount.Counts{opcount.MulG2: 1}},
		"G2.ScalarBaseMult":    {func() { r2.ScalarBaseMult(k) }, opcount.Counts{opcount.MulG2: 1}},
		"G2.CombMult":          {func() { r2.CombMult(k, c2) }, opcount.Counts{opcount.MulG2: 1}},
		"G2.ScalarMultVarTime": {func() { r2.ScalarMultVarTime(k, q) }, opcount.Counts{opcount.MulG2: 1}},
		"G2.MultiMultVarTime":  {func() { r2.MultiMultVarTime(MulG2(k, q), MulG2(l, q)) }, opcount.Counts{opcount.MulG2: 2}},
		"G2.HashVarTime":       {func() { r2.HashVarTime(kBytes, []byte("test")) }, opcount.Counts{opcount.HashG2: 1}},
		"G2 is decoded":        {func() { r2.SetBytes(qBytes); r2.SetUncompressed(qLong); r2.SetBytesUnsafe(qBytes) }, opcount.Counts{opcount.DecodeG2: 2, opcount.DecodedBytes: G2Size + G2SizeUncompressed}},
		"G2 tables":            {func() { NewG2Comb(q); NewLinesVarTime(q) }, opcount.Counts{}},

		"GT.Exp":        {func() { rt.Exp(z, k) }, opcount.Counts{opcount.ExpGT: 1}},
		"GT.CombExp":    {func() { rt.CombExp(k, ct) }, opcount.Counts{opcount.ExpGT: 1}},
		"GT.ExpVarTime": {func() { rt.ExpVarTime(z, k) }, opcount.Counts{opcount.ExpGT: 1}},
		"GT is decoded": {func() { rt.SetBytes(zBytes) }, opcount.Counts{opcount.DecodeGT: 1, opcount.DecodedBytes: GTSize}},
		"GT tables":     {func() { NewGTComb(z) }, opcount.Counts{}},

		"PairVarTime":                  {func() { rt.PairVarTime(p, q) }, opcount.Counts{opcount.Pairing: 1, opcount.FinalExp: 1}},
		"PairingCheckVarTime":          {func() { PairingCheckVarTime(PairOf(p, q), PairWith(p, lines)) }, opcount.Counts{opcount.Pairing: 2, opcount.FinalExp: 1}},
		"PairingCheckUncheckedVarTime": {func() { PairingCheckUncheckedVarTime(p, q, PairWith(p, lines)) }, opcount.Counts{opcount.Pairing: 2, opcount.FinalExp: 1}},
		"Scalar.SetBytes":              {func() { l.SetBytes(kBytes); l.SetBytesNonZero(kBytes) }, opcount.Counts{opcount.DecodeScalar: 1, opcount.DecodedBytes: ScalarSize}},
		"sums":                         {func() { r1.Add(p, p).Double(&r1).Neg(&r1); r2.Add(q, q); rt.Mul(z, z).Inverse(&rt) }, opcount.Counts{}},
	} {
		if got := opcount.Count(c.f); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
