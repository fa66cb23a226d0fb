// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"fmt"
	"testing"

	"github.com/undersign/undersign/bls"
)

func BenchmarkKeyedVerify(b *testing.B) {
	for _, n := range []int{37, 890} {
		for _, flags := range []KeyedFlags{KeyedProven, 0} {
			name := map[KeyedFlags]string{0: "weighted", KeyedProven: "proven"}[flags]
			b.Run(fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) {
				k := newKeyedNet(b, flags, n)
				keys := map[KeyBytes]*bls.PublicKey{}
				for key, sk := range k.secrets {
					keys[key] = sk.PublicKey()
				}
				k.Known = func(key *KeyBytes) *bls.PublicKey { return keys[*key] }
				k.Messages = pieces
				e := k.encode(k.batch())
				for b.Loop() {
					if _, err := k.Verify(e); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
