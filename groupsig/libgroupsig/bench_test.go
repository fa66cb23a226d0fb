// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import "testing"

func BenchmarkVerify(b *testing.B) {
	for _, s := range Schemes() {
		b.Run(s.String(), func(b *testing.B) {
			g := newTestGroup(s)
			k, err := ParseGroupKey(g.key)
			if err != nil {
				b.Fatal(err)
			}
			msg := message("s", "m")
			sig := g.join().sign([]byte("s"), []byte("m"))
			if !s.HasScopes() {
				msg = []byte("m")
			}
			for b.Loop() {
				if _, err := k.Verify(msg, sig); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
