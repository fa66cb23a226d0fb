// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package sm2stream verifies files of SM2 signatures of any length, and makes
// such files for tests.
//
// A file is JSON lines or binary records; docs/formats/sm2-batch.md defines both.
// Verify reads it in blocks, which all processors parse and verify side by side,
// each as a batch of package sm2, with one cache of tables for all. However long
// the file is, no more blocks are in memory than a few for each processor. What
// can't be read is reported, like a bad signature, and the next record is
// verified as if nothing had happened.
//
// Most callers want the command, undersign sm2 batch.
package sm2stream

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/undersign/undersign/sm2"
)

// A Format is how a file holds its records.
type Format uint8

const (
	// JSONLines is a JSON object a line.
	JSONLines Format = 1 + iota
	// Binary is a header and records of one size.
	Binary
)

// String returns the format's name.
func (f Format) String() string {
	switch f {
	case JSONLines:
		return "jsonl"
	case Binary:
		return "binary"
	}
	return fmt.Sprintf("format %d", uint8(f))
}

// ParseFormat is the reverse of String.
func ParseFormat(name string) (Format, error) {
	for _, f := range []Format{JSONLines, Binary} {
		if name == f.String() {
			return f, nil
		}
	}
	return 0, fmt.Errorf("sm2stream: format %q isn't jsonl or binary", name)
}

// encodings are the names of signature encodings.
var encodings = map[string]sm2.Encoding{
	"der":     sm2.DER,
	"raw":     sm2.Raw64,
	"skf":     sm2.SKF128,
	"raw-key": sm2.Raw128WithKey,
}

// ParseEncoding returns the signature encoding of a name: der, raw, skf or raw-key.
func ParseEncoding(name string) (sm2.Encoding, error) {
	if enc, ok := encodings[name]; ok {
		return enc, nil
	}
	return 0, fmt.Errorf("sm2stream: encoding %q isn't der, raw, skf or raw-key", name)
}

// EncodingName is the reverse of ParseEncoding.
func EncodingName(enc sm2.Encoding) string {
	for name, e := range encodings {
		if e == enc {
			return name
		}
	}
	return "der"
}

// hints are the names of hints.
var hints = map[string]sm2.Hint{
	"none": sm2.NoHint, "even": sm2.HintEven, "odd": sm2.HintOdd, "low": sm2.HintLow, "high": sm2.HintHigh,
}

// ParseHint returns the hint of a name: none, even, odd, low or high.
func ParseHint(name string) (sm2.Hint, error) {
	if hint, ok := hints[name]; ok {
		return hint, nil
	}
	return 0, fmt.Errorf("sm2stream: hint %q isn't none, even, odd, low or high", name)
}

// maxID is the longest ID that has a length in bits of 16 bits.
const maxID = 0x1fff

// ParseID reads a signer's ID: default, empty, none (no Z at all), hex:HEX,
// text:TEXT, or a text that is none of these.
func ParseID(s string) (sm2.UID, error) {
	id, err := idBytes(s)
	if err != nil {
		return sm2.UID{}, err
	}
	switch {
	case s == "default":
		return sm2.UID{}, nil
	case s == "none":
		return sm2.NoUID(), nil
	case len(id) > maxID:
		return sm2.UID{}, fmt.Errorf("sm2stream: an ID of %d bytes, and at most %d are allowed", len(id), maxID)
	}
	return sm2.NewUID(id), nil
}

func idBytes(s string) ([]byte, error) {
	if s == "default" || s == "empty" || s == "none" {
		return nil, nil
	}
	if text, ok := strings.CutPrefix(s, "text:"); ok {
		return []byte(text), nil
	}
	if digits, ok := strings.CutPrefix(s, "hex:"); ok {
		id, err := hex.DecodeString(digits)
		if err != nil {
			return nil, fmt.Errorf("sm2stream: the ID %q isn't hexadecimal", s)
		}
		return id, nil
	}
	if s == "" {
		return nil, errors.New("sm2stream: no ID: it is called empty, or default")
	}
	return []byte(s), nil
}

// A Bad says which record of a file is bad, and why.
type Bad struct {
	Line   int64  `json:"line,omitempty"`   // of JSON lines, from 1
	Record int64  `json:"record,omitempty"` // of binary records, from 1
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// Malformed is the Reason of a record that can't be read. Those of others are the
// words of sm2.Reason.
const Malformed = "malformed"

func (f Format) bad(number int64, reason, detail string) Bad {
	b := Bad{Reason: reason, Detail: detail}
	if f == Binary {
		b.Record = number
	} else {
		b.Line = number
	}
	return b
}
