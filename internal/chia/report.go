// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package chia

// What the report of 2023 gives for Chia 1.8.1: the signature validation of a block that
// has signatures, and the synchronisation of a node, in seconds.
const (
	ReportBlocks         = 1_017_931
	ReportClassicMean    = 0.167
	ReportClassicMax     = 6.02
	ReportDistilledMean  = 0.004
	ReportDistilledMax   = 0.17
	ReportClassicSync    = 26*3600 + 21*60
	ReportDistilledSync  = 14*3600 + 40*60
	ReportIsolatedRatio  = 16.8 // at 37 pairs, from its own measurements outside a node
	ReportIsolatedPairs  = 37
	reportOther          = 51_767 // what its two synchronisations leave for all other work
	ReportPublishedShare = 0.345  // of blocks that have signatures
	ReportVariantShare   = 0.60
	ReportOtherHours     = reportOther / 3600.0
)

// A Sync is the model of a node's synchronisation: the time for everything else, which is
// the report's, and the verification of the signed blocks. It says what a faster
// verification can bring at most.
type Sync struct {
	Share     float64 `json:"signed_share"`    // of blocks that have signatures
	Classic   float64 `json:"classic_hours"`   // with the verification of today
	Distilled float64 `json:"distilled_hours"` // keys known and proven
	OneTime   float64 `json:"one_time_hours"`  // weighted keys, decoded
	Together  float64 `json:"together_hours"`  // several blocks at once
	Ratio     float64 `json:"ratio"`           // of the first two
	Bound     float64 `json:"bound"`           // if verification took no time: Amdahl's law
}

// ImpliedShare returns the share of signed blocks with which the report's means per block
// give its two times of synchronisation.
func ImpliedShare() float64 {
	return (ReportClassicSync - ReportDistilledSync) / (ReportClassicMean - ReportDistilledMean) / ReportBlocks
}

// ReportSync is the model with the report's own means per block.
func ReportSync() Sync {
	s := newSync(ImpliedShare(), ReportClassicMean, ReportDistilledMean, 0, 0)
	s.OneTime, s.Together = 0, 0
	return s
}

// newSync returns the model for seconds per signed block.
func newSync(share, classic, distilled, oneTime, together float64) Sync {
	hours := func(seconds float64) float64 { return (reportOther + ReportBlocks*share*seconds) / 3600 }
	s := Sync{Share: share, Classic: hours(classic), Distilled: hours(distilled), OneTime: hours(oneTime), Together: hours(together)}
	s.Ratio, s.Bound = s.Classic/s.Distilled, s.Classic/hours(0)
	return s
}
