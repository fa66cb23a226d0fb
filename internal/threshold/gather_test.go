// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"crypto"
	"crypto/sha256"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/undersign/undersign/internal/cputime"
	"github.com/undersign/undersign/thresholdrsa"
)

func TestTurnSize(t *testing.T) {
	for _, c := range [][3]int{{1, 8, 1}, {5, 8, 1}, {6, 8, 6}, {7, 8, 7}, {8, 8, 8}, {9, 8, 8}, {100, 8, 8}, {1, 1, 1}, {100, 1, 1}} {
		if got := turnSize(c[0], c[1]); got != c[2] {
			t.Errorf("%d waiting, batches of %d: %d, not %d", c[0], c[1], got, c[2])
		}
	}
}

// Calls that come while all processors are busy are answered in turns, each with its
// own share or error.
func TestGatherer(t *testing.T) {
	priv, err := thresholdrsa.GenerateKey(t.Context(), 2048, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, shares, err := thresholdrsa.Deal(priv, 2, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := thresholdrsa.Deal(priv, 2, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, share := d.PublicKey(), shares[1]
	newRequest := func(p *thresholdrsa.PublicKey, i int) *thresholdrsa.Request {
		digest := sha256.Sum256(fmt.Append(nil, "request ", i))
		r, err := thresholdrsa.NewRequest(p, digest[:], crypto.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}

	const calls, bad = 19, 4
	n := runtime.GOMAXPROCS(0)
	g := &gatherer{busy: n}
	var wg sync.WaitGroup
	for i := range calls {
		r := newRequest(p, i)
		if i == bad {
			r = newRequest(other.PublicKey(), i)
		}
		wg.Go(func() {
			s, err := g.sign(share, r)
			switch {
			case i == bad:
				if err == nil {
					t.Errorf("call %d: a share for a request of another key", i)
				}
			case err != nil:
				t.Errorf("call %d: %v", i, err)
			case p.VerifyShare(r, s) != nil:
				t.Errorf("call %d: %v", i, p.VerifyShare(r, s))
			}
		})
	}
	waiting := func() int {
		g.mu.Lock()
		defer g.mu.Unlock()
		return len(g.waiting)
	}
	for waiting() < calls {
		time.Sleep(time.Millisecond)
	}
	// One of those that were busy ends.
	first := &waiter{r: newRequest(p, -1)}
	g.answer(share, []*waiter{first})
	if err := p.VerifyShare(first.r, first.share); err != nil || first.err != nil {
		t.Errorf("the first: %v, %v", err, first.err)
	}
	wg.Wait()
	if g.busy != n-1 || len(g.waiting) != 0 {
		t.Errorf("%d busy and %d waiting in the end, not %d and none", g.busy, len(g.waiting), n-1)
	}

	// A wiped share ends no call early, and nobody waits for ever.
	share.Wipe()
	for range 3 {
		if _, err := g.sign(share, newRequest(p, 0)); err == nil {
			t.Error("a wiped share signs")
		}
	}
	if g.busy != n-1 {
		t.Errorf("%d busy", g.busy)
	}
}

// A service lets more come to the gatherer than there are processors: enough for a batch.
func TestGatherInService(t *testing.T) {
	t.Parallel()
	n := runtime.GOMAXPROCS(0)
	s := newLoneSigner(t, slotsPerProcessor*n)
	g := &s.key.gather
	g.busy = n
	const calls = 8
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range n + calls {
		wg.Go(func() {
			if err := s.ask(t.Context(), fmt.Sprint("party ", i), fmt.Sprint("request ", i)); err != nil {
				t.Error(err)
			}
		})
	}
	for waiting := 0; waiting < n+calls; time.Sleep(time.Millisecond) {
		g.mu.Lock()
		waiting = len(g.waiting)
		g.mu.Unlock()
		if waiting == cap(s.slots) {
			t.Errorf("no more than %d come to it", waiting)
			break
		}
	}
	digest := sha256.Sum256(nil)
	r, err := thresholdrsa.NewRequest(s.key.record, digest[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	g.answer(s.key.share, []*waiter{{r: r}}) // one that was busy ends
}

// BenchmarkShares is shares of one holder for 64 requests at a time, with a key of 2048
// bits: as many made at once as there are processors, and as a service does.
func BenchmarkShares(b *testing.B) {
	const calls = 64
	n := 0
	for _, slots := range []int{1, slotsPerProcessor} {
		b.Run(fmt.Sprintf("slots=%d", slots), func(b *testing.B) {
			s := newLoneSigner(b, slots*runtime.GOMAXPROCS(0))
			start := cputime.Process()
			for b.Loop() {
				n++
				var group sync.WaitGroup
				for i := range calls {
					group.Go(func() {
						if err := s.ask(b.Context(), "user", fmt.Sprint(n, i)); err != nil {
							b.Error(err)
						}
					})
				}
				group.Wait()
			}
			b.ReportMetric(float64((cputime.Process()-start).Microseconds())/float64(b.N*calls)/1000, "cpu-ms/share")
		})
	}
}
