// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package qrn

import (
	"context"
	"errors"
	"math/big"

	"github.com/undersign/undersign/internal/modexp"
	"github.com/undersign/undersign/internal/safeprime"
)

// A Factors is the secret of who made a modulus: with it roots can be taken.
type Factors struct {
	p, q  *big.Int
	order modexp.Nat // (p-1)(q-1)/4
	bits  int        // of the order, rounded up to that of n
}

// Generate finds a modulus of two safe primes.
func Generate(ctx context.Context, p Params) (*Factors, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	primes, err := safeprime.Find(ctx, p.Modulus/2, 2, nil)
	if err != nil {
		return nil, err
	}
	return newFactors(primes[0], primes[1]), nil
}

// FactorsOf returns the factors p and q, which must be different safe primes of half
// the size of the modulus.
func FactorsOf(pr Params, p, q *big.Int) (*Factors, error) {
	for _, x := range []*big.Int{p, q} {
		if x.BitLen() != pr.Modulus/2 || x.Bit(0) != 1 || !safeprime.IsPrime(x) || !safeprime.IsPrime(new(big.Int).Rsh(x, 1)) {
			return nil, errors.New("qrn: a factor isn't a safe prime of the right size")
		}
	}
	if p.Cmp(q) == 0 {
		return nil, errors.New("qrn: the factors are equal")
	}
	return newFactors(p, q), nil
}

func newFactors(p, q *big.Int) *Factors {
	bits := p.BitLen() + q.BitLen()
	order := new(big.Int).Mul(new(big.Int).Rsh(p, 1), new(big.Int).Rsh(q, 1))
	return &Factors{p, q, NatOf(order, bits), bits}
}

// N returns the modulus.
func (f *Factors) N() *big.Int { return new(big.Int).Mul(f.p, f.q) }

// Secret returns what nonces are hedged with.
func (f *Factors) Secret() []byte { return f.p.Bytes() }

// Wipe overwrites the factors. They are of no use afterwards.
func (f *Factors) Wipe() {
	f.order.Wipe()
	for _, x := range []*big.Int{f.p, f.q} {
		clear(x.Bits())
	}
}

// Root returns x^(1/e) modulo n, for an odd prime e that doesn't divide the order m.
//
// The exponent d = 1/e mod m is (1 + m·u)/e with u = -1/m mod e, which is -m^(e-2)
// since e is prime, and the quotient is exact, so that it may be computed modulo a
// power of two. All that is constant time in m, other than a division modulo m.
func (f *Factors) Root(g *Group, x *modexp.Element, e modexp.Nat, bits int) (*modexp.Element, error) {
	b := Fill(e, bits)
	modulus, err := modexp.NewModulus(new(big.Int).SetBytes(b))
	clear(b)
	if err != nil {
		return nil, err
	}
	less := modexp.NewNat(bits)
	less.Sub(e, NatOf(big.NewInt(2), bits))
	u := modulus.NewElement()
	modulus.Exp(u, modulus.SetNat(f.order), less)
	modulus.Sub(u, modulus.NewElement(), u)
	n := f.bits + bits + 64
	num := Sum(Product(f.order, modulus.Nat(u), n), NatOf(big.NewInt(1), 64), n)
	// 1/e modulo 2^(64·limbs), by Newton's steps v = v(2 - ev), which double the bits
	// that are right: of v = e three are.
	limbs := 64 * ((f.bits + 63) / 64)
	v, ev, two := modexp.NewNat(limbs), modexp.NewNat(limbs), NatOf(big.NewInt(2), limbs)
	copy(v, e)
	for right := 3; right < limbs; right *= 2 {
		ev.Mul(widen(e, len(ev)), v)
		ev.Sub(two, ev)
		w := modexp.NewNat(limbs)
		w.Mul(v, ev)
		copy(v, w)
	}
	d := modexp.NewNat(limbs)
	d.Mul(num[:len(d)], v)
	z := g.Pow(x, d)
	Wipe(d, num, less)
	u.Wipe()
	return z, nil
}

// Prime returns v for which low + v is a prime of the range r, from what read gives.
// Its time shows how many numbers were tried, which are independent of the one that is
// returned.
func Prime(r Range, read func([]byte)) modexp.Nat {
	for {
		// A batch for the kernel of eight lanes.
		var vs []modexp.Nat
		var es []*big.Int
		for len(es) < 8 {
			v := Random(read, r.Bits)
			v[0] |= 1
			if r.Low.Bit(0) == 1 {
				v[0] &^= 1
			}
			e := new(big.Int).SetBytes(Fill(v, r.Bits))
			e.Add(e, r.Low)
			if new(big.Int).GCD(nil, nil, e, smallPrimes()).BitLen() == 1 {
				vs, es = append(vs, v), append(es, e)
			}
		}
		ok := make([]bool, len(es))
		modexp.FermatLanes(es, ok)
		for i := range es {
			if ok[i] && safeprime.IsPrime(es[i]) {
				return vs[i]
			}
		}
	}
}
