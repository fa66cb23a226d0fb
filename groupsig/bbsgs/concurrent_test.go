// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbsgs

import (
	"bytes"
	"sync"
	"testing"
)

// One group key serves many goroutines, with hostile signatures mixed in. None of them
// poisons what is precomputed: neither the identity, for which every later check could
// hold, nor a forgery.
func TestConcurrent(t *testing.T) {
	g := newGroup(t, "test", Scope|Epoch)
	ada := g.join("ada")
	good := g.sign(ada, "yes")
	identity := bytes.Clone(good)
	for i := range 2 {
		copy(identity[48*i:], append([]byte{0xc0}, make([]byte, 47)...))
	}
	swapped := bytes.Clone(good)
	copy(swapped, good[48:96])
	scalar := bytes.Clone(good)
	scalar[len(scalar)-10] ^= 1
	sigs := [][]byte{good, identity, swapped, scalar}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for j := range sigs {
				n := (i + j) % len(sigs)
				if err := g.gk.Verify([]byte("yes"), sigs[n], verifyOptions); (err == nil) != (n == 0) {
					t.Errorf("signature %d: %v", n, err)
				}
			}
			if i%16 == 0 {
				b := g.gk.Batch()
				for j := range 8 {
					b.Add([]byte("yes"), sigs[j%4], verifyOptions)
				}
				if err, ok := b.Verify().(*BatchError); !ok || len(err.Bad) != 6 {
					t.Errorf("batch says %v", err)
				}
				if _, err := ada.Sign([]byte("no"), signOptions); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
