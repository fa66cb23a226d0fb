// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"fmt"
	"testing"
)

// kinds returns how many records of each kind an aggregator's journal has.
func kinds(j *MemoryJournal) (n [256]int) {
	for r := range j.Records(nil) {
		n[r.Key[aggregatorKeyLength-1]]++
	}
	return n
}

// waitingIDs returns the clients whose messages are in no batch.
func waitingIDs(a *Aggregator) (ids []uint64) {
	for id := range uint64(100) {
		if c := a.clients[id]; c != nil && a.pick(c) != nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// TestAggregatorPieces has forty messages become durable together and be settled bit by bit,
// with a restart after each bit.
func TestAggregatorPieces(t *testing.T) {
	const clients = 40
	w := newPartyNet(t, clients, 0, nil)
	j := new(MemoryJournal)
	leaves := 100
	open := func() *Aggregator {
		return w.open(firstAgg, j, func(c *AggregatorConfig) { c.Limits.Leaves = leaves })
	}
	a := open()
	log := newModelLog(w)
	deliver := func(now int64) {
		t.Helper()
		out, err := a.Tick(now)
		if err == nil && len(out) == 0 {
			now += 500
			out, err = a.Tick(now)
		}
		if err != nil {
			t.Fatal(err)
		}
		var last []AggregatorAction
		for id, p := range proposals(out) {
			if last, err = a.HandleReduction(now, w.reduce(id, p)); err != nil {
				t.Fatal(err)
			}
		}
		br, err := log.append(one[Publish](t, last).Encoded)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.HandleBatchReceipt(now, br); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string, waiting, pieces, gone int) {
		t.Helper()
		for range 2 {
			n := kinds(j)
			if ids := waitingIDs(a); len(ids) != waiting || a.Stats().Waiting != waiting || n[kindPiece] != pieces || n[kindGone] != gone {
				t.Fatalf("%s: messages of clients %d wait, %+v, %d pieces and %d marks", when, ids, a.Stats(), n[kindPiece], n[kindGone])
			}
			a = open()
		}
	}
	admit(t, a, 0, w.messages(ModeEd25519, clients)...)
	check("at first", clients, 1, 0)
	leaves = 27
	a = open()
	deliver(600)
	check("a part is settled", 13, 1, 1)
	leaves = 8
	a = open()
	deliver(2000)
	// Five are an eighth of forty: they are written anew.
	check("few are left", 5, 1, 0)
	if a.nextPiece != 3 {
		t.Fatalf("the next piece is %d", a.nextPiece)
	}
	deliver(4000)
	check("nothing is left", 0, 0, 0)

	// Messages signed again go from one piece to another.
	lean := w.open(secondAgg, j, func(c *AggregatorConfig) { c.Mode = ModeLean })
	admit(t, lean, 0, w.messages(ModeLean, 3)...)
	s := w.submission(ModeEd25519, 1, 1, 1001, "payload 1")
	admit(t, lean, 10, s, s)
	if n := kinds(j); n[kindPiece] != 2 || n[kindGone] != 1 {
		t.Fatalf("%d pieces, %d marks", n[kindPiece], n[kindGone])
	}
	lean = w.open(secondAgg, j, func(c *AggregatorConfig) { c.Mode = ModeLean })
	if e := lean.clients[1].find(1); lean.Stats().Waiting != 3 || !bytes.Equal(e.sig, s.Signature) {
		t.Fatalf("%+v", lean.Stats())
	}
}

// TestAggregatorLargePieces has more messages become durable at once than a record takes.
func TestAggregatorLargePieces(t *testing.T) {
	w := newPartyNet(t, 5, 0, func(p *Params) { p.MaxPayload, p.MaxBatch = 1<<20, 16<<20 })
	j := new(MemoryJournal)
	a := w.open(firstAgg, j, nil)
	var list []*Submission
	for id := range uint64(5) {
		list = append(list, w.submission(ModeEd25519, id, 1, 1000, fmt.Sprintf("%0600000d", id)))
	}
	admit(t, a, 0, list...)
	if n := kinds(j); n[kindPiece] != 5 {
		t.Fatalf("%d pieces", n[kindPiece])
	}
	if a = w.open(firstAgg, j, nil); a.Stats().Waiting != 5 {
		t.Fatalf("%+v", a.Stats())
	}
}

// TestAggregatorRefusesPieces opens journals whose marks don't fit.
func TestAggregatorRefusesPieces(t *testing.T) {
	w := newPartyNet(t, 3, 0, nil)
	good := new(MemoryJournal)
	a := w.open(firstAgg, good, nil)
	admit(t, a, 0, w.messages(ModeEd25519, 3)...)
	var one Record
	for r := range good.Records(a.key(kindPiece)) {
		one = r
	}
	mark := func(no uint64, gone ...byte) Record { return a.goneRecord(&piece{no: no, gone: gone}) }
	for name, r := range map[string]Record{
		"all are settled":     mark(1, 7),
		"more than there are": mark(1, 8),
		"too short":           mark(1),
		"too long":            mark(1, 0, 0),
		"of another piece":    mark(2, 1),
		"twice":               {a.pieceKey(2), one.Value},
	} {
		j := good.Clone()
		j.Commit([]Record{r})
		if _, err := OpenAggregator(AggregatorConfig{
			Network: w.network, ID: firstAgg, Key: w.aggregator[firstAgg], Journal: j,
			Views: func(uint64) (View, error) { return w.view, nil },
		}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	good.Commit([]Record{mark(1, 2)})
	if a = w.open(firstAgg, good, nil); fmt.Sprint(waitingIDs(a)) != "[0 2]" {
		t.Fatal(waitingIDs(a))
	}
}
