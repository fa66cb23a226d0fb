// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"errors"
	"fmt"
	"math/big"
	"testing"
	"time"
)

// sameVerdicts checks that VerifyShares says of every answer what VerifyShare does.
func sameVerdicts(t *testing.T, p *PublicKey, answers []Answer) (bad int) {
	t.Helper()
	errs := p.VerifyShares(answers)
	if len(errs) != len(answers) {
		t.Fatalf("%d verdicts of %d answers", len(errs), len(answers))
	}
	for i, a := range answers {
		want := p.VerifyShare(a.Request, a.Share)
		if fmt.Sprint(errs[i]) != fmt.Sprint(want) {
			t.Errorf("answer %d of %d: %v, and by itself %v", i, len(answers), errs[i], want)
		}
		if want != nil {
			bad++
		}
	}
	return bad
}

// Shares of one request, of many, and of both, some of them wrong.
func TestVerifyShares(t *testing.T) {
	d, shares := sharing(t, "safe-2048-a", 2, 3)
	p := d.key
	if errs := p.VerifyShares(nil); len(errs) != 0 {
		t.Error("verdicts of nothing")
	}
	for _, c := range []struct{ requests, each int }{{1, 1}, {1, 3}, {2, 1}, {4, 1}, {5, 1}, {6, 1}, {11, 1}, {7, 2}} {
		var answers []Answer
		for i := range c.requests {
			r := request(t, p, fmt.Sprint("request ", i))
			for k := range c.each {
				answers = append(answers, Answer{r, sign(t, r, shares[k])})
			}
		}
		if bad := sameVerdicts(t, p, answers); bad != 0 {
			t.Errorf("%v: %d of %d good answers are refused", c, bad, len(answers))
		}
		// One spoilt at a time.
		for i, a := range answers {
			if i > 2 && i != len(answers)-1 {
				continue
			}
			spoilt := append([]Answer{}, answers...)
			spoilt[i].Share = wrap(t, a.Share, func(s *SignatureShare) {
				switch i % 3 {
				case 0:
					s.c[31] ^= 1
				case 1:
					s.z[len(s.z)-1] ^= 1
				case 2:
					s.x[len(s.x)-1] ^= 2
				}
			})
			for k, err := range p.VerifyShares(spoilt) {
				if (err != nil) != (k == i) {
					t.Errorf("%v: with answer %d spoilt, answer %d: %v", c, i, k, err)
				}
				var se *ShareError
				if k == i && !(errors.As(err, &se) && se.Index == a.Share.index && errors.Is(err, ErrShare)) {
					t.Errorf("%v: the error of answer %d: %v", c, i, err)
				}
			}
		}
	}
}

// What is wrong with one answer is nobody else's trouble.
func TestVerifySharesHostile(t *testing.T) {
	d, shares := sharing(t, "safe-2048-a", 2, 3)
	p := d.key
	other, _ := sharing(t, "safe-2048-b", 2, 3)
	r1, r2 := request(t, p, "one"), request(t, p, "two")
	s1, s2 := sign(t, r1, shares[0]), sign(t, r2, shares[1])
	factor, _ := primesOf(t, "safe-2048-a")
	answers := []Answer{
		{r1, s1},
		{r2, s1}, // another request's
		{r1, nil},
		{r2, s2},
		{request(t, other.key, "one"), s1}, // another key's
		{r1, wrap(t, s1, func(s *SignatureShare) { s.x = factor.FillBytes(make([]byte, len(s.x))) })},
		{r1, wrap(t, s1, func(s *SignatureShare) { clear(s.x) })},
		{r1, wrap(t, s1, func(s *SignatureShare) { s.x = new(big.Int).Sub(p.n, one).FillBytes(s.x) })},
		{r2, wrap(t, s2, func(s *SignatureShare) { s.index = 0 })},
		{r2, wrap(t, s2, func(s *SignatureShare) { s.index = 4 })},
		{r2, wrap(t, s2, func(s *SignatureShare) { s.index = 3 })}, // another holder's
		{r2, wrap(t, s2, func(s *SignatureShare) { s.z = s.z[1:] })},
		{r2, wrap(t, s2, func(s *SignatureShare) { s.z[0] = 0xff })},
		{r1, s1},
	}
	if bad := sameVerdicts(t, p, answers); bad != len(answers)-3 {
		t.Errorf("%d of %d answers are refused", bad, len(answers))
	}
	if errs := p.VerifyShares([]Answer{{nil, s1}, {r1, s1}}); errs[0] == nil || errs[1] != nil {
		t.Errorf("without a request: %v", errs)
	}
}

func BenchmarkVerifyShares(b *testing.B) {
	d, shares := sharing(b, "safe-4096", 2, 3)
	p := d.key
	r := request(b, p, "all")
	var same, different []Answer
	for i := range 8 {
		same = append(same, Answer{r, sign(b, r, shares[i%3])})
		q := request(b, p, fmt.Sprint(i))
		different = append(different, Answer{q, sign(b, q, shares[i%3])})
	}
	for name, answers := range map[string][]Answer{"request=1/n=1": same[:1], "request=1/n=3": same[:3], "request=1/n=8": same,
		"request=4/n=4": different[:4], "request=8/n=8": different} {
		b.Run(name, func(b *testing.B) {
			best := time.Duration(1 << 60)
			for b.Loop() {
				start := time.Now()
				for _, err := range p.VerifyShares(answers) {
					if err != nil {
						b.Fatal(err)
					}
				}
				best = min(best, time.Since(start))
			}
			b.ReportMetric(best.Seconds()*1e3/float64(len(answers)), "least-ms/share")
		})
	}
}
