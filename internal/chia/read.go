// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package chia

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/undersign/undersign/bls"
)

// MaxFile is the greatest length of a file of blocks.
const MaxFile = 64 << 20

// A File is blocks or spend bundles of one network.
type File struct {
	Network string
	Blocks  []Block
}

type jsonFile struct {
	Network        string     `json:"network"`
	AdditionalData string     `json:"additional_data"`
	Scheme         string     `json:"scheme"`
	DST            string     `json:"dst"`
	MessageRule    string     `json:"message_rule"`
	Note           string     `json:"note"`
	Provenance     string     `json:"provenance"`
	Cases          []jsonCase `json:"cases"`
}

type jsonCase struct {
	Height     uint32     `json:"height"`
	Source     string     `json:"source"`
	Spends     uint32     `json:"spends"`
	PairsCount *int       `json:"pairs_count"`
	Signature  *string    `json:"aggregated_signature"`
	Valid      *bool      `json:"valid"`
	Pairs      []jsonPair `json:"pairs"`
}

type jsonPair struct {
	PK        string `json:"pk"`
	Msg       string `json:"msg"`
	Condition string `json:"condition"`
	CoinID    string `json:"coin_id"`
}

// ReadFile reads blocks or spend bundles from JSON: an object with "cases", each with
// "pairs" of "pk" and "msg" and the "aggregated_signature", in hexadecimal. The other
// fields, which say where the data is from, may be missing, but no unknown ones be
// there. If "dst" or "pairs_count" is there, it must be right.
//
// Keys and signatures are checked for their length only: the rest is for [Block.Verify].
func ReadFile(r io.Reader) (*File, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return nil, err
	}
	if len(b) > MaxFile {
		return nil, fmt.Errorf("%w: more than %d MiB", ErrFormat, MaxFile>>20)
	}
	var f jsonFile
	if err := strictJSON(b, &f); err != nil {
		return nil, err
	}
	if want := bls.Augmented.Ciphersuite(); f.DST != "" && f.DST != want {
		return nil, fmt.Errorf("%w: signatures under the tag %q instead of %q", ErrFormat, f.DST, want)
	}
	out := &File{Network: f.Network}
	for i, c := range f.Cases {
		block, err := c.block()
		if err != nil {
			return nil, fmt.Errorf("%w: case %d: %w", ErrFormat, i, err)
		}
		out.Blocks = append(out.Blocks, *block)
	}
	if len(out.Blocks) == 0 {
		return nil, fmt.Errorf("%w: no cases", ErrFormat)
	}
	return out, nil
}

func (c *jsonCase) block() (*Block, error) {
	if c.PairsCount != nil && *c.PairsCount != len(c.Pairs) {
		return nil, fmt.Errorf("%d pairs, and a count of %d", len(c.Pairs), *c.PairsCount)
	}
	b := &Block{Name: c.Source, Pairs: make([]Pair, len(c.Pairs))}
	for i, p := range c.Pairs {
		key, err := fixedHex(p.PK, bls.PublicKeySize)
		if err != nil {
			return nil, fmt.Errorf("pair %d: pk: %w", i, err)
		}
		copy(b.Pairs[i].Key[:], key)
		if b.Pairs[i].Msg, err = lowerHex(p.Msg); err != nil {
			return nil, fmt.Errorf("pair %d: msg: %w", i, err)
		}
	}
	if c.Signature != nil {
		var err error
		if b.Signature, err = fixedHex(*c.Signature, bls.SignatureSize); err != nil {
			return nil, fmt.Errorf("aggregated_signature: %w", err)
		}
	}
	return b, nil
}

// lowerHex reads hexadecimal in lower case, with 0x before it or not.
func lowerHex(s string) ([]byte, error) {
	if len(s) >= 2 && s[:2] == "0x" {
		s = s[2:]
	}
	b, err := hex.DecodeString(s)
	if err != nil || hex.EncodeToString(b) != s {
		return nil, fmt.Errorf("not hexadecimal in lower case")
	}
	return b, nil
}

func fixedHex(s string, n int) ([]byte, error) {
	b, err := lowerHex(s)
	if err == nil && len(b) != n {
		err = fmt.Errorf("%d bytes instead of %d", len(b), n)
	}
	return b, err
}

// strictJSON decodes one value, without unknown or repeated fields, in UTF-8, and with
// nothing behind it.
func strictJSON(b []byte, v any) error {
	if !utf8.Valid(b) {
		return fmt.Errorf("%w: not UTF-8", ErrFormat)
	}
	if err := noDuplicates(json.NewDecoder(bytes.NewReader(b)), 0); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("%w: something after the end of the JSON", ErrFormat)
	}
	return nil
}

// maxNesting is more than any of the formats has.
const maxNesting = 16

// noDuplicates reads one value and looks for fields that are there twice, or nearly so.
func noDuplicates(dec *json.Decoder, depth int) error {
	t, err := dec.Token()
	if err != nil {
		return fmt.Errorf("%w: not JSON: %w", ErrFormat, err)
	}
	d, ok := t.(json.Delim)
	if !ok {
		return nil
	}
	if depth == maxNesting {
		return fmt.Errorf("%w: JSON nested too deeply", ErrFormat)
	}
	seen := map[string]bool{}
	for dec.More() {
		if d == '{' {
			name, err := dec.Token()
			if err != nil {
				return fmt.Errorf("%w: not JSON: %w", ErrFormat, err)
			}
			s := name.(string)
			if seen[s] {
				return fmt.Errorf("%w: two fields %q", ErrFormat, s)
			}
			if s != strings.ToLower(s) { // which encoding/json takes for the same name
				return fmt.Errorf("%w: unknown field %q", ErrFormat, s)
			}
			seen[s] = true
		}
		if err := noDuplicates(dec, depth+1); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("%w: not JSON: %w", ErrFormat, err)
	}
	return nil
}
