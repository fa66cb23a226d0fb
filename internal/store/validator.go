// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/undersign/undersign/distill"
)

// A Validator is a [distill.Store]: a validator's part of a store.
type Validator struct{ s *Store }

var _ distill.Store = (*Validator)(nil)

// Validator returns a validator's part of the store.
func (s *Store) Validator() *Validator { return &Validator{s} }

// Head implements [distill.Store].
func (v *Validator) Head() (h distill.LogHead, err error) {
	err = v.s.View(func(tx *Tx) error {
		var height, batches, dirver int64
		var hash []byte
		ok, err := tx.Row([]any{&height, &batches, &hash, &dirver}, "SELECT height, batches, log_hash, dirver FROM head")
		if err != nil || !ok {
			return err
		}
		h = distill.LogHead{Height: uint64(height), Batches: uint64(batches), Dirver: uint64(dirver)}
		return fixed(h.LogHash[:], hash)
	})
	return h, err
}

// Aggregators implements [distill.Store].
func (v *Validator) Aggregators() (list []distill.AggregatorState, err error) {
	err = v.s.View(func(tx *Tx) error {
		var id, published, last, strikes, until int64
		var seqs []byte
		return tx.Rows([]any{&id, &published, &last, &seqs, &strikes, &until}, func() error {
			window, err := words(seqs)
			list = append(list, distill.AggregatorState{
				ID: uint64(id), Any: published != 0, LastSeq: uint64(last), Window: window,
				Strikes: uint64(strikes), Until: uint64(until),
			})
			return err
		}, "SELECT id, published, last_seq, seqs, strikes, until FROM aggregator")
	})
	return list, err
}

// Clients implements [distill.Store].
func (v *Validator) Clients(yield func(uint64, distill.ClientState) error) error {
	return v.s.View(func(tx *Tx) error {
		var id, last, nonces int64
		return tx.Rows([]any{&id, &last, &nonces}, func() error {
			return yield(uint64(id), distill.ClientState{LastNonce: uint64(last), Window: uint64(nonces)})
		}, "SELECT id, last_nonce, nonces FROM client")
	})
}

// Rows implements [distill.Store].
func (v *Validator) Rows(yield func([]byte) error) error {
	return v.s.View(func(tx *Tx) error {
		var rows []byte
		return tx.Rows([]any{&rows}, func() error { return yield(rows) }, "SELECT rows FROM directory ORDER BY piece")
	})
}

// Execution implements [distill.Store].
func (v *Validator) Execution(id, nonce uint64) (e distill.Execution, ok bool, err error) {
	err = v.s.View(func(tx *Tx) error {
		var notAfter, height int64
		var block []byte
		ok, err = tx.Row([]any{&notAfter, &height, &block},
			`SELECT e.not_after, e.height, substr(l.results, 1 + 64*e.leaf, 64) FROM execution e JOIN log l USING (height, position)
			WHERE e.id = ? AND e.nonce = ?`, int64(id), int64(nonce))
		if err != nil || !ok {
			return err
		}
		if len(block) == 0 {
			// Collect was faster than prune: nobody has a right to ask any more.
			ok = false
			return nil
		}
		r, err := distill.ParseResult(block)
		if err != nil || r.ID != id || r.Nonce != nonce {
			return fmt.Errorf("store: the execution of nonce %d of client %d is damaged", nonce, id)
		}
		e = distill.Execution{NotAfter: uint64(notAfter), PayloadHash: r.PayloadHash, Code: r.Code, AppCode: r.AppCode, Height: uint64(height)}
		return nil
	})
	return e, ok, err
}

const logColumns = "SELECT kind, version, rcpt, data, results, not_after FROM log "

// logRecords reads records of the log, as long as more returns true.
func (v *Validator) logRecords(more func(*distill.LogRecord) bool, query string, args ...any) (list []distill.LogRecord, err error) {
	err = v.s.View(func(tx *Tx) error {
		var kind, version int64
		var rcpt, data, results, notAfter []byte
		return tx.Rows([]any{&kind, &version, &rcpt, &data, &results, &notAfter}, func() error {
			r := distill.LogRecord{Kind: distill.RecordKind(kind), Version: uint64(version), Data: bytes.Clone(data)}
			if err := r.Rcpt.UnmarshalBinary(rcpt); err != nil {
				return fmt.Errorf("store: log: %w", err)
			}
			for ; len(results) >= distill.LeafSize; results = results[distill.LeafSize:] {
				result, err := distill.ParseResult(results[:distill.LeafSize])
				if err != nil {
					return fmt.Errorf("store: log: %w", err)
				}
				r.Results = append(r.Results, result)
			}
			var err error
			if r.NotAfter, err = words(notAfter); err != nil || len(results) != 0 || len(r.NotAfter) != len(r.Results) {
				return errors.New("store: log: results of different lengths")
			}
			if !more(&r) {
				return errStop
			}
			list = append(list, r)
			return nil
		}, query, args...)
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return list, err
}

// Tick implements [distill.Store].
func (v *Validator) Tick(height uint64) ([]distill.LogRecord, error) {
	return v.logRecords(func(*distill.LogRecord) bool { return true }, logColumns+"WHERE height = ? ORDER BY position", int64(height))
}

// Changes implements [distill.Store].
func (v *Validator) Changes(since uint64, max int) ([]distill.LogRecord, error) {
	n := 0
	return v.logRecords(func(r *distill.LogRecord) bool {
		n++
		max -= len(r.Data)
		return max >= 0 || n == 1
	}, logColumns+"WHERE version > ? AND version > 0 AND kind = ? ORDER BY version", int64(since), int64(distill.RecordDirectory))
}

// Witness implements [distill.Store].
func (v *Validator) Witness(aggID, seq uint64) (digest [32]byte, ok bool, err error) {
	err = v.s.View(func(tx *Tx) error {
		var b []byte
		if ok, err = tx.Row([]any{&b}, "SELECT digest FROM witness WHERE aggregator = ? AND seq = ?", int64(aggID), int64(seq)); err != nil || !ok {
			return err
		}
		return fixed(digest[:], b)
	})
	return digest, ok, err
}

// Batch returns a batch that was witnessed or is in the log, or false if it isn't here, or
// not any more.
func (v *Validator) Batch(digest [32]byte) (encoded []byte, ok bool, err error) {
	err = v.s.View(func(tx *Tx) error {
		ok, err = tx.Row([]any{&encoded}, "SELECT batch FROM witness WHERE digest = ? AND length(batch) > 0", digest[:])
		if err == nil && !ok {
			ok, err = tx.Row([]any{&encoded}, "SELECT data FROM log WHERE "+logDigest+" = ? AND length(data) > 0", digest[:])
		}
		return err
	})
	return encoded, ok, err
}

// Collect deletes the bytes of batches up to one height, which all validators have, and
// the results up to another, which nobody asks for any more: of so many entries at most.
// The receipts stay.
func (v *Validator) Collect(batches, results uint64, most int) error {
	return v.s.Update(func(tx *Tx) error {
		_, err := tx.Exec("UPDATE log SET data = x'' WHERE rowid IN (SELECT rowid FROM log WHERE "+logHasData+" AND height <= ? ORDER BY height LIMIT ?)", int64(batches), most)
		if err == nil {
			_, err = tx.Exec("UPDATE log SET results = x'', not_after = x'' WHERE rowid IN (SELECT rowid FROM log WHERE "+logHasResults+" AND height <= ? ORDER BY height LIMIT ?)", int64(results), most)
		}
		return err
	})
}

// CommitWitness implements [distill.Store].
func (v *Validator) CommitWitness(aggID, seq uint64, digest [32]byte, encoded []byte) error {
	return v.s.Update(func(tx *Tx) error {
		_, err := tx.Exec("INSERT INTO witness (aggregator, seq, digest, batch) VALUES (?, ?, ?, ?)", int64(aggID), int64(seq), digest[:], encoded)
		return err
	})
}

// Commit implements [distill.Store].
func (v *Validator) Commit(c *distill.Commit) error {
	return v.s.Update(func(tx *Tx) error {
		if _, err := tx.Exec(`INSERT INTO head (one, height, batches, log_hash, dirver) VALUES (1, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET height = excluded.height, batches = excluded.batches, log_hash = excluded.log_hash, dirver = excluded.dirver`,
			int64(c.Head.Height), int64(c.Head.Batches), c.Head.LogHash[:], int64(c.Head.Dirver)); err != nil {
			return err
		}
		for i := range c.Log {
			if err := putLogRecord(tx, c.Head.Height, i, &c.Log[i]); err != nil {
				return err
			}
		}
		for _, a := range c.Aggregators {
			published := int64(0)
			if a.Any {
				published = 1
			}
			if _, err := tx.Exec("INSERT OR REPLACE INTO aggregator (id, published, last_seq, seqs, strikes, until) VALUES (?, ?, ?, ?, ?, ?)",
				int64(a.ID), published, int64(a.LastSeq), wordBytes(a.Window), int64(a.Strikes), int64(a.Until)); err != nil {
				return err
			}
			if behind := 64 * uint64(len(a.Window)); a.LastSeq > behind {
				if _, err := tx.Exec("DELETE FROM witness WHERE aggregator = ? AND seq < ?", int64(a.ID), int64(a.LastSeq-behind)); err != nil {
					return err
				}
			}
		}
		clients := inserter{tx: tx, head: "INSERT OR REPLACE INTO client (id, last_nonce, nonces) VALUES ", columns: 3}
		for i, id := range c.ClientIDs {
			if err := clients.add(int64(id), int64(c.Clients[i].LastNonce), int64(c.Clients[i].Window)); err != nil {
				return err
			}
		}
		if err := clients.flush(); err != nil {
			return err
		}
		if len(c.Rows) > 0 {
			if _, err := tx.Exec("INSERT INTO directory (rows) VALUES (?)", c.Rows); err != nil {
				return err
			}
		}
		return prune(tx, c.Head.Height, c.PruneBefore)
	})
}

func putLogRecord(tx *Tx, height uint64, position int, r *distill.LogRecord) error {
	results := make([]byte, 0, distill.LeafSize*len(r.Results))
	for i := range r.Results {
		block := r.Results[i].Block()
		results = append(results, block[:]...)
	}
	if _, err := tx.Exec("INSERT INTO log (height, position, kind, version, rcpt, data, results, not_after) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		int64(height), int64(position), int64(r.Kind), int64(r.Version), r.Rcpt.Bytes(), nonNil(r.Data), results, wordBytes(r.NotAfter)); err != nil {
		return err
	}
	if r.Kind == distill.RecordBatch {
		// The log has the batch now.
		if _, err := tx.Exec("UPDATE witness SET batch = x'' WHERE digest = ?", r.Rcpt.BatchDigest[:]); err != nil {
			return err
		}
	}
	executions := inserter{tx: tx, head: "INSERT OR REPLACE INTO execution (id, nonce, not_after, height, position, leaf) VALUES ", columns: 6}
	for i := range r.Results {
		if x := &r.Results[i]; x.Code.Executed() {
			if err := executions.add(int64(x.ID), int64(x.Nonce), int64(r.NotAfter[i]), int64(height), int64(position), int64(i)); err != nil {
				return err
			}
		}
	}
	return executions.flush()
}

// prune deletes executions that aren't asked for any more, a part of the ids at each
// height, so that no tick takes long.
func prune(tx *Tx, height, before uint64) error {
	const parts = 256
	if before == 0 {
		return nil
	}
	var last int64
	if _, err := tx.Row([]any{&last}, "SELECT coalesce(max(id), -1) FROM execution"); err != nil {
		return err
	}
	size := last/parts + 1
	from := int64(height%parts) * size
	_, err := tx.Exec("DELETE FROM execution WHERE id >= ? AND id < ? AND not_after < ?", from, from+size, int64(before))
	return err
}

// An inserter collects rows for statements of many.
type inserter struct {
	tx      *Tx
	head    string
	columns int
	args    []any
}

const insertRows = 100

func (in *inserter) add(values ...any) error {
	in.args = append(in.args, values...)
	if len(in.args) < insertRows*in.columns {
		return nil
	}
	return in.flush()
}

func (in *inserter) flush() error {
	for len(in.args) > 0 {
		// Only two statements: of many rows, and of one.
		rows := 1
		if len(in.args) >= insertRows*in.columns {
			rows = insertRows
		}
		query := append([]byte(in.head), bytes.Repeat(append(tuple(in.columns), ','), rows)...)
		if _, err := in.tx.Exec(string(query[:len(query)-1]), in.args[:rows*in.columns]...); err != nil {
			return err
		}
		in.args = in.args[rows*in.columns:]
	}
	return nil
}

func tuple(columns int) []byte {
	return append(append([]byte("(?"), bytes.Repeat([]byte(", ?"), columns-1)...), ')')
}

func words(b []byte) ([]uint64, error) {
	if len(b)%8 != 0 {
		return nil, errors.New("store: a column of a wrong length")
	}
	var w []uint64
	for ; len(b) > 0; b = b[8:] {
		w = append(w, binary.BigEndian.Uint64(b))
	}
	return w, nil
}

func wordBytes(w []uint64) []byte {
	b := make([]byte, 0, 8*len(w))
	for _, x := range w {
		b = binary.BigEndian.AppendUint64(b, x)
	}
	return b
}

func fixed(dst, b []byte) error {
	if len(b) != len(dst) {
		return errors.New("store: a column of a wrong length")
	}
	copy(dst, b)
	return nil
}
