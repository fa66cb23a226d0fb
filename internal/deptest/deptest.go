// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package deptest holds tests of the source tree as a whole: which package may
// import which, and what every file and every package must have.
//
// The rules are tables at the head of layers_test.go. A new package fails the
// test until it has a line there.
package deptest
