// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"os"
	"testing"

	"github.com/undersign/undersign/internal/cttest"
)

func TestMain(m *testing.M) { cttest.Main(m, memcheckCases) }

// Once with the portable products, and once with the backend's assembly. Valgrind
// hides ADX from the program but executes it, so the switch is set by hand.
func TestConstantTime(t *testing.T) {
	for _, kernel := range []string{"generic", "assembly"} {
		t.Run(kernel, func(t *testing.T) {
			if kernel == "assembly" && !haveAssembly() {
				t.Skip("no assembly here")
			}
			cttest.Memcheck(t, "UNDERSIGN_BLS12381="+kernel)
		})
	}
}

func memcheckCases(c *cttest.Checker) {
	useAssembly(os.Getenv("UNDERSIGN_BLS12381") == "assembly")
	declassify = func(w []uint64) { cttest.Public(w) }
	growStack(1 << 14)
	memcheckScalar(c)
	memcheckG1(c)
	memcheckG2(c)
	memcheckGT(c)
	memcheckLeaky(c)
}

// growStack makes the stack as large as it will get: valgrind forgets what is
// undefined when a stack is moved.
//
//go:noinline
func growStack(words int) uint64 {
	var frame [64]uint64
	frame[words%64] = uint64(words)
	if words > len(frame) {
		return frame[words%64] + growStack(words-len(frame))
	}
	return frame[0]
}

var branches int

// tainted checks that x is undefined: that the secret got there, so that the
// case before has tested something. Then it publishes x.
func tainted[S ~[]E, E byte | uint64](c *cttest.Checker, x S) {
	c.Leaks("  depends on the secret", func() {
		if x[0]&1 == 1 {
			branches++
		}
	})
	cttest.Public(x)
}

func secretScalar() *Scalar {
	k := new(Scalar).SetHash([]byte("secret"), []byte("test"))
	cttest.Secret(k.m[:])
	return k
}

func memcheckScalar(c *cttest.Checker) {
	k, l := secretScalar(), secretScalar()
	z := new(Scalar)
	run := func(name string, f func()) {
		c.Clean("Scalar."+name, f)
		tainted(c, z.m[:])
	}
	run("Add", func() { z.Add(k, l) })
	run("Sub", func() { z.Sub(k, l) })
	run("Neg", func() { z.Neg(k) })
	run("Mul", func() { z.Mul(k, l) })
	run("MulAdd", func() { z.MulAdd(k, l, k) })
	run("Inverse", func() { z.Inverse(k) })
	run("Select", func() { z.Select(k, l, 1) })
	var b []byte
	c.Clean("Scalar.Bytes", func() { b = k.Bytes() })
	c.Clean("Scalar.SetBytes", func() {
		if err := z.SetBytesNonZero(b); err != nil {
			panic(err)
		}
	})
	tainted(c, z.m[:])
	tainted(c, b)
	wide := make([]byte, 64)
	cttest.Secret(wide)
	run("SetWide", func() { z.SetWide(wide) })
	var equal bool
	c.Clean("Scalar.Equal", func() { equal = k.Equal(l) })
	c.Leaks("  depends on the secret", func() {
		if equal {
			branches++
		}
	})
	run("Random", func() { z.Random(); cttest.Secret(z.m[:]) })
	c.Clean("Scalar.Wipe", func() { k.Wipe() })
	c.Clean("wiped", func() {
		if k.m[0]|k.m[1]|k.m[2]|k.m[3] != 0 {
			panic("not wiped")
		}
	})
}

func secretG1(p *G1) {
	cttest.Secret(p.x[:])
	cttest.Secret(p.y[:])
}

func publicG1(p *G1) {
	cttest.Public(p.x[:])
	cttest.Public(p.y[:])
	cttest.Public(p.z[:])
}

func memcheckG1(c *cttest.Checker) {
	k := secretScalar()
	public := *k
	cttest.Public(public.m[:])
	q := new(G1).HashVarTime([]byte("q"), []byte("test"))
	want := new(G1).ScalarMultVarTime(&public, q)
	secret := *q
	secretG1(&secret)
	p := new(G1)
	run := func(name string, f func()) {
		c.Clean("G1."+name, f)
		tainted(c, p.x[:])
		publicG1(p)
	}
	check := func(name string) { c.Check("G1."+name+" result", p.Equal(want)) }

	run("ScalarMult", func() { p.ScalarMult(k, q) })
	check("ScalarMult")
	run("ScalarMult, secret point", func() { p.ScalarMult(k, &secret) })
	check("ScalarMult")
	comb := NewG1Comb(q)
	run("CombMult", func() { p.CombMult(k, comb) })
	check("CombMult")
	c.Clean("NewG1Comb, secret point", func() { comb = NewG1Comb(&secret) })
	run("CombMult, secret point", func() { p.CombMult(k, comb) })
	check("CombMult")
	run("ScalarBaseMult", func() { p.ScalarBaseMult(k) })
	run("Add", func() { p.Add(&secret, &secret) })
	run("Sub", func() { p.Sub(&secret, q) })
	run("Double", func() { p.Double(&secret) })
	run("Neg", func() { p.Neg(&secret) })
	run("Select", func() { p.Select(&secret, &secret, 1) })

	p.ScalarMult(k, q)
	r := new(G1).ScalarMult(k, p)
	c.Clean("NormalizeG1", func() { NormalizeG1(p, r) })
	tainted(c, r.y[:])
	var b []byte
	c.Clean("G1.Bytes", func() { b = p.Bytes() })
	tainted(c, b)
	c.Check("G1.Bytes result", string(b) == string(want.Bytes()))
	p.ScalarMult(k, q)
	c.Clean("G1.UncompressedBytes", func() { b = p.UncompressedBytes() })
	tainted(c, b)
	c.Check("G1.UncompressedBytes result", string(b) == string(want.UncompressedBytes()))
	var equal bool
	c.Clean("G1.Equal", func() { equal = p.Equal(&secret) })
	c.Clean("G1.IsIdentity", func() { equal = p.IsIdentity() })
	_ = equal
	c.Clean("G1.Wipe", func() { p.Wipe() })
}

func publicG2(p *G2) {
	for _, f := range []*fe2{&p.x, &p.y, &p.z} {
		cttest.Public(f.A0[:])
		cttest.Public(f.A1[:])
	}
}

func memcheckG2(c *cttest.Checker) {
	k := secretScalar()
	public := *k
	cttest.Public(public.m[:])
	q := new(G2).HashVarTime([]byte("q"), []byte("test"))
	want := new(G2).ScalarMultVarTime(&public, q)
	secret := *q
	for _, f := range []*fe2{&secret.x, &secret.y} {
		cttest.Secret(f.A0[:])
		cttest.Secret(f.A1[:])
	}
	p := new(G2)
	run := func(name string, f func()) {
		c.Clean("G2."+name, f)
		tainted(c, p.x.A0[:])
		publicG2(p)
	}
	check := func(name string) { c.Check("G2."+name+" result", p.Equal(want)) }

	run("ScalarMult", func() { p.ScalarMult(k, q) })
	check("ScalarMult")
	run("ScalarMult, secret point", func() { p.ScalarMult(k, &secret) })
	check("ScalarMult")
	comb := NewG2Comb(q)
	run("CombMult", func() { p.CombMult(k, comb) })
	check("CombMult")
	c.Clean("NewG2Comb, secret point", func() { comb = NewG2Comb(&secret) })
	run("CombMult, secret point", func() { p.CombMult(k, comb) })
	check("CombMult")
	run("ScalarBaseMult", func() { p.ScalarBaseMult(k) })
	run("Add", func() { p.Add(&secret, &secret) })
	run("Sub", func() { p.Sub(&secret, q) })
	run("Double", func() { p.Double(&secret) })
	run("Neg", func() { p.Neg(&secret) })
	run("Select", func() { p.Select(&secret, &secret, 1) })

	p.ScalarMult(k, q)
	c.Clean("NormalizeG2", func() { NormalizeG2(p) })
	var b []byte
	c.Clean("G2.Bytes", func() { b = p.Bytes() })
	tainted(c, b)
	c.Check("G2.Bytes result", string(b) == string(want.Bytes()))
	p.ScalarMult(k, q)
	c.Clean("G2.UncompressedBytes", func() { b = p.UncompressedBytes() })
	tainted(c, b)
	c.Check("G2.UncompressedBytes result", string(b) == string(want.UncompressedBytes()))
	var equal bool
	c.Clean("G2.Equal", func() { equal = p.Equal(&secret) })
	_ = equal
}

func memcheckGT(c *cttest.Checker) {
	k := secretScalar()
	public := *k
	cttest.Public(public.m[:])
	x := new(GT).PairVarTime(G1Generator(), G2Generator())
	want := new(GT).ExpVarTime(x, &public)
	secret := *x
	words := fe12Words(&secret.v)
	for _, f := range words {
		cttest.Secret(f[:])
	}
	z := new(GT)
	run := func(name string, f func()) {
		c.Clean("GT."+name, f)
		tainted(c, z.v.C1.B2.A1[:])
		words := fe12Words(&z.v)
		for _, f := range words {
			cttest.Public(f[:])
		}
	}
	run("Exp", func() { z.Exp(x, k) })
	c.Check("GT.Exp result", z.Equal(want))
	run("Exp, secret base", func() { z.Exp(&secret, k) })
	c.Check("GT.Exp result", z.Equal(want))
	comb := NewGTComb(x)
	run("CombExp", func() { z.CombExp(k, comb) })
	c.Check("GT.CombExp result", z.Equal(want))
	c.Clean("NewGTComb, secret base", func() { comb = NewGTComb(&secret) })
	run("CombExp, secret base", func() { z.CombExp(k, comb) })
	c.Check("GT.CombExp result", z.Equal(want))
	run("Mul", func() { z.Mul(&secret, x) })
	run("Inverse", func() { z.Inverse(&secret) })
	run("Div", func() { z.Div(x, &secret) })
	var b []byte
	c.Clean("GT.Bytes", func() { b = secret.Bytes() })
	tainted(c, b)
	c.Check("GT.Bytes result", string(b) == string(x.Bytes()))
}

// memcheckLeaky are controls: what this package would be without its care.
func memcheckLeaky(c *cttest.Checker) {
	k := secretScalar()
	q := new(G1).HashVarTime([]byte("q"), []byte("test"))
	p := new(G1)
	c.Leaks("ScalarMultVarTime", func() { p.ScalarMultVarTime(k, q) })
	publicG1(p)
	c.Leaks("table without a scan", func() {
		var table [16]G1
		w := k.words()
		*p = table[w[0]&15]
	})
	secret := *q
	secretG1(&secret)
	c.Leaks("the backend's sum", func() { secret.x.Add(&secret.x, &secret.y) })
	j := q.jacobian()
	cttest.Secret(j.X[:])
	c.Leaks("the backend's point addition", func() { j.AddAssign(&j) })
	p.ScalarMult(secretScalar(), q)
	c.Leaks("the backend's inverse", func() { p.z.Inverse(&p.z) })
}
