// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/zip215"
)

// A View is a directory at one of its versions: what it takes to verify batches. It
// doesn't change, and may be used by several goroutines.
type View interface {
	// Version returns the version.
	Version() uint64

	// FirstInactive returns the index of the first of ids that isn't registered at
	// this version, or was revoked, or -1.
	FirstInactive(ids []uint64) int

	// SumKeys returns the sum of the BLS keys of ids, which are active, ascend strictly,
	// and are at least one. It fails if the sum is the identity.
	SumKeys(ids []uint64) (*bls.ProvenKey, error)

	// BLSKey returns the BLS key of an id, or nil if it isn't active.
	BLSKey(id uint64) *bls.ProvenKey

	// EdKey returns the Ed25519 key of an id, or nil if it isn't active.
	EdKey(id uint64) *zip215.Key
}
