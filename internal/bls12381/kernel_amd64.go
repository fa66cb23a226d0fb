// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !purego

package bls12381

import "github.com/consensys/gnark-crypto/utils/cpu"

// hasKernel says that the functions below may be called. They are constant time.
var hasKernel = cpu.SupportADX

func squareTimes(z, x *uint64, n int)       { squareTimesADX(z, x, n) }
func squareTimesMul(z, x, y *uint64, n int) { squareTimesMulADX(z, x, y, n) }
func doubleTimes(z, x *uint64, n int)       { doubleTimesADX(z, x, n) }
func addAffine(z, x, y *uint64)             { addAffineADX(z, x, y) }
func addJacobian(z, x, y *uint64)           { addJacobianADX(z, x, y) }
func addMixed(z, x, y *uint64)              { addMixedADX(z, x, y) }
func addComplete(z, x, y *uint64)           { addCompleteADX(z, x, y) }
func doubleComplete(z, x *uint64)           { doubleCompleteADX(z, x) }
