// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || purego

package hashpairs

func fast() bool { return false }

func assembly(dst, src [][32]byte) { generic(dst, src) }
