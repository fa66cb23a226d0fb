// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/internal/wire"
	"github.com/undersign/undersign/node"
)

// Messages that were submitted survive a restart of the node, and are executed once.
func TestRestart(t *testing.T) {
	app := &recorder{}
	w := newNetwork(t, 1)
	w.app = app
	// Nothing is proposed before the node is stopped.
	w.tune = func(_ int, c *node.Config) { c.Aggregate.Aggregator.BatchAgeMS = 1500 }
	w.finish()
	w.startAll()
	signers := w.register(4)
	var clients []client.GatewayClient
	for _, s := range signers {
		clients = append(clients, w.open(s, &distill.MemoryJournal{}))
	}
	g, stop := w.gatewayOf(clients...)
	nonces := make(map[uint64]uint64)
	for _, s := range signers {
		nonces[s.id] = submit(t, g, s.id, fmt.Sprint("first ", s.id))
	}
	time.Sleep(300 * time.Millisecond) // for the acknowledgements
	if err := w.nodes[0].stop(); err != nil {
		t.Fatal(err)
	}
	if len(app.seen) != 0 {
		t.Fatal("executed before the restart")
	}
	w.tune = nil
	w.start(0)
	for _, s := range signers {
		if o := wait(t, g, s.id, nonces[s.id]); o.Kind != distill.OutcomeExecuted || o.Code != distill.ResultOK {
			t.Errorf("client %d: %+v", s.id, o)
		}
	}
	stop()

	// The clients, opened again from their journals, get the same outcome from what the
	// network kept.
	if n := len(app.seen); n != 4 {
		t.Errorf("%d payloads were executed", n)
	}
	for p, n := range app.seen {
		if n != 1 {
			t.Errorf("%q was executed %d times", p, n)
		}
	}
}

// Four validators go on with one that is dead, and it catches up when it is back.
func TestFourNodesOneDead(t *testing.T) {
	w := newNetwork(t, 4)
	w.tick = 100
	w.finish()
	w.startAll()
	signers := w.register(3)
	var clients []client.GatewayClient
	for _, s := range signers {
		clients = append(clients, w.open(s, &distill.MemoryJournal{}))
	}
	g, _ := w.gatewayOf(clients...)
	run := func(name string) {
		t.Helper()
		nonces := make([]uint64, len(signers))
		for i, s := range signers {
			nonces[i] = submit(t, g, s.id, fmt.Sprint(name, s.id))
		}
		for i, s := range signers {
			if o := wait(t, g, s.id, nonces[i]); o.Kind != distill.OutcomeExecuted || o.Code != distill.ResultOK {
				t.Errorf("%s: client %d: %+v", name, s.id, o)
			}
		}
	}
	run("all")
	if err := w.nodes[2].stop(); err != nil {
		t.Fatal(err)
	}
	run("three")
	w.start(2)
	run("back")
	// All come to the same log.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		heads := make(map[distill.Hgt]int)
		for i := range w.dirs {
			resp, err := w.validator(i).Head(ctx, &aggregatev1.HeadRequest{})
			if err != nil {
				t.Fatal(err)
			}
			var h distill.Hgt
			if err := h.UnmarshalBinary(resp.Hgt); err != nil {
				t.Fatal(err)
			}
			if h.Batches < 3 {
				continue
			}
			h.Height = 0
			heads[h]++
		}
		if len(heads) == 1 {
			for _, n := range heads {
				if n == 4 {
					return
				}
			}
		}
		if ctx.Err() != nil {
			t.Fatalf("heads: %v", heads)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// With two of four validators gone nothing is executed, and nothing is lost: it is
// executed when one is back.
func TestTwoOfFourDead(t *testing.T) {
	w := newNetwork(t, 4)
	w.tick = 100
	w.finish()
	w.startAll()
	signers := w.register(1)
	g, _ := w.gatewayOf(w.open(signers[0], &distill.MemoryJournal{}))
	n := submit(t, g, signers[0].id, "one")
	wait(t, g, signers[0].id, n)
	// With one of four F+1 = 2 don't answer.
	for i := 1; i < 4; i++ {
		if err := w.nodes[i].stop(); err != nil {
			t.Fatal(err)
		}
	}
	n = submit(t, g, signers[0].id, "two")
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	if o, err := g.Wait(ctx, signers[0].id, n); err == nil {
		t.Fatalf("one validator of four was enough: %+v", o)
	}
	w.start(1)
	if o := wait(t, g, signers[0].id, n); o.Kind != distill.OutcomeExecuted {
		t.Errorf("%+v", o)
	}
}

// Nothing runs any more after nodes and gateways have ended.
func TestNoLeaks(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("network", func(t *testing.T) {
		w := newNetwork(t, 1)
		w.finish()
		w.startAll()
		s := w.register(1)
		g, stop := w.gatewayOf(w.open(s[0], &distill.MemoryJournal{}))
		wait(t, g, s[0].id, submit(t, g, s[0].id, "x"))
		stop()
		if err := w.nodes[0].stop(); err != nil {
			t.Fatal(err)
		}
	})
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before+2 {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			stacks := string(buf[:runtime.Stack(buf, true)])
			var ours []string
			for _, s := range strings.Split(stacks, "\n\n") {
				if strings.Contains(s, "undersign/") && !strings.Contains(s, "TestNoLeaks") {
					ours = append(ours, s)
				}
			}
			if len(ours) > 0 {
				t.Fatalf("%d goroutines, and %d before:\n%s", runtime.NumGoroutine(), before, strings.Join(ours, "\n\n"))
			}
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// A node that was killed with a million receipts and as many executions of a hundred
// thousand clients in its store serves again in less than two seconds.
func TestRestartMillion(t *testing.T) {
	if os.Getenv("UNDERSIGN_LONG") != "1" {
		t.Skip("takes a minute")
	}
	w := newNetwork(t, 1)
	w.finish()
	fillStore(t, w, 100_000, 16, 62_500)
	for i := range 5 {
		began := time.Now()
		kill, cpu := w.measured()
		for {
			if _, err := w.validatorHead(); err == nil {
				break
			}
			if time.Since(began) > time.Minute {
				t.Fatal("the node isn't up")
			}
			time.Sleep(5 * time.Millisecond)
		}
		wall, spent := time.Since(began), cpu()
		t.Logf("start %d: %v, of which processors spent %v", i, wall.Round(time.Millisecond), spent)
		if spent > 2*time.Second {
			t.Errorf("it takes %v", spent)
		}
		kill()
	}
}

// fillStore writes what a node has in its store after so many batches of so many messages.
// The keys are real; nobody has signed anything.
func fillStore(t *testing.T, w *network, clients, batches, leaves int) {
	t.Helper()
	path := filepath.Join(w.dirs[0], nodedir.Store)
	s := must(store.Open(path, store.Options{}))(t)
	defer func() {
		// As a process that was killed leaves it: with what is in the file's log.
		var files [][]byte
		for _, suffix := range []string{"", "-wal"} {
			files = append(files, must(os.ReadFile(path+suffix))(t))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for i, suffix := range []string{"", "-wal"} {
			if err := os.WriteFile(path+suffix, files[i], 0o600); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%d bytes, and %d in the file's log", len(files[0]), len(files[1]))
	}()
	v, journal := s.Validator(), s.Journal("aggregator")
	rows := make([]byte, 0, clients*145)
	key, step := bls12381.G1Generator(), bls12381.G1Generator()
	for id := range clients {
		key.Add(key, step)
		rows = binary.BigEndian.AppendUint64(rows, 1)
		rows = binary.BigEndian.AppendUint64(rows, uint64(id))
		rows = append(rows, byte(distill.ChangeRegister))
		rows = append(rows, key.UncompressedBytes()...)
		rows = append(rows, ed25519.NewKeyFromSeed(binary.BigEndian.AppendUint64(make([]byte, 24), uint64(id))).Public().(ed25519.PublicKey)...)
	}
	net := w.genesis.ID()
	head := distill.LogHead{Height: 1, Dirver: 1}
	rcpt := distill.Rcpt{Net: net, Height: 1, BatchDigest: sha256.Sum256([]byte("directory"))}
	head.LogHash = rcpt.Digest()
	if err := v.Commit(&distill.Commit{Head: head, Rows: rows, Log: []distill.LogRecord{{Kind: distill.RecordDirectory, Rcpt: rcpt, Data: []byte("directory"), Version: 1}}}); err != nil {
		t.Fatal(err)
	}
	window := make([]uint64, w.genesis.Params.SeqWindow/64)
	states := make([]distill.ClientState, clients)
	for b := range batches {
		c := &distill.Commit{Aggregators: []distill.AggregatorState{{ID: 1, Any: true, LastSeq: uint64(b + 1), Window: window}}}
		record := distill.LogRecord{Kind: distill.RecordBatch, Data: make([]byte, 48*leaves)}
		rand.Read(record.Data)
		head.Height++
		head.Batches++
		var ids []int
		for i := range leaves {
			ids = append(ids, (b*leaves+i)%clients)
		}
		slices.Sort(ids)
		var hashes [][32]byte
		for _, id := range ids {
			x := &states[id]
			x.LastNonce++
			x.Window = x.Window<<1 | 1
			r := distill.Result{Code: distill.ResultOK, ID: uint64(id), Nonce: x.LastNonce, ExecHeight: head.Height, PayloadHash: sha256.Sum256([]byte{byte(b)})}
			record.Results = append(record.Results, r)
			record.NotAfter = append(record.NotAfter, head.Height+2048)
			hashes = append(hashes, r.Hash())
			c.ClientIDs = append(c.ClientIDs, uint64(id))
			c.Clients = append(c.Clients, *x)
		}
		window[0] |= 1 << (b + 1)
		root := distill.NewTree(hashes).Root()
		record.Rcpt = distill.Rcpt{
			Net: net, Height: head.Height, PrevLogHash: head.LogHash, BatchDigest: distill.BatchDigest(record.Data), N: uint64(leaves), ResultRoot: root,
		}
		head.LogHash = record.Rcpt.Digest()
		c.Head, c.Log = head, []distill.LogRecord{record}
		if err := v.Commit(c); err != nil {
			t.Fatal(err)
		}
		if err := journal.Commit([]distill.Record{receiptsRecord(uint64(b+1), &record)}); err != nil {
			t.Fatal(err)
		}
	}
}

// receiptsRecord returns an aggregator's record of the receipts of a batch.
func receiptsRecord(seq uint64, r *distill.LogRecord) distill.Record {
	var e wire.Encoder
	e.U8(1)
	e.U8(7)
	e.U64(r.NotAfter[0] + 4096)
	e.Bytes(r.Rcpt.Bytes())
	e.Bytes([]byte{1})
	e.Fixed(make([]byte, 96))
	e.U32(uint32(len(r.Results)))
	for i := range r.Results {
		b := r.Results[i].Block()
		e.Fixed(b[:])
	}
	key := append(binary.BigEndian.AppendUint64([]byte{'a'}, 1), 'f')
	return distill.Record{Key: binary.BigEndian.AppendUint64(key, seq), Value: e.Data()}
}

// measured starts the node as a process, and returns how to kill it, and the time of
// processors that it has spent.
func (w *network) measured() (kill func(), cpu func() time.Duration) {
	kill, _ = w.process("")
	pid := w.pid
	return kill, func() time.Duration {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return 0 // not on this system
		}
		f := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		user, _ := strconv.Atoi(f[11])
		system, _ := strconv.Atoi(f[12])
		return time.Duration(user+system) * 10 * time.Millisecond
	}
}
