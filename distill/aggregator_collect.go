// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"slices"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/batch"
	"github.com/undersign/undersign/internal/bls12381"
)

// burst is reductions that are on the curve, and not verified yet.
type burst struct {
	at   []int // positions of members
	sigs []bls12381.G2Affine
}

// spare is a reduction in the sum that could be taken out of it.
type spare struct {
	at  int
	sig bls12381.G2Affine
	ok  bool
}

// HandleReduction takes a client's signature of a batch. The caller has made sure that it
// came from that client: whoever sends a wrong one in another's name makes it a straggler.
func (a *Aggregator) HandleReduction(now int64, red *Reduction) (out []AggregatorAction, err error) {
	if a.ledger.err != nil {
		return nil, a.ledger.err
	}
	defer a.stop(&out)
	r := a.round(red.Seq)
	if r == nil || !a.resumed { // from the journal, a round doesn't know its statement yet
		return nil, reject(RuleNoBatch)
	}
	at := r.find(red.ID)
	switch {
	case at < 0 || r.status[at] == memberSlow:
		return nil, reject(RuleNotMember)
	case red.Digest != r.red:
		return nil, reject(RuleReductionDigest)
	case r.state != roundCollecting:
		if r.status[at] == memberOpen {
			a.stats.Late++
			r.status[at] = memberBad // counts once
			a.waits.note(now - r.proposedAt)
		}
		return nil, reject(RuleNoBatch)
	case r.status[at] != memberOpen:
		return nil, reject(RuleReduced)
	}
	a.waits.note(now - r.proposedAt)
	var p bls12381.G2
	if err := p.SetUncompressedUnsafe(red.Signature[:]); err != nil {
		r.open--
		r.status[at] = memberBad
		a.blame(now, r, at, &out)
		out, err := a.closeIfDone(now, r, out)
		if err == nil {
			err = reject(RuleReductionEncoding)
		}
		return out, err
	}
	r.open--
	r.status[at] = memberPending
	r.burst.at = append(r.burst.at, at)
	r.burst.sigs = append(r.burst.sigs, *new(bls12381.G2Affine).Set(&p))
	if len(r.burst.at) >= a.limits.Burst {
		out = a.verifyBurst(now, r, out)
	}
	return a.closeIfDone(now, r, out)
}

func (a *Aggregator) closeIfDone(now int64, r *round, out []AggregatorAction) ([]AggregatorAction, error) {
	if r.open > 0 {
		return out, nil
	}
	return a.advance(now, out)
}

// round returns the round of a number, or nil.
func (a *Aggregator) round(seq uint64) *round {
	for _, r := range a.rounds {
		if r.seq == seq {
			return r
		}
	}
	return nil
}

// blame notes an invalid reduction: its client is a straggler of this batch, and nobody
// waits for it for some time.
func (a *Aggregator) blame(now int64, r *round, at int, out *[]AggregatorAction) {
	a.stats.Bad++
	a.clients[r.ids[at]].quarantine(now, &a.limits)
	*out = append(*out, ReportReduction{r.ids[at], r.seq})
}

// verifyBurst verifies the reductions that have come, as one signature by the sum of their
// keys, and adds them to the round's sum. Bad ones are found and left out.
//
// What passes is known to be right as a sum only: colluding clients can offset errors
// against each other. So nothing is concluded about any of them.
func (a *Aggregator) verifyBurst(now int64, r *round, out []AggregatorAction) []AggregatorAction {
	if len(r.burst.at) == 0 {
		return out
	}
	s := a.newSieve(r)
	r.burst = burst{}
	a.stats.Bursts++
	if !s.good(s.left) {
		a.stats.Sifted++
		for _, i := range s.sift() {
			r.status[s.at[i]] = memberBad
			a.blame(now, r, s.at[i], &out)
		}
		a.stats.Pairings += uint64(s.pairings)
	}
	r.sum.Add(&r.sum, s.total())
	for _, i := range s.left {
		r.status[s.at[i]] = memberGood
		r.spare = spare{s.at[i], s.sigs[i], true}
		a.clients[r.ids[s.at[i]]].reduced()
		a.stats.Reductions++
	}
	return out
}

// A sieve finds the bad ones among reductions.
type sieve struct {
	r        *round
	neg      *bls12381.G1
	at       []int
	sigs     []bls12381.G2Affine
	left     []int        // those that aren't known to be bad
	sum      *bls12381.G2 // of those, or nil
	wild     bool         // a sum was found outside the group
	pairings int
}

func (a *Aggregator) newSieve(r *round) *sieve {
	if r.redHash == nil {
		h := new(bls12381.G2).HashVarTime(r.red[:], []byte(bls.ProofOfPossession.Ciphersuite()))
		bls12381.NormalizeG2(h)
		r.redHash = bls12381.NewLinesVarTime(h)
	}
	// In the order of ids, in which keys are added up.
	order := make([]int, len(r.burst.at))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return r.burst.at[x] - r.burst.at[y] })
	s := &sieve{r: r, neg: a.negG1, left: make([]int, len(order))}
	for i, from := range order {
		s.at = append(s.at, r.burst.at[from])
		s.sigs = append(s.sigs, r.burst.sigs[from])
		s.left[i] = i
	}
	return s
}

// total returns the sum of those that are left.
func (s *sieve) total() *bls12381.G2 {
	if s.sum == nil {
		s.sum = new(bls12381.G2).SumVarTime(s.points(s.left))
	}
	return s.sum
}

func (s *sieve) points(items []int) []bls12381.G2Affine {
	p := make([]bls12381.G2Affine, len(items))
	for j, i := range items {
		p[j] = s.sigs[i]
	}
	return p
}

// pairs returns the pairings that cancel out if the sum of some signatures is valid, or
// false if it isn't in the group, where there is no pairing.
func (s *sieve) pairs(items []int) ([]bls12381.Pair, bool) {
	sum := s.total()
	if len(items) < len(s.left) {
		sum = new(bls12381.G2).SumVarTime(s.points(items))
	}
	if !sum.InSubgroupVarTime() {
		return nil, false
	}
	ids := make([]uint64, len(items))
	for j, i := range items {
		ids[j] = s.r.ids[s.at[i]]
	}
	key := new(bls12381.G1)
	// Keys that add up to the identity are an error there. Here they are the key
	// whose signature is the identity.
	if k, err := s.r.view.SumKeys(ids); err == nil {
		if err := key.SetUncompressedUnsafe(k.PublicKey().UncompressedBytes()); err != nil {
			return nil, false
		}
	}
	s.pairings++
	return []bls12381.Pair{bls12381.PairWith(key, s.r.redHash), bls12381.PairOf(s.neg, sum)}, true
}

func (s *sieve) good(items []int) bool {
	if len(items) == 0 {
		return true
	}
	pairs, ok := s.pairs(items)
	return ok && bls12381.PairingCheckVarTime(pairs...)
}

// sift returns the bad ones, and leaves the others in left, whose sum is valid.
func (s *sieve) sift() (bad []int) {
	bad = s.locate()
	if s.wild {
		// Points outside the group. Each is tested, for they could make a sum in it.
		s.wild = false
		bad = append(bad, s.drop(s.left, func(i int) bool { return !s.sigs[i].Point().InSubgroupVarTime() })...)
		if !s.good(s.left) {
			bad = append(bad, s.locate()...)
		}
	}
	if !s.good(s.left) {
		bad = append(bad, s.drop(s.left, func(i int) bool { return !s.good([]int{i}) })...)
	}
	slices.Sort(bad)
	return bad
}

// drop takes those of items that are bad out of left.
func (s *sieve) drop(items []int, isBad func(int) bool) (bad []int) {
	for _, i := range items {
		if isBad(i) {
			bad = append(bad, i)
		}
	}
	left := make([]int, 0, len(s.left))
	for _, i := range s.left {
		if _, found := slices.BinarySearch(bad, i); !found {
			left = append(left, i)
		}
	}
	s.left, s.sum = left, nil
	return bad
}

// locate bisects. The defect of a sum is a product of pairings, and that of a half gives
// that of the other one. With more than about a tenth bad, bisecting costs as much as it
// saves, and those that are left are verified one by one.
func (s *sieve) locate() []int {
	items := s.left
	defect := func(lo, hi int) *bls12381.GT {
		if s.wild {
			return nil // it leads nowhere any more
		}
		pairs, ok := s.pairs(items[lo:hi])
		if !ok {
			s.wild = true
			return nil
		}
		return new(bls12381.GT).PairingProductVarTime(pairs...)
	}
	total := defect(0, len(items))
	if s.wild {
		return nil
	}
	var suspects []int
	batch.Locate(batch.Problem[*bls12381.GT]{
		N:   len(items),
		Sum: defect,
		Sub: func(sum, part *bls12381.GT) *bls12381.GT {
			if sum == nil || part == nil {
				return nil
			}
			return new(bls12381.GT).Div(sum, part)
		},
		IsZero: func(x *bls12381.GT) bool { return x != nil && x.IsIdentity() },
		Confirm: func(at []int) []int {
			for _, i := range at {
				suspects = append(suspects, items[i])
			}
			return nil
		},
		Cost:     func(n int) float64 { return 1 + float64(n)/1000 },
		Leaf:     1,
		MaxExtra: maxSifting,
	}, total)
	if s.wild {
		return nil // suspects would be too many
	}
	return s.drop(suspects, func(i int) bool { return !s.good([]int{i}) })
}

// maxSifting is what bisecting may cost, as a part of what it costs to verify every
// reduction alone: with a tenth of them bad it takes b(log2(1/b)+1) for b = 0.1.
const maxSifting = 0.45
