// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// kernels names the kernels for one number that can be tested here.
func kernels() []string {
	switch {
	case haveIFMA:
		return []string{"ifma", "adx", "generic"}
	case haveADX:
		return []string{"adx", "generic"}
	}
	return []string{"generic"}
}

// laneKernels names those for lanes.
func laneKernels() []string {
	if haveIFMA {
		return []string{"ifma", "twin"}
	}
	return []string{"twin"}
}

// setKernel selects a kernel, even one that the processor does not announce, and
// no other but what the default has beside it. Those of lanes have only eight unless
// a 4 follows their name.
func setKernel(name string) {
	name, useFour = strings.CutSuffix(name, "4")
	useIFMA = name == "ifma"
	useADX = name == "adx" || useIFMA
	laneTwin = name == "twin"
}

// resetKernel undoes setKernel.
func resetKernel() { useADX, useIFMA, useFour, laneTwin = haveADX, haveIFMA, haveHalves(), false }

// The processor is what the system says it is.
func TestProcessor(t *testing.T) {
	vendor, family := processor()
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skip("no /proc/cpuinfo")
	}
	want := map[string]string{"vendor_id": vendor, "cpu family": strconv.Itoa(family)}
	for line := range strings.Lines(string(info)) {
		name, value, _ := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if w, ok := want[name]; ok && value != w {
			t.Errorf("%s is %q, not %q", name, w, value)
		}
	}
	if zen4 := vendor == "AuthenticAMD" && family == 25; haveHalves() != zen4 {
		t.Errorf("halves: %v for %s, family %d", haveHalves(), vendor, family)
	}
}
