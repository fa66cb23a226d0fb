// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
)

// A document of another library is read member by member instead of into a
// struct: encoding/json folds case, keeps the last of two equal names and turns
// null into zero, and each of those lets two readers see two keys in one file.

// maxForeignDocument bounds a document: 255 verification values of 8192 bits
// in hexadecimal are half of it.
const maxForeignDocument = 1 << 20

// object is a JSON object whose names are unique and known.
type object struct {
	what    string // for errors
	members map[string]json.RawMessage
}

// parseObject reads exactly one JSON object. Members whose name isn't among
// known are refused, unless known is empty.
func parseObject(what string, data []byte, known ...string) (*object, error) {
	if len(data) > maxForeignDocument {
		return nil, fmt.Errorf("thresholdrsa: %s: longer than %d bytes", what, maxForeignDocument)
	}
	o := &object{what: what, members: make(map[string]json.RawMessage)}
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, o.errorf("", "not a JSON object")
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, o.errorf("", "malformed JSON")
		}
		name, ok := t.(string)
		if !ok {
			return nil, o.errorf("", "malformed JSON")
		}
		if _, dup := o.members[name]; dup {
			return nil, o.errorf("", "member %.40q twice", name)
		}
		if len(known) > 0 && !slices.Contains(known, name) {
			return nil, o.errorf("", "unknown member %.40q", name)
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, o.errorf(name, "malformed JSON")
		}
		o.members[name] = raw
	}
	if _, err := dec.Token(); err != nil {
		return nil, o.errorf("", "malformed JSON")
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, o.errorf("", "more than one JSON value")
	}
	return o, nil
}

// errorf never gets a value of the document, which may be secret.
func (o *object) errorf(name, format string, args ...any) error {
	msg := fmt.Sprintf(format, args...)
	if name == "" {
		return fmt.Errorf("thresholdrsa: %s: %s", o.what, msg)
	}
	return fmt.Errorf("thresholdrsa: %s: %.40q: %s", o.what, name, msg)
}

func (o *object) has(name string) bool {
	_, ok := o.members[name]
	return ok
}

func (o *object) raw(name string) (json.RawMessage, error) {
	raw, ok := o.members[name]
	if !ok {
		return nil, o.errorf(name, "missing")
	}
	return raw, nil
}

// integer returns a plain decimal number, without sign, fraction or exponent.
func (o *object) integer(name string, min, max int) (int, error) {
	raw, err := o.raw(name)
	if err != nil {
		return 0, err
	}
	if !isDecimal(raw) {
		return 0, o.errorf(name, "not a positive whole number")
	}
	v, err := strconv.ParseInt(string(raw), 10, strconv.IntSize)
	if err != nil || int(v) < min || int(v) > max {
		return 0, o.errorf(name, "not within %d and %d", min, max)
	}
	return int(v), nil
}

// decimal returns a natural number written out as a JSON number, which is how
// encoding/json writes a *big.Int.
func (o *object) decimal(name string) (*big.Int, error) {
	raw, err := o.raw(name)
	if err != nil {
		return nil, err
	}
	if !isDecimal(raw) {
		return nil, o.errorf(name, "not a positive whole number")
	}
	if len(raw) > MaxBits/3 { // log2(10) > 3
		return nil, o.errorf(name, "longer than %d bits", MaxBits)
	}
	x, ok := new(big.Int).SetString(string(raw), 10)
	if !ok {
		return nil, o.errorf(name, "not a positive whole number")
	}
	return x, nil
}

func isDecimal(raw []byte) bool {
	for _, c := range raw {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(raw) > 0
}

func (o *object) text(name string) (string, error) {
	raw, err := o.raw(name)
	if err != nil {
		return "", err
	}
	return o.textOf(name, raw)
}

func (o *object) textOf(name string, raw json.RawMessage) (string, error) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", o.errorf(name, "not a string")
	}
	return s, nil
}

// A number is the spelling of a natural number inside a JSON string.
type number func(string) (*big.Int, error)

func (o *object) number(name string, parse number) (*big.Int, error) {
	raw, err := o.raw(name)
	if err != nil {
		return nil, err
	}
	return o.numberOf(name, raw, parse)
}

func (o *object) numberOf(name string, raw json.RawMessage, parse number) (*big.Int, error) {
	s, err := o.textOf(name, raw)
	if err != nil {
		return nil, err
	}
	x, err := parse(s)
	if err != nil {
		return nil, o.errorf(name, "%v", err)
	}
	return x, nil
}

// numbers returns an array of exactly count numbers.
func (o *object) numbers(name string, count int, parse number) ([]*big.Int, error) {
	raw, err := o.raw(name)
	if err != nil {
		return nil, err
	}
	raws, err := splitArray(raw, count)
	if err != nil || len(raws) != count {
		return nil, o.errorf(name, "not an array of %d numbers", count)
	}
	xs := make([]*big.Int, count)
	for i, raw := range raws {
		if xs[i], err = o.numberOf(fmt.Sprintf("%s[%d]", name, i), raw, parse); err != nil {
			return nil, err
		}
	}
	return xs, nil
}

var errArray = errors.New("not an array of the expected length")

// splitArray returns the elements of a JSON array of at most max elements.
func splitArray(data []byte, max int) ([]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return nil, errArray
	}
	var raws []json.RawMessage
	for dec.More() {
		var raw json.RawMessage
		if len(raws) == max || dec.Decode(&raw) != nil {
			return nil, errArray
		}
		raws = append(raws, raw)
	}
	if _, err := dec.Token(); err != nil {
		return nil, errArray
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errArray
	}
	return raws, nil
}

// base64Number reads what encoding/json makes of a []byte that came from
// big.Int.Bytes.
func base64Number(s string) (*big.Int, error) {
	return decodeNumber(base64.StdEncoding.Strict(), s)
}

// base64urlNumber reads Base64urlUInt, RFC 7518 section 2. Leading zero octets,
// which the RFC forbids and some writers produce, don't change the number and
// are let through.
func base64urlNumber(s string) (*big.Int, error) {
	return decodeNumber(base64.RawURLEncoding.Strict(), s)
}

func decodeNumber(enc *base64.Encoding, s string) (*big.Int, error) {
	if s == "" {
		return nil, errors.New("empty")
	}
	if len(s) > MaxBits/8*4/3+4 {
		return nil, fmt.Errorf("longer than %d bits", MaxBits)
	}
	// The decoder skips line breaks, so one number would have many spellings.
	if bytes.ContainsAny([]byte(s), "\r\n") {
		return nil, errors.New("malformed base64")
	}
	b, err := enc.DecodeString(s)
	if err != nil {
		return nil, errors.New("malformed base64")
	}
	defer clear(b)
	return new(big.Int).SetBytes(b), nil
}

// hexNumber reads OpenSSL's BN_bn2hex, of a number that isn't negative.
func hexNumber(s string) (*big.Int, error) {
	if s == "" {
		return nil, errors.New("empty")
	}
	if len(s) > MaxBits/4+2 {
		return nil, fmt.Errorf("longer than %d bits", MaxBits)
	}
	for _, c := range []byte(s) {
		if !('0' <= c && c <= '9' || 'A' <= c && c <= 'F' || 'a' <= c && c <= 'f') {
			return nil, errors.New("not hexadecimal")
		}
	}
	x, ok := new(big.Int).SetString(s, 16)
	if !ok {
		return nil, errors.New("not hexadecimal")
	}
	return x, nil
}
