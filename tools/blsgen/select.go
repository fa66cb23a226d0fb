// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// selectEntry reads a table entry without letting the index into an address: the
// index is compared with a counter, and the comparison masks what is read.
func selectEntry(c *Context) {
	c.Function("selectAVX2")
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.SignatureExpr("func(z, table *uint64, blocks, count int, i uint64)")
	c.Doc("selectAVX2 sets z to entry i of the count entries of table, reading all, or to",
		"0 if there is none. An entry has 96 bytes a block.")

	z, table, blocks, count, stride, entry, left := RDI, RSI, RCX, RDX, R8, R9, R10
	index, one, counter, mask, word := Y0, Y1, Y2, Y6, Y7
	sum := []VecPhysical{Y3, Y4, Y5}
	c.Load(c.Param("z"), z)
	c.Load(c.Param("table"), table)
	c.Load(c.Param("blocks"), blocks)
	c.Load(c.Param("count"), count)
	i, err := c.Param("i").Resolve()
	if err != nil {
		panic(err)
	}
	c.VPBROADCASTQ(i.Addr, index)
	c.VPCMPEQQ(one, one, one)
	c.VPSRLQ(U8(63), one, one)
	c.IMUL3Q(U8(96), blocks, stride)

	c.Label("block")
	c.VPXOR(counter, counter, counter)
	for _, y := range sum {
		c.VPXOR(y, y, y)
	}
	c.MOVQ(table, entry)
	c.MOVQ(count, left)
	c.Label("entry")
	c.VPCMPEQQ(index, counter, mask)
	c.VPADDQ(one, counter, counter)
	for k, y := range sum {
		c.VPAND(Mem{Base: entry, Disp: 32 * k}, mask, word)
		c.VPOR(word, y, y)
	}
	c.ADDQ(stride, entry)
	c.DECQ(left)
	c.JNZ(LabelRef("entry"))
	for k, y := range sum {
		c.VMOVDQU(y, Mem{Base: z, Disp: 32 * k})
	}
	c.ADDQ(U8(96), table)
	c.ADDQ(U8(96), z)
	c.DECQ(blocks)
	c.JNZ(LabelRef("block"))
	c.VZEROUPPER()
	c.RET()
}
