// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package modexp computes powers modulo odd numbers of up to 16384 bits: in
// constant time for secret exponents, and faster for public ones.
//
// Residues are kept in Montgomery form (Montgomery 1985, "Modular Multiplication
// Without Trial Division") and always fully reduced. [Modulus.Exp] takes a fixed
// window, [Table] a Lim-Lee comb, and both read whole tables under a mask.
// [Modulus.MultiExpVarTime] is Straus's method. Secret exponents and secret
// integers are of type [Nat]; a big.Int is public, but for the modulus itself.
//
// What has no VarTime in its name takes a time, and touches addresses, that
// depend on the widths of its operands and on the bit length of the modulus, not
// on values: the value of the modulus may be secret too. The exceptions are
// errors, for which the verdict shows, [FermatBase2] and [PowTwoMod]. The tests
// check that with valgrind.
//
// The kernel for one number is five functions on slices of limbs: a product, a
// square, a Montgomery reduction, a doubling and the reading of a table. On amd64
// with ADX, BMI2 and AVX2 they are assembly, written by tools/modexpgen; elsewhere
// they are the Go functions of kernel_generic.go, which are about half as fast.
// There, powers with one base and a public exponent are left to math/big, whose
// product is assembly on many architectures. Not so for secrets; filippo.io/bigmod
// has assembly for 1024, 1536 and 2048 bits on arm64, ppc64le and others that would
// beat the generic kernel at those sizes alone.
//
// With AVX-512 IFMA there is a second kernel, for eight numbers and moduli at once:
// see [ExpLanes] and [FermatLanes], which do one after the other without it. It
// has no branch and no address but from the number of limbs. Its floor is the
// number of its vector multiplications, 4l² for a product modulo a number of l
// limbs and 3l²+l for a square, by as many as the processor starts in a cycle: two
// on most, one on Zen 4. On Zen 4 it takes
//
//	bits       1024   1536   2048   3072   4096
//	product    1.05   1.03   1.03   1.02   1.01
//	square     1.06   1.04   1.03   1.02   1.01
//
// times its floor, where the product of 2048 bits is 6400 cycles.
//
// UNDERSIGN_MODEXP in the environment takes kernels away: adx leaves that for one
// number, generic leaves none. All results are the same.
package modexp
