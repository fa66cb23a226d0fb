// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2stream

import (
	"bytes"
	"io"
	"runtime"
	"testing"
	"time"
)

// repeated is a file whose records come again and again.
type repeated struct {
	records []byte
	left    int
	at      int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.at == len(r.records) {
		r.left, r.at = r.left-1, 0
	}
	if r.left <= 0 {
		return 0, io.EOF
	}
	n := copy(p, r.records[r.at:])
	r.at += n
	return n, nil
}

// peak returns the most memory that Go had from the system while f ran, sampled
// often. What was free before counts as free.
func peak(f func()) uint64 {
	runtime.GC()
	stop, done := make(chan bool), make(chan uint64)
	go func() {
		var most uint64
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse+m.StackInuse)
			select {
			case <-stop:
				done <- most
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	return <-done
}

// Memory is bounded by the budget for tables and the size of blocks, whatever the
// length of the file: some 60 MB of records here, of which the smaller part holds
// twice the budget in keys.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while under the race detector")
	}
	const budget = 4 << 20
	for _, o := range []GenerateOptions{
		{Records: 20_000, Signers: 500, Payload: 100, Format: Binary, Seed: []byte("memory")},
		{Records: 8_000, Signers: 500, Payload: 200, Bad: 8_000, Kinds: []Kind{KindBroken}, Seed: []byte("memory")},
	} {
		data, _ := generate(t, o)
		head := data[:headerOf(data)]
		run := func(times int) uint64 {
			var table int64
			p := peak(func() {
				r := io.MultiReader(bytes.NewReader(head), &repeated{records: data[len(head):], left: times})
				sum, err := Verify(t.Context(), r, &Options{CacheBytes: budget, Workers: 2}, func(Bad) error { return nil })
				if err != nil {
					t.Fatal(err)
				}
				if sum.Items != int64(times)*o.Records {
					t.Fatalf("%d items", sum.Items)
				}
				table = sum.TableBytes
			})
			if table > budget {
				t.Errorf("tables of %d bytes, and the budget is %d", table, budget)
			}
			return p
		}
		short, long := run(3), run(12)
		t.Logf("%v: %d MB for %d records, %d MB for %d", o.Format, short>>20, 3*o.Records, long>>20, 12*o.Records)
		if long > short+short/2+16<<20 {
			t.Errorf("%v: %d MB for %d records, and %d MB for %d", o.Format, short>>20, 3*o.Records, long>>20, 12*o.Records)
		}
	}
}
