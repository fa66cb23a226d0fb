// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package edwards adds to the library of edwards25519 what verifiers of many signatures
// need: sums of many terms, tables of a point's multiples, and the group ristretto255
// (RFC 9496) with its hash to the group (RFC 9380, appendix B).
//
// All of it is variable time, but for the encoding and the map of ristretto255, which run
// through a fixed sequence of the library's operations.
package edwards
