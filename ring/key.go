// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"bytes"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/undersign/undersign/internal/wire"
)

const version = 1

// A PublicKey is a point of its group that isn't the identity. It is immutable.
type PublicKey struct {
	group Group
	point []byte
}

// Group returns the key's group, or 0 for a zero key.
func (k *PublicKey) Group() Group { return k.group }

// Bytes returns the encoding of the point, of 32 or 48 bytes.
func (k *PublicKey) Bytes() []byte { return bytes.Clone(k.point) }

// Equal reports whether x is the same key. A zero key is equal to none.
func (k *PublicKey) Equal(x *PublicKey) bool {
	return k != nil && x != nil && k.group != 0 && k.group == x.group && bytes.Equal(k.point, x.point)
}

// String returns the group and the point in hexadecimal.
func (k *PublicKey) String() string {
	return fmt.Sprintf("ring key %s %s", k.group, hex.EncodeToString(k.point))
}

// MarshalBinary returns the canonical encoding: a version, the group and the point of 32
// or 48 bytes.
func (k *PublicKey) MarshalBinary() ([]byte, error) {
	if k == nil || k.group == 0 {
		return nil, errNoKey
	}
	var e wire.Encoder
	e.U8(version)
	e.U8(uint8(k.group))
	e.Fixed(k.point)
	return e.Data(), nil
}

// UnmarshalBinary decodes a key.
func (k *PublicKey) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	g, e, err := readGroup(d)
	if err != nil {
		return fmt.Errorf("ring: public key: %w", err)
	}
	p := readPoint(d, "point", e)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("ring: public key: %w", err)
	}
	*k = PublicKey{g, p.encoded}
	return nil
}

var errNoKey = errors.New("ring: no key")

// readGroup reads a version and a group.
func readGroup(d *wire.Decoder) (Group, engine, error) {
	if v := d.U8("version"); d.Err() == nil && v != version {
		return 0, nil, fmt.Errorf("version %d, not %d", v, version)
	}
	g := Group(d.U8("group"))
	if err := d.Err(); err != nil {
		return 0, nil, err
	}
	e, ok := groups[g]
	if !ok {
		return 0, nil, fmt.Errorf("there is no %s", g)
	}
	return g, e, nil
}

// A point is an encoding with what it was decoded to, a *P of the group's arithmetic.
type point struct {
	encoded []byte
	decoded any
}

func readPoint(d *wire.Decoder, field string, e engine) point {
	b := bytes.Clone(d.Fixed(field, e.pointSize()))
	if b == nil {
		return point{}
	}
	p, err := e.decode(b)
	if err != nil {
		d.Fail(field, "%v", err)
	}
	return point{b, p}
}

func readScalar(d *wire.Decoder, field string, e engine) (k scalar) {
	if b := d.Fixed(field, scalarSize); b != nil {
		if err := e.checkScalar(b); err != nil {
			d.Fail(field, "%v", err)
		}
		copy(k[:], b)
	}
	return k
}

// A PrivateKey signs in rings that have its public key, and must sign nothing else. It
// may be used by several goroutines, but not while Wipe runs.
type PrivateKey struct {
	secret scalar
	pub    PublicKey
}

// GenerateKey returns a new key.
func GenerateKey(g Group) (*PrivateKey, error) {
	e, ok := groups[g]
	if !ok {
		return nil, fmt.Errorf("ring: there is no %s", g)
	}
	secret := e.newSecret()
	defer clear(secret[:])
	return &PrivateKey{*secret, PublicKey{g, e.publicKey(secret)}}, nil
}

// Group returns the key's group, or 0 for a key that was wiped.
func (k *PrivateKey) Group() Group { return k.pub.group }

// Public returns the public key.
func (k *PrivateKey) Public() *PublicKey {
	p := k.pub
	return &p
}

// Equal reports whether x is the same key, in constant time. A key that was wiped is equal to
// none.
func (k *PrivateKey) Equal(x *PrivateKey) bool {
	return k != nil && x != nil && k.pub.group != 0 && k.pub.group == x.pub.group && subtle.ConstantTimeCompare(k.secret[:], x.secret[:]) == 1
}

// MarshalBinary returns the canonical encoding, which is secret: a version, the group
// and the scalar of 32 bytes, little-endian in ristretto255 and big-endian in G1.
func (k *PrivateKey) MarshalBinary() ([]byte, error) {
	if k == nil || k.pub.group == 0 {
		return nil, errNoKey
	}
	var e wire.Encoder
	e.Grow(2 + scalarSize)
	e.U8(version)
	e.U8(uint8(k.pub.group))
	e.Fixed(k.secret[:])
	return e.Data(), nil
}

// UnmarshalBinary decodes a key.
func (k *PrivateKey) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	g, e, err := readGroup(d)
	if err != nil {
		return fmt.Errorf("ring: private key: %w", err)
	}
	secret := readScalar(d, "secret", e)
	defer clear(secret[:])
	if d.Err() == nil && subtle.ConstantTimeCompare(secret[:], make([]byte, scalarSize)) == 1 {
		d.Fail("secret", "zero")
	}
	if err := d.Finish(); err != nil {
		return fmt.Errorf("ring: private key: %w", err)
	}
	*k = PrivateKey{secret, PublicKey{g, e.publicKey(&secret)}}
	return nil
}

// Wipe overwrites the key.
func (k *PrivateKey) Wipe() {
	if k != nil {
		clear(k.secret[:])
		k.pub = PublicKey{}
	}
}

// String shows the public key alone.
func (k PrivateKey) String() string { return "private " + k.pub.String() }

// GoString is String.
func (k PrivateKey) GoString() string { return k.String() }

// Format writes String, whatever the verb.
func (k PrivateKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

// Image returns the holder's key image in a ring and a scope: that of all its signatures
// there. Who shows it before is linked to what is signed later.
func (k *PrivateKey) Image(r *Ring, o *Options) ([]byte, error) {
	st, err := k.statement(r, o)
	if err != nil {
		return nil, err
	}
	return r.keys.image(&k.secret, st), nil
}

// statement checks that the key is in the ring.
func (k *PrivateKey) statement(r *Ring, o *Options) (*statement, error) {
	switch {
	case k == nil || k.pub.group == 0:
		return nil, errNoKey
	case r == nil || r.keys == nil:
		return nil, errNoRing
	case k.pub.group != r.group:
		return nil, fmt.Errorf("ring: a key of %s and a ring of %s", k.pub.group, r.group)
	case !r.Contains(&k.pub):
		return nil, fmt.Errorf("ring: the key %s isn't in the ring", k.pub.String())
	}
	return r.statement(o), nil
}
