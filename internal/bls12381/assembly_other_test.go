// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build purego || !amd64

package bls12381

func haveAssembly() bool { return hasMul }

// useAssembly switches our use of the backend's products on or off.
func useAssembly(on bool) { hasMul = on && hasMul }
