// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"bufio"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
)

// ErrBroken is what errors about a file's content unwrap to.
var ErrBroken = errors.New("audit: the file was changed or damaged")

// A BrokenError says where a file is broken.
type BrokenError struct {
	Line uint64 // from 1
	Err  error
}

func (e *BrokenError) Error() string { return fmt.Sprintf("audit: line %d: %v", e.Line, e.Err) }

// Unwrap returns [ErrBroken].
func (e *BrokenError) Unwrap() error { return ErrBroken }

// A Report is what Verify found in a file that isn't broken.
type Report struct {
	Records     uint64
	Checkpoints uint64
	Unsigned    uint64   // records after the last checkpoint
	Open        []uint64 // intents without an end: a crash, or still under way
	After       string   // the hash of the last record of the file before this one
	Head        string   // the hash of the last record
	Bytes       int64    // of whole lines
	Torn        int64    // bytes after them: a record that a crash interrupted
	Found       bool     // the hash that was asked for is one of the records'
}

// Verify verifies a file: the form of every line, the chain, the order of records, and
// the signatures of checkpoints by the node's key. known is the hash of a record, usually
// a checkpoint, that the caller has kept, or empty: a file without it is broken.
func Verify(r io.Reader, node ed25519.PublicKey, known string, each func(*Record)) (*Report, error) {
	if len(node) != ed25519.PublicKeySize {
		return nil, errors.New("audit: no key to verify checkpoints with")
	}
	found := false
	open := make(map[uint64]bool)
	report, err := verify(r, node, func(rec *Record) {
		found = found || rec.Prev == known
		switch rec.Kind {
		case Intent:
			open[rec.Seq] = true
		case End:
			delete(open, rec.Of)
		}
		if each != nil {
			each(rec)
		}
	})
	if err != nil {
		return nil, err
	}
	report.Found = known != "" && (found || report.Head == known)
	if known != "" && !report.Found {
		return nil, &BrokenError{report.Records, errors.New("the file ends before the record that is known, or is another one")}
	}
	for seq := range open {
		report.Open = append(report.Open, seq)
	}
	slices.Sort(report.Open)
	return report, nil
}

func verify(r io.Reader, node ed25519.PublicKey, each func(*Record)) (*Report, error) {
	report := new(Report)
	open := make(map[uint64]bool)
	in := bufio.NewReaderSize(r, maxLine)
	for {
		line, whole, err := readLine(in)
		if err != nil {
			return nil, &BrokenError{report.Records + 1, err}
		}
		if !whole {
			report.Torn = int64(len(line))
			return report, nil
		}
		rec, err := parse(line)
		if err == nil {
			err = follows(rec, report, node, open)
		}
		if err != nil {
			return nil, &BrokenError{report.Records + 1, err}
		}
		if report.Records == 0 {
			report.After = rec.Prev
		}
		report.Records++
		report.Unsigned++
		if rec.Kind == Checkpoint {
			report.Checkpoints++
			report.Unsigned = 0
		}
		report.Head = hashLine(line)
		report.Bytes += int64(len(line)) + 1
		each(rec)
	}
}

// follows checks that a record may stand after those that the report is about.
func follows(rec *Record, report *Report, node ed25519.PublicKey, open map[uint64]bool) error {
	switch {
	case rec.Seq != report.Records:
		return fmt.Errorf("record %d where %d should be", rec.Seq, report.Records)
	case rec.Seq > 0 && rec.Prev != report.Head:
		return errors.New("the line before isn't the one that this record was written after")
	case (rec.Kind == Start) != (rec.Seq == 0):
		return errors.New("a start that isn't the first record, or a first record that isn't a start")
	case rec.Kind == Start && rec.Node != hex.EncodeToString(node):
		return errors.New("the file of another node")
	case rec.Kind == Intent:
		open[rec.Seq] = true
	case rec.Kind == End:
		if !open[rec.Of] {
			return fmt.Errorf("the end of record %d, which isn't an intent or has ended", rec.Of)
		}
		delete(open, rec.Of)
	case rec.Kind == Checkpoint:
		sig, err := encoding.DecodeString(rec.Signature)
		if err != nil || len(sig) != ed25519.SignatureSize || !ed25519.Verify(node, rec.signed(), sig) {
			return errors.New("a checkpoint with an invalid signature")
		}
	}
	return nil
}
