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
// errors, for which the verdict shows, [FermatBase2], [FermatLanes] and [PowTwoMod].
// The tests check that with valgrind, but for AVX-512, which it can't execute.
//
// The scalar kernel is five functions on slices of limbs: a product, a
// square, a Montgomery reduction, a doubling and the reading of a table. On amd64
// with ADX, BMI2 and AVX2 they are assembly, written by tools/modexpgen; elsewhere
// they are the Go functions of kernel_generic.go, which are about half as fast.
// There, powers with one base and a public exponent are left to math/big, whose
// product is assembly on many architectures. Not so for secrets; filippo.io/bigmod
// has assembly for 1024, 1536 and 2048 bits on arm64, ppc64le and others that would
// beat the generic kernel at those sizes alone.
//
// With AVX-512 IFMA there are three more kernels, in limbs of 52 bits. The wide one
// has one product modulo a number of 1536, 2048, 2560, 3072, 3584 or 4096 bits, or
// somewhat less; it takes and gives reduced numbers in limbs of 64 bits, and all the above
// uses it. Those of eight and of four lanes have products and squares of as many
// numbers, each with its modulus: see [ExpLanes] and [FermatLanes]. None has a branch,
// or an address, but from the number of limbs.
//
// Their floor is the number of vector multiplications by as many as the processor
// starts in a cycle: two on most; on Zen 4 one of eight lanes, or two of four. For
// a modulus of l limbs of 52 bits a product in lanes has 4l² and a square 3l²+l; a
// wide product has 4l for each eight limbs or part of them. On Zen 4 they take, times
// their floor:
//
//	bits                   1024   1536   2048   3072   4096
//	eight lanes, product   1.05   1.03   1.03   1.02   1.01
//	eight lanes, square    1.06   1.04   1.03   1.02   1.01
//	four lanes, product    1.13   1.08   1.06   1.05   1.04
//	four lanes, square     1.14   1.10   1.09   1.06   1.06
//	wide, product                 2.07   1.70   1.34   1.26
//
// The wide kernel waits for the multiple of the modulus at each limb, and spends
// a part on carries.
//
// Four lanes are for processors where they take half the time of eight: for what is
// left of a batch, and for [Modulus.Split], so that eight powers on two cores are done
// in half the time. Elsewhere they would take as long as eight, and aren't used.
//
// UNDERSIGN_MODEXP in the environment takes kernels away: eight that of four lanes,
// adx all but the scalar assembly, generic all of them. All results are the same.
package modexp
