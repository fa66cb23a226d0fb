// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Kind says what a record is.
type Kind string

const (
	Start      Kind = "start"      // the first record of a file
	Intent     Kind = "intent"     // something is about to be done
	End        Kind = "end"        // it was done, or not: see Outcome
	Event      Kind = "event"      // something happened that no intent precedes
	Checkpoint Kind = "checkpoint" // the chain so far, signed
)

// An Outcome says how something ended.
type Outcome string

const (
	OK     Outcome = "ok"
	Denied Outcome = "denied" // by policy or by a person, before the secret was used
	Failed Outcome = "failed"
)

func (o Outcome) valid() bool { return o == OK || o == Denied || o == Failed }

// An Entry is what the caller says about something.
type Entry struct {
	Party     string `json:"party,omitempty"`     // fingerprint of who asked for it
	Operation string `json:"operation,omitempty"` // such as threshold.sign
	Key       string `json:"key,omitempty"`       // fingerprint of the key
	Subject   string `json:"subject,omitempty"`   // digest of what it is about, never the message
	Detail    string `json:"detail,omitempty"`    // one line
}

// A Record is a line of the file.
type Record struct {
	Seq  uint64 `json:"seq"` // from 0, without gaps
	Time string `json:"time"`
	Kind Kind   `json:"kind"`
	Of   uint64 `json:"of,omitempty"` // of an end: the intent
	Entry
	Outcome   Outcome `json:"outcome,omitempty"`
	Node      string  `json:"node,omitempty"` // of a start: the node's Ed25519 key, in hexadecimal
	Signature string  `json:"signature,omitempty"`
	Prev      string  `json:"prev"` // SHA-256 of the line before, in hexadecimal
}

const (
	// MaxDetail is the longest field of an entry, in bytes. Longer ones are cut.
	MaxDetail = 1024
	maxLine   = 16 << 10

	timeFormat = "2006-01-02T15:04:05.000000Z"
)

// noHash stands for the line before the first one of the first file.
var noHash = hex.EncodeToString(make([]byte, sha256.Size))

// line returns the record as it stands in the file, without the line feed.
func (r *Record) line() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// parse reads a line and checks its form.
func parse(line []byte) (*Record, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	r := new(Record)
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("not a record: %w", err)
	}
	if again, err := r.line(); err != nil || !bytes.Equal(again, line) {
		return nil, errors.New("not in the one form that records have")
	}
	return r, r.check()
}

// check checks which fields a record of its kind has.
func (r *Record) check() error {
	if _, err := time.Parse(timeFormat, r.Time); err != nil {
		return errors.New("invalid time")
	}
	if b, err := hex.DecodeString(r.Prev); err != nil || len(b) != sha256.Size {
		return errors.New("invalid hash of the line before")
	}
	described, ended := r.Entry != Entry{}, r.Outcome != ""
	valid := false
	switch r.Kind {
	case Start:
		valid = r.Node != "" && r.Of == 0 && !described && !ended && r.Signature == ""
	case Intent:
		valid = r.Node == "" && r.Of == 0 && r.Operation != "" && !ended && r.Signature == ""
	case End:
		valid = r.Node == "" && r.Of != 0 && r.Of < r.Seq && (r.Entry == Entry{Detail: r.Detail}) && r.Signature == "" &&
			r.Outcome.valid()
	case Event:
		valid = r.Node == "" && r.Of == 0 && r.Operation != "" && r.Signature == "" &&
			(!ended || r.Outcome.valid())
	case Checkpoint:
		valid = r.Node == "" && r.Of == 0 && !described && !ended && r.Signature != ""
	default:
		return fmt.Errorf("unknown kind %q", r.Kind)
	}
	if !valid {
		return fmt.Errorf("fields that don't make a record of kind %q", r.Kind)
	}
	return nil
}

// clean makes fields fit for a line: valid, short and without control characters.
func (e Entry) clean() Entry {
	for _, s := range []*string{&e.Party, &e.Operation, &e.Key, &e.Subject, &e.Detail} {
		*s = cleanText(*s)
	}
	return e
}

func cleanText(s string) string {
	var b []byte
	for _, r := range s {
		if !unicode.IsPrint(r) || r == utf8.RuneError { // C1 and marks that reorder text too
			r = '?'
		}
		if len(b)+utf8.RuneLen(r) > MaxDetail {
			break
		}
		b = utf8.AppendRune(b, r)
	}
	return string(b)
}

// signed returns what a checkpoint's signature is of: its own place and time in the
// chain, and by the hash before it all of the chain.
func (r *Record) signed() []byte {
	return fmt.Appendf(nil, "undersign/audit/v1\n%d\n%s\n%s\n", r.Seq, r.Time, r.Prev)
}

func hashLine(line []byte) string {
	h := sha256.Sum256(line)
	return hex.EncodeToString(h[:])
}

var encoding = base64.StdEncoding.Strict()
