// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package aggregate_test

import (
	"context"
	"crypto/tls"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/undersign/undersign/internal/aggregate/load"
	"github.com/undersign/undersign/node"
)

// used returns what the process holds in memory, when nothing is left to collect.
func used() int64 {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// Clients have connections of their own, each with TLS and a session, and get what those
// get who share one. Memory is in proportion to the connections, one more than a party may
// have is closed, and nothing is left behind.
func TestManyConnections(t *testing.T) {
	n, rounds, breaks := 200, 3, 0
	if os.Getenv("UNDERSIGN_LONG") != "" {
		// On a busy machine some are late with their pings.
		n, rounds, breaks = 4000, 1, 80
	}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil || files.Cur < uint64(3*n+200) {
		t.Skipf("%d connections to itself take %d open files, and ulimit -n is %d", n, 3*n+200, files.Cur)
	}
	const spare = 4 // for those that are about to end
	before := runtime.NumGoroutine()
	w := newNetwork(t, 1)
	w.output, w.tick = io.Discard, max(w.tick, n/10)
	w.tune = func(_ int, c *node.Config) {
		c.Limits.Connections = 16 * (n + spare) // a party has a sixteenth of them
		c.Limits.Calls = 2 * n
		c.Aggregate.Aggregator.Sessions = n
	}
	w.finish()
	w.startAll()
	ids, err := load.Register(t.Context(), w.key, w.genesis, w.ids[0].Fingerprint(), w.addrs[0], "many", 0, n, nil)
	if err != nil {
		t.Fatal(err)
	}

	// A party's connections that do nothing, one more than it may have: one of them is
	// closed, which needn't be the last.
	if n <= 200 {
		var idle []*tls.Conn
		ended := make(chan struct{}, n+spare+1)
		for range n + spare + 1 {
			c := must(tls.Dial("tcp", w.addrs[0], w.gateway.ClientTLS(w.ids[0].Fingerprint())))(t)
			idle = append(idle, c)
			// A preface and no settings: only then the other end counts it as the party's.
			c.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"))
			go func() {
				io.Copy(io.Discard, c)
				ended <- struct{}{}
			}()
		}
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Error("more connections than a party may have")
		}
		for _, c := range idle {
			c.Close()
		}
		time.Sleep(200 * time.Millisecond) // for the other end to notice
	}

	empty := used()
	var largest int64
	var acknowledged, receipted, seconds uint64
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Duration(n)*20*time.Millisecond)
	defer cancel()
	report, err := load.Run(ctx, load.Config{
		Key: w.key, Genesis: w.genesis, Aggregator: 1, Address: w.addrs[0], Seed: "many", IDs: ids,
		Connections: n, Separate: true, Duration: time.Hour,
		Progress: func(p load.Progress) {
			if seconds++; seconds%5 == 1 {
				largest = max(largest, used()-empty)
			}
			acknowledged += p.Acknowledged
			if receipted += p.Receipted; receipted >= uint64(rounds*n) {
				cancel()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := uint64(rounds * n); acknowledged < want*9/10 || receipted < want || report.Bad+report.Refused > 0 || report.Broken > uint64(breaks) {
		t.Errorf("%d acknowledged, %d receipted: %+v", acknowledged, receipted, report)
	}
	// Both ends are in this process.
	if each := largest / int64(n); each > 1<<20 {
		t.Errorf("%d KiB for each connection", each>>10)
	} else {
		t.Logf("%d connections, %d KiB for each, %d receipts", n, each>>10, receipted)
	}

	deadline := time.Now().Add(20 * time.Second)
	for runtime.NumGoroutine() > before+100 {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines when all sessions have ended, and %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
