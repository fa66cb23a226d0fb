// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/emmansun/gmsm/sm2"

	"github.com/undersign/undersign/internal/cputime"
	"github.com/undersign/undersign/internal/sm2ec"
)

// A load is distinct signatures of messages of 200 bytes, in DER.
type load struct {
	pubs  []*sm2.PrivateKey // by item
	msgs  [][]byte
	sigs  [][]byte
	hints []Hint
}

// loadOf makes n signatures by so many signers, in turn.
func (s *source) loadOf(n, signers int) *load {
	keys := s.keys(signers)
	l := &load{}
	for i := range n {
		priv := keys[i%signers]
		msg := s.bytes(200)
		digest, err := Digest(&priv.PublicKey, UID{}, msg)
		if err != nil {
			s.tb.Fatal(err)
		}
		sig := s.sign(priv, digest)
		hint, err := FindHint(&priv.PublicKey, digest, sig)
		if err != nil {
			s.tb.Fatal(err)
		}
		l.pubs, l.msgs, l.sigs, l.hints = append(l.pubs, priv), append(l.msgs, msg), append(l.sigs, sig), append(l.hints, hint)
	}
	return l
}

// spoil makes every step-th signature invalid, by another s. There is still a point with
// the x that it says, so that nothing but its equation is wrong.
func (l *load) spoil(step int) {
	for i := 0; i < len(l.sigs); i += step {
		z, _, _ := DER.parse(l.sigs[i])
		r, s := new(big.Int).SetBytes(z.r[:]), new(big.Int).SetBytes(z.s[:])
		l.sigs[i] = derOf(r, add(s, big.NewInt(1)))
	}
}

// add adds all to a batch.
func (l *load) add(b *Batch, hinted bool) {
	for i := range l.msgs {
		hint := NoHint
		if hinted {
			hint = l.hints[i]
		}
		b.AddHinted(&l.pubs[i].PublicKey, l.msgs[i], l.sigs[i], hint)
	}
}

// gmsm verifies n one by one, from the i-th on, and returns the time for one.
func (l *load) gmsm(i, n int) time.Duration {
	start := cputime.Process()
	for k := i; k < i+n; k++ {
		k := k % len(l.msgs)
		sm2.VerifyASN1WithSM2(&l.pubs[k].PublicKey, nil, l.msgs[k], l.sigs[k])
	}
	return (cputime.Process() - start) / time.Duration(n)
}

// BenchmarkVerify verifies on one core, and reports how many times faster than gmsm
// one by one that is, both measured by turns in the same run: minima of processor time. Recurring signers have their tables
// from the first batch on; "cold" is the time of a first batch. Where all are different nothing
// is kept.
func BenchmarkVerify(b *testing.B) {
	type mix struct {
		name    string
		signers int // 0 stands for all different
	}
	sizes := []int{1, 4, 16, 64, 256, 1024, 4096, 16384}
	if long {
		sizes = append(sizes, 65536)
	}
	s := newSource(b)
	for _, m := range []mix{{"signers=1", 1}, {"signers=16", 16}, {"signers=64", 64}, {"signers=all", 0}} {
		for _, n := range sizes {
			signers := m.signers
			if signers == 0 {
				signers = n
			}
			if signers > n {
				continue
			}
			l := s.loadOf(n, signers)
			for _, hinted := range []bool{false, true} {
				for _, cold := range []bool{false, true} {
					if cold && m.signers == 0 || hinted && m.signers != 0 {
						continue
					}
					name := fmt.Sprintf("%s/n=%d", m.name, n)
					if hinted {
						name += "/hinted"
					}
					if cold {
						name += "/cold"
					}
					b.Run(name, func(b *testing.B) { l.measure(b, hinted, cold, m.signers == 0) })
				}
			}
		}
	}
}

// BenchmarkAdversarial verifies batches that were made to be slow.
func BenchmarkAdversarial(b *testing.B) {
	for _, tier := range sm2ec.Tiers() {
		b.Run(tier, func(b *testing.B) {
			defer sm2ec.ForceTier(tier)()
			benchmarkAdversarial(b)
		})
	}
}

func benchmarkAdversarial(b *testing.B) {
	s := newSource(b)
	for _, n := range []int{16, 48, 64, 1024, 4096} {
		for _, step := range []int{1, 2, 16, 128, n} {
			if step > n {
				continue
			}
			for _, hinted := range []bool{false, true} {
				l := s.loadOf(n, n)
				l.spoil(step)
				b.Run(fmt.Sprintf("n=%d/bad=%d/hinted=%v", n, (n+step-1)/step, hinted), func(b *testing.B) { l.measure(b, hinted, true, false) })
			}
		}
		l := s.loadOf(n, n)
		for i := range l.hints {
			l.hints[i] ^= HintEven ^ HintOdd
		}
		b.Run(fmt.Sprintf("n=%d/wrong-hints", n), func(b *testing.B) { l.measure(b, true, true, false) })
		l = s.loadOf(n, 16)
		l.spoil(1)
		b.Run(fmt.Sprintf("n=%d/signers=16/all-bad", n), func(b *testing.B) { l.measure(b, false, true, false) })
	}
}

// BenchmarkThrashing verifies signatures of keys that recur, and are too many for the cache
// to keep their tables until they come again: by turns, in batches of 64.
func BenchmarkThrashing(b *testing.B) {
	s := newSource(b)
	for _, keys := range []int{64, 256, 1024} {
		for _, budget := range []int64{64 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("keys=%d/budget=%dk", keys, budget>>10), func(b *testing.B) {
				l := s.loadOf(keys, keys)
				batch := NewBatch(&Options{Workers: 1, Cache: NewCache(budget)})
				var ours time.Duration
				gmsm := time.Hour
				n := 0
				for b.Loop() {
					for range 2048 / 64 { // all keys at least twice
						start := cputime.Process()
						batch.Reset()
						for range 64 {
							k := n % keys
							batch.Add(&l.pubs[k].PublicKey, l.msgs[k], l.sigs[k])
							n++
						}
						batch.Verify()
						ours += cputime.Process() - start
					}
					gmsm = min(gmsm, l.gmsm(n, 64))
				}
				one := float64(ours.Nanoseconds()) / float64(n)
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(one/1000, "µs/sig")
				b.ReportMetric(float64(gmsm.Nanoseconds())/1000, "µs/gmsm")
				b.ReportMetric(float64(gmsm.Nanoseconds())/one, "x")
			})
		}
	}
}

// measure verifies the load again and again, if it is cold with a new cache for each batch,
// and with none if tables are to be forgotten.
func (l *load) measure(b *testing.B, hinted, cold, forget bool) {
	n := len(l.msgs)
	opts := &Options{Workers: 1, Cache: NewCache(DefaultCacheSize)}
	if forget {
		opts.Cache = NewCache(0)
	}
	batch := NewBatch(opts)
	l.add(batch, hinted)
	batch.Verify()
	// Batches so small that the clock is too coarse for them are done several at a time.
	several := 1 + 64/n
	ours, gmsm := time.Hour, time.Hour
	rounds := 0
	for b.Loop() {
		gmsm = min(gmsm, l.gmsm(64*rounds, 64))
		start := cputime.Process()
		for range several {
			if cold {
				opts.Cache = NewCache(DefaultCacheSize)
				batch = NewBatch(opts)
			} else {
				batch.Reset()
			}
			l.add(batch, hinted)
			batch.Verify()
		}
		ours = min(ours, (cputime.Process()-start)/time.Duration(several))
		gmsm = min(gmsm, l.gmsm(64*rounds+64, 64))
		rounds++
	}
	one := float64(ours.Nanoseconds()) / float64(n)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(one/1000, "µs/sig")
	b.ReportMetric(float64(gmsm.Nanoseconds())/1000, "µs/gmsm")
	b.ReportMetric(float64(gmsm.Nanoseconds())/one, "x")
}

// BenchmarkSignHinted compares it with gmsm's plain signatures, in processor time.
func BenchmarkSignHinted(b *testing.B) {
	s := newSource(b)
	priv := s.key()
	msg := s.bytes(200)
	cached := &Options{Cache: NewCache(DefaultCacheSize)}
	for _, c := range []struct {
		name string
		sign func() ([]byte, error)
	}{
		{"hinted", func() ([]byte, error) { return SignHinted(priv, msg, nil) }},
		{"hinted/cache", func() ([]byte, error) { return SignHinted(priv, msg, cached) }},
		{"gmsm", func() ([]byte, error) { return priv.Sign(rand.Reader, msg, sm2.DefaultSM2SignerOpts) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			start := cputime.Process()
			n := 0
			for b.Loop() {
				if _, err := c.sign(); err != nil {
					b.Fatal(err)
				}
				n++
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64((cputime.Process()-start).Nanoseconds())/float64(n)/1000, "µs")
		})
	}
}
