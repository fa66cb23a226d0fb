// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/big"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Elements of the base field are six limbs in memory, in Montgomery form, and in acc
// while they are worked on. They aren't reduced between operations: p is short of
// 2³⁸⁴/9.8, and the generator keeps account of how large a value may get. It fails
// where one might not fit.
const (
	limbs   = 6
	feBytes = 8 * limbs
	// spareBytes is what a square needs.
	spareBytes = 8 * (limbs + 1)
)

var (
	modulus, _ = new(big.Int).SetString("1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab", 16)
	// room is 2³⁸⁴/p, rounded down.
	room = func() float64 {
		q, _ := new(big.Float).Quo(new(big.Float).SetInt(new(big.Int).Lsh(big.NewInt(1), 384)), new(big.Float).SetInt(modulus)).Float64()
		return q - 1e-9
	}()
)

const (
	pInv = 0x89f3fffcfffcfffd // -1/p modulo 2⁶⁴
	// multiples of p in the table of constants, from p itself.
	multiples = 8
)

// Physical registers: RSI and RDI are pointers to operands.
var (
	lo, hi, zero = RAX, RBX, RCX
	acc          = []Register{R8, R9, R10, R11, R12, R13}
)

func limb(m Mem, i int) Mem { return m.Offset(8 * i) }

// A value is an element in memory, below max·p.
type value struct {
	m   Mem
	max float64
}

// A field writes arithmetic modulo p.
type field struct {
	*Context
	p     Mem    // p, 2p, 3p, ...
	spare Mem    // for squares
	acc   *value // what acc holds, if it is known
}

// newField declares the constants.
func newField(c *Context) *field {
	f := &field{Context: c}
	f.p = c.StaticGlobal("multiples")
	c.DataAttributes(attr.NOPTR | attr.RODATA)
	mask := new(big.Int).SetUint64(math.MaxUint64)
	for k := range multiples {
		kp := new(big.Int).Mul(modulus, big.NewInt(int64(k+1)))
		for i := range limbs {
			w := new(big.Int).Rsh(kp, uint(64*i))
			c.AddDatum(k*feBytes+8*i, U64(w.And(w, mask).Uint64()))
		}
	}
	return f
}

// times returns the limbs of kp.
func (f *field) times(k int) Mem {
	if k < 1 || k > multiples {
		panic(fmt.Sprintf("blsgen: no constant %dp", k))
	}
	return f.p.Offset((k - 1) * feBytes)
}

func (f *field) check(what string, max float64) {
	if max > room {
		panic(fmt.Sprintf("blsgen: %s may reach %.2fp", what, max))
	}
}

// locals returns n places in the frame, one after the other.
func (f *field) locals(n int) (list []*value) {
	for range n {
		list = append(list, &value{m: f.AllocLocal(feBytes)})
	}
	return list
}

func (f *field) load(x *value) {
	if f.acc == x {
		return
	}
	for i, r := range acc {
		f.MOVQ(limb(x.m, i), r)
	}
	f.acc = x
}

// store sets z to acc, which is below max·p.
func (f *field) store(z *value, max float64) {
	f.check("a result", max)
	for i, r := range acc {
		f.MOVQ(r, limb(z.m, i))
	}
	z.max = max
	f.acc = z
}

// copy sets z = x.
func (f *field) copy(z, x *value) {
	f.load(x)
	f.store(z, x.max)
}

// mul sets z = xy.
func (f *field) mul(z, x, y *value) {
	// The sum of the rows so far stays below y + p.
	f.check("a row", y.max+1)
	f.LEAQ(x.m, RSI)
	f.LEAQ(y.m, RDI)
	f.CALL(LabelRef("·mul" + local + "(SB)"))
	f.store(z, x.max*y.max/room+1)
}

// mul2 sets z = x·y + x2·y2 with one reduction, where x2 follows x in the frame, and y2
// follows y.
func (f *field) mul2(z, x, y, x2, y2 *value) {
	if x2.m != x.m.Offset(feBytes) || y2.m != y.m.Offset(feBytes) {
		panic("blsgen: operands of a double product aren't neighbours")
	}
	f.check("a row", y.max+y2.max+1)
	f.LEAQ(x.m, RSI)
	f.LEAQ(y.m, RDI)
	f.CALL(LabelRef("·mul2" + local + "(SB)"))
	f.store(z, (x.max*y.max+x2.max*y2.max)/room+1)
}

// sqr sets z = x².
func (f *field) sqr(z, x *value) {
	// The number is doubled, and a row stays below that, with p.
	f.check("a square's row", 2*x.max+1)
	f.LEAQ(x.m, RSI)
	f.LEAQ(f.spare, RDI)
	f.CALL(LabelRef("·sqr" + local + "(SB)"))
	f.store(z, x.max*x.max/room+1)
}

// add sets z = x + y.
func (f *field) add(z, x, y *value) {
	if f.acc == y {
		x, y = y, x
	}
	f.load(x)
	f.chain(f.ADDQ, f.ADCQ, func(i int) Op { return limb(y.m, i) }, acc)
	f.store(z, x.max+y.max)
}

// twice sets z = 2x.
func (f *field) twice(z, x *value) {
	f.load(x)
	f.chain(f.ADDQ, f.ADCQ, func(i int) Op { return acc[i] }, acc)
	f.store(z, 2*x.max)
}

// chain applies first and then next, with a carry, to dst.
func (f *field) chain(first, next func(Op, Op), src func(int) Op, dst []Register) {
	first(src(0), dst[0])
	for i := 1; i < len(dst); i++ {
		next(src(i), dst[i])
	}
}

// sub sets z = x - y + kp, where y is at most kp.
func (f *field) sub(z, x, y *value) {
	k := int(math.Ceil(y.max))
	f.load(x)
	f.check("a minuend", x.max+float64(k))
	kp := f.times(k)
	f.chain(f.ADDQ, f.ADCQ, func(i int) Op { return limb(kp, i) }, acc)
	f.chain(f.SUBQ, f.SBBQ, func(i int) Op { return limb(y.m, i) }, acc)
	f.store(z, x.max+float64(k))
}

// other is free between products.
var other = []Register{RAX, RBX, RCX, RDX, R14, R15}

// neg sets z = kp - x, where x is at most kp.
func (f *field) neg(z, x *value) {
	k := int(math.Ceil(x.max))
	kp := f.times(k)
	for i, r := range acc {
		f.MOVQ(limb(kp, i), r)
	}
	f.chain(f.SUBQ, f.SBBQ, func(i int) Op { return limb(x.m, i) }, acc)
	f.store(z, float64(k))
}

// subLow sets z = x - y, and adds kp if that is negative, where y is at most kp.
func (f *field) subLow(z, x, y *value) {
	k := int(math.Ceil(y.max))
	f.load(x)
	f.chain(f.SUBQ, f.SBBQ, func(i int) Op { return limb(y.m, i) }, acc)
	f.SBBQ(RSI, RSI)
	kp := f.times(k)
	for i, r := range other {
		f.MOVQ(limb(kp, i), r)
		f.ANDQ(RSI, r)
	}
	f.chain(f.ADDQ, f.ADCQ, func(i int) Op { return other[i] }, acc)
	f.store(z, math.Max(x.max, float64(k)))
}

// less sets z = x - kp if x is at least kp, and else z = x.
func (f *field) less(z, x *value, k int) {
	f.load(x)
	for i, r := range other {
		f.MOVQ(acc[i], r)
	}
	kp := f.times(k)
	f.chain(f.SUBQ, f.SBBQ, func(i int) Op { return limb(kp, i) }, acc)
	for i, r := range other {
		f.CMOVQCS(r, acc[i])
	}
	f.store(z, math.Max(float64(k), x.max-float64(k)))
}

// reduce sets z = x, below p.
func (f *field) reduce(z, x *value) {
	for k := 4; k >= 1; k /= 2 {
		if x.max > float64(k) {
			f.less(z, x, k)
			x = z
		}
	}
	if x.max > 1 {
		panic("blsgen: a result isn't reduced")
	}
	f.copy(z, x)
}

// half sets z = x/2.
func (f *field) half(z, x *value) {
	f.load(x)
	f.check("a dividend", x.max+1)
	f.MOVQ(acc[0], RSI)
	f.ANDQ(U8(1), RSI)
	f.NEGQ(RSI)
	p := f.times(1)
	for i, r := range other {
		f.MOVQ(limb(p, i), r)
		f.ANDQ(RSI, r)
	}
	f.chain(f.ADDQ, f.ADCQ, func(i int) Op { return other[i] }, acc)
	for i, r := range acc {
		if i < limbs-1 {
			f.SHRQ(U8(1), acc[i+1], r)
		} else {
			f.SHRQ(U8(1), r)
		}
	}
	f.store(z, (x.max+1)/2)
}

// products writes the functions that mul, mul2 and sqr call. They take pointers in RSI
// and RDI, leave the result in acc, and change all other registers but RBP and RSP.
func (f *field) products() {
	for _, fn := range []struct {
		name string
		body func()
	}{{"mul", func() { f.mulBody(1) }}, {"mul2", func() { f.mulBody(2) }}, {"sqr", f.sqrBody}} {
		f.Function(fn.name + local)
		f.Attributes(attr.NOSPLIT)
		fn.body()
		f.RET()
	}
}

// mulBody is the sum of n products in Montgomery's way, limb by limb.
func (f *field) mulBody(n int) {
	w := append(acc[:limbs:limbs], R14)
	f.XORQ(zero, zero)
	for i := range limbs {
		for k := range n {
			x, y := Mem{Base: RSI, Disp: k * feBytes}, Mem{Base: RDI, Disp: k * feBytes}
			f.MOVQ(limb(x, i), RDX)
			if i == 0 && k == 0 {
				f.MULXQ(limb(y, 0), w[0], w[1])
				for j := 1; j < limbs; j++ {
					f.MULXQ(limb(y, j), lo, w[j+1])
					f.ADCXQ(lo, w[j])
				}
				f.ADCXQ(zero, w[limbs])
				continue
			}
			if k == 0 {
				f.XORQ(w[limbs], w[limbs]) // and clears both carries
			} else {
				f.XORQ(lo, lo)
			}
			for j := range limbs {
				f.MULXQ(limb(y, j), lo, hi)
				f.ADCXQ(lo, w[j])
				f.ADOXQ(hi, w[j+1])
			}
			f.ADCXQ(zero, w[limbs])
		}
		f.step(w[:limbs])
		// The lowest limb is 0 now, and takes the last carry.
		f.ADOXQ(hi, w[limbs])
		f.ADCXQ(w[0], w[limbs])
		w = append(w[1:], w[0])
	}
	// w is R14 and the first five of acc now.
	for i := limbs - 1; i >= 0; i-- {
		f.MOVQ(w[i], acc[i])
	}
}

// step adds the multiple of p to w that makes its lowest limb 0, but the highest
// limb of the product, which it leaves in hi, and both carries.
func (f *field) step(w []Register) {
	f.MOVQ(U64(pInv), RDX)
	f.IMULQ(w[0], RDX)
	f.XORQ(lo, lo)
	p := f.times(1)
	for j := range limbs {
		f.MULXQ(limb(p, j), lo, hi)
		f.ADCXQ(lo, w[j])
		if j < limbs-1 {
			f.ADOXQ(hi, w[j+1])
		}
	}
}

// sqrBody adds, in turns, the products of limb i with what is not below it, and the
// multiple of p that makes limb i of the sum 0: the latency of the latter counts. The
// limbs above i are doubled, as a number; so the lowest of them has no bit from limb i.
func (f *field) sqrBody() {
	x, spare := Mem{Base: RSI}, Mem{Base: RDI}
	t := append(acc[:limbs:limbs], R14)
	twice := func(i int) Mem { return limb(spare, i-2) }   // without a bit from below, 2 <= i
	shifted := func(i int) Mem { return limb(spare, i+1) } // with it, 3 <= i
	for i := 1; i < limbs; i++ {
		f.MOVQ(limb(x, i), t[i])
	}
	f.MOVQ(limb(x, 0), RDX)
	f.MULXQ(RDX, t[0], lo)
	for i := 2; i < limbs; i++ {
		f.LEAQ(Mem{Base: t[i], Index: t[i], Scale: 1}, hi)
		f.MOVQ(hi, twice(i))
	}
	f.chain(f.ADDQ, f.ADCQ, func(i int) Op { return t[i+1] }, t[1:limbs])
	for i := 3; i < limbs; i++ {
		f.MOVQ(t[i], shifted(i))
	}
	f.XORQ(zero, zero)
	below := lo
	for i := 1; i < limbs; i++ {
		above := []GPPhysical{lo, hi}[i%2]
		if i == limbs-1 {
			f.MULXQ(t[i], t[i], t[limbs])
		} else {
			f.MULXQ(t[i], t[i], above)
		}
		f.ADCXQ(below, t[i])
		below = above
	}
	f.ADCXQ(zero, t[limbs])
	for i := range limbs {
		// The first of t is limb i of the sum.
		if i > 0 {
			f.MOVQ(limb(x, i), RDX)
			f.XORQ(t[limbs], t[limbs]) // and clears both carries
			for j := i; j < limbs; j++ {
				by := Op(RDX)
				switch {
				case j == i+1:
					by = twice(j)
				case j > i+1:
					by = shifted(j)
				}
				f.MULXQ(by, lo, hi)
				f.ADCXQ(lo, t[j])
				f.ADOXQ(hi, t[j+1])
			}
			f.ADCXQ(zero, t[limbs])
		}
		f.step(t[:limbs])
		f.ADOXQ(hi, t[limbs])
		f.ADCXQ(t[0], t[limbs])
		t = append(t[1:], t[0])
	}
	for i := limbs - 1; i >= 0; i-- {
		f.MOVQ(t[i], acc[i])
	}
}
