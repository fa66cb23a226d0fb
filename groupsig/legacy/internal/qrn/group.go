// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package qrn

import (
	"crypto/sha3"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"sync"

	"github.com/undersign/undersign/internal/modexp"
	"github.com/undersign/undersign/internal/opcount"
)

// A Group is a group modulo an odd number. It is immutable, and may be used by several
// goroutines.
type Group struct {
	M     *modexp.Modulus
	n     *big.Int
	order *big.Int // of the subgroup; nil for signed quadratic residues
}

// smallPrimes is the product of the primes below 2^12.
var smallPrimes = sync.OnceValue(func() *big.Int {
	z := big.NewInt(1)
	for i := int64(2); i < 1<<12; i++ {
		if p := big.NewInt(i); p.ProbablyPrime(0) {
			z.Mul(z, p)
		}
	}
	return z
})

// NewSigned returns the group of signed quadratic residues modulo n, of the given
// size. That n is a product of two safe primes can't be seen: whoever made it is
// trusted for that. What can be seen of other numbers is refused.
func NewSigned(n *big.Int, bits int) (*Group, error) {
	root := new(big.Int)
	switch {
	case n.Sign() <= 0 || n.BitLen() != bits:
		return nil, fmt.Errorf("qrn: modulus of %d bits, want %d", n.BitLen(), bits)
	case n.Bit(0) != 1 || n.Bit(1) != 0: // p = q = 3 mod 4
		return nil, errors.New("qrn: modulus isn't 1 modulo 4")
	case new(big.Int).GCD(nil, nil, n, smallPrimes()).Cmp(big.NewInt(1)) != 0:
		return nil, errors.New("qrn: modulus has a small factor")
	case n.ProbablyPrime(0):
		return nil, errors.New("qrn: modulus is prime")
	case root.Mul(root.Sqrt(n), root).Cmp(n) == 0:
		return nil, errors.New("qrn: modulus is a square")
	}
	m, err := modexp.NewModulus(n)
	if err != nil {
		return nil, err
	}
	return &Group{M: m, n: new(big.Int).Set(n)}, nil
}

// NewSubgroup returns the subgroup of prime order q of the integers modulo the prime
// p. Both are constants of the program.
func NewSubgroup(p, q *big.Int) (*Group, error) {
	m, err := modexp.NewModulus(p)
	if err != nil {
		return nil, err
	}
	if new(big.Int).Mod(p, q).Cmp(big.NewInt(1)) != 0 {
		return nil, errors.New("qrn: no subgroup of that order")
	}
	return &Group{M: m, n: new(big.Int).Set(p), order: new(big.Int).Set(q)}, nil
}

// Size returns the length of an encoded element.
func (g *Group) Size() int { return g.M.Size() }

// N returns the modulus.
func (g *Group) N() *big.Int { return new(big.Int).Set(g.n) }

// Encode returns the canonical encoding of a public element.
func (g *Group) Encode(x *modexp.Element) []byte {
	v := g.M.BigVarTime(x)
	if g.order == nil {
		if w := new(big.Int).Sub(g.n, v); w.Cmp(v) < 0 {
			v = w
		}
	}
	return v.FillBytes(make([]byte, g.Size()))
}

// Decode returns the element with an encoding. It refuses 1, and all that isn't in the
// group.
func (g *Group) Decode(b []byte) (*modexp.Element, error) {
	if len(b) != g.Size() {
		return nil, fmt.Errorf("qrn: element of %d bytes, want %d", len(b), g.Size())
	}
	opcount.Decode(opcount.DecodeZn, b)
	v := new(big.Int).SetBytes(b)
	if v.Cmp(big.NewInt(1)) <= 0 || v.Cmp(g.n) >= 0 {
		return nil, errors.New("qrn: element out of range")
	}
	if g.order == nil {
		if new(big.Int).Lsh(v, 1).Cmp(g.n) > 0 {
			return nil, errors.New("qrn: element isn't canonical")
		}
		if big.Jacobi(v, g.n) != 1 {
			return nil, errors.New("qrn: element isn't in the group")
		}
	}
	x, err := g.M.SetBig(v)
	if err != nil {
		return nil, err
	}
	if g.order != nil {
		z := g.M.NewElement()
		if g.M.ExpVarTime(z, x, g.order); !g.M.Equal(z, g.M.One()) {
			return nil, errors.New("qrn: element isn't in the group")
		}
	}
	return x, nil
}

// Hash returns an element whose logarithm to no other base is known: SHAKE256 of a tag
// and a name, to 128 bits more than the modulus has, raised to the power that leads
// into the group.
func (g *Group) Hash(dst []byte, name string) *modexp.Element {
	for i := uint64(0); ; i++ {
		h := sha3.NewSHAKE256()
		var b []byte
		for _, v := range [][]byte{dst, []byte(name), g.n.Bytes()} {
			b = binary.BigEndian.AppendUint64(b, uint64(len(v)))
			b = append(b, v...)
		}
		h.Write(binary.BigEndian.AppendUint64(b, i))
		wide := make([]byte, g.Size()+16)
		h.Read(wide)
		v := new(big.Int).SetBytes(wide)
		v.Mod(v, g.n)
		if g.order == nil {
			v.Exp(v, big.NewInt(2), g.n)
		} else {
			v.Exp(v, new(big.Int).Div(g.n, g.order), g.n) // (p-1)/q
		}
		if v.BitLen() <= 1 || g.order == nil && new(big.Int).GCD(nil, nil, v, g.n).BitLen() > 1 {
			continue
		}
		x, err := g.M.SetBig(v)
		if err != nil {
			panic("qrn: " + err.Error())
		}
		return x
	}
}

// Pow returns x^e, in constant time.
func (g *Group) Pow(x *modexp.Element, e modexp.Nat) *modexp.Element {
	z := g.M.NewElement()
	g.M.Exp(z, x, e)
	return z
}

// Mul returns the product of all.
func (g *Group) Mul(x *modexp.Element, more ...*modexp.Element) *modexp.Element {
	z := g.M.NewElement()
	z.Set(x)
	for _, y := range more {
		g.M.Mul(z, z, y)
	}
	return z
}

// Equal reports whether x = y in the group, for public elements.
func (g *Group) Equal(x, y *modexp.Element) bool {
	return g.M.Equal(x, y) || g.order == nil && g.M.Equal(g.negative(x), y)
}

func (g *Group) negative(x *modexp.Element) *modexp.Element {
	z := g.M.NewElement()
	g.M.Sub(z, g.M.NewElement(), x)
	return z
}

// A Base is a public element that powers are taken of. It is immutable, and may be
// used by several goroutines.
type Base struct {
	G *Group
	X *modexp.Element

	enc   func() []byte
	inv   func() *modexp.Element
	table func() *modexp.Table
	bits  int // of the table
}

// NewBase returns a base that is used once or twice.
func (g *Group) NewBase(x *modexp.Element) *Base {
	return &Base{
		G: g, X: x,
		enc: sync.OnceValue(func() []byte { return g.Encode(x) }),
		inv: sync.OnceValue(func() *modexp.Element {
			z := g.M.NewElement()
			if g.M.InverseVarTime(z, x) != nil {
				return g.M.NewElement() // of what isn't in the group: no relation holds
			}
			return z
		}),
	}
}

// NewFixedBase returns a base for many powers, most of them below 2^bits. Its table is
// made when it is first wanted.
func (g *Group) NewFixedBase(x *modexp.Element, bits int) *Base {
	b := g.NewBase(x)
	b.bits = bits
	b.table = sync.OnceValue(func() *modexp.Table { return g.M.NewTable(x, bits, 256) })
	return b
}

// Bytes returns the encoding, which isn't to be changed.
func (b *Base) Bytes() []byte { return b.enc() }

// Inverse returns 1/X, in variable time.
func (b *Base) Inverse() *modexp.Element { return b.inv() }

// Pow returns X^(e mod 2^bits), in constant time.
func (b *Base) Pow(e modexp.Nat, bits int) *modexp.Element {
	z := b.G.M.NewElement()
	if b.table != nil && bits <= b.bits {
		b.table().ExpBits(z, e, bits)
	} else {
		b.G.M.ExpBits(z, b.X, e, bits)
	}
	return z
}
