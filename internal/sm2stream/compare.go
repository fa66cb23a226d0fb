// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2stream

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	gmsm "github.com/emmansun/gmsm/sm2"

	"github.com/undersign/undersign/internal/cputime"
	"github.com/undersign/undersign/sm2"
)

// A Sample compares with verifying one by one, by gmsm on one core: rates are
// signatures a second of processor time. Reading and parsing the file is part of
// the batch's time, and not of the other.
type Sample struct {
	Items        int     `json:"items"`
	OneByOneRate float64 `json:"one_by_one_rate"`
	BatchRate    float64 `json:"batch_rate"`
	Ratio        float64 `json:"ratio"`              // of the rates
	OneByOneAll  float64 `json:"one_by_one_seconds"` // for the whole file, on one core
	Verdicts     string  `json:"verdicts"`           // "equal": or else it is an error
}

// A sampled is a record that is kept to be verified once more.
type sampled struct {
	number int64
	raw    []byte
	good   bool
}

type sampler struct {
	items []sampled
	size  int
}

// maxSample bounds the bytes that are kept.
const maxSample = 16 << 20

func (s *sampler) add(items []sampled, limit int) {
	for _, it := range items {
		if len(s.items) < limit && s.size+len(it.raw) <= maxSample {
			s.items = append(s.items, it)
			s.size += len(it.raw)
		}
	}
}

// compare verifies the sample one by one. A verdict that differs is an error: it
// would be ours.
func (s *sampler) compare(ctx context.Context, opts *Options, f *file, sum *Summary, workers int) (*Sample, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := newParser(opts, f.header)
	uid := f.header.uid(opts.UID)
	var total time.Duration
	for items := range slices.Chunk(s.items, 64) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var singles []*single
		for _, x := range items {
			one, err := newSingle(f, p, uid, x)
			if err != nil {
				return nil, err
			}
			singles = append(singles, one)
		}
		start := cputime.Thread()
		for _, one := range singles {
			one.result = one.verify()
		}
		total += cputime.Thread() - start
		for i, x := range items {
			if got := singles[i].result; got != x.good {
				return nil, fmt.Errorf("sm2stream: %s record %d is good in a batch: %v; by gmsm: %v", f.format, x.number, x.good, got)
			}
		}
	}
	out := &Sample{Items: len(s.items), Verdicts: "equal"}
	if len(s.items) == 0 || total <= 0 {
		return out, nil
	}
	cpu := sum.CPUSeconds
	if cpu <= 0 {
		cpu = sum.Seconds * float64(workers)
	}
	out.OneByOneRate = float64(len(s.items)) / total.Seconds()
	out.BatchRate = float64(sum.Items) / cpu
	out.Ratio = out.BatchRate / out.OneByOneRate
	out.OneByOneAll = float64(sum.Items) / out.OneByOneRate
	return out, nil
}

// A single is an item as gmsm takes it.
type single struct {
	it     sm2.Item
	uid    sm2.UID
	sig    []byte // DER
	result bool
}

func newSingle(f *file, p *parser, uid sm2.UID, x sampled) (*single, error) {
	p.arena = nil // the item keeps it
	it, err := f.parse(p, x.raw)
	if err != nil {
		return nil, err
	}
	s := &single{it: it, uid: uid, sig: it.Signature}
	if it.UID != nil {
		s.uid = *it.UID
	}
	if it.Encoding == sm2.Raw128WithKey && len(it.Signature) == 128 {
		key := p.key(it.Signature[64:])
		if it.PublicKey == notAKey || it.PublicKey != nil && key != notAKey && !key.Equal(it.PublicKey) {
			key = notAKey
		}
		s.it.PublicKey = key
	}
	if it.Encoding != 0 && it.Encoding != sm2.DER {
		// What can't be converted is no signature to gmsm either.
		s.sig, _ = sm2.Convert(it.Signature, it.Encoding, sm2.DER)
	}
	return s, nil
}

// verify is what a program without batches does.
func (s *single) verify() bool {
	if s.it.PublicKey == nil || s.it.PublicKey == notAKey {
		return false
	}
	digest := s.it.Digest
	if digest == nil {
		if s.uid == (sm2.UID{}) {
			return gmsm.VerifyASN1WithSM2(s.it.PublicKey, nil, s.it.Message, s.sig)
		}
		var err error
		if digest, err = sm2.Digest(s.it.PublicKey, s.uid, s.it.Message); err != nil {
			return false
		}
	}
	return gmsm.VerifyASN1(s.it.PublicKey, digest, s.sig)
}
