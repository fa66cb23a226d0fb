// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && !race

package ring

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

// copies returns how often a secret is in the memory of the process. It is given with all
// bits turned, so as not to be found itself.
func copies(t *testing.T, turned []byte) (n int) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Skip(err)
	}
	defer mem.Close()
	secret := make([]byte, len(turned))
	defer clear(secret)
	const size = 1 << 20
	buf := make([]byte, size)
	defer clear(buf)
	own := int64(reflect.ValueOf(buf).Pointer())
	for line := range strings.Lines(string(maps)) {
		var lo, hi int64
		if _, err := fmt.Sscanf(line, "%x-%x rw", &lo, &hi); err != nil {
			continue
		}
		for lo < hi {
			// Not what was just read: it would be copied over itself, and found many times.
			if lo >= own && lo < own+size {
				lo = own + size
				continue
			}
			part := min(hi-lo, size)
			if lo < own {
				part = min(part, own-lo)
			}
			some, _ := mem.ReadAt(buf[:part], lo)
			lo += part
			for i := range secret {
				secret[i] = ^turned[i]
			}
			n += bytes.Count(buf[:some], secret)
			clear(secret)
		}
	}
	return n
}

// Signing leaves no copies of the key behind.
func TestSecretIsntCopied(t *testing.T) {
	for _, g := range Groups() {
		r, secret := newRingOf(t, g, 2)
		turned := make([]byte, scalarSize)
		for i, b := range secret[1].secret {
			turned[i] = ^b
		}
		before := copies(t, turned)
		if before == 0 {
			t.Skip("not even the key is found")
		}
		const n = 20
		for range n {
			sign(t, secret[1], r, "message", nil)
		}
		if after := copies(t, turned); after > before+n/2 {
			t.Errorf("%s: %d copies of the key, and %d after %d signatures", g, before, after, n)
		}
	}
}
