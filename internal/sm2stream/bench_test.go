// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2stream

import (
	"bytes"
	"fmt"
	"testing"
)

// BenchmarkVerify verifies files on one processor.
func BenchmarkVerify(b *testing.B) {
	for _, o := range []GenerateOptions{
		{Records: 50_000, Signers: 16, Payload: 200, Format: JSONLines},
		{Records: 50_000, Signers: 16, Payload: 200, Format: Binary},
		{Records: 50_000, Payload: 200, Format: Binary, Hinted: true},
	} {
		b.Run(fmt.Sprintf("%v/signers=%d", o.Format, o.Signers), func(b *testing.B) {
			data, _ := generate(b, o)
			for b.Loop() {
				if _, err := Verify(b.Context(), bytes.NewReader(data), &Options{Workers: 1}, func(Bad) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(o.Records), "µs/sig")
		})
	}
}
