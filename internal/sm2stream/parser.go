// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2stream

import (
	"crypto/ecdsa"
	"fmt"

	"github.com/undersign/undersign/sm2"
)

// maxKeys bounds the keys and IDs that a parser remembers.
const maxKeys = 8192

// A parser turns records into items. Keys that recur are parsed once.
type parser struct {
	opts   *Options
	header header // of binary files
	fields fields
	arena  []byte
	keys   map[string]*ecdsa.PublicKey
	ids    map[string]*sm2.UID
}

func newParser(opts *Options, h header) *parser {
	return &parser{opts: opts, header: h, keys: map[string]*ecdsa.PublicKey{}, ids: map[string]*sm2.UID{}}
}

// notAKey stands for a key that isn't one. Not nil, which would leave the choice
// to a signature that comes with a key.
var notAKey = new(ecdsa.PublicKey)

// key returns a public key, or notAKey.
func (p *parser) key(b []byte) *ecdsa.PublicKey {
	k, ok := p.keys[string(b)]
	if ok {
		return k
	}
	k, err := sm2.ParsePublicKey(b)
	if err != nil {
		k = notAKey
	}
	if len(p.keys) >= maxKeys {
		clear(p.keys)
	}
	if len(b) <= maxKeySize {
		p.keys[string(b)] = k
	}
	return k
}

// maxKeySize is more than any SubjectPublicKeyInfo of a key on a named curve has.
const maxKeySize = 256

func (p *parser) id(text []byte) (*sm2.UID, error) {
	if id, ok := p.ids[string(text)]; ok {
		return id, nil
	}
	id, err := ParseID(string(text))
	if err != nil {
		return nil, fmt.Errorf("id: %w", err)
	}
	if len(p.ids) >= maxKeys {
		clear(p.ids)
	}
	if len(text) <= maxKeySize {
		p.ids[string(text)] = &id
	}
	return &id, nil
}
