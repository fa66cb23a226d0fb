// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !cgo

package main

// blstBLS returns nil: blst is in C and assembly.
func blstBLS(*blsPool) (*blsPeer, error) { return nil, nil }
