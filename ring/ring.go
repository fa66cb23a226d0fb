// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"bytes"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// MaxKeys is how many keys a ring has at the most, and MinKeys at the least.
const (
	MinKeys = 2
	MaxKeys = 1 << 16
)

// A Ring is a list of different keys of one group, in ascending order of their encodings.
// It is immutable, and may be used by several goroutines.
type Ring struct {
	group   Group
	encoded [][]byte
	keys    keys
	digest  [32]byte
}

var errNoRing = errors.New("ring: no ring")

// NewRing returns the ring of some keys, in whatever order. The same key twice is an
// error: it would hide less than it seems.
func NewRing(list ...*PublicKey) (*Ring, error) {
	if len(list) < MinKeys || len(list) > MaxKeys {
		return nil, fmt.Errorf("ring: %d keys; a ring has %d to %d", len(list), MinKeys, MaxKeys)
	}
	encoded := make([][]byte, len(list))
	for i, k := range list {
		if k == nil || k.group == 0 {
			return nil, fmt.Errorf("ring: key %d: none", i)
		}
		if k.group != list[0].group {
			return nil, fmt.Errorf("ring: key %d is of %s, and the first of %s", i, k.group, list[0].group)
		}
		encoded[i] = k.point
	}
	slices.SortFunc(encoded, bytes.Compare)
	for i := 1; i < len(encoded); i++ {
		if bytes.Equal(encoded[i-1], encoded[i]) {
			return nil, fmt.Errorf("ring: the key %x is there twice", encoded[i])
		}
	}
	return newRing(list[0].group, encoded)
}

// newRing makes the ring of keys in order.
func newRing(g Group, encoded [][]byte) (*Ring, error) {
	keys, err := groups[g].newKeys(encoded)
	if err != nil {
		return nil, err
	}
	t := new(transcript.Items).Bytes("undersign/ring/v1", []byte(g.String())).Uint64("keys", uint64(len(encoded)))
	for _, b := range encoded {
		t.Bytes("key", b)
	}
	return &Ring{g, encoded, keys, t.Sum()}, nil
}

// Group returns the ring's group.
func (r *Ring) Group() Group { return r.group }

// Len returns the number of keys.
func (r *Ring) Len() int { return len(r.encoded) }

// Key returns the key at a place, in ascending order of encodings.
func (r *Ring) Key(i int) *PublicKey { return &PublicKey{r.group, r.encoded[i]} }

// Contains reports whether a key is in the ring, without showing where.
func (r *Ring) Contains(k *PublicKey) bool {
	if k == nil || k.group != r.group {
		return false
	}
	found := 0
	for _, b := range r.encoded {
		found |= subtle.ConstantTimeCompare(b, k.point)
	}
	return found == 1
}

// Digest names the ring. It depends on the set of keys alone.
func (r *Ring) Digest() [32]byte { return r.digest }

// Equal reports whether x has the same keys.
func (r *Ring) Equal(x *Ring) bool {
	return r != nil && x != nil && r.keys != nil && x.keys != nil && r.digest == x.digest
}

// String returns the number of keys and the digest.
func (r *Ring) String() string {
	return fmt.Sprintf("ring of %d keys of %s, %s", r.Len(), r.group, hex.EncodeToString(r.digest[:]))
}

// MarshalBinary returns the canonical encoding: a version, the group, the number of keys
// in 4 bytes, and the keys in ascending order.
func (r *Ring) MarshalBinary() ([]byte, error) {
	if r == nil || r.keys == nil {
		return nil, errNoRing
	}
	var e wire.Encoder
	e.U8(version)
	e.U8(uint8(r.group))
	e.U32(uint32(r.Len()))
	for _, b := range r.encoded {
		e.Fixed(b)
	}
	return e.Data(), nil
}

// UnmarshalBinary decodes a ring.
func (r *Ring) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	g, e, err := readGroup(d)
	if err != nil {
		return fmt.Errorf("ring: %w", err)
	}
	n := int(d.U32("number of keys"))
	if d.Err() == nil && (n < MinKeys || n > MaxKeys) {
		d.Fail("number of keys", "%d, not %d to %d", n, MinKeys, MaxKeys)
	}
	if d.Err() == nil && d.Remaining() != n*e.pointSize() {
		d.Fail("keys", "%d bytes for %d keys of %d", d.Remaining(), n, e.pointSize())
	}
	var encoded [][]byte
	for i := 0; i < n && d.Err() == nil; i++ {
		b := bytes.Clone(d.Fixed("key", e.pointSize()))
		if i > 0 && bytes.Compare(encoded[i-1], b) >= 0 {
			d.Fail(fmt.Sprintf("key %d", i), "not in ascending order")
		}
		encoded = append(encoded, b)
	}
	if err := d.Finish(); err != nil {
		return fmt.Errorf("ring: %w", err)
	}
	ring, err := newRing(g, encoded) // decodes the keys
	if err != nil {
		return err
	}
	*r = *ring
	return nil
}

// Options say what a signature is for, and which signatures are linked. The zero value
// links within the ring.
type Options struct {
	// Scope is where a holder's signatures are linked: the name of a vote, a round or a
	// service.
	Scope []byte

	// AcrossRings links signatures in the scope whatever their rings. It shows that the
	// signer is in all of them.
	AcrossRings bool
}

// A statement is what a signature is bound to, but for the message and the key image.
type statement struct {
	group   Group
	digest  [32]byte // of the ring
	domain  []byte   // is hashed to H
	message transcript.Message
}

func (r *Ring) statement(o *Options) *statement {
	if o == nil {
		o = new(Options)
	}
	t := new(transcript.Items)
	if o.AcrossRings {
		t.Bytes("across rings", nil)
	} else {
		t.Bytes("ring", r.digest[:])
	}
	t.Bytes("scope", o.Scope)
	return &statement{group: r.group, digest: r.digest, domain: t.Data()}
}

// items are those of the statement and a key image.
func (st *statement) items(image []byte) *transcript.Items {
	return new(transcript.Items).
		Bytes("ring", st.digest[:]).
		Bytes("domain", st.domain).
		Bytes("image", image).
		Message("message", st.message)
}
