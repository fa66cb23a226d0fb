// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package klap20

import (
	"errors"
	"fmt"
	"testing"
)

func BenchmarkSetup(b *testing.B) {
	for b.Loop() {
		if _, err := Setup("bench", GenerateIssuerKey(), GenerateOpenerKey()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkJoin is a whole run, of member and issuer, without the opener's check.
func BenchmarkJoin(b *testing.B) {
	f := newFixture("bench")
	i := 0
	for b.Loop() {
		i++
		j := f.newJoin(fmt.Sprint("member ", i))
		c, err := f.issue(j.Request())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := j.Finish(c); err != nil {
			b.Fatal(err)
		}
		f.sessions.Cancel(j.request.reg.Session)
	}
}

func BenchmarkSign(b *testing.B) {
	m := group().members["alice"]
	msg := []byte("hello")
	for b.Loop() {
		m.Sign(msg, nil)
	}
}

func BenchmarkVerify(b *testing.B) {
	f := group()
	msg := []byte("hello")
	sig := f.sign("alice", "hello")
	raw := sig.Bytes()
	b.Run("parsed", func(b *testing.B) {
		for b.Loop() {
			if err := f.g.Verify(msg, sig, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bytes", func(b *testing.B) {
		for b.Loop() {
			s, err := ParseSignature(raw)
			if err != nil || f.g.Verify(msg, s, nil) != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkOpen opens a signature of the last of n members, on one processor with
// -cpu 1.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{1, 10} {
		f := newFixture("bench")
		for i := range n {
			f.join(fmt.Sprint("member ", i))
		}
		sig := f.sign(fmt.Sprint("member ", n-1), "m")
		b.Run(fmt.Sprint("members=", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := f.opener.Open(f.g, f.opening, []byte("m"), sig, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	f := group()
	sig := f.sign("alice", "m")
	o, err := f.opener.Open(f.g, f.opening, []byte("m"), sig, nil)
	if err != nil {
		b.Fatal(err)
	}
	key := longTermPublic("alice")
	b.Run("judge", func(b *testing.B) {
		for b.Loop() {
			if err := f.g.VerifyOpening([]byte("m"), sig, o, key, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkBatch(b *testing.B) {
	f := group()
	for _, n := range []int{100, 1000} {
		var msgs [][]byte
		var compact, merged []*Signature
		var raw [][]byte
		for i := range n {
			msg := []byte(fmt.Sprint("message ", i))
			sig := f.sign("alice", string(msg))
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
					x := f.g.Batch(nil)
					for i := range msgs {
						if layout.sigs != nil {
							x.Add(msgs[i], layout.sigs[i])
							continue
						}
						sig, err := f.g.ParseBatchSignature(raw[i], msgs[i], nil)
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
	sig := f.sign("alice", "m")
	for _, bad := range []int{1, 10, n} {
		x := f.g.Batch(nil)
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
