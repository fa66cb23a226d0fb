// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package modexp computes powers modulo odd numbers of up to 16384 bits: in
// constant time for secret exponents, and faster for public ones.
package modexp
