// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"filippo.io/edwards25519"
)

func wantBad(t *testing.T, err error, want ...int) {
	t.Helper()
	if len(want) == 0 {
		if err != nil {
			t.Errorf("refused: %v", err)
		}
		return
	}
	var be *BatchError
	if !errors.As(err, &be) || !errors.Is(err, ErrSignature) || !slices.Equal(be.Bad, want) {
		t.Errorf("%v, not %v", err, want)
	}
}

// A batch decides as one by one, whatever the layout and whatever is wrong.
func TestBatch(t *testing.T) {
	eachGroup(t, func(t *testing.T, g Group) {
		rnd := rand.New(rand.NewPCG(uint64(g), 2))
		r, secret := newRingOf(t, g, 3)
		foreign, strangers := newRingOf(t, g, 3)
		o := &Options{Scope: []byte("scope")}
		for round := range 6 {
			b := r.Batch(o)
			var want []int
			n := []int{1, 2, 9, 20, 5, 33}[round]
			for i := range n {
				msg := fmt.Sprint("message ", i)
				sig := sign(t, secret[rnd.IntN(3)], r, msg, o)
				if rnd.IntN(3) > 0 {
					sig = expand(t, r, msg, sig, o)
				}
				if round > 0 && rnd.IntN(4) == 0 {
					x := *sig
					x.s = bytesClone(sig.s)
					switch rnd.IntN(6) {
					case 0:
						x.s[1] = *secret[0].engineSecret()
					case 1:
						msg += "!"
					case 2:
						x.c = x.s[0]
						if x.ForBatch() {
							x.commitments = slices.Clone(x.commitments)
							x.commitments[0], x.commitments[1] = x.commitments[1], x.commitments[0]
						}
					case 3:
						x.image.encoded = secret[0].pub.point
						x.image.decoded, _ = groups[g].decode(x.image.encoded)
					case 4:
						x = *sign(t, strangers[0], foreign, msg, o)
					case 5:
						x.s = x.s[:2]
					}
					sig = &x
				}
				if r.Verify([]byte(msg), sig, o) != nil {
					want = append(want, i)
				}
				b.Add([]byte(msg), sig)
			}
			if round == 3 && want == nil {
				t.Error("none was bad")
			}
			wantBad(t, b.Verify(), want...)
		}
	})
}

// engineSecret is another scalar of the key's group.
func (k *PrivateKey) engineSecret() *scalar { return groups[k.pub.group].newSecret() }

// Chunks are counted on.
func TestBatchChunks(t *testing.T) {
	r, secret := newRingOf(t, Ristretto255, 5)
	lsagOf[edwards25519.Point](r).chunk = 4
	sig := expand(t, r, "message", sign(t, secret[3], r, "message", nil), nil)
	b := r.Batch(nil)
	const n = 4*4 + 3
	for i := range n {
		x := sig
		if i == 1 || i == 8 || i == n-1 {
			y := *sig
			y.s = bytesClone(sig.s)
			y.s[1] = sig.s[0]
			x = &y
		}
		b.Add([]byte("message"), x)
	}
	wantBad(t, b.Verify(), 1, 8, n-1)
}

func TestDuplicates(t *testing.T) {
	r, secret := newRingOf(t, Ristretto255, 3)
	b := r.Batch(nil)
	for i, holder := range []int{0, 1, 0, 2, 1, 0} {
		b.Add([]byte(fmt.Sprint(i)), sign(t, secret[holder], r, fmt.Sprint(i), nil))
	}
	b.Add(nil, nil)
	if got := b.Duplicates(); !slices.Equal(got, []int{2, 4, 5}) || b.Len() != 7 {
		t.Errorf("duplicates are %v", got)
	}
}

func BenchmarkRing(b *testing.B) {
	for _, g := range Groups() {
		for _, n := range []int{16, 1024} {
			r, secret := newRingOf(b, g, n)
			sig := sign(b, secret[n/2], r, "message", nil)
			wide := expand(b, r, "message", sig, nil)
			b.Run(fmt.Sprintf("%s/n=%d/sign", g, n), func(b *testing.B) {
				for b.Loop() {
					sign(b, secret[n/2], r, "message", nil)
				}
			})
			b.Run(fmt.Sprintf("%s/n=%d/verify", g, n), func(b *testing.B) {
				for b.Loop() {
					if r.Verify([]byte("message"), sig, nil) != nil {
						b.Fatal("bad")
					}
				}
			})
			b.Run(fmt.Sprintf("%s/n=%d/batch", g, n), func(b *testing.B) {
				for b.Loop() {
					batch := r.Batch(nil)
					for range 8 {
						batch.Add([]byte("message"), wide)
					}
					if batch.Verify() != nil {
						b.Fatal("bad")
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/8, "us/sig")
			})
		}
	}
}
