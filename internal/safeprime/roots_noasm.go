// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package safeprime

const haveRoots = false

func (g *rootGroup) find(start number, width int) uint64 { return g.findGeneric(start, width) }
