// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"testing"
	"time"
)

func TestPercentiles(t *testing.T) {
	ms := func(list ...time.Duration) Percentiles {
		var h histogram
		for _, d := range list {
			h.add(d * time.Millisecond)
		}
		return h.percentiles()
	}
	if p := ms(); p != (Percentiles{}) {
		t.Errorf("of nothing: %+v", p)
	}
	// No part takes longer than the longest.
	if p := ms(1009, 1009, 1009); p != (Percentiles{1009, 1009, 1009, 1009}) {
		t.Errorf("of equal times: %+v", p)
	}
	var list []time.Duration
	for i := range time.Duration(100) {
		list = append(list, i+1)
	}
	p := ms(list...)
	near := func(got, want float64) bool { return got >= want && got <= want*bucketRatio*bucketRatio }
	if !near(p.P50, 50) || !near(p.P90, 90) || !near(p.P99, 99) || p.Max != 100 {
		t.Errorf("of 1 to 100 ms: %+v", p)
	}
}
