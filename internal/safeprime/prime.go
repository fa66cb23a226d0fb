// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"crypto/rand"
	"math/big"

	"github.com/undersign/undersign/internal/modexp"
)

// rounds is the number of Miller-Rabin tests in the final test of q', all but one
// with random bases. A Lucas test comes on top.
const rounds = 24

// IsPrime reports whether x is prime, with the final test of Find: what it says of a
// composite number, whoever chose it, is wrong with a probability below 4^(1-rounds).
// Where there are lanes it is several times as fast as ProbablyPrime.
func IsPrime(x *big.Int) bool {
	if x.BitLen() < 16 || x.Bit(0) == 0 || x.Sign() < 0 {
		return x.ProbablyPrime(rounds)
	}
	return isPrime(x)
}

// isPrime is the final test of an odd q > 3: a composite q passes with a probability
// below 4^(1-rounds), whatever q is.
func isPrime(q *big.Int) bool {
	if !modexp.HaveLanes(q.BitLen()) || q.BitLen() < 16 {
		return q.ProbablyPrime(rounds)
	}
	return millerRabin(q) && lucas(q)
}

// millerRabin makes the tests eight at a time, the first with base 2, which is what
// the test of Baillie and Wagstaff (1980) combines with that of Lucas. q-1 = 2^s d
// with an odd d; q passes if b^d = 1, or b^(2^i d) = -1 for some i < s.
func millerRabin(q *big.Int) bool {
	m, err := modexp.NewModulus(q)
	if err != nil {
		return false
	}
	minus1 := new(big.Int).Sub(q, one)
	s := int(minus1.TrailingZeroBits())
	d := modexp.NewNat(q.BitLen())
	if d.SetBytes(new(big.Int).Rsh(minus1, uint(s)).Bytes()) != nil {
		return false
	}
	span := new(big.Int).Sub(minus1, two) // bases from 2 to q-2
	var xs []*modexp.Element
	var ms []*modexp.Modulus
	var es []modexp.Nat
	for i := range rounds {
		b, err := rand.Int(rand.Reader, span)
		if err != nil {
			return false
		}
		if b.Add(b, two); i == 0 {
			b.Set(two)
		}
		x, err := m.SetBig(b)
		if err != nil {
			return false
		}
		xs, ms, es = append(xs, x), append(ms, m), append(es, d)
	}
	modexp.ExpLanes(xs, xs, ms, es, q.BitLen()-s)
	unit, neg := m.One(), m.NewElement()
	m.Sub(neg, neg, unit)
	for _, x := range xs {
		good := m.Equal(x, unit) || m.Equal(x, neg)
		for i := 1; i < s && !good; i++ {
			m.Sqr(x, x)
			good = m.Equal(x, neg)
		}
		if !good {
			return false
		}
	}
	return true
}

var two = big.NewInt(2)
