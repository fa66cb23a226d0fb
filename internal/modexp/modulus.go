// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"errors"
	"math/big"
	"math/bits"
)

// MaxBits is the largest size of a modulus.
const MaxBits = 16384

var (
	errModulus  = errors.New("modexp: modulus is not an odd number of 2 to 16384 bits")
	errSize     = errors.New("modexp: encoding does not have the size of the modulus")
	errRange    = errors.New("modexp: value is not reduced")
	errNegative = errors.New("modexp: negative exponent")
	errInverse  = errors.New("modexp: value is not invertible")
	errLengths  = errors.New("modexp: as many bases as exponents are needed")
)

// Modulus is an odd modulus n. Its value may be a secret, its bit length is
// public. It may be used by several goroutines.
type Modulus struct {
	bits int
	n    []uint64 // padded with zero limbs to a multiple of chunk
	k0   uint64   // -1/n mod 2^64
	one  []uint64 // R mod n, R = 2^(64·len(n))
	rr   []uint64 // R² mod n
	n52  []uint64 // n in limbs of 52 bits, where the wide kernel serves it
}

// Element is a residue, kept in Montgomery form: x·R mod n, fully reduced. It
// belongs to the Modulus that made it.
type Element struct {
	l []uint64
}

// NewModulus returns the modulus n, which must be odd, greater than 1 and of at
// most [MaxBits] bits.
func NewModulus(n *big.Int) (*Modulus, error) {
	m, err := newModulus(n)
	if err != nil {
		return nil, err
	}
	// R² mod n is the Montgomery form of R = 2^(64·len(n)).
	m.rr = make([]uint64, len(m.n))
	m.powTwo(m.rr, uint64(64*len(m.n)))
	return m, nil
}

// newModulus sets up all but R² mod n.
func newModulus(n *big.Int) (*Modulus, error) {
	if n == nil || n.Sign() <= 0 || n.Bit(0) == 0 || n.BitLen() < 2 || n.BitLen() > MaxBits {
		return nil, errModulus
	}
	bitLen := n.BitLen()
	l := limbsFor(bitLen)
	buf := make([]uint64, 2*l)
	m := &Modulus{bits: bitLen, n: buf[:l:l], one: buf[l:]}
	setBig(m.n, n)
	m.k0 = negInverse(m.n[0])

	if haveWide(l) {
		m.n52 = alignedWords(8 * ((l*64/laneBits + 8) / 8)) // whole vectors
		split52(m.n52, m.n)
	}

	// 2^(bits-1) < n, so doublings with one masked subtraction each lead to
	// R mod n.
	m.one[(bitLen-1)/64] = 1 << ((bitLen - 1) % 64)
	for range 64*l - bitLen + 1 {
		doubleLimbs(m.one, m.n)
	}
	return m, nil
}

// limbsFor returns the number of limbs of a modulus of that many bits.
func limbsFor(bits int) int { return (bits + 64*chunk - 1) / (64 * chunk) * chunk }

// negInverse returns -1/n mod 2^64 for odd n, by Newton's iteration: n is its
// own inverse mod 8, and each step doubles the number of right bits.
func negInverse(n uint64) uint64 {
	k := n
	for range 5 {
		k *= 2 - n*k
	}
	return -k
}

// powTwo sets z to the Montgomery form of 2^e, for public e.
func (m *Modulus) powTwo(z []uint64, e uint64) {
	t := make([]uint64, 2*len(z))
	copy(z, m.one)
	for i := bits.Len64(e) - 1; i >= 0; i-- {
		m.sqr(z, z, t)
		if e>>i&1 == 1 {
			doubleLimbs(z, m.n)
		}
	}
}

// BitLen returns the bit length of n.
func (m *Modulus) BitLen() int { return m.bits }

// Size returns the number of bytes that hold a residue.
func (m *Modulus) Size() int { return (m.bits + 7) / 8 }

// Big returns a copy of n.
func (m *Modulus) Big() *big.Int { return toBig(m.n) }

// NewElement returns 0.
func (m *Modulus) NewElement() *Element {
	return &Element{make([]uint64, len(m.n))}
}

// One returns 1.
func (m *Modulus) One() *Element {
	z := m.NewElement()
	copy(z.l, m.one)
	return z
}

// Set sets z = x.
func (z *Element) Set(x *Element) {
	copy(z.l, x.l)
}

// Wipe sets z to zero.
func (z *Element) Wipe() {
	clear(z.l)
}

// SetBytes returns the residue with the big-endian encoding b, which must be
// exactly Size bytes long and below n. Only the verdict shows in the time.
func (m *Modulus) SetBytes(b []byte) (*Element, error) {
	if len(b) != m.Size() {
		return nil, errSize
	}
	z := m.NewElement()
	if err := Nat(z.l).SetBytes(b); err != nil {
		return nil, err
	}
	if Nat(z.l).Less(m.n) == 0 {
		z.Wipe()
		return nil, errRange
	}
	m.toMont(z.l, z.l)
	return z, nil
}

// SetBig returns the residue x, a public value with 0 <= x < n.
func (m *Modulus) SetBig(x *big.Int) (*Element, error) {
	if x == nil || x.Sign() < 0 || x.BitLen() > m.bits {
		return nil, errRange
	}
	return m.SetBytes(x.FillBytes(make([]byte, m.Size())))
}

// SetNat returns x mod n. Its time depends on the width of x alone.
func (m *Modulus) SetNat(x Nat) *Element {
	z := m.NewElement()
	l := len(m.n)
	c := make([]uint64, l)
	// x = sum x_i·R^i by Horner's rule; toMont multiplies by R.
	for i := (len(x) - 1) / l; i >= 0 && len(x) > 0; i-- {
		m.toMont(z.l, z.l)
		clear(c)
		copy(c, x[i*l:])
		m.toMont(c, c)
		m.add(z.l, z.l, c)
	}
	clear(c)
	return z
}

// Bytes returns the big-endian encoding of x, Size bytes long.
func (m *Modulus) Bytes(x *Element) []byte {
	v := m.Nat(x)
	b := make([]byte, m.Size())
	v.fill(b)
	v.Wipe()
	return b
}

// Nat returns x as a natural number of BitLen bits, rounded up to whole limbs.
func (m *Modulus) Nat(x *Element) Nat {
	l := len(m.n)
	t := make([]uint64, 2*l)
	copy(t, x.l)
	v := make(Nat, l)
	redcLimbs(v, t, m.n, m.k0)
	clear(t)
	return v[:(m.bits+63)/64]
}

// BigVarTime returns x as a big.Int.
func (m *Modulus) BigVarTime(x *Element) *big.Int {
	return toBig(m.Nat(x))
}

// toMont sets z = x·R mod n for any x below R.
func (m *Modulus) toMont(z, x []uint64) {
	t := make([]uint64, 2*len(m.n))
	m.mul(z, x, m.rr, t)
	clear(t)
}

// setBig sets z to the public-length number x >= 0, which must fit.
func setBig(z []uint64, x *big.Int) {
	clear(z)
	for i, w := range x.Bits() {
		if bits.UintSize == 64 {
			z[i] = uint64(w)
		} else {
			z[i/2] |= uint64(w) << (32 * (i % 2))
		}
	}
}

// natFromBig returns x >= 0 in l limbs, which must suffice.
func natFromBig(x *big.Int, l int) Nat {
	z := make(Nat, l)
	setBig(z, x)
	return z
}

func toBig(x []uint64) *big.Int {
	b := make([]byte, 8*len(x))
	Nat(x).fill(b)
	return new(big.Int).SetBytes(b)
}
