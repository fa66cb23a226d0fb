// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build purego || !amd64

package bls12381

// hasKernel stays false without assembly: the functions below aren't called.
var hasKernel = false

func squareTimes(z, x *uint64, n int)       { panic("bls12381: no assembly") }
func squareTimesMul(z, x, y *uint64, n int) { panic("bls12381: no assembly") }
func doubleTimes(z, x *uint64, n int)       { panic("bls12381: no assembly") }
func addAffine(z, x, y *uint64)             { panic("bls12381: no assembly") }
func addJacobian(z, x, y *uint64)           { panic("bls12381: no assembly") }
func addMixed(z, x, y *uint64)              { panic("bls12381: no assembly") }
func addComplete(z, x, y *uint64)           { panic("bls12381: no assembly") }
func doubleComplete(z, x *uint64)           { panic("bls12381: no assembly") }
