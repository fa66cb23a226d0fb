// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package chia

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/cputime"
)

// An Experiment measures on a synthetic chain what distilled blocks save.
type Experiment struct {
	Blocks   int    // signed blocks of the chain
	Largest  int    // pairs of one more block, that is measured by itself
	Together int    // blocks that are verified together
	Seed     uint64 // of the chain

	Progress func(done, total int, what string) // or nil
}

// A Result is what an [Experiment] found. Times are of one processor, each the least
// of three or more; the methods take turns with every block.
type Result struct {
	Blocks    int     `json:"blocks"`
	Pairs     int     `json:"pairs"`
	MeanPairs float64 `json:"mean_pairs"`
	MostPairs int     `json:"most_pairs"`
	Largest   int     `json:"largest_pairs"`
	Together  int     `json:"blocks_together"`
	Seed      uint64  `json:"seed"`
	Rows      []Row   `json:"rows"`
	Sync      []Sync  `json:"sync"`
}

// Columns of the experiment.
const (
	ColumnClassic   = "classic"
	ColumnPublished = "A"
	ColumnKnown     = "B"
	ColumnDecoded   = "C"
	ColumnWeighted  = "D"
	ColumnLate      = "E"
	ColumnTogether  = "F"
)

// A Row is a way to verify blocks: times in milliseconds, and the ratio of the classic
// verification's time to them. Where keys are decoded, that is with keys decoded too.
type Row struct {
	Column       string  `json:"column"`
	Method       string  `json:"method"`
	Decoded      bool    `json:"keys_decoded"`       // or known before
	LatePercent  float64 `json:"stragglers_percent"` // of the keys
	Mean         float64 `json:"mean_ms"`
	Max          float64 `json:"max_ms"` // of the chain's blocks
	Ratio        float64 `json:"ratio"`  // of the means
	Largest      float64 `json:"largest_ms,omitzero"`
	LargestRatio float64 `json:"largest_ratio,omitzero"`
}

// A method verifies a block, or fails.
type method struct {
	Row
	prepare func(i int, late []int) (verify func() error, err error)

	sum, largest time.Duration
	max          time.Duration
}

// late are the shares of stragglers, in percent.
var late = []float64{0, 1, 2, 5, 10}

// setup is what all methods of one experiment have in common.
type setup struct {
	blocks   []*Owned // and then the largest
	known    *Keys
	registry *registry
	weighted [][]byte // distilled blocks with weights
}

// Run makes the chain and measures. It takes about 0.3 s for each block, and 8 s for one
// of 890 pairs.
func (x *Experiment) Run(ctx context.Context) (*Result, error) {
	if x.Blocks < 1 || x.Largest < 1 || x.Together < 1 {
		return nil, fmt.Errorf("%w: an experiment without blocks", ErrFormat)
	}
	runtime.LockOSThread() // whose time is measured
	defer runtime.UnlockOSThread()
	c := NewChain(x.Seed)
	s := &setup{known: NewKeys()}
	res := &Result{Blocks: x.Blocks, Largest: x.Largest, Together: x.Together, Seed: x.Seed}
	sizes := c.Sizes(x.Blocks)
	for i, n := range append(sizes, x.Largest) {
		if err := x.step(ctx, i, "making blocks"); err != nil {
			return nil, err
		}
		s.blocks = append(s.blocks, c.Block(n))
	}
	for _, n := range sizes {
		res.Pairs += n
		res.MostPairs = max(res.MostPairs, n)
	}
	res.MeanPairs = float64(res.Pairs) / float64(x.Blocks)
	var err error
	if s.registry, err = newRegistry(c, s.blocks); err != nil {
		return nil, err
	}
	for _, b := range s.blocks {
		for _, p := range b.Pairs {
			if _, err := s.known.Get(p.Key); err != nil {
				return nil, err
			}
		}
	}
	methods, err := s.methods()
	if err != nil {
		return nil, err
	}
	for i := range s.blocks {
		if err := x.step(ctx, i, "verifying blocks"); err != nil {
			return nil, err
		}
		if err := x.measure(ctx, c, s, methods, i); err != nil {
			return nil, fmt.Errorf("block %d of %d pairs: %w", i, len(s.blocks[i].Pairs), err)
		}
	}
	together, err := x.together(ctx, s)
	if err != nil {
		return nil, err
	}
	res.finish(append(methods, together...))
	return res, nil
}

// step reports progress, and stops if it is time to.
func (x *Experiment) step(ctx context.Context, done int, what string) error {
	if x.Progress != nil {
		x.Progress(done, x.Blocks+1, what)
	}
	return ctx.Err()
}

// Each verification is timed this often at least, and for as long: short ones are
// disturbed more by what else the machine does.
const (
	rounds     = 3
	timeFor    = 15 * time.Millisecond
	timeForOne = 100 * time.Millisecond // where there is one such block only
)

// measure verifies a block by all methods, one after the other.
func (x *Experiment) measure(ctx context.Context, c *Chain, s *setup, methods []*method, i int) error {
	n := len(s.blocks[i].Pairs)
	verify := make([]func() error, len(methods))
	best := make([]time.Duration, len(methods))
	for j, m := range methods {
		chosen := c.Choose(n, m.LatePercent/100)
		if i == x.Blocks {
			chosen = c.rand.Perm(n)[:int(math.Round(m.LatePercent/100*float64(n)))]
			slices.Sort(chosen)
		}
		var err error
		if verify[j], err = m.prepare(i, chosen); err != nil {
			return fmt.Errorf("%s: %w", m.Method, err)
		}
	}
	for j, f := range verify {
		if err := ctx.Err(); err != nil {
			return err
		}
		atLeast := timeFor
		if i == x.Blocks {
			atLeast = timeForOne
		}
		var err error
		if best[j], err = fastest(f, atLeast); err != nil {
			return fmt.Errorf("%s: %w", methods[j].Method, err)
		}
	}
	for j, m := range methods {
		if i == x.Blocks {
			m.largest = best[j]
			continue
		}
		m.sum += best[j]
		m.max = max(m.max, best[j])
	}
	return nil
}

// fastest returns the least time that f takes, of three runs and of all that begin within
// some time.
func fastest(f func() error, atLeast time.Duration) (time.Duration, error) {
	runtime.GC() // what others left isn't to be paid for here
	best, sum := time.Duration(math.MaxInt64), time.Duration(0)
	for i := 0; i < rounds || sum < atLeast && i < 1000; i++ {
		start := cputime.Thread()
		err := f()
		t := cputime.Thread() - start
		if err != nil {
			return 0, err
		}
		best = min(best, t)
		sum += t
	}
	return best, nil
}

// together verifies the chain's blocks, several at once.
func (x *Experiment) together(ctx context.Context, s *setup) ([]*method, error) {
	proven := s.keyedProven()
	weighted := NewVerifier(chainNet, s.known)
	var plain [][]byte
	for i, b := range s.blocks[:x.Blocks] {
		e, err := s.registry.keyed(proven, b, uint64(i), nil)
		if err != nil {
			return nil, err
		}
		plain = append(plain, e)
	}
	list := []*method{
		{Row: Row{Column: ColumnTogether, Method: fmt.Sprintf("proven keys, %d blocks together", min(x.Together, x.Blocks))}},
		{Row: Row{Column: ColumnTogether, Method: fmt.Sprintf("weighted keys, %d blocks together", min(x.Together, x.Blocks))}},
	}
	for j, m := range list {
		v, blocks := proven, plain
		if j == 1 {
			v, blocks = weighted, s.weighted[:x.Blocks]
		}
		for chunk := range slices.Chunk(blocks, x.Together) {
			if err := x.step(ctx, x.Blocks, "verifying blocks together"); err != nil {
				return nil, err
			}
			best, err := fastest(func() error {
				_, errs := v.VerifyAll(chunk)
				return errors.Join(errs...)
			}, timeForOne)
			if err != nil {
				return nil, err
			}
			m.sum += best
			m.max = max(m.max, best/time.Duration(len(chunk)))
		}
	}
	return list, nil
}

// chainNet is the network of synthetic blocks.
var chainNet = distill.NetworkID(sha256.Sum256([]byte("synthetic chain")))

// keyedProven returns the verifier of blocks whose keys are known and proven.
func (s *setup) keyedProven() *distill.KeyedVerifier {
	v := NewVerifier(chainNet, nil)
	v.Proven = func(k *distill.KeyBytes) *bls.ProvenKey { return s.registry.proven[Key(*k)] }
	return v
}

// methods returns the ways to verify one block. The first two are those of today.
func (s *setup) methods() ([]*method, error) {
	proven, decoded := s.keyedProven(), NewVerifier(chainNet, nil)
	decoded.Proven = func(k *distill.KeyBytes) *bls.ProvenKey {
		key, err := bls.ParsePublicKey(k[:])
		if err != nil {
			return nil
		}
		return bls.AssumeProvenUnsafe(key)
	}
	numbered, err := distill.NewVerifier(s.registry.genesis)
	if err != nil {
		return nil, err
	}
	classic := func(keys *Keys) func(int, []int) (func() error, error) {
		return func(i int, _ []int) (func() error, error) {
			return func() error { return s.blocks[i].Verify(keys) }, nil
		}
	}
	keyed := func(v *distill.KeyedVerifier) func(int, []int) (func() error, error) {
		return func(i int, late []int) (func() error, error) {
			e, err := s.registry.keyed(v, s.blocks[i], uint64(i), late)
			return func() error { _, err := v.Verify(e); return err }, err
		}
	}
	// The blocks with weights are made once, by a round of proposals.
	weighted := func(v *distill.KeyedVerifier) func(int, []int) (func() error, error) {
		return func(i int, _ []int) (func() error, error) {
			if i == len(s.weighted) {
				e, err := s.blocks[i].Distill(v, uint64(i), nil)
				if err != nil {
					return nil, err
				}
				s.weighted = append(s.weighted, e)
			}
			return func() error { _, err := v.Verify(s.weighted[i]); return err }, nil
		}
	}
	registered := func(i int, late []int) (func() error, error) {
		e, err := s.registry.numbered(s.blocks[i], uint64(i), late)
		return func() error { _, err := numbered.Verify(e, s.registry); return err }, err
	}
	list := []*method{
		{Row: Row{Column: ColumnClassic, Method: "aggregate verification"}, prepare: classic(s.known)},
		{Row: Row{Column: ColumnClassic, Method: "aggregate verification", Decoded: true}, prepare: classic(nil)},
		{Row: Row{Column: ColumnPublished, Method: "one key signs the root"}, prepare: s.published},
		{Row: Row{Column: ColumnKnown, Method: "proven keys"}, prepare: keyed(proven)},
		{Row: Row{Column: ColumnKnown, Method: "registered clients"}, prepare: registered},
		{Row: Row{Column: ColumnDecoded, Method: "proven keys", Decoded: true}, prepare: keyed(decoded)},
		{Row: Row{Column: ColumnWeighted, Method: "weighted keys"}, prepare: weighted(NewVerifier(chainNet, s.known))},
		{Row: Row{Column: ColumnWeighted, Method: "weighted keys", Decoded: true}, prepare: weighted(NewVerifier(chainNet, nil))},
	}
	for _, percent := range late {
		list = append(list, &method{
			Row:     Row{Column: ColumnLate, Method: "stragglers by Ed25519", LatePercent: percent},
			prepare: registered,
		})
	}
	for _, percent := range late {
		list = append(list, &method{
			Row:     Row{Column: ColumnLate, Method: "stragglers folded in", LatePercent: percent},
			prepare: keyed(proven),
		})
	}
	return list, nil
}

// published is the report's way: one tree over the block's pairs, and a signature of its
// root by one key, which stands for all of them.
func (s *setup) published(i int, _ []int) (func() error, error) {
	pairs := s.blocks[i].Pairs
	sk := s.blocks[i].Secrets[pairs[0].Key]
	root := func() []byte {
		leaves := make([][32]byte, len(pairs))
		for j, p := range pairs {
			leaves[j] = sha256.Sum256(p.Msg)
		}
		r := distill.NewTree(leaves).Root()
		return r[:]
	}
	made, err := bls.Augmented.Sign(sk, root())
	if err != nil {
		return nil, err
	}
	e, key := made.Bytes(), sk.PublicKey()
	return func() error {
		sig, err := bls.ParseSignature(e)
		if err != nil {
			return err
		}
		return bls.Augmented.Verify(key, root(), sig)
	}, nil
}

// finish makes the rows, and the model of synchronisation.
func (res *Result) finish(methods []*method) {
	ms := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
	ratio := func(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }
	for _, m := range methods {
		base := methods[0]
		if m.Decoded {
			base = methods[1]
		}
		r := m.Row
		r.Mean, r.Max = ms(m.sum)/float64(res.Blocks), ms(m.max)
		r.Ratio = ratio(base.sum, m.sum)
		if m.largest > 0 {
			r.Largest, r.LargestRatio = ms(m.largest), ratio(base.largest, m.largest)
		}
		res.Rows = append(res.Rows, r)
	}
	seconds := func(column string, decoded bool) float64 {
		i := slices.IndexFunc(res.Rows, func(r Row) bool { return r.Column == column && r.Decoded == decoded })
		return res.Rows[i].Mean / 1000
	}
	for _, share := range []float64{ReportPublishedShare, ReportVariantShare} {
		res.Sync = append(res.Sync, newSync(share, seconds(ColumnClassic, true), seconds(ColumnKnown, false),
			seconds(ColumnWeighted, true), seconds(ColumnTogether, false)))
	}
}
