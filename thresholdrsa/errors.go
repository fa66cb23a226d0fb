// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"errors"
	"fmt"
)

// The errors that callers act on. The structured errors of this package unwrap
// to one of them.
var (
	// ErrShare: a signature share is wrong, or meant for something else.
	ErrShare = errors.New("thresholdrsa: invalid signature share")
	// ErrQuorum: too few good shares.
	ErrQuorum = errors.New("thresholdrsa: quorum not reached")
	// ErrDealing: the sharing itself is inconsistent; no holder is to blame.
	ErrDealing = errors.New("thresholdrsa: inconsistent dealing")
)

// A ShareError says which signature share is refused, whose it is and why.
type ShareError struct {
	Index  int    // holder's index, 1..L, as the share states it; 0 if there was no share
	Holder string // holder's name; empty if the index names nobody
	Reason string
}

func (e *ShareError) Error() string {
	if e.Holder == "" {
		return fmt.Sprintf("thresholdrsa: signature share of holder %d: %s", e.Index, e.Reason)
	}
	return fmt.Sprintf("thresholdrsa: signature share of holder %d (%s): %s", e.Index, e.Holder, e.Reason)
}

// Unwrap returns ErrShare.
func (e *ShareError) Unwrap() error { return ErrShare }

// A QuorumError says how many there were of the good shares, or in a ceremony of the
// acknowledgements, of different holders.
type QuorumError struct {
	Have, Need int
}

func (e *QuorumError) Error() string {
	return fmt.Sprintf("thresholdrsa: quorum not reached: there are %d of the %d needed", e.Have, e.Need)
}

// Unwrap returns ErrQuorum.
func (e *QuorumError) Unwrap() error { return ErrQuorum }

// A DealingError says what is wrong with a dealing, and for which holder if it
// concerns one.
type DealingError struct {
	Index  int // holder's index, or 0
	Reason string
}

func (e *DealingError) Error() string {
	if e.Index == 0 {
		return "thresholdrsa: inconsistent dealing: " + e.Reason
	}
	return fmt.Sprintf("thresholdrsa: inconsistent dealing: holder %d: %s", e.Index, e.Reason)
}

// Unwrap returns ErrDealing.
func (e *DealingError) Unwrap() error { return ErrDealing }

// A KeyError says that two objects belong to different keys or epochs.
type KeyError struct {
	What      string   // what was given: "request", "proposal", ...
	Got, Want [32]byte // the IDs of the records
	GotEpoch  uint64
	WantEpoch uint64
}

func (e *KeyError) Error() string {
	if e.GotEpoch != e.WantEpoch {
		return fmt.Sprintf("thresholdrsa: %s is for epoch %d of a key, and this is epoch %d (record %x, want %x)",
			e.What, e.GotEpoch, e.WantEpoch, e.Got[:8], e.Want[:8])
	}
	return fmt.Sprintf("thresholdrsa: %s is for another key (record %x, want %x)", e.What, e.Got[:8], e.Want[:8])
}
