// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build valgrind && linux && amd64

package cttest

// request makes a client request of valgrind. It returns 0 if there is none.
func request(code, a, b uintptr) uintptr {
	return clientRequest(code, a, b, 0, 0, 0)
}

//go:noescape
func clientRequest(code, a, b, c, d, e uintptr) uintptr
