// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// ErrSignature: a signature is wrong, or for something else.
var ErrSignature = errors.New("ring: invalid signature")

// Layouts of a signature.
const (
	compact  = 1
	forBatch = 2
)

// A Signature is of a ring that it names by its digest. It is immutable.
type Signature struct {
	group       Group
	ring        [32]byte
	image       point
	c           scalar  // compact: c_0
	commitments []point // for batches: L_0, R_0, L_1, ...
	s           []scalar
}

// Group returns the signature's group.
func (sig *Signature) Group() Group { return sig.group }

// Ring returns the digest of the ring.
func (sig *Signature) Ring() [32]byte { return sig.ring }

// Len returns the number of keys in the ring.
func (sig *Signature) Len() int { return len(sig.s) }

// Image returns the key image, of 32 or 48 bytes. Those of two valid signatures in one
// scope are equal if one holder made them.
func (sig *Signature) Image() []byte { return bytes.Clone(sig.image.encoded) }

// Linked reports whether two signatures have the same key image: whether one holder made
// both. Both must be valid, in one scope.
func Linked(a, b *Signature) bool {
	return a != nil && b != nil && a.group == b.group && a.group != 0 && samePoint(a.image, b.image)
}

// ForBatch reports whether the signature is in the layout for batches.
func (sig *Signature) ForBatch() bool { return sig.commitments != nil }

// MarshalBinary returns the canonical encoding: a version, the group, the layout, the
// ring's digest, the number of keys in 4 bytes, the key image, c_0 or all L_i and R_i, and
// all s_i. With 1024 keys of ristretto255 it has 32,871 bytes, and for batches 98,375.
func (sig *Signature) MarshalBinary() ([]byte, error) {
	if sig == nil || sig.group == 0 {
		return nil, errors.New("ring: no signature")
	}
	var e wire.Encoder
	e.U8(version)
	e.U8(uint8(sig.group))
	if sig.ForBatch() {
		e.U8(forBatch)
	} else {
		e.U8(compact)
	}
	e.Fixed(sig.ring[:])
	e.U32(uint32(len(sig.s)))
	e.Fixed(sig.image.encoded)
	if sig.ForBatch() {
		for _, p := range sig.commitments {
			e.Fixed(p.encoded)
		}
	} else {
		e.Fixed(sig.c[:])
	}
	for i := range sig.s {
		e.Fixed(sig.s[i][:])
	}
	return e.Data(), nil
}

// UnmarshalBinary decodes a signature. Its errors unwrap to [ErrSignature]. It checks each
// point, which takes seconds for 65,536 keys and whatever the sender says that there
// are: who knows the ring uses [Ring.ParseSignature].
func (sig *Signature) UnmarshalBinary(data []byte) error {
	x, err := parseSignature(data, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSignature, err)
	}
	*sig = *x
	return nil
}

// ParseSignature decodes a signature of the ring. What is of another ring is refused
// before its points are decoded, so that what a signature costs is bounded by the ring.
// Errors unwrap to [ErrSignature].
func (r *Ring) ParseSignature(data []byte) (*Signature, error) {
	if r == nil || r.keys == nil {
		return nil, errNoRing
	}
	sig, err := parseSignature(data, r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return sig, nil
}

// MaxSignatureSize returns the length of the longest signature of the ring: one in the layout
// for batches.
func (r *Ring) MaxSignatureSize() int {
	if r == nil || r.keys == nil {
		return 0
	}
	e := groups[r.group]
	return 3 + 32 + 4 + e.pointSize() + r.Len()*(scalarSize+2*e.pointSize())
}

// parseSignature decodes a signature, of a ring unless that is nil.
func parseSignature(data []byte, r *Ring) (*Signature, error) {
	d := wire.NewDecoder(data)
	g, e, err := readGroup(d)
	if err != nil {
		return nil, err
	}
	if r != nil && g != r.group {
		return nil, fmt.Errorf("of %s, and the ring is of %s", g, r.group)
	}
	layout := d.U8("layout")
	if d.Err() == nil && layout != compact && layout != forBatch {
		d.Fail("layout", "%d", layout)
	}
	sig := &Signature{group: g}
	d.Read("ring", sig.ring[:])
	n := int(d.U32("number of keys"))
	if d.Err() == nil && (n < MinKeys || n > MaxKeys) {
		d.Fail("number of keys", "%d, not %d to %d", n, MinKeys, MaxKeys)
	}
	if d.Err() == nil && r != nil && (sig.ring != r.digest || n != r.Len()) {
		return nil, fmt.Errorf("of another ring, %x", sig.ring)
	}
	sig.image = readPoint(d, "image", e)
	size := (n + 1) * scalarSize
	if layout == forBatch {
		size = n * (scalarSize + 2*e.pointSize())
	}
	if d.Err() == nil && d.Remaining() != size {
		d.Fail("rest", "%d bytes, not %d for %d keys", d.Remaining(), size, n)
	}
	if d.Err() != nil {
		return nil, d.Finish()
	}
	if layout == compact {
		sig.c = readScalar(d, "c", e)
	} else {
		sig.commitments = make([]point, 2*n)
		for i := range sig.commitments {
			sig.commitments[i] = readPoint(d, "commitment", e)
		}
	}
	sig.s = make([]scalar, n)
	for i := range sig.s {
		sig.s[i] = readScalar(d, "s", e)
	}
	return sig, d.Finish()
}

// Sign signs a message for a ring that the key is in, in the compact layout. It takes
// time in proportion to the ring, about 0.15 ms a key.
func (k *PrivateKey) Sign(r *Ring, msg []byte, o *Options) (*Signature, error) {
	st, err := k.statement(r, o)
	if err != nil {
		return nil, err
	}
	st.message = transcript.MessageOf(msg)
	return r.keys.sign(&k.secret, k.pub.point, st), nil
}

// Verify returns nil if a holder of one of the ring's keys signed. Otherwise the error
// unwraps to [ErrSignature]. It takes both layouts. Whether the holder signed before in
// the scope is for the caller, who compares key images.
func (r *Ring) Verify(msg []byte, sig *Signature, o *Options) error {
	st, err := r.check(msg, sig, o)
	if err != nil {
		return err
	}
	ok := false
	if sig.ForBatch() {
		ok = len(r.keys.batch([]*statement{st}, []*Signature{sig})) == 0
	} else {
		ok = r.keys.verify(st, sig)
	}
	if !ok {
		return ErrSignature
	}
	return nil
}

// check returns the statement of a signature, if it is of the ring.
func (r *Ring) check(msg []byte, sig *Signature, o *Options) (*statement, error) {
	switch {
	case r == nil || r.keys == nil:
		return nil, errNoRing
	case sig == nil || sig.group == 0:
		return nil, fmt.Errorf("%w: none", ErrSignature)
	case sig.group != r.group:
		return nil, fmt.Errorf("%w: of %s, and the ring is of %s", ErrSignature, sig.group, r.group)
	case sig.ring != r.digest || len(sig.s) != r.Len():
		return nil, fmt.Errorf("%w: of another ring, %x", ErrSignature, sig.ring)
	}
	st := r.statement(o)
	st.message = transcript.MessageOf(msg)
	return st, nil
}

// Expand returns the layout for batches of a valid signature. It verifies it, if it is
// in the compact layout.
func (r *Ring) Expand(msg []byte, sig *Signature, o *Options) (*Signature, error) {
	st, err := r.check(msg, sig, o)
	if err != nil || sig.ForBatch() {
		return sig, err
	}
	if x := r.keys.expand(st, sig); x != nil {
		return x, nil
	}
	return nil, ErrSignature
}

// Compact returns the compact layout of a signature. It doesn't verify it.
func (r *Ring) Compact(msg []byte, sig *Signature, o *Options) (*Signature, error) {
	st, err := r.check(msg, sig, o)
	if err != nil || !sig.ForBatch() {
		return sig, err
	}
	x := &Signature{group: sig.group, ring: sig.ring, image: sig.image, s: sig.s}
	x.c = *r.keys.last(st, sig)
	return x, nil
}
