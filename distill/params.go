// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"fmt"
	"math/bits"

	"github.com/undersign/undersign/internal/wire"
)

// NonceWindow is the number of nonces of one client that may be in flight, counted from
// the oldest: what is that far behind the largest executed nonce isn't executed.
const NonceWindow = 64

// Params are what all parties of a network must agree on. What concerns one of them
// alone, such as how long an aggregator waits, isn't here.
type Params struct {
	MaxLeaves        uint64 // of a batch
	MaxPayload       uint64 // bytes of one payload
	MaxBatch         uint64 // bytes of an encoded batch
	StragglerPercent uint64 // of the leaves of a batch
	MinStragglers    uint64 // that are allowed whatever the percentage says
	ValidFor         uint64 // heights from a batch's proposal to its last
	MaxAhead         uint64 // heights from a batch's last to the last of its leaves
	KeepResults      uint64 // heights that results are kept for, after their leaves have expired
	DirectoryLag     uint64 // versions of the directory that a batch may be behind: more than are made in ValidFor heights
	SeqWindow        uint64 // batches that an aggregator may publish out of order
	Modes            ModeSet
}

// DefaultParams returns the parameters that most networks should use.
func DefaultParams() Params {
	return Params{
		MaxLeaves: 1 << 20, MaxPayload: 64 << 10, MaxBatch: 16 << 20,
		StragglerPercent: 25, MinStragglers: 256,
		ValidFor: 64, MaxAhead: 4096, KeepResults: 4096, DirectoryLag: 128, SeqWindow: 4096,
		Modes: Modes(ModeEd25519, ModeFolded, ModeLean),
	}
}

// MaxStragglers returns how many of n leaves may be stragglers. In [ModeFolded], where each
// costs a pairing, the percentage doesn't count.
func (p *Params) MaxStragglers(m Mode, n int) int {
	if m == ModeFolded {
		return int(min(p.MinStragglers, uint64(n)))
	}
	hi, lo := bits.Mul64(uint64(n), p.StragglerPercent)
	share, _ := bits.Div64(hi, lo, 100)
	return int(min(max(share, p.MinStragglers), uint64(n)))
}

// fields are all numbers, in the order of the encoding, with their bounds.
func (p *Params) fields() []paramField {
	const heights = 1 << 40 // so that sums of heights don't overflow
	return []paramField{
		{"leaves", &p.MaxLeaves, 1, 1 << MaxDepth},
		{"payload", &p.MaxPayload, 0, 1 << 28},
		{"batch", &p.MaxBatch, 1 << 10, 1 << 30},
		{"stragglers percent", &p.StragglerPercent, 0, 100},
		{"least stragglers", &p.MinStragglers, 0, 1 << MaxDepth},
		{"valid for", &p.ValidFor, 1, heights},
		{"ahead", &p.MaxAhead, 1, heights},
		{"keep results", &p.KeepResults, 1, heights},
		{"directory lag", &p.DirectoryLag, 0, heights},
		{"sequence window", &p.SeqWindow, 1, 1 << 24},
	}
}

type paramField struct {
	name     string
	v        *uint64
	min, max uint64
}

// Check returns an error if a parameter is out of its bounds.
func (p *Params) Check() error {
	for _, f := range p.fields() {
		if *f.v < f.min || *f.v > f.max {
			return genesisError("parameter %q is %d, and not from %d to %d", f.name, *f.v, f.min, f.max)
		}
	}
	if p.MaxAhead < 2*p.ValidFor {
		return genesisError("leaves may be at most %d heights ahead, so that none lives as long as two batches, of %d each", p.MaxAhead, p.ValidFor)
	}
	if p.Modes == 0 || p.Modes&^allModes != 0 {
		return genesisError("no modes, or unknown ones")
	}
	return nil
}

func (p *Params) encode(e *wire.Encoder) {
	for _, f := range p.fields() {
		e.U64(*f.v)
	}
	e.U8(uint8(p.Modes))
}

func (p *Params) decode(d *wire.Decoder) {
	for _, f := range p.fields() {
		*f.v = d.U64(f.name)
	}
	p.Modes = ModeSet(d.U8("modes"))
}

func genesisError(format string, args ...any) error {
	return &RejectError{Rule: RuleGenesis, Index: -1, Err: fmt.Errorf(format, args...)}
}

// A Mode is what stands in a batch for clients who don't sign the root in time. All
// clients of a batch have the same.
type Mode uint8

const (
	// ModeEd25519: their Ed25519 signatures, which all clients give beforehand.
	ModeEd25519 Mode = iota
	// ModeFolded: their BLS signatures, which all clients give beforehand, added to
	// the aggregate, so that the batch has one signature. Each takes a third of a
	// millisecond to verify: a network with large batches should allow few of them, or
	// not this mode.
	ModeFolded
	// ModeLean: nothing. They are marked absent, and not executed.
	ModeLean
	modes
)

// String returns the name of m.
func (m Mode) String() string {
	switch m {
	case ModeEd25519:
		return "ed25519"
	case ModeFolded:
		return "folded"
	case ModeLean:
		return "lean"
	}
	return fmt.Sprintf("mode %d", uint8(m))
}

// A ModeSet is a set of modes.
type ModeSet uint8

const allModes ModeSet = 1<<modes - 1

// Modes returns the set of some modes.
func Modes(list ...Mode) (s ModeSet) {
	for _, m := range list {
		if m < modes {
			s |= 1 << m
		}
	}
	return s
}

// Has reports whether m is in s.
func (s ModeSet) Has(m Mode) bool { return m < modes && s&(1<<m) != 0 }
