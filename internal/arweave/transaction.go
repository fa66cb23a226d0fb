// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package arweave reads, signs and verifies Arweave transactions of RSA
// wallets: the JSON that nodes take and give, the bytes that are signed, ids
// and addresses.
//
// A transaction's owner is a 4096-bit modulus with public exponent 65537, and
// its signature RSASSA-PSS with SHA-256 over the message: the deep hash of the
// fields in format 2, their concatenation in format 1. Signers don't agree on
// the salt, so any length verifies. Format 1 is for reading: its message has no
// separators, so that it doesn't say where one field ends, and this package
// won't prepare one for signing. Wallets of other kinds (ECDSA) are refused.
package arweave

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// A Transaction holds the fields of a transaction, decoded. Amounts are in
// winston and, with the data size, canonical decimals.
type Transaction struct {
	Format    int    // 1 or 2
	ID        []byte // SHA-256 of the signature; empty before that
	LastTx    []byte // anchor: an id, the hash of a block, or empty
	Owner     []byte // modulus of the wallet's key; empty before it is known
	Tags      []Tag
	Target    []byte // address of who gets Quantity, or empty
	Quantity  string
	Data      []byte // in format 2 it may be sent apart
	DataSize  string
	DataRoot  []byte // format 2: see DataRoot
	Reward    string
	Signature []byte
}

// A Tag is a name and a value; both are bytes, mostly text.
type Tag struct {
	Name, Value []byte
}

const (
	hashSize  = 32
	blockSize = 48 // hash of a block
	keySize   = 512

	// maxDigits bounds the decimals. The protocol has 21 digits.
	maxDigits = 21
	maxTags   = 2048
)

// Parse reads a transaction as JSON. It is strict: every field at most once and
// under its exact name, no unknown ones, canonical base64url and decimals. The
// fields that a signature brings, and those that are empty in most transactions,
// may be missing.
func Parse(data []byte) (*Transaction, error) {
	fields, err := object(data)
	if err != nil {
		return nil, err
	}
	t := &Transaction{Quantity: "0", DataSize: "0"}
	for _, name := range []string{"format", "reward"} {
		if fields[name] == nil {
			return nil, fmt.Errorf("arweave: no %s", name)
		}
	}
	for name, raw := range fields {
		if err := t.set(name, raw); err != nil {
			return nil, fmt.Errorf("arweave: %s: %w", name, err)
		}
	}
	return t, nil
}

func (t *Transaction) set(name string, raw json.RawMessage) (err error) {
	switch name {
	case "format":
		switch string(raw) {
		case "1", "2":
			t.Format = int(raw[0] - '0')
		default:
			return errors.New("not 1 or 2")
		}
	case "id":
		t.ID, err = blob(raw, 0, hashSize)
	case "last_tx":
		t.LastTx, err = blob(raw, 0, hashSize, blockSize)
	case "owner":
		t.Owner, err = blob(raw, 0, keySize)
	case "tags":
		t.Tags, err = tags(raw)
	case "target":
		t.Target, err = blob(raw, 0, hashSize)
	case "quantity":
		t.Quantity, err = decimal(raw)
	case "data":
		t.Data, err = blob(raw)
	case "data_size":
		t.DataSize, err = decimal(raw)
	case "data_root":
		t.DataRoot, err = blob(raw, 0, hashSize)
	case "data_tree":
		// Nothing signs it, and nodes don't look at it.
		var tree []json.RawMessage
		if json.Unmarshal(raw, &tree) != nil || len(tree) > 0 {
			err = errors.New("not an empty list")
		}
	case "reward":
		t.Reward, err = decimal(raw)
	case "signature":
		t.Signature, err = blob(raw, 0, keySize)
	default:
		err = errors.New("unknown field")
	}
	return err
}

// object reads one JSON object and nothing after it. Names are compared exactly,
// and may not occur twice, unlike in encoding/json.
func object(data []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if tok, err := d.Token(); err != nil || tok != json.Delim('{') {
		return nil, errors.New("arweave: not a JSON object")
	}
	fields := map[string]json.RawMessage{}
	for d.More() {
		tok, err := d.Token()
		if err != nil {
			return nil, syntaxError(err)
		}
		name, _ := tok.(string)
		if _, ok := fields[name]; ok {
			return nil, fmt.Errorf("arweave: the field %q occurs twice", name)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, syntaxError(err)
		}
		fields[name] = raw
	}
	if _, err := d.Token(); err != nil {
		return nil, syntaxError(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("arweave: data after the JSON object")
	}
	return fields, nil
}

func syntaxError(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("arweave: the JSON text ends too early")
	}
	return fmt.Errorf("arweave: %w", err)
}

func text(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", errors.New("not a string")
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// blob reads unpadded base64url. sizes are the lengths allowed; none is any.
func blob(raw json.RawMessage, sizes ...int) ([]byte, error) {
	s, err := text(raw)
	if err != nil {
		return nil, err
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	// Go's decoder skips line breaks.
	if err != nil || base64.RawURLEncoding.EncodedLen(len(b)) != len(s) {
		return nil, errors.New("not base64url without padding")
	}
	for _, n := range sizes {
		if len(b) == n {
			return b, nil
		}
	}
	if len(sizes) > 0 {
		return nil, fmt.Errorf("%d bytes, not one of %d", len(b), sizes)
	}
	return b, nil
}

func decimal(raw json.RawMessage) (string, error) {
	s, err := text(raw)
	if err != nil {
		return "", err
	}
	return s, checkDecimal(s)
}

func checkDecimal(s string) error {
	if s == "" || len(s) > maxDigits || len(s) > 1 && s[0] == '0' {
		return errors.New("not a canonical decimal")
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return errors.New("not a canonical decimal")
		}
	}
	return nil
}

func tags(raw json.RawMessage) ([]Tag, error) {
	var list []json.RawMessage
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		return nil, errors.New("not a list")
	}
	if len(list) > maxTags {
		return nil, fmt.Errorf("more than %d", maxTags)
	}
	var out []Tag
	for i, raw := range list {
		fields, err := object(raw)
		if err != nil || len(fields) != 2 || fields["name"] == nil || fields["value"] == nil {
			return nil, fmt.Errorf("number %d isn't an object of name and value", i+1)
		}
		name, err := blob(fields["name"])
		if err != nil {
			return nil, fmt.Errorf("name of number %d: %w", i+1, err)
		}
		value, err := blob(fields["value"])
		if err != nil {
			return nil, fmt.Errorf("value of number %d: %w", i+1, err)
		}
		out = append(out, Tag{name, value})
	}
	return out, nil
}

// jsonTag and jsonTx have the fields in the order that nodes use.
type jsonTag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type jsonTx struct {
	Format    int        `json:"format"`
	ID        string     `json:"id"`
	LastTx    string     `json:"last_tx"`
	Owner     string     `json:"owner"`
	Tags      []jsonTag  `json:"tags"`
	Target    string     `json:"target"`
	Quantity  string     `json:"quantity"`
	Data      string     `json:"data"`
	DataSize  string     `json:"data_size"`
	DataTree  []struct{} `json:"data_tree"`
	DataRoot  string     `json:"data_root"`
	Reward    string     `json:"reward"`
	Signature string     `json:"signature"`
}

// MarshalJSON returns the transaction as nodes take it.
func (t *Transaction) MarshalJSON() ([]byte, error) {
	j := jsonTx{
		Format: t.Format, ID: encode(t.ID), LastTx: encode(t.LastTx), Owner: encode(t.Owner),
		Tags: []jsonTag{}, Target: encode(t.Target), Quantity: t.Quantity, Data: encode(t.Data),
		DataSize: t.DataSize, DataTree: []struct{}{}, DataRoot: encode(t.DataRoot),
		Reward: t.Reward, Signature: encode(t.Signature),
	}
	for _, tag := range t.Tags {
		j.Tags = append(j.Tags, jsonTag{encode(tag.Name), encode(tag.Value)})
	}
	return json.Marshal(j)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// CheckData checks that what a transaction of format 2 says about its data is
// consistent, and that data which comes with it is the data it commits to.
func (t *Transaction) CheckData() error {
	if t.Format != 2 {
		return nil
	}
	if (t.DataSize == "0") != (len(t.DataRoot) == 0) {
		return errors.New("arweave: data_size and data_root contradict each other")
	}
	if len(t.Data) == 0 {
		return nil
	}
	if t.DataSize != strconv.Itoa(len(t.Data)) {
		return fmt.Errorf("arweave: data_size is %s, but there are %d bytes of data", t.DataSize, len(t.Data))
	}
	if !bytes.Equal(t.DataRoot, DataRoot(t.Data)) {
		return errors.New("arweave: data_root isn't the root of the data")
	}
	return nil
}
