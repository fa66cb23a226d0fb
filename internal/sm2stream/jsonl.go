// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2stream

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/undersign/undersign/sm2"
)

// Fields of a line, by their names.
const (
	fieldKey = iota
	fieldID
	fieldMessage
	fieldDigest
	fieldSignature
	fieldEncoding
	fieldHint
	numFields
)

var fieldNames = [numFields]string{"key", "id", "message", "digest", "signature", "encoding", "hint"}

// fields are the values of a line, nil where there is none.
type fields [numFields][]byte

func fieldOf(name []byte) int {
	for i, s := range fieldNames {
		if string(name) == s {
			return i
		}
	}
	return -1
}

// parse reads a line: an object with the fields, each at most once and a
// string. Other names may be there, with anything as their values.
func (f *fields) parse(line []byte) error {
	*f = fields{}
	if f.parseFast(line) {
		return nil
	}
	*f = fields{}
	return f.parseAny(line)
}

// parseFast reads the usual lines, in which all values are strings of ASCII
// characters without escapes. It is false for all others, good or not. The values
// are parts of the line.
func (f *fields) parseFast(line []byte) bool {
	p := skipSpace(line)
	if len(p) == 0 || p[0] != '{' {
		return false
	}
	for {
		name, rest, ok := plainString(skipSpace(p[1:]))
		if !ok {
			return false
		}
		p = skipSpace(rest)
		if len(p) == 0 || p[0] != ':' {
			return false
		}
		value, rest, ok := plainString(skipSpace(p[1:]))
		if !ok {
			return false
		}
		if i := fieldOf(name); i >= 0 {
			if f[i] != nil {
				return false
			}
			f[i] = value
		}
		if p = skipSpace(rest); len(p) == 0 {
			return false
		}
		switch p[0] {
		case ',':
		case '}':
			return len(skipSpace(p[1:])) == 0
		default:
			return false
		}
	}
}

func skipSpace(p []byte) []byte {
	for len(p) > 0 && (p[0] == ' ' || p[0] == '\t' || p[0] == '\r' || p[0] == '\n') {
		p = p[1:]
	}
	return p
}

// plainString returns the string at the start of p, which isn't nil, and what
// follows it.
func plainString(p []byte) (s, rest []byte, ok bool) {
	if len(p) == 0 || p[0] != '"' {
		return nil, nil, false
	}
	p = p[1:]
	n := bytes.IndexByte(p, '"')
	if n < 0 {
		return nil, nil, false
	}
	for _, c := range p[:n] {
		if c < 0x20 || c >= 0x7f || c == '\\' {
			return nil, nil, false
		}
	}
	return p[:n:n], p[n+1:], true
}

// parseAny reads any line, by encoding/json.
func (f *fields) parseAny(line []byte) error {
	if !utf8.Valid(line) {
		return errors.New("not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return errors.New("not a JSON object")
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return errors.New("not JSON")
		}
		name, ok := t.(string)
		if !ok {
			return errors.New("not JSON")
		}
		i := fieldOf([]byte(name))
		if i < 0 {
			var skipped json.RawMessage
			if err := dec.Decode(&skipped); err != nil {
				return errors.New("not JSON")
			}
			continue
		}
		if f[i] != nil {
			return fmt.Errorf("two fields %q", name)
		}
		if t, err = dec.Token(); err != nil {
			return errors.New("not JSON")
		}
		value, ok := t.(string)
		if !ok {
			return fmt.Errorf("field %q isn't a string", name)
		}
		f[i] = append([]byte{}, value...)
	}
	if _, err := dec.Token(); err != nil {
		return errors.New("not JSON")
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("more than one JSON value")
	}
	return nil
}

// appendBytes appends the bytes that a value stands for: hexadecimal digits, with
// hex: or nothing before them, base64: and RFC 4648 base64, or text: and a text.
func appendBytes(dst, value []byte) ([]byte, error) {
	switch {
	case bytes.HasPrefix(value, []byte("text:")):
		return append(dst, value[5:]...), nil
	case bytes.HasPrefix(value, []byte("base64:")):
		if bytes.ContainsAny(value, "\r\n") { // which the decoder would pass over
			return dst, errors.New("isn't base64")
		}
		out, err := base64.StdEncoding.Strict().AppendDecode(dst, value[7:])
		if err != nil {
			return dst, errors.New("isn't base64")
		}
		return out, nil
	case bytes.HasPrefix(value, []byte("hex:")):
		value = value[4:]
	}
	out, err := hex.AppendDecode(dst, value)
	if err != nil {
		return dst, errors.New("isn't hexadecimal, and has no prefix (base64:, text:)")
	}
	return out, nil
}

// line turns a line into an item, whose parts are valid until the next call. What
// is wrong with a key or a signature is for the batch to say.
func (p *parser) line(line []byte) (it sm2.Item, err error) {
	f := &p.fields
	if err := f.parse(line); err != nil {
		return it, err
	}
	if f[fieldSignature] == nil {
		return it, errors.New("no signature")
	}
	if (f[fieldMessage] == nil) == (f[fieldDigest] == nil) {
		return it, errors.New("neither a message nor a digest, or both")
	}
	if f[fieldID] != nil && f[fieldDigest] != nil {
		return it, errors.New("an id, which goes with a message only")
	}
	it.Encoding = p.opts.Encoding
	if name := f[fieldEncoding]; name != nil {
		enc, ok := encodings[string(name)]
		if !ok {
			return it, fmt.Errorf("encoding %.20q isn't der, raw, skf or raw-key", name)
		}
		it.Encoding = enc
	}
	if name := f[fieldHint]; name != nil {
		hint, ok := hints[string(name)]
		if !ok {
			return it, fmt.Errorf("hint %.20q isn't none, even, odd, low or high", name)
		}
		it.Hint = hint
	}
	if f[fieldID] != nil {
		if it.UID, err = p.id(f[fieldID]); err != nil {
			return it, err
		}
	}
	p.arena = p.arena[:0]
	if f[fieldMessage] != nil {
		if it.Message, err = p.bytes(fieldMessage); err != nil {
			return it, err
		}
	} else if it.Digest, err = p.bytes(fieldDigest); err != nil {
		return it, err
	} else if len(it.Digest) != 32 {
		return it, fmt.Errorf("a digest of %d bytes: SM3 has 32", len(it.Digest))
	}
	if it.Signature, err = p.bytes(fieldSignature); err != nil {
		return it, err
	}
	if f[fieldKey] == nil {
		if it.Encoding != sm2.Raw128WithKey {
			return it, errors.New("no key")
		}
		return it, nil
	}
	key, err := p.bytes(fieldKey)
	if err != nil {
		return it, err
	}
	it.PublicKey = p.key(key)
	return it, nil
}

// bytes decodes a field into the arena. The result isn't nil.
func (p *parser) bytes(field int) ([]byte, error) {
	at := len(p.arena)
	var err error
	if p.arena, err = appendBytes(p.arena, p.fields[field]); err != nil {
		return nil, fmt.Errorf("%s %w", fieldNames[field], err)
	}
	if p.arena == nil {
		p.arena = make([]byte, 0, 256)
	}
	return p.arena[at:len(p.arena):len(p.arena)], nil
}
