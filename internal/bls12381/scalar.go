// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"encoding/binary"
	"errors"
	"math/big"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/undersign/undersign/internal/opcount"
)

// ScalarSize is the length of an encoded scalar.
const ScalarSize = 32

// The order r of the groups, its words from the lowest, and -1/r mod 2⁶⁴.
const (
	r0   = 0xffffffff00000001
	r1   = 0x53bda402fffe5bfe
	r2   = 0x3339d80809a1d805
	r3   = 0x73eda753299d7d48
	rInv = 0xfffffffeffffffff
)

var rWords = [4]uint64{r0, r1, r2, r3}

// A Scalar is an integer modulo the order r of the groups. The zero value is 0.
// Its methods are constant time but for those whose name says otherwise, and
// for errors, for which the verdict shows.
type Scalar struct {
	m fr.Element // in Montgomery form: 2²⁵⁶·s mod r
}

// frSquare is 2⁵¹² mod r, which takes an integer to Montgomery form.
var frSquare = func() fr.Element {
	x := new(big.Int).Lsh(big.NewInt(1), 512)
	return frRaw(x.Mod(x, fr.Modulus()))
}()

// frRaw returns the words of x < 2²⁵⁶.
func frRaw(x *big.Int) (z fr.Element) {
	var b [32]byte
	x.FillBytes(b[:])
	for i := range z {
		z[i] = binary.BigEndian.Uint64(b[24-8*i:])
	}
	return z
}

func frAdd(z, x, y *fr.Element) {
	var t, s [4]uint64
	var c, b uint64
	for i := range t {
		t[i], c = bits.Add64(x[i], y[i], c)
	}
	for i := range s {
		s[i], b = bits.Sub64(t[i], rWords[i], b)
	}
	m := mask(b)
	for i := range s {
		z[i] = s[i] ^ m&(s[i]^t[i])
	}
}

func frSub(z, x, y *fr.Element) {
	var t [4]uint64
	var c, b uint64
	for i := range t {
		t[i], b = bits.Sub64(x[i], y[i], b)
	}
	m := mask(b)
	for i := range t {
		z[i], c = bits.Add64(t[i], m&rWords[i], c)
	}
}

func frMul(z, x, y *fr.Element) {
	if hasMul {
		z.Mul(x, y)
	} else {
		frMulGeneric(z, x, y)
	}
}

// frMulGeneric is Montgomery's product. It holds for any x < 2²⁵⁶ if y < r.
func frMulGeneric(z, x, y *fr.Element) {
	var t [4]uint64
	for _, a := range x {
		var hi, c uint64
		for j := range t {
			hi, t[j] = mulAdd2(a, y[j], t[j], hi)
		}
		m := t[0] * rInv
		c, _ = mulAdd2(m, r0, t[0], 0)
		for j := 1; j < 4; j++ {
			c, t[j-1] = mulAdd2(m, rWords[j], t[j], c)
		}
		t[3] = hi + c
	}
	var s [4]uint64
	var b uint64
	for i := range s {
		s[i], b = bits.Sub64(t[i], rWords[i], b)
	}
	k := mask(b)
	for i := range s {
		z[i] = s[i] ^ k&(s[i]^t[i])
	}
}

// words returns the integer in [0, r).
func (z *Scalar) words() [4]uint64 {
	var t fr.Element
	frMul(&t, &fr.Element{1}, &z.m)
	return t
}

// setWords sets z to an integer below 2²⁵⁶, modulo r.
func (z *Scalar) setWords(w *[4]uint64) {
	frMulGeneric(&z.m, (*fr.Element)(w), &frSquare)
}

// Set sets z = x.
func (z *Scalar) Set(x *Scalar) *Scalar {
	*z = *x
	return z
}

// SetZero sets z = 0.
func (z *Scalar) SetZero() *Scalar {
	*z = Scalar{}
	return z
}

// SetOne sets z = 1.
func (z *Scalar) SetOne() *Scalar { return z.SetUint64(1) }

// SetUint64 sets z = v.
func (z *Scalar) SetUint64(v uint64) *Scalar {
	z.setWords(&[4]uint64{v})
	return z
}

// SetUint128 sets z = 2⁶⁴·hi + lo: a weight, for which a multiplication costs half.
func (z *Scalar) SetUint128(hi, lo uint64) *Scalar {
	z.setWords(&[4]uint64{lo, hi})
	return z
}

// SetBytes sets z to an integer in 32 bytes, big-endian, which must be below r.
func (z *Scalar) SetBytes(b []byte) error {
	opcount.Decode(opcount.DecodeScalar, b)
	if len(b) != ScalarSize {
		return errors.New("bls12381: a scalar has 32 bytes")
	}
	var w [4]uint64
	var borrow uint64
	for i := range w {
		w[i] = binary.BigEndian.Uint64(b[24-8*i:])
		_, borrow = bits.Sub64(w[i], rWords[i], borrow)
	}
	if published(borrow) == 0 {
		return errors.New("bls12381: scalar isn't below the group order")
	}
	z.setWords(&w)
	return nil
}

// published returns a verdict that may be seen.
func published(bit uint64) uint64 {
	if declassify != nil {
		b := []uint64{bit}
		declassify(b)
		return b[0]
	}
	return bit
}

// SetBytesNonZero is SetBytes, and refuses 0.
func (z *Scalar) SetBytesNonZero(b []byte) error {
	var t Scalar
	if err := t.SetBytes(b); err != nil {
		return err
	}
	if published(t.isZero()) == 1 {
		return errors.New("bls12381: scalar is zero")
	}
	*z = t
	return nil
}

// SetWide sets z to the integer that b holds, big-endian, modulo r. If b is
// uniform in 48 bytes or more, so is z, but for a bias of 2⁻¹²⁸. It panics if b
// is longer than 64 bytes.
func (z *Scalar) SetWide(b []byte) *Scalar {
	if len(b) > 64 {
		panic("bls12381: more than 64 bytes for a scalar")
	}
	var buf [64]byte
	copy(buf[64-len(b):], b)
	var lo, hi [4]uint64
	for i := range lo {
		lo[i] = binary.BigEndian.Uint64(buf[56-8*i:])
		hi[i] = binary.BigEndian.Uint64(buf[24-8*i:])
	}
	var h, l Scalar
	h.setWords(&hi)
	frMul(&h.m, &h.m, &frSquare) // times 2²⁵⁶
	l.setWords(&lo)
	frAdd(&z.m, &h.m, &l.m)
	clear(buf[:])
	clear(lo[:])
	clear(hi[:])
	h.Wipe()
	l.Wipe()
	return z
}

// Bytes returns z in 32 bytes, big-endian.
func (z *Scalar) Bytes() []byte { return z.Append(nil) }

// Append appends the encoding of z to b.
func (z *Scalar) Append(b []byte) []byte {
	w := z.words()
	for i := range w {
		b = binary.BigEndian.AppendUint64(b, w[3-i])
	}
	clear(w[:])
	return b
}

// Add sets z = x + y.
func (z *Scalar) Add(x, y *Scalar) *Scalar {
	frAdd(&z.m, &x.m, &y.m)
	return z
}

// Sub sets z = x - y.
func (z *Scalar) Sub(x, y *Scalar) *Scalar {
	frSub(&z.m, &x.m, &y.m)
	return z
}

// Neg sets z = -x.
func (z *Scalar) Neg(x *Scalar) *Scalar {
	frSub(&z.m, &fr.Element{}, &x.m)
	return z
}

// Mul sets z = xy.
func (z *Scalar) Mul(x, y *Scalar) *Scalar {
	frMul(&z.m, &x.m, &y.m)
	return z
}

// MulAdd sets z = xy + w.
func (z *Scalar) MulAdd(x, y, w *Scalar) *Scalar {
	var t fr.Element
	frMul(&t, &x.m, &y.m)
	frAdd(&z.m, &t, &w.m)
	return z
}

// Inverse sets z = 1/x, by Fermat: x^(r-2). The inverse of 0 is 0.
func (z *Scalar) Inverse(x *Scalar) *Scalar {
	var pow [16]Scalar
	pow[0].SetOne()
	for i := 1; i < 16; i++ {
		pow[i].Mul(&pow[i-1], x)
	}
	e := rWords
	e[0] -= 2 // r0 is at least 2
	acc := pow[e[3]>>60]
	for i := 62; i >= 0; i-- {
		for range 4 {
			acc.Mul(&acc, &acc)
		}
		acc.Mul(&acc, &pow[e[i/16]>>(4*(i%16))&15])
	}
	*z = acc
	for i := range pow {
		pow[i].Wipe()
	}
	acc.Wipe()
	return z
}

// Equal reports whether z = x.
func (z *Scalar) Equal(x *Scalar) bool {
	var d uint64
	for i := range z.m {
		d |= z.m[i] ^ x.m[i]
	}
	return isZeroWord(d) == 1
}

// IsZero reports whether z = 0.
func (z *Scalar) IsZero() bool { return z.isZero() == 1 }

func (z *Scalar) isZero() uint64 { return isZeroWord(z.m[0] | z.m[1] | z.m[2] | z.m[3]) }

// Select sets z = x if c is 1, and z = y if c is 0.
func (z *Scalar) Select(x, y *Scalar, c int) *Scalar {
	m := mask(uint64(c & 1))
	for i := range z.m {
		z.m[i] = y.m[i] ^ m&(x.m[i]^y.m[i])
	}
	return z
}

// Wipe sets z = 0.
func (z *Scalar) Wipe() { clear(z.m[:]) }

// String doesn't show the value.
func (z Scalar) String() string { return "bls12381.Scalar" }

// GoString doesn't show the value.
func (z Scalar) GoString() string { return "bls12381.Scalar" }
