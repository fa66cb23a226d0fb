// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"fmt"
	"slices"
	"testing"
)

func TestLanesFor(t *testing.T) {
	defer resetKernel()
	for _, c := range []struct {
		kernel string
		bits   int
		want   []int // for 0, 1, 2, ... powers
	}{
		{"generic", 1024, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
		{"twin", 1024, []int{1, 1, 1, 8, 8, 8, 8, 8, 8, 8}},
		{"twin4", 1024, []int{1, 1, 4, 4, 4, 4, 8, 8, 8, 8}},
		{"twin4", 4096, []int{1, 1, 4, 4, 4, 4, 8, 8, 8, 8}},
		{"twin4", 8315, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
		{"adx4", 1024, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
		{"ifma", 1536, []int{1, 1, 1, 1, 8, 8, 8, 8, 8, 8}},
		{"ifma", 2048, []int{1, 1, 1, 1, 1, 8, 8, 8, 8, 8}},
		{"ifma", 4096, []int{1, 1, 1, 1, 1, 1, 8, 8, 8, 8}},
		{"ifma4", 1024, []int{1, 1, 4, 4, 4, 4, 8, 8, 8, 8}},
		{"ifma4", 1536, []int{1, 1, 4, 4, 4, 4, 8, 8, 8, 8}},
		{"ifma4", 2048, []int{1, 1, 1, 4, 4, 4, 4, 8, 8, 8}},
		{"ifma4", 4096, []int{1, 1, 1, 1, 4, 4, 4, 8, 8, 8}},
	} {
		if !slices.Contains(allKernels(), c.kernel) && c.kernel != "adx4" {
			continue
		}
		setKernel(c.kernel)
		for count, want := range c.want {
			if got := lanesFor(c.bits, count); got != want {
				t.Errorf("%s, %d powers of %d bits: %d lanes, want %d", c.kernel, count, c.bits, got, want)
			}
		}
	}
}

func TestSplit(t *testing.T) {
	defer resetKernel()
	m := mustModulus(t, testModuli(newRand(t), 1000)[0])
	for _, c := range []struct {
		kernel       string
		count, cores int
		inLanes      int
		want         []int
	}{
		{"generic", 3, 2, 0, []int{1, 1, 1}},
		{"twin", 0, 2, 0, nil},
		{"twin", 8, 2, 8, []int{8}},
		{"twin", 10, 2, 8, []int{8, 1, 1}},
		{"twin", 11, 1, 11, []int{8, 3}},
		{"twin4", 0, 2, 0, nil},
		{"twin4", 1, 2, 0, []int{1}},
		{"twin4", 3, 2, 3, []int{3}},
		{"twin4", 5, 2, 4, []int{4, 1}},
		{"twin4", 7, 1, 7, []int{7}},
		{"twin4", 7, 2, 7, []int{4, 3}},
		{"twin4", 8, 1, 8, []int{8}},
		{"twin4", 8, 2, 8, []int{4, 4}},
		{"twin4", 8, 64, 8, []int{4, 4}},
		{"twin4", 9, 2, 8, []int{4, 4, 1}},
		{"twin4", 16, 1, 16, []int{8, 8}},
		{"twin4", 16, 2, 16, []int{8, 4, 4}},
		{"twin4", 24, 2, 24, []int{8, 8, 4, 4}},
		{"twin4", 24, 4, 24, []int{4, 4, 4, 4, 4, 4}},
	} {
		setKernel(c.kernel)
		if got := m.Split(c.count, c.cores); !slices.Equal(got, c.want) {
			t.Errorf("%s: %d powers on %d cores in parts of %v, want %v", c.kernel, c.count, c.cores, got, c.want)
		}
		if got := m.InLanes(c.count); got != c.inLanes {
			t.Errorf("%s: %d of %d powers in lanes, want %d", c.kernel, got, c.count, c.inLanes)
		}
	}
}

// Parts are all there is, and what a part has is computed at once.
func TestSplitSums(t *testing.T) { on(t, allKernels(), testSplitSums) }

func testSplitSums(t *testing.T) {
	r := newRand(t)
	for _, bits := range []int{1000, 1536, 4096, 8400} {
		m := mustModulus(t, testModuli(r, bits)[0])
		for count := range 50 {
			for cores := range 5 {
				what := fmt.Sprintf("%d powers of %d bits, %d cores", count, bits, cores)
				sum, inLanes := 0, 0
				for _, n := range m.Split(count, cores) {
					if n < 1 || n > Lanes || n > 1 && lanesFor(bits, n) < n {
						t.Fatalf("%s: a part of %d", what, n)
					}
					sum += n
					inLanes += m.InLanes(n)
				}
				if sum != count {
					t.Fatalf("%s: %d in all", what, sum)
				}
				want := m.InLanes(count)
				if cores < 2 && inLanes != want || inLanes < want-3 || want > count {
					t.Fatalf("%s: %d in lanes, %d without cores", what, inLanes, want)
				}
			}
		}
	}
}
