// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/undersign/undersign/internal/cputime"
)

// BenchmarkSign is signatures by three of five nodes with a key of 2048 bits, asked for by
// one and by eight at a time, with all of them in one process.
func BenchmarkSign(b *testing.B) {
	c := newCluster(b, 3, 5, nil)
	users := []*user{c.newUser(c.nodes[0])}
	for len(users) < 8 {
		users = append(users, &user{signer: users[0].node.Signer(c.key, nil)})
	}
	n := 0
	for _, callers := range []int{1, len(users)} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			start := cputime.Process()
			for b.Loop() {
				n++
				var group sync.WaitGroup
				for i, u := range users[:callers] {
					group.Go(func() {
						if err := u.sign(b, fmt.Sprint(n, i)); err != nil {
							b.Error(err)
						}
					})
				}
				group.Wait()
			}
			b.ReportMetric(float64((cputime.Process()-start).Microseconds())/float64(b.N*callers)/1000, "cpu-ms/signature")
		})
	}
}
