// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !(valgrind && linux && amd64)

package cttest

func request(code, a, b uintptr) uintptr { return 0 }
