// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package klap20

import (
	"errors"
	"fmt"
	"testing"
)

func BenchmarkBatch(b *testing.B) {
	f := group()
	for _, n := range []int{100, 1000} {
		var msgs [][]byte
		var compact, merged []*Signature
		var raw [][]byte
		for i := range n {
			msg := []byte(fmt.Sprint("message ", i))
			sig := f.Sign("alice", string(msg))
			msgs, merged, raw = append(msgs, msg), append(merged, sig), append(raw, sig.BatchBytes())
			s := *sig
			s.r = nil
			compact = append(compact, &s)
		}
		for _, layout := range []struct {
			name string
			sigs []*Signature
		}{{"compact", compact}, {"batch", merged}, {"batch-bytes", nil}} {
			b.Run(fmt.Sprintf("%s/n=%d", layout.name, n), func(b *testing.B) {
				for b.Loop() {
					x := f.G.Batch(nil)
					for i := range msgs {
						if layout.sigs != nil {
							x.Add(msgs[i], layout.sigs[i])
							continue
						}
						sig, err := f.G.ParseBatchSignature(raw[i], msgs[i], nil)
						if err != nil {
							b.Fatal(err)
						}
						x.Add(msgs[i], sig)
					}
					if err := x.Verify(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/sig")
			})
		}
	}
}

// BenchmarkBatchBad is a batch of 1000 in which some signatures are bad.
func BenchmarkBatchBad(b *testing.B) {
	const n = 1000
	f := group()
	sig := f.Sign("alice", "m")
	for _, bad := range []int{1, 10, n} {
		x := f.G.Batch(nil)
		for i := range n {
			s := *sig
			if i%(n/bad) == n/bad/2 {
				s.s.Random()
			}
			// The challenge is right for r, and s is wrong: the sums find it.
			x.Add([]byte("m"), &s)
		}
		b.Run(fmt.Sprint("bad=", bad), func(b *testing.B) {
			for b.Loop() {
				var e *BatchError
				if err := x.Verify(); !errors.As(err, &e) || len(e.Bad) != bad {
					b.Fatal(err)
				}
			}
		})
	}
}
