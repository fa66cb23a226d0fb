// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import "math/bits"

// A Scalar is an integer modulo the order n, in limbs from the lowest, always
// below n.
type Scalar [4]uint64

// n is the order of the group, and of every point but infinity.
var scN = Scalar{0x53bbf40939d54123, 0x7203df6b21c6052b, 0xffffffffffffffff, 0xfffffffeffffffff}

// scRR is 2⁵¹² mod n, and scK is -1/n mod 2⁶⁴.
var scRR = Scalar{0x901192af7c114f20, 0x3464504ade6fa2fa, 0x620fc84c3affe0d4, 0x1eb5e412a22b3d3b}

const scK = 0x327f9e8872350975

// pMinusN is p - n, about 2¹²⁷: below it, x and x + n are both residues modulo p.
var pMinusN = [4]uint64{0xac440bf6c62abedc, 0x8dfc2093de39fad5, 0, 0}

// SetBytes sets z to a big-endian integer, and reports false, leaving z alone, if
// that isn't below n.
func (z *Scalar) SetBytes(b *[32]byte) bool {
	x := limbsOf(b)
	if !less(&x, (*[4]uint64)(&scN)) {
		return false
	}
	*z = x
	return true
}

// SetDigest sets z to a big-endian integer of 256 bits, modulo n.
func (z *Scalar) SetDigest(b *[32]byte) {
	x := limbsOf(b)
	z.reduceOnce(x[0], x[1], x[2], x[3], 0) // 2²⁵⁶ < 2n
}

// SetUint64 sets z = x.
func (z *Scalar) SetUint64(x uint64) { *z = Scalar{x} }

// Bytes returns z as a big-endian integer.
func (z *Scalar) Bytes() (b [32]byte) {
	putLimbs(&b, *z)
	return b
}

// IsZero reports whether z = 0.
func (z *Scalar) IsZero() bool { return z[0]|z[1]|z[2]|z[3] == 0 }

// Equal reports whether z = x.
func (z *Scalar) Equal(x *Scalar) bool { return *z == *x }

// reduceOnce sets z = t mod n for t = c·2²⁵⁶ + t3·2¹⁹² + … below 2n.
func (z *Scalar) reduceOnce(t0, t1, t2, t3, c uint64) {
	u0, b := bits.Sub64(t0, scN[0], 0)
	u1, b := bits.Sub64(t1, scN[1], b)
	u2, b := bits.Sub64(t2, scN[2], b)
	u3, b := bits.Sub64(t3, scN[3], b)
	_, b = bits.Sub64(c, 0, b)
	if b == 1 {
		u0, u1, u2, u3 = t0, t1, t2, t3
	}
	*z = Scalar{u0, u1, u2, u3}
}

// Add sets z = x + y.
func (z *Scalar) Add(x, y *Scalar) {
	t0, c := bits.Add64(x[0], y[0], 0)
	t1, c := bits.Add64(x[1], y[1], c)
	t2, c := bits.Add64(x[2], y[2], c)
	t3, c := bits.Add64(x[3], y[3], c)
	z.reduceOnce(t0, t1, t2, t3, c)
}

// Sub sets z = x - y.
func (z *Scalar) Sub(x, y *Scalar) {
	t0, b := bits.Sub64(x[0], y[0], 0)
	t1, b := bits.Sub64(x[1], y[1], b)
	t2, b := bits.Sub64(x[2], y[2], b)
	t3, b := bits.Sub64(x[3], y[3], b)
	if b == 1 {
		var c uint64
		t0, c = bits.Add64(t0, scN[0], 0)
		t1, c = bits.Add64(t1, scN[1], c)
		t2, c = bits.Add64(t2, scN[2], c)
		t3, _ = bits.Add64(t3, scN[3], c)
	}
	*z = Scalar{t0, t1, t2, t3}
}

// Neg sets z = -x.
func (z *Scalar) Neg(x *Scalar) { z.Sub(&Scalar{}, x) }

// Mul sets z = xy.
func (z *Scalar) Mul(x, y *Scalar) {
	var t Scalar
	t.montMul(x, y)
	z.montMul(&t, &scRR)
}

// montMul sets z = xy/2²⁵⁶ (Koç, Acar, Kaliski 1996, "CIOS").
func (z *Scalar) montMul(x, y *Scalar) {
	var t0, t1, t2, t3, t4, t5, c uint64
	for _, xi := range x {
		// Adds xi·y to t, which is below 2n and so has room for it.
		h0, l0 := bits.Mul64(xi, y[0])
		h1, l1 := bits.Mul64(xi, y[1])
		h2, l2 := bits.Mul64(xi, y[2])
		h3, l3 := bits.Mul64(xi, y[3])
		t0, c = bits.Add64(t0, l0, 0)
		t1, c = bits.Add64(t1, l1, c)
		t2, c = bits.Add64(t2, l2, c)
		t3, c = bits.Add64(t3, l3, c)
		t4 += c
		t1, c = bits.Add64(t1, h0, 0)
		t2, c = bits.Add64(t2, h1, c)
		t3, c = bits.Add64(t3, h2, c)
		t4, _ = bits.Add64(t4, h3, c)

		// Adds m·n, which clears the lowest limb, and drops that.
		m := t0 * scK
		h0, l0 = bits.Mul64(m, scN[0])
		h1, l1 = bits.Mul64(m, scN[1])
		h2, l2 = bits.Mul64(m, scN[2])
		h3, l3 = bits.Mul64(m, scN[3])
		_, c = bits.Add64(t0, l0, 0)
		t1, c = bits.Add64(t1, l1, c)
		t2, c = bits.Add64(t2, l2, c)
		t3, c = bits.Add64(t3, l3, c)
		t4, t5 = bits.Add64(t4, 0, c)
		t0, c = bits.Add64(t1, h0, 0)
		t1, c = bits.Add64(t2, h1, c)
		t2, c = bits.Add64(t3, h2, c)
		t3, c = bits.Add64(t4, h3, c)
		t4 = t5 + c
	}
	z.reduceOnce(t0, t1, t2, t3, t4)
}

// less reports whether x < y, as integers.
func less(x, y *[4]uint64) bool {
	_, b := bits.Sub64(x[0], y[0], 0)
	_, b = bits.Sub64(x[1], y[1], b)
	_, b = bits.Sub64(x[2], y[2], b)
	_, b = bits.Sub64(x[3], y[3], b)
	return b == 1
}
