// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package qrn

import (
	"bytes"
	"crypto/rand"
	"math/big"
	"testing"

	"github.com/undersign/undersign/internal/modexp"
	"github.com/undersign/undersign/internal/safeprime"
	"github.com/undersign/undersign/internal/transcript"
)

var small = Params{Modulus: 256, Challenge: 40, Statistical: 20, Secret: 64}

func read(b []byte) { rand.Read(b) }

func testFactors(t *testing.T) (*Factors, *Group) {
	t.Helper()
	primes, err := safeprime.Find(t.Context(), 128, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := FactorsOf(small, primes[0], primes[1])
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewSigned(f.N(), small.Modulus)
	if err != nil {
		t.Fatal(err)
	}
	return f, g
}

func TestRoot(t *testing.T) {
	f, g := testFactors(t)
	for _, bits := range []int{40, 64, 100, 256, 300} {
		r := Range{Pow2(bits), bits - 2}
		v := Prime(r, read)
		e := r.Full(v)
		x := g.Hash([]byte("dst"), "x")
		y, err := f.Root(g, x, e, r.FullBits())
		if err != nil {
			t.Fatal(err)
		}
		if !g.Equal(g.Pow(y, e), x) {
			t.Errorf("%d bits: wrong root", bits)
		}
		n := new(big.Int).SetBytes(Fill(e, r.FullBits()))
		if !n.ProbablyPrime(10) || n.Cmp(r.Low) < 0 || n.Cmp(r.High()) >= 0 {
			t.Errorf("%d bits: %x isn't a prime of the interval", bits, n)
		}
	}
}

// TestGroup checks that what decodes is a class {x, -x} of Jacobi symbol 1, in one
// encoding each.
func TestGroup(t *testing.T) {
	_, g := testFactors(t)
	decoded := 0
	for range 200 {
		v, err := rand.Int(rand.Reader, g.N())
		if err != nil {
			t.Fatal(err)
		}
		b := v.FillBytes(make([]byte, g.Size()))
		x, err := g.Decode(b)
		want := big.Jacobi(v, g.N()) == 1 && new(big.Int).Lsh(v, 1).Cmp(g.N()) < 0
		if (err == nil) != want {
			t.Fatalf("decoded: %v, want %v", err, want)
		}
		if err != nil {
			continue
		}
		decoded++
		if !bytes.Equal(g.Encode(x), b) || !bytes.Equal(g.Encode(g.negative(x)), b) || !g.Equal(x, g.negative(x)) {
			t.Error("x and -x differ")
		}
	}
	if decoded == 0 {
		t.Error("nothing was decoded")
	}
}

// TestProof proves one relation of each sign, and changes all there is.
func TestProof(t *testing.T) {
	_, g := testFactors(t)
	a, b := g.NewFixedBase(g.Hash(nil, "a"), 512), g.NewBase(g.Hash(nil, "b"))
	r := Range{big.NewInt(1000), 32}
	v := []modexp.Nat{Random(read, 32), Random(read, 32)}
	x, y := r.Full(v[0]), r.Full(v[1])
	z := g.NewBase(g.Mul(a.Pow(x, 33), g.Pow(b.Inverse(), y)))
	st := &Statement{P: small, Secrets: []Range{r, r}, Rel: []Relation{
		{G: g, Terms: []Term{{a, 0, false}, {b, 1, true}}, Y: []Factor{{z, false}}},
		{G: g, Terms: []Term{{a, 0, true}, {b, 1, false}}, Y: []Factor{{z, true}}},
	}}
	dst := transcript.DST("test", "proof")
	context := new(transcript.Items).Bytes("c", nil)
	proof, err := st.Prove(dst, context, v)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.VerifyVarTime(dst, context, proof); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, st *Statement, context *transcript.Items, proof []byte) {
		t.Helper()
		if st.VerifyVarTime(dst, context, proof) == nil {
			t.Errorf("accepted: %s", what)
		}
	}
	for i := range 8 * len(proof) {
		p := bytes.Clone(proof)
		p[i/8] ^= 1 << (i % 8)
		refused("a flipped bit", st, context, p)
	}
	refused("another context", st, new(transcript.Items).Bytes("c", []byte("x")), proof)
	refused("a longer proof", st, context, append(bytes.Clone(proof), 0))
	refused("nothing", st, context, nil)
	narrow := *st
	narrow.Secrets = []Range{r, {big.NewInt(1001), 32}}
	refused("another interval", &narrow, context, proof)
	fewer := *st
	fewer.Rel = st.Rel[:1]
	refused("fewer relations", &fewer, context, proof)
	swapped := *st
	swapped.Rel = []Relation{st.Rel[1], st.Rel[0]}
	refused("relations in another order", &swapped, context, proof)
	if _, err := st.Prove(dst, context, v[:1]); err == nil {
		t.Error("a secret is missing")
	}
	wrong := []modexp.Nat{v[1], v[0]}
	if p, err := st.Prove(dst, context, wrong); err == nil {
		refused("wrong secrets", st, context, p)
	}
}

// TestRespond checks that a response out of range is told, which would tell the secret.
func TestRespond(t *testing.T) {
	r := Below(32)
	st := &Statement{P: small, Secrets: []Range{r}}
	n := r.Response(small)
	all := modexp.NewNat(n)
	all.Sub(NatOf(Pow2(n), n+1)[:len(all)], NatOf(big.NewInt(1), n)) // 2^n - 1
	c := []byte{0, 0, 0, 0, 1}
	if _, ok := st.Respond(c, []modexp.Nat{all}, []modexp.Nat{NatOf(big.NewInt(1), 32)}); ok != 0 {
		t.Error("2^n is in range")
	}
	if _, ok := st.Respond(c, []modexp.Nat{all}, []modexp.Nat{NatOf(big.NewInt(0), 32)}); ok != 1 {
		t.Error("2^n - 1 isn't in range")
	}
}

func TestOuter(t *testing.T) {
	low, high := Range{Pow2(100), 10}.Outer(small)
	want := Pow2(70)
	if new(big.Int).Sub(Pow2(100), low).Cmp(want) != 0 || new(big.Int).Sub(high, Pow2(100)).Cmp(want) != 0 {
		t.Error("wrong interval")
	}
	if _, err := DecodeNat([]byte{2, 0}, 9); err == nil {
		t.Error("a number of 10 bits passes for one of 9")
	}
	if _, err := DecodeNat([]byte{1}, 9); err == nil {
		t.Error("a short encoding")
	}
}
