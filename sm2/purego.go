// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build purego

package sm2

const purego = true
