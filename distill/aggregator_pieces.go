// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"errors"
	"fmt"
	"math"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/wire"
)

// A piece is messages that are in one record of the journal, in the order in which they
// became durable. A record for each would be most of an aggregator's work. While some of a
// piece are settled and others aren't, another record says which; with the last one both
// are deleted.
type piece struct {
	no      uint64
	entries []*poolEntry // nil once it isn't needed
	gone    []byte       // a bit for each that isn't
	left    int          // those that are
	touched bool         // there are new ones among the gone
	marked  bool         // the journal has gone
}

// What a piece has at most, so that a record isn't too long.
const (
	pieceMessages = 2048
	pieceBytes    = 1 << 20
)

// noVersion stands for that of a message without one.
const noVersion = math.MaxUint64

// A piece of which less than a part is left is written anew, lest a few messages that
// stay for long keep many others on disk.
const pieceSparse = 8

// enter puts messages into new pieces, and returns their records. Those that are in others
// are gone from there. A message may be in the list twice.
func (a *Aggregator) enter(list []*poolEntry) (writes []Record) {
	for _, e := range list {
		a.leave(e)
	}
	var p *piece
	size := 0
	end := func() {
		if p != nil {
			p.left, p.gone = len(p.entries), make([]byte, (len(p.entries)+7)/8)
			writes = append(writes, a.pieceRecord(p))
		}
		p = nil
	}
	for _, e := range list {
		if e.piece != nil {
			continue
		}
		if p != nil && (len(p.entries) == pieceMessages || size+e.size() > pieceBytes) {
			end()
		}
		if p == nil {
			p, size = &piece{no: a.nextPiece}, 0
			a.nextPiece++
		}
		size += e.size()
		e.piece, e.at = p, uint32(len(p.entries))
		p.entries = append(p.entries, e)
	}
	end()
	return writes
}

// leave notes that a message needn't be in its piece any more, for the next commit.
func (a *Aggregator) leave(e *poolEntry) {
	p := e.piece
	if p == nil {
		return
	}
	p.entries[e.at], e.piece = nil, nil
	p.gone[e.at/8] |= 1 << (e.at % 8)
	p.left--
	if !p.touched {
		p.touched = true
		a.touched = append(a.touched, p)
	}
}

// left returns the records that say what is left of pieces.
func (a *Aggregator) left() (writes []Record) {
	var sparse []*poolEntry
	for _, p := range a.touched {
		p.touched = false
		if p.left > len(p.entries)/pieceSparse {
			p.marked = true
			writes = append(writes, a.goneRecord(p))
			continue
		}
		for _, e := range p.entries {
			if e != nil {
				e.piece = nil
				sparse = append(sparse, e)
			}
		}
		writes = append(writes, Record{Key: a.pieceKey(p.no)})
		if p.marked {
			writes = append(writes, Record{Key: a.goneKey(p.no)})
		}
	}
	a.touched = a.touched[:0]
	return append(writes, a.enter(sparse)...)
}

func (a *Aggregator) pieceKey(no uint64) []byte { return a.key(kindPiece, no) }
func (a *Aggregator) goneKey(no uint64) []byte  { return a.key(kindGone, no) }

func (a *Aggregator) pieceRecord(p *piece) Record {
	var e wire.Encoder
	size := 16
	for _, m := range p.entries {
		size += 40 + len(m.sig) + len(m.payload)
	}
	e.Grow(size)
	header(&e, recordPiece)
	e.U32(uint32(len(p.entries)))
	for _, m := range p.entries {
		w := a.wireForm(m)
		e.U64(m.id)
		e.U64(m.nonce)
		e.U64(m.notAfter)
		if m.view != nil {
			e.U64(m.view.Version())
		} else {
			e.U64(noVersion)
		}
		e.Bytes(w.Signature)
		e.Bytes(w.Payload)
	}
	return Record{a.pieceKey(p.no), e.Data()}
}

func (a *Aggregator) goneRecord(p *piece) Record {
	var e wire.Encoder
	header(&e, recordGone)
	e.Bytes(p.gone)
	return Record{a.goneKey(p.no), e.Data()}
}

// loadGone reads which messages of a piece are settled. It comes before the piece.
func (a *Aggregator) loadGone(d *wire.Decoder, no uint64) error {
	d.Header(recordVersion, recordGone)
	gone := d.Bytes("settled messages", pieceMessages/8)
	if d.Err() != nil {
		return d.Err()
	}
	a.gone[no] = gone
	return nil
}

// loadPiece reads messages, but for those that are settled.
func (a *Aggregator) loadPiece(d *wire.Decoder, no uint64) error {
	const least = 4*8 + 2*4 // bytes of a message
	d.Header(recordVersion, recordPiece)
	n := count(d, "messages", pieceMessages, least)
	if d.Err() != nil {
		return d.Err()
	}
	gone, marked := a.gone[no]
	delete(a.gone, no)
	if !marked {
		gone = make([]byte, (n+7)/8)
	}
	if n == 0 || len(gone) != (n+7)/8 || n%8 != 0 && gone[n/8]>>(n%8) != 0 {
		return errors.New("none, or others that are settled")
	}
	p := &piece{no: no, entries: make([]*poolEntry, n), gone: gone, marked: marked}
	for i := range n {
		e, version := loadMessage(d)
		if d.Err() != nil {
			return d.Err()
		}
		if gone[i/8]>>(i%8)&1 == 1 {
			continue
		}
		if err := a.revive(e, version); err != nil {
			return err
		}
		if a.client(e.id).find(e.nonce) != nil {
			return fmt.Errorf("message %d of client %d is there twice", e.nonce, e.id)
		}
		if version != noVersion {
			a.leastView = max(a.leastView, version)
		}
		e.piece, e.at = p, uint32(i)
		p.entries[i] = e
		p.left++
		a.insert(0, e)
	}
	if p.left == 0 {
		return errors.New("all of them are settled")
	}
	a.nextPiece = max(a.nextPiece, no+1)
	return nil
}

func loadMessage(d *wire.Decoder) (e *poolEntry, version uint64) {
	e = &poolEntry{id: d.U64("id"), nonce: d.U64("nonce"), notAfter: d.U64("last height")}
	version = d.U64("version of the directory")
	if sig := d.Bytes("signature", bls.SignatureSize); len(sig) > 0 {
		e.sig = sig
	}
	e.payload = d.Bytes("payload", maxPayloadRecord)
	return e, version
}

// revive makes of a message what it was before it was written.
func (a *Aggregator) revive(e *poolEntry, version uint64) error {
	e.view = a.viewAt(version)
	e.hash = PayloadHash(e.payload)
	if len(e.sig) != bls.SignatureSize {
		return nil
	}
	sig, err := bls.ParseSignature(e.sig)
	if err != nil {
		return err
	}
	e.sig = sig.UncompressedBytes()
	return nil
}
