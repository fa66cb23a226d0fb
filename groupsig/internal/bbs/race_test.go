// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
)

// One group key, used by many goroutines with good and hostile signatures, in many
// scopes and for pairings with points at infinity, which must not poison what is
// precomputed.
func TestConcurrentVerify(t *testing.T) {
	g := newGroup(t, Scope|Epoch)
	ada := g.join("ada")
	type item struct {
		sig   []byte
		scope string
		good  bool
	}
	var items []item
	for i := range 8 {
		scope := fmt.Sprint(i % 3)
		sig := g.sign(ada, "m", scope, i%2 == 0)
		items = append(items, item{sig, scope, true})
		bad := bytes.Clone(sig)
		switch i % 4 {
		case 0:
			bad[len(bad)-20] ^= 1
		case 1:
			copy(bad, append([]byte{0xc0}, make([]byte, 47)...))
			copy(bad[48:], bad[:48])
		case 2:
			copy(bad[:48], bad[48:96]) // another point of the subgroup
		case 3:
			bad[len(bad)-1]++ // another epoch
		}
		items = append(items, item{bad, scope, false})
	}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for j := range items {
				it := items[(i+j)%len(items)]
				if err := g.k.Verify(msg("m"), it.sig, g.opts(it.scope)); (err == nil) != it.good {
					t.Errorf("%v, and it is good: %v", err, it.good)
				}
				if j%8 == 0 {
					if _, err := ada.Sign(msg("x"), SignOptions{Scope: []byte(it.scope)}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}

// Batches and single verification agree.
func TestBatchAgrees(t *testing.T) {
	each(t, func(t *testing.T, g *group) {
		ada := g.join("ada")
		b := g.k.Batch()
		if b.Verify() != nil {
			t.Error("an empty batch is refused")
		}
		var want []int
		for i := range 12 {
			sig := g.sign(ada, "m", "s", i%2 == 0)
			if i%5 == 3 {
				sig[len(sig)/2+i] ^= 1
			}
			if g.k.Verify(msg("m"), sig, g.opts("s")) != nil {
				want = append(want, i)
			}
			b.Add(msg("m"), sig, g.opts("s"))
		}
		if len(want) != 2 {
			t.Fatalf("%d bad ones", len(want))
		}
		err, ok := b.Verify().(*BatchError)
		if !ok || fmt.Sprint(err.Bad) != fmt.Sprint(want) {
			t.Errorf("batch says %v, want %v", err, want)
		}
	})
}

func FuzzVerify(f *testing.F) {
	g := newGroup(f, Scope|Escrow|Epoch)
	ada := g.join("ada")
	for _, batch := range []bool{false, true} {
		f.Add(g.sign(ada, "m", "s", batch))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if g.k.Verify(msg("other"), b, g.opts("s")) == nil {
			t.Error("forged")
		}
		if s, err := g.k.parse(b); err == nil && !bytes.Equal(g.k.encode(s), b) {
			t.Error("not canonical")
		}
	})
}

func FuzzDecode(f *testing.F) {
	g := newGroup(f, Scope|Escrow|Epoch|Token)
	k, _ := g.k.MarshalBinary()
	_, m2 := g.apply("ada")
	f.Add(k)
	f.Add(m2)
	f.Fuzz(func(t *testing.T, b []byte) {
		ParseGroupKey(b)
		g.k.ParseMemberKey(b)
		g.k.ParsePendingMember(b)
		new(Opening).UnmarshalBinary(b)
		new(OpenerKey).UnmarshalBinary(b)
		if _, err := g.issuer.Issue(g.k, g.sessions, g.register, b, now, g.epoch); err == nil && !bytes.Equal(b, m2) {
			t.Error("issued")
		}
	})
}

func Benchmark(b *testing.B) {
	for _, name := range []string{"all", "open", "scope", "core", "dl21", "gl19"} {
		g := newGroup(b, featureSets[name])
		ada := g.join("ada")
		b.Run("sign/"+name, func(b *testing.B) {
			g.sign(ada, "m", "s", false)
			for b.Loop() {
				g.sign(ada, "m", "s", false)
			}
		})
		b.Run("verify/"+name, func(b *testing.B) {
			sig := g.sign(ada, "m", "s", false)
			for b.Loop() {
				if err := g.k.Verify(msg("m"), sig, g.opts("s")); err != nil {
					b.Fatal(err)
				}
			}
		})
		for _, batch := range []bool{false, true} {
			b.Run(fmt.Sprintf("batch/%s/layout=%v/n=1000", name, batch), func(b *testing.B) {
				v := g.k.Batch()
				for range 1000 {
					v.Add(msg("m"), g.sign(ada, "m", "s", batch), g.opts("s"))
				}
				for b.Loop() {
					if err := v.Verify(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "us/sig")
			})
		}
	}
}
