// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/big"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Eight elements of the base field are a vector: eight registers of eight lanes, one for
// each limb of 52 bits, multiplied by 2⁴¹⁶ in Montgomery's way. There are 35 bits more than p
// has, so that nothing has to be reduced for the sake of a product: it is less than
// (1 + 2⁻²⁰)p, for factors below 2⁷p. In memory all limbs but the highest are below 2⁵².
const (
	lanes       = 8
	vectorLimbs = 8
	limbBits    = 52
	rowBytes    = 8 * lanes
	vectorBytes = vectorLimbs * rowBytes
)

var (
	vAcc  = []VecPhysical{Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8}
	vY    = []VecPhysical{Z9, Z10, Z11, Z12, Z13, Z14, Z15, Z16}
	vP    = []VecPhysical{Z17, Z18, Z19, Z20, Z21, Z22, Z23, Z24}
	vPInv = Z25 // -1/p modulo 2⁵²
	vX    = Z26
	vM    = Z27
	vMask = Z28 // 2⁵² - 1
	vT    = Z29
	vIdx  = []VecPhysical{Z9, Z10, Z11, Z12, Z13, Z14, Z15, Z16} // between products
)

// A vectors writes arithmetic with vectors.
type vectors struct {
	*Context
	consts Mem // single words
	words  map[string]int
	idx    Mem // permutations
	perms  [][lanes]int
	base   GPPhysical // of the vectors in the frame
}

func limbs52(x *big.Int) (out [vectorLimbs]uint64) {
	m := big.NewInt(1<<limbBits - 1)
	for i := range out {
		w := new(big.Int).Rsh(x, uint(limbBits*i))
		if i < vectorLimbs-1 {
			w.And(w, m)
		}
		out[i] = w.Uint64()
	}
	return out
}

// newVectors declares the constants: p, 2⁴¹⁶ - p, multiples of p, and single words.
func newVectors(c *Context, perms [][lanes]int, multiples ...int64) *vectors {
	v := &vectors{Context: c, words: map[string]int{}, perms: perms, base: R8}
	v.consts = c.StaticGlobal("vectorwords")
	c.DataAttributes(attr.NOPTR | attr.RODATA)
	n := 0
	put := func(name string, ws ...uint64) {
		v.words[name] = 8 * n
		for _, w := range ws {
			c.AddDatum(8*n, U64(w))
			n++
		}
	}
	one := big.NewInt(1)
	l := limbs52(modulus)
	put("p", l[:]...)
	l = limbs52(new(big.Int).Sub(new(big.Int).Lsh(one, limbBits*vectorLimbs), modulus))
	put("-p", l[:]...)
	for _, k := range multiples {
		l = limbs52(new(big.Int).Mul(modulus, big.NewInt(k)))
		put(fmt.Sprint(k), l[:]...)
	}
	put("pInv", pInv&(1<<limbBits-1))
	put("mask", 1<<limbBits-1)
	// The quotient by p is estimated from the highest limb, by which p is 17 bits.
	top := new(big.Int).Rsh(modulus, limbBits*(vectorLimbs-1)).Uint64() + 1
	put("quotient", 1<<limbBits/top)
	v.idx = c.StaticGlobal("vectorperms")
	c.DataAttributes(attr.NOPTR | attr.RODATA)
	for i, p := range perms {
		for j, lane := range p {
			c.AddDatum(i*rowBytes+8*j, U64(lane))
		}
	}
	return v
}

func (v *vectors) word(name string, i int) Mem {
	at, ok := v.words[name]
	if !ok {
		panic("blsgen: no constant " + name)
	}
	return v.consts.Offset(at + 8*i)
}

func row(m Mem, i int) Mem { return m.Offset(rowBytes * i) }

// begin starts a function with n vectors in its frame, at lines of the cache.
func (v *vectors) begin(name, signature string, n int, doc ...string) (list []Mem) {
	v.Function(name)
	v.Pragma("noescape")
	v.SignatureExpr(signature)
	v.Doc(doc...)
	if n > 0 {
		frame := v.AllocLocal(n*vectorBytes + rowBytes)
		v.LEAQ(frame.Offset(rowBytes-1), v.base)
		v.ANDQ(I32(-rowBytes), v.base)
	}
	for i := range n {
		list = append(list, Mem{Base: v.base, Disp: i * vectorBytes})
	}
	for i, r := range vP {
		v.VPBROADCASTQ(v.word("p", i), r)
	}
	v.VPBROADCASTQ(v.word("pInv", 0), vPInv)
	v.VPBROADCASTQ(v.word("mask", 0), vMask)
	return list
}

func (v *vectors) end() {
	v.VZEROUPPER()
	v.RET()
}

// copy sets z = x.
func (v *vectors) copy(z, x Mem) {
	for i := range vectorLimbs {
		v.VMOVDQU64(row(x, i), vT)
		v.VMOVDQU64(vT, row(z, i))
	}
}

// mul sets z = xy in all lanes.
func (v *vectors) mul(z, x, y Mem) {
	v.LEAQ(x, RSI)
	v.LEAQ(y, RDI)
	v.CALL(LabelRef("·vectormul" + local + "(SB)"))
	for i := range vectorLimbs {
		v.VMOVDQU64(vAcc[i], row(z, i))
	}
}

// product writes the function that mul calls, limb by limb of x.
func (v *vectors) product() {
	v.Function("vectormul" + local)
	v.Attributes(attr.NOSPLIT)
	for i, r := range vY {
		v.VMOVDQU64(row(Mem{Base: RDI}, i), r)
	}
	acc := append([]VecPhysical(nil), vAcc[:]...)
	for _, r := range acc[:vectorLimbs] {
		v.VPXORQ(r, r, r)
	}
	for i := range vectorLimbs {
		// acc[vectorLimbs] takes the new highest limb.
		v.VMOVDQU64(row(Mem{Base: RSI}, i), vX)
		v.VPXORQ(acc[vectorLimbs], acc[vectorLimbs], acc[vectorLimbs])
		v.VPXORQ(vM, vM, vM)
		for j := range vectorLimbs {
			v.VPMADD52LUQ(vY[j], vX, acc[j])
			if j == 0 {
				v.VPMADD52LUQ(vPInv, acc[0], vM)
			}
		}
		for j := range vectorLimbs {
			v.VPMADD52HUQ(vY[j], vX, acc[j+1])
		}
		for j := range vectorLimbs {
			v.VPMADD52LUQ(vP[j], vM, acc[j])
			if j == 0 {
				v.VPSRLQ(U8(limbBits), acc[0], vT)
			}
		}
		v.VPADDQ(vT, acc[1], acc[1])
		for j := range vectorLimbs {
			v.VPMADD52HUQ(vP[j], vM, acc[j+1])
		}
		acc = append(acc[1:], acc[0])
	}
	v.carry(acc[:vectorLimbs])
	// The result goes to the first registers, of which the first eight steps have moved all.
	if acc[0] != vAcc[vectorLimbs] {
		panic("blsgen: a product ends in other registers")
	}
	v.VMOVDQA64(acc[0], vX)
	for i := vectorLimbs - 1; i >= 1; i-- {
		v.VMOVDQA64(acc[i], vAcc[i])
	}
	v.VMOVDQA64(vX, vAcc[0])
	v.RET()
}

// carry makes all limbs but the highest 52 bits.
func (v *vectors) carry(acc []VecPhysical) {
	for i := range vectorLimbs - 1 {
		v.VPSRAQ(U8(limbBits), acc[i], vT)
		v.VPANDQ(vMask, acc[i], acc[i])
		v.VPADDQ(vT, acc[i+1], acc[i+1])
	}
}

// trim makes the value less than 1.001p, if it is below 60p. The quotient is estimated from
// the highest limb; 2⁴¹⁶ - p times that is added, modulo 2⁴¹⁶.
func (v *vectors) trim(acc []VecPhysical) {
	v.VPXORQ(vM, vM, vM)
	v.VPBROADCASTQ(v.word("quotient", 0), vX)
	v.VPMADD52HUQ(vX, acc[vectorLimbs-1], vM)
	for i := range vectorLimbs {
		v.VPBROADCASTQ(v.word("-p", i), vX)
		v.VPMADD52LUQ(vX, vM, acc[i])
		if i < vectorLimbs-1 {
			v.VPMADD52HUQ(vX, vM, acc[i+1])
		}
	}
	v.carry(acc)
	v.VPANDQ(vMask, acc[vectorLimbs-1], acc[vectorLimbs-1])
}

// A sum is made of the lanes of vectors, in all limbs at once.
type sum struct {
	*vectors
	acc   []VecPhysical
	masks int
	idx   int
	empty bool
}

// sum begins with kp in all lanes, or with 0.
func (v *vectors) sum(k int) *sum {
	s := &sum{v, vAcc[:vectorLimbs], 0, 0, true}
	if k > 0 {
		for i, r := range s.acc {
			v.VPBROADCASTQ(v.word(fmt.Sprint(k), i), r)
		}
		s.empty = false
	}
	return s
}

var maskRegisters = []OpmaskPhysical{K1, K2, K3, K4, K5, K6, K7}

// mask returns a register with the lanes for which signs has the character c, or nil for
// all lanes, and whether there are any.
func (s *sum) mask(signs string, c rune) (k OpmaskPhysical, all, none bool) {
	m := 0
	for i, r := range signs {
		if r == c {
			m |= 1 << i
		}
	}
	if m == 0 || m == 1<<lanes-1 {
		return k, m != 0, m == 0
	}
	k = maskRegisters[s.masks]
	s.masks++
	s.MOVL(U32(uint32(m)), EAX)
	s.KMOVB(EAX, k)
	return k, false, false
}

// add adds the lanes of x to those where signs has a '+', and subtracts them where it has a
// '-'. The n-th permutation says from which lanes; -1 is for none.
func (s *sum) add(x Mem, perm int, signs string) {
	plus, allPlus, nonePlus := s.mask(signs, '+')
	minus, allMinus, noneMinus := s.mask(signs, '-')
	var idx VecPhysical
	if perm >= 0 {
		idx = vIdx[s.idx]
		s.idx++
		s.VMOVDQU64(s.vectors.idx.Offset(perm*rowBytes), idx)
	}
	for i, r := range s.acc {
		if s.empty && allPlus && perm >= 0 {
			s.VPERMQ(row(x, i), idx, r)
			continue
		}
		if s.empty && allPlus {
			s.VMOVDQU64(row(x, i), r)
			continue
		}
		if s.empty {
			panic("blsgen: a sum begins with some lanes")
		}
		t := []VecPhysical{vT, vX, vM, Z30, Z31}[i%5]
		if perm >= 0 {
			s.VPERMQ(row(x, i), idx, t)
		} else {
			s.VMOVDQU64(row(x, i), t)
		}
		switch {
		case allPlus:
			s.VPADDQ(t, r, r)
		case !nonePlus:
			s.VPADDQ(t, r, plus, r)
		}
		switch {
		case allMinus:
			s.VPSUBQ(t, r, r)
		case !noneMinus:
			s.VPSUBQ(t, r, minus, r)
		}
	}
	s.empty = false
}

// add2 is like add, with lanes of x from 0 and of y from 8.
func (s *sum) add2(x, y Mem, perm int, signs string) {
	plus, allPlus, nonePlus := s.mask(signs, '+')
	minus, _, noneMinus := s.mask(signs, '-')
	idx := vIdx[s.idx]
	s.idx++
	s.VMOVDQU64(s.vectors.idx.Offset(perm*rowBytes), idx)
	for i, r := range s.acc {
		t := []VecPhysical{vT, vX, Z30}[i%3]
		if s.empty {
			t = r
		}
		s.VMOVDQA64(idx, t)
		s.VMOVDQU64(row(x, i), vM)
		s.VPERMI2Q(row(y, i), vM, t)
		if s.empty {
			continue
		}
		if allPlus {
			s.VPADDQ(t, r, r)
		} else if !nonePlus {
			s.VPADDQ(t, r, plus, r)
		}
		if !noneMinus {
			s.VPSUBQ(t, r, minus, r)
		}
	}
	s.empty = false
}

// forget makes the registers of masks and permutations free.
func (s *sum) forget() { s.masks, s.idx = 0, 0 }

// twice doubles the lanes with a '+'.
func (s *sum) twice(signs string) {
	k, all, _ := s.mask(signs, '+')
	for _, r := range s.acc {
		if all {
			s.VPADDQ(r, r, r)
		} else {
			s.VPADDQ(r, r, k, r)
		}
	}
}

// triple multiplies by 3.
func (s *sum) triple() {
	for _, r := range s.acc {
		s.VPADDQ(r, r, vT)
		s.VPADDQ(vT, r, r)
	}
}

// addMultiple adds kp.
func (s *sum) addMultiple(k int) {
	for i, r := range s.acc {
		s.VPBROADCASTQ(s.word(fmt.Sprint(k), i), vT)
		s.VPADDQ(vT, r, r)
	}
}

func (s *sum) store(z Mem) {
	for i, r := range s.acc {
		s.VMOVDQU64(r, row(z, i))
	}
}

// The lanes of a compressed element are C0.B1, C0.B2, C1.B0 and C1.B2.
const (
	permTwiceFirst = iota
	permSwapped
	permLeft
	permRight
	permA
	permB
	permC
	permD
)

// compressedPerms are for the products
//
//	S = squares of C0.B1, C0.B2, C1.B0, C1.B2
//	T = C1.B0·C0.B2, and C0.B1·C1.B2, in four products of coefficients each
//
// and for the sums of these.
var compressedPerms = [][lanes]int{
	permTwiceFirst: {0, 0, 2, 2, 4, 4, 6, 6},
	permSwapped:    {1, 0, 3, 2, 5, 4, 7, 6},
	permLeft:       {4, 5, 4, 5, 0, 1, 0, 1},
	permRight:      {2, 3, 3, 2, 6, 7, 7, 6},
	permA:          {4, 5, 0, 1, 12, 12, 8, 10}, // T begins at 8
	permB:          {2, 2, 6, 6, 13, 13, 9, 11},
	permC:          {3, 3, 7, 7, 14, 14, 0, 0},
	permD:          {0, 0, 0, 0, 15, 15, 0, 0},
}

// vector writes the functions of vectors.
func vector(c *Context) {
	v := newVectors(c, compressedPerms, 2, 20)
	v.product()

	v.begin("vectorMulIFMA", "func(z, x, y *uint64)", 0,
		"vectorMulIFMA multiplies all lanes. The result is less than 1.001p.")
	v.Load(v.Param("x"), RSI)
	v.Load(v.Param("y"), RDI)
	v.CALL(LabelRef("·vectormul" + local + "(SB)"))
	v.Load(v.Param("z"), RDI)
	for i := range vectorLimbs {
		v.VMOVDQU64(vAcc[i], row(Mem{Base: RDI}, i))
	}
	v.end()

	// With c0 = a² + xi·b² and c1 = 2ab for both pairs (a, b) in Fp2:
	// 3·c0 - 2x, and 3·c1 + 2x or 3·xi·c1 + 2x (Karabina 2013, theorem 3.2).
	m := v.begin("vectorCompressedIFMA", "func(z *uint64, n int)", 6,
		"vectorCompressedIFMA squares a compressed element n times. Lanes are less than",
		"1.001p before and after.")
	g, x, y, s, t := m[0], m[1], m[2], m[3], m[4]
	v.Load(v.Param("z"), RDI)
	v.Load(v.Param("n"), RCX)
	v.copy(g, Mem{Base: RDI})
	v.Label("again")
	// (a0 + a1)(a0 - a1) and 2·a0·a1
	l := v.sum(0)
	l.add(g, permTwiceFirst, "++++++++")
	l.add(g, permSwapped, "++++++++")
	v.carry(l.acc)
	l.store(x)
	l = v.sum(2)
	l.add(g, -1, "++++++++")
	l.add(g, permSwapped, "-.-.-.-.")
	v.carry(l.acc)
	l.store(y)
	v.mul(s, x, y)
	l = v.sum(0)
	l.add(g, permLeft, "++++++++")
	l.store(x)
	l = v.sum(0)
	l.add(g, permRight, "++++++++")
	l.store(y)
	v.mul(t, x, y)
	l = v.sum(0)
	l.add2(s, t, permA, "++++++++")
	l.add2(s, t, permB, "++++---+")
	l.add2(s, t, permC, "-+-+-+..")
	l.add2(s, t, permD, "....-+..")
	l.twice("....++++")
	l.triple()
	l.forget()
	for range 2 {
		l.add(g, -1, "----++++")
	}
	l.addMultiple(20)
	v.carry(l.acc)
	v.trim(l.acc)
	l.store(g)
	v.DECQ(RCX)
	v.JNZ(LabelRef("again"))
	v.Load(v.Param("z"), RDI)
	v.copy(Mem{Base: RDI}, g)
	v.end()
}
