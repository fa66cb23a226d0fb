// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/undersign/undersign/internal/cputime"
)

// sizes of directories to measure: a million takes long to make.
func sizes() []int {
	if os.Getenv("UNDERSIGN_LONG") != "" {
		return []int{1 << 16, 1_000_000}
	}
	return []int{1 << 16}
}

// crowd returns a store with n clients, each with one execution.
func crowd(b *testing.B, n int) *MemStore {
	b.Helper()
	m := new(MemStore)
	c := &Commit{Head: LogHead{Height: 5, Dirver: uint64((n + MaxChanges - 1) / MaxChanges)}, Rows: progression(b, n)}
	r := LogRecord{Kind: RecordBatch, Rcpt: Rcpt{Height: 5}}
	for id := range uint64(n) {
		c.ClientIDs, c.Clients = append(c.ClientIDs, id), append(c.Clients, ClientState{7, 1})
		r.Results = append(r.Results, Result{Code: ResultOK, ID: id, Nonce: 7, ExecHeight: 5})
		r.NotAfter = append(r.NotAfter, 60)
	}
	c.Log = []LogRecord{r}
	m.commit(c)
	return m
}

func heap() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// A restart reads keys and the states of clients, and no executions.
func BenchmarkOpenValidator(b *testing.B) {
	for _, n := range sizes() {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			w := newTown(b, 1, 0)
			store := crowd(b, n)
			before := heap()
			var v *Validator
			began := cputime.Process()
			for b.Loop() {
				var err error
				if v, err = OpenValidator(ValidatorConfig{Genesis: w.genesis, Store: store}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((cputime.Process()-began).Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(heap()-before)/float64(n), "B/client")
			runtime.KeepAlive(v)
		})
	}
}

// What a validator does with a batch of 65,536 that it has verified before.
func BenchmarkApply(b *testing.B) {
	w := newTown(b, 1, 0)
	const n = 1 << 16
	v, err := OpenValidator(ValidatorConfig{Genesis: w.genesis, Store: crowd(b, n)})
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"new", "dup"} {
		b.Run(fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) {
			nonce := uint64(v.head.Height) + 100
			var spent time.Duration
			for b.Loop() {
				b.StopTimer()
				if name == "new" {
					nonce++
				}
				batch := &Batch{Net: w.net, Dirver: v.head.Dirver, AggID: 3, Seq: v.head.Height, ValidUntil: v.head.Height + 10, Aggregate: make([]byte, 96)}
				for id := range uint64(n) {
					batch.IDs, batch.Nonces = append(batch.IDs, id), append(batch.Nonces, nonce)
					batch.NotAfter = append(batch.NotAfter, batch.ValidUntil+9)
					batch.Payloads.Append([]byte("8 bytes."))
				}
				data := w.publish(b, batch)
				verified := &Verified{Batch: batch, Digest: BatchDigest(data)}
				verified.hashLeaves()
				v.store.(*MemStore).log = nil
				b.StartTimer()
				began := cputime.Process()
				a, err := v.Apply(v.head.Height+1, []Entry{{data, &Checked{v, data, verified}}})
				if err != nil || a.Outcomes[0].Err != nil {
					b.Fatal(err, a.Outcomes[0].Err)
				}
				spent += cputime.Process() - began
			}
			b.ReportMetric(spent.Seconds()*1000/float64(b.N), "cpu-ms/op")
		})
	}
}

// What verification asks of a directory for a batch of 65,536.
func BenchmarkView(b *testing.B) {
	w := newTown(b, 1, 0)
	const n = 1 << 16
	d := townDirectory(b, w, 0)
	if err := d.Load(progression(b, n)); err != nil {
		b.Fatal(err)
	}
	ids := make([]uint64, 0, n)
	for id := range uint64(n) {
		if id%5 != 0 {
			ids = append(ids, id)
		}
	}
	view := d.Latest()
	b.Run("FirstInactive", func(b *testing.B) {
		for b.Loop() {
			if view.FirstInactive(ids) >= 0 {
				b.Fatal("inactive")
			}
		}
	})
	b.Run("SumKeys", func(b *testing.B) {
		for b.Loop() {
			if _, err := view.SumKeys(ids); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Registrations, verified together.
func BenchmarkDirectoryApply(b *testing.B) {
	w := newTown(b, 1, 0)
	entry := w.settle(b, 256)
	began := cputime.Process()
	for b.Loop() {
		if _, err := townDirectory(b, w, 0).Apply(1, entry); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((cputime.Process()-began).Seconds()*1000/float64(b.N)/256, "cpu-ms/key")
}
