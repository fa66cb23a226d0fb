// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"
)

// The shares of a batch are those of Sign, whose proofs alone differ, and combine
// with those of others.
func TestSignBatch(t *testing.T) {
	for _, c := range []struct {
		key    string
		counts []int
	}{
		{"safe-2048-a", []int{0, 1, 3, 5, 8, 11}},
		{"plain-2048", []int{8}},
		{"safe-4096", []int{6}},
	} {
		d, shares := sharing(t, c.key, 2, 3)
		p := d.key
		for _, count := range c.counts {
			var rs []*Request
			for i := range count {
				rs = append(rs, request(t, p, fmt.Sprint("message ", i)))
			}
			sigs, err := shares[1].SignBatch(rs)
			if err != nil || len(sigs) != count {
				t.Fatalf("%s, %d requests: %d shares, %v", c.key, count, len(sigs), err)
			}
			for i, sig := range sigs {
				if err := p.VerifyShare(rs[i], sig); err != nil {
					t.Fatalf("%s, request %d of %d: %v", c.key, i, count, err)
				}
				single := sign(t, rs[i], shares[1])
				if string(single.x) != string(sig.x) || single.c == sig.c || string(single.z) == string(sig.z) {
					t.Errorf("%s, request %d of %d: another share, or the same proof", c.key, i, count)
				}
				if p.VerifyShare(rs[(i+1)%count], sig) == nil && count > 1 {
					t.Errorf("a share verifies for another request")
				}
				if i == 0 || i == count-1 {
					raw, bad, err := p.Combine(rs[i], sig, sign(t, rs[i], shares[2]))
					if err != nil || len(bad) != 0 || rs[i].Verify(p.RSA(), raw) != nil {
						t.Errorf("%s, request %d of %d: %v %v", c.key, i, count, bad, err)
					}
				}
			}
		}
	}
}

// Shares are in the order of their requests, on any number of cores.
func TestSignBatchCores(t *testing.T) {
	d, shares := sharing(t, "safe-2048-a", 2, 3)
	s := shares[1]
	var xs []*big.Int
	var want [][]byte
	for i := range 11 {
		r := request(t, d.key, fmt.Sprint("message ", i))
		x, err := r.representative(d.key)
		if err != nil {
			t.Fatal(err)
		}
		xs, want = append(xs, x), append(want, sign(t, r, s).x)
	}
	for cores := 1; cores <= 12; cores += 1 + cores/3 {
		for _, n := range []int{0, 2, 4, len(xs)} {
			sigs, err := s.proveAll(xs[:n], cores)
			if err != nil || len(sigs) != n {
				t.Fatalf("%d requests on %d cores: %d shares, %v", n, cores, len(sigs), err)
			}
			for i, sig := range sigs {
				if !bytes.Equal(sig.x, want[i]) {
					t.Errorf("%d requests on %d cores: share %d is another", n, cores, i)
				}
			}
		}
	}
	// A number out of range, which representative doesn't return.
	for _, bad := range []int{0, 5, 10} {
		spoilt := slices.Clone(xs)
		spoilt[bad] = d.key.n
		if sigs, err := s.proveAll(spoilt, 2); err == nil || sigs != nil {
			t.Errorf("%d shares with number %d out of range, %v", len(sigs), bad, err)
		}
	}
}

// The same request twice: two proofs with different nonces.
func TestSignBatchTwice(t *testing.T) {
	d, shares := sharing(t, "safe-2048-a", 2, 3)
	r := request(t, d.key, "once and again")
	sigs, err := shares[0].SignBatch([]*Request{r, r, r, r, r, r, r, r})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range sigs {
		for _, b := range sigs[:i] {
			if string(a.x) != string(b.x) || a.c == b.c || string(a.z) == string(b.z) {
				t.Fatal("a nonce was used twice, or the shares differ")
			}
		}
	}
}

func TestSignBatchErrors(t *testing.T) {
	d, shares := sharing(t, "safe-2048-a", 2, 3)
	other, _ := sharing(t, "safe-2048-b", 2, 3)
	good := request(t, d.key, "a")
	for name, rs := range map[string][]*Request{
		"another key":   {good, request(t, other.key, "a"), good},
		"nil":           {good, nil},
		"empty request": {{}},
	} {
		if sigs, err := shares[0].SignBatch(rs); err == nil || sigs != nil {
			t.Errorf("%s: %d shares, %v", name, len(sigs), err)
		}
	}
	var keyError *KeyError
	if _, err := shares[0].SignBatch([]*Request{request(t, other.key, "a")}); !errors.As(err, &keyError) {
		t.Errorf("another key: %v", err)
	}
	_, fresh := freshSharing(t, "safe-2048-a", 2, 3)
	fresh[0].Wipe()
	if _, err := fresh[0].SignBatch([]*Request{good}); err == nil {
		t.Error("a wiped share signs")
	}
	if _, err := fresh[0].SignBatch(nil); err == nil {
		t.Error("a wiped share signs nothing")
	}
}

func BenchmarkSignBatch(b *testing.B) {
	for _, key := range []string{"safe-2048-a", "safe-4096"} {
		d, shares := sharing(b, key, 2, 3)
		var rs []*Request
		for i := range 16 {
			rs = append(rs, request(b, d.key, fmt.Sprint(i)))
		}
		for _, n := range []int{1, 3, 4, 8, 16} {
			b.Run(fmt.Sprintf("n=%d/key=%s", n, key), func(b *testing.B) {
				best := time.Duration(1 << 60)
				for b.Loop() {
					start := time.Now()
					if _, err := shares[0].SignBatch(rs[:n]); err != nil {
						b.Fatal(err)
					}
					best = min(best, time.Since(start))
				}
				b.ReportMetric(best.Seconds()*1e3/float64(n), "least-ms/share")
			})
		}
	}
}
