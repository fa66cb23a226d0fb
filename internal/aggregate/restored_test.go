// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate_test

import (
	"bytes"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/service"
	"github.com/undersign/undersign/internal/store"
)

// putBack ends a node, and makes its folder one that was put back from a backup.
func (w *network) putBack(i int) {
	w.t.Helper()
	if err := w.nodes[i].stop(); err != nil {
		w.t.Fatal(err)
	}
	s := must(store.Open(filepath.Join(w.dirs[i], nodedir.Store), store.Options{}))(w.t)
	if err := service.MarkRestored(s, time.Now()); err != nil {
		w.t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *network) execute(signers []signer, journal *distill.MemoryJournal) {
	w.t.Helper()
	g, stop := w.gatewayOf(w.open(signers[0], journal))
	defer stop()
	if o := wait(w.t, g, signers[0].id, submit(w.t, g, signers[0].id, "x")); o.Code != distill.ResultOK {
		w.t.Errorf("%+v", o)
	}
}

// A logBuffer keeps what is logged.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) has(s string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Contains(l.b.Bytes(), []byte(s))
}

// A height that one validator alone says doesn't keep a restored one from witnessing batches
// for ever: without it there are too few here.
func TestRestoredAmongLiars(t *testing.T) {
	w := newNetwork(t, 4)
	log := &logBuffer{}
	w.output, w.genesis.Params.ValidFor = io.MultiWriter(w.output, log), 32
	w.finish()
	l := &liar{w: w, index: 2, key: must(bls.KeyGen(bytes.Repeat([]byte{3}, 32), nil))(t)}
	l.serve()
	for _, i := range []int{0, 1, 3} {
		w.start(i)
	}
	signers := w.register(1)
	var j distill.MemoryJournal
	w.execute(signers, &j)
	w.putBack(3)
	w.start(3)
	for start := time.Now(); !log.has("batches are witnessed later"); time.Sleep(50 * time.Millisecond) {
		if time.Since(start) > 30*time.Second {
			t.Fatal("it doesn't learn of the height")
		}
	}
	if err := w.nodes[1].stop(); err != nil {
		t.Fatal(err)
	}
	w.execute(signers, &j)
}

// All validators may have been put back: none waits for the others before it answers them.
func TestAllRestored(t *testing.T) {
	w := newNetwork(t, 2)
	w.genesis.Params.ValidFor = 16
	w.finish()
	w.startAll()
	signers := w.register(1)
	var j distill.MemoryJournal
	w.execute(signers, &j)
	w.putBack(0)
	w.putBack(1)
	w.startAll()
	w.execute(signers, &j)
}
