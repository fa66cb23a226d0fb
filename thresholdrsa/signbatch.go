// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"fmt"
	"math/big"

	"github.com/undersign/undersign/internal/modexp"
)

// SignBatch answers requests as Sign does, all of them or none. Where the processor
// has AVX-512 IFMA that is faster from six requests on, and best with a multiple of
// eight.
func (s *KeyShare) SignBatch(rs []*Request) ([]*SignatureShare, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	xs := make([]*big.Int, len(rs))
	for i, r := range rs {
		if r == nil {
			return nil, fmt.Errorf("thresholdrsa: request %d of %d is nil", i+1, len(rs))
		}
		var err error
		if xs[i], err = r.representative(s.key); err != nil {
			return nil, fmt.Errorf("thresholdrsa: request %d of %d: %w", i+1, len(rs), err)
		}
	}
	var out []*SignatureShare
	for len(xs) > 0 {
		n := min(modexp.Lanes, len(xs))
		sigs, err := s.proveBatch(xs[:n])
		if err != nil {
			return nil, err
		}
		out = append(out, sigs...)
		xs = xs[n:]
	}
	for i, r := range rs {
		out[i].requestID = r.ID()
	}
	return out, nil
}

// BatchSize returns how many requests SignBatch answers at once, which is worth it from
// three quarters of that on. It is 1 where SignBatch isn't faster than Sign.
func (s *KeyShare) BatchSize() int {
	if s.key.arith().mod.LanesPay(modexp.Lanes) {
		return modexp.Lanes
	}
	return 1
}

func (s *KeyShare) proveBatch(xs []*big.Int) ([]*SignatureShare, error) {
	mod := s.key.arith().mod
	xms := make([]*modexp.Element, len(xs))
	rs := make([]modexp.Nat, len(xs))
	defer wipeAll(rs)
	for i, x := range xs {
		var err error
		if xms[i], err = mod.SetBig(x); err != nil {
			return nil, err
		}
		rs[i] = s.nonce(x)
	}
	xis, vps, xps := s.powersBatch(xms, rs)
	out := make([]*SignatureShare, len(xs))
	for i, x := range xs {
		out[i] = s.finish(x, xis[i], vps[i], xps[i], rs[i])
	}
	return out, nil
}

// powersBatch is powers for several requests.
func (s *KeyShare) powersBatch(xs []*modexp.Element, rs []modexp.Nat) (xis, vps, xps []*modexp.Element) {
	a := s.key.arith()
	mod := a.mod
	ss := make([]modexp.Nat, len(xs))
	for i, r := range rs {
		ss[i] = s.s
		vp := mod.NewElement()
		a.table.Exp(vp, r)
		xis, vps, xps = append(xis, mod.NewElement()), append(vps, vp), append(xps, mod.NewElement())
	}
	mod.ExpShared([][]*modexp.Element{xis, xps}, xs, [][]modexp.Nat{ss, rs}, s.key.nonceBits())
	for i := range xs {
		mod.Sqr(xis[i], xis[i])
		mod.Sqr(xps[i], xps[i])
		mod.Sqr(xps[i], xps[i])
	}
	return xis, vps, xps
}
