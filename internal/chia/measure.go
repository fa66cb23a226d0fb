// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package chia

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// A FileResult is what was found about the blocks of a [File].
//
// Nobody but their owners can sign for real keys in a new way. So the distilled blocks
// that are measured are re-keyed: of the same messages, by as many synthetic keys, each
// with as many messages.
type FileResult struct {
	Network   string      `json:"network"`
	Pairs     int         `json:"pairs"`
	Valid     int         `json:"valid"`
	Invalid   int         `json:"invalid"`
	Unsigned  int         `json:"unsigned"` // blocks whose signature the file doesn't have
	Blocks    []FileBlock `json:"blocks"`
	Real      float64     `json:"classic_ms"`           // of all valid ones
	Classic   float64     `json:"rekeyed_classic_ms"`   // of all blocks with pairs
	Distilled float64     `json:"rekeyed_distilled_ms"` // keys known and proven
	Weighted  float64     `json:"rekeyed_weighted_ms"`  // keys known
	Ratio     float64     `json:"rekeyed_ratio"`        // of Classic to Distilled
}

// A FileBlock is one of them. Times are in milliseconds, with keys known.
type FileBlock struct {
	Name      string  `json:"name"`
	Pairs     int     `json:"pairs"`
	Keys      int     `json:"keys"`
	Signed    bool    `json:"signed"`
	Valid     bool    `json:"valid"`
	Problem   string  `json:"problem,omitzero"` // why it isn't valid
	Real      float64 `json:"classic_ms,omitzero"`
	Classic   float64 `json:"rekeyed_classic_ms,omitzero"`
	Distilled float64 `json:"rekeyed_distilled_ms,omitzero"`
	Weighted  float64 `json:"rekeyed_weighted_ms,omitzero"`
	Ratio     float64 `json:"rekeyed_ratio,omitzero"`
}

// MeasureFile verifies real blocks, and blocks of the same shapes that are classic and
// distilled. The seed is that of the synthetic keys; progress may be nil.
func MeasureFile(ctx context.Context, f *File, seed uint64, progress func(done, total int)) (*FileResult, error) {
	runtime.LockOSThread() // whose time is measured
	defer runtime.UnlockOSThread()
	c := NewChain(seed)
	res := &FileResult{Network: f.Network}
	for i := range f.Blocks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if progress != nil {
			progress(i, len(f.Blocks))
		}
		b, err := measureBlock(c, &f.Blocks[i], uint64(i))
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", i, err)
		}
		res.Blocks = append(res.Blocks, *b)
		res.Pairs += b.Pairs
		switch {
		case !b.Signed:
			res.Unsigned++
		case b.Valid:
			res.Valid++
			res.Real += b.Real
		default:
			res.Invalid++
		}
		res.Classic += b.Classic
		res.Distilled += b.Distilled
		res.Weighted += b.Weighted
	}
	if res.Distilled > 0 {
		res.Ratio = res.Classic / res.Distilled
	}
	return res, nil
}

func measureBlock(c *Chain, b *Block, seq uint64) (*FileBlock, error) {
	r := &FileBlock{Name: b.Name, Pairs: len(b.Pairs), Keys: len(GroupPairs(b.Pairs)), Signed: b.Signature != nil}
	if r.Signed {
		keys := NewKeys()
		err := b.Verify(keys)
		if r.Valid = err == nil; !r.Valid {
			r.Problem = err.Error()
		} else if r.Real, err = milliseconds(func() error { return b.Verify(keys) }); err != nil {
			return nil, err
		}
	}
	if r.Pairs == 0 {
		return r, nil
	}
	again := c.Rekey(b)
	registry, err := newRegistry(c, []*Owned{again})
	if err != nil {
		return nil, err
	}
	keys := NewKeys()
	if r.Classic, err = milliseconds(func() error { return again.Verify(keys) }); err != nil {
		return nil, err
	}
	proven := (&setup{registry: registry}).keyedProven()
	e, err := registry.keyed(proven, again, seq, nil)
	if err != nil {
		return nil, err
	}
	if r.Distilled, err = milliseconds(func() error { _, err := proven.Verify(e); return err }); err != nil {
		return nil, err
	}
	weighted := NewVerifier(chainNet, keys)
	if e, err = again.Distill(weighted, seq, nil); err != nil {
		return nil, err
	}
	if r.Weighted, err = milliseconds(func() error { _, err := weighted.Verify(e); return err }); err != nil {
		return nil, err
	}
	r.Ratio = r.Classic / r.Distilled
	return r, nil
}

func milliseconds(f func() error) (float64, error) {
	t, err := fastest(f, timeFor)
	return float64(t) / float64(time.Millisecond), err
}
