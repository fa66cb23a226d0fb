// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
)

// benchItems returns n valid items of so many signers, with hints.
func benchItems(r *rand.Rand, n, signers int) []Item {
	ds := make([]*big.Int, signers)
	for i := range ds {
		ds[i] = randInt(r)
	}
	items := make([]Item, n)
	for i := range items {
		k := randInt(r)
		items[i] = signed(ds[i%signers], k, randInt(r))
		q := bigMultiple(k)
		items[i].Hint = parity(&q.Y)
	}
	return items
}

// BenchmarkVerify reports the least nanoseconds an item took, without DER and hashes.
func BenchmarkVerify(b *testing.B) {
	r := newRand(b)
	for _, c := range []struct {
		n, signers int
		hinted     bool
		bad        int
		path       Path
	}{
		{1, 1, false, 0, Auto},
		{4, 4, true, 0, Auto},
		{16, 16, true, 0, Single},
		{16, 16, true, 0, Joint},
		{16, 16, false, 0, Recovered},
		{64, 64, true, 0, Single},
		{64, 64, true, 0, Joint},
		{64, 64, false, 0, Recovered},
		{64, 4, false, 0, Recovered},
		{64, 4, false, 0, Tables},
		{256, 256, true, 0, Joint},
		{128, 128, false, 0, Single},
		{128, 128, false, 0, Recovered},
		{256, 256, false, 0, Recovered},
		{1024, 1024, false, 0, Recovered},
		{1024, 1024, true, 0, Joint},
		{1024, 1024, true, 0, Single},
		{1024, 1024, true, 0, Auto},
		{1024, 1024, true, 1, Auto},
		{1024, 1024, true, 4, Auto},
		{1024, 1024, true, 1024, Auto},
		{1024, 1024, false, 0, Auto},
		{1024, 1024, false, 1, Auto},
		{1024, 1024, false, 86, Auto},
		{1024, 64, false, 0, Tables},
		{1024, 64, false, 0, Recovered},
		{1024, 64, true, 0, Joint},
		{1024, 1, false, 0, Auto},
		{16384, 16384, true, 0, Auto},
		{16384, 16384, false, 0, Auto},
		{16384, 256, false, 0, Auto},
	} {
		name := fmt.Sprintf("path=%s/signers=%d/hinted=%v/bad=%d/n=%d", c.path, c.signers, c.hinted, c.bad, c.n)
		b.Run(name, func(b *testing.B) {
			items := benchItems(r, c.n, c.signers)
			for i := range items {
				if !c.hinted {
					items[i].Hint = NoHint
				}
			}
			for i := range c.bad {
				it := &items[i*c.n/c.bad]
				it.S.Add(&it.S, &Scalar{1})
			}
			cfg := Config{Force: c.path}
			var stats Stats
			best(b, c.n, func() { _, stats = Verify(items, &cfg) })
			b.Logf("%+v", stats)
		})
	}
}
