// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build valgrind && linux && amd64

#include "textflag.h"

// func clientRequest(code, a, b, c, d, e uintptr) uintptr
//
// Four rotations by 128 in all, then an exchange of a register with itself:
// nothing to a processor, a request to valgrind.
TEXT ·clientRequest(SB), NOSPLIT, $0-56
	LEAQ  code+0(FP), AX
	XORL  DX, DX
	ROLQ  $3, DI
	ROLQ  $13, DI
	ROLQ  $61, DI
	ROLQ  $51, DI
	XCHGQ BX, BX
	MOVQ  DX, ret+48(FP)
	RET
