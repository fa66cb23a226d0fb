// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package transcript encodes what a proof's challenge is computed from, so that
// no two statements have one encoding.
//
// The encoding is a sequence of items. With L(b) = be64(len b) || b, an item is
//
//	L(label) || L(enc(v))
//
// where enc is the canonical encoding of a point, a scalar or an element of GT
// (always 576 bytes), eight bytes big-endian for an integer, the bytes themselves
// for a byte string, SHA-256(m) || be64(len m) for a message, and for a list
// be64(count) followed by its items in order. The kind of a value isn't encoded: a
// label stands for one kind, as the statement that it is part of says.
//
// A challenge is 48 bytes of expand_message_xmd (RFC 9380, section 5.3.1, with
// SHA-256) over the items, modulo the group order, under a domain separation tag
// that names scheme and operation: see [DST].
//
// Encoding is constant time in scalars, in points that were normalised before, and
// in the bytes of strings. Lengths, labels and counts are public.
package transcript

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"strings"

	"github.com/undersign/undersign/internal/bls12381"
)

// DST returns the domain separation tag "undersign/groupsig/v1/SCHEME/OPERATION".
// The names are constants of the program: it panics if one is empty, if the scheme
// has a slash, or if the tag is longer than 255 bytes.
func DST(scheme, operation string) []byte {
	dst := "undersign/groupsig/v1/" + scheme + "/" + operation
	if scheme == "" || operation == "" || strings.Contains(scheme, "/") || len(dst) > 255 {
		panic("transcript: bad domain separation tag " + dst)
	}
	return []byte(dst)
}

// Items is a sequence of labelled values. The zero value is empty and ready to
// use. Its methods append one item and return the receiver.
type Items struct {
	b     []byte
	count uint64
}

// start appends the label and the length of what follows.
func (t *Items) start(label string, n int) {
	t.b = binary.BigEndian.AppendUint64(t.b, uint64(len(label)))
	t.b = append(t.b, label...)
	t.b = binary.BigEndian.AppendUint64(t.b, uint64(n))
	t.count++
}

// Bytes appends a byte string.
func (t *Items) Bytes(label string, v []byte) *Items {
	t.start(label, len(v))
	t.b = append(t.b, v...)
	return t
}

// Uint64 appends an integer.
func (t *Items) Uint64(label string, v uint64) *Items {
	t.start(label, 8)
	t.b = binary.BigEndian.AppendUint64(t.b, v)
	return t
}

// Message appends a message.
func (t *Items) Message(label string, m Message) *Items {
	t.start(label, sha256.Size+8)
	t.b = append(t.b, m.Digest[:]...)
	t.b = binary.BigEndian.AppendUint64(t.b, m.Size)
	return t
}

// Scalar appends a scalar.
func (t *Items) Scalar(label string, k *bls12381.Scalar) *Items {
	t.start(label, bls12381.ScalarSize)
	t.b = k.Append(t.b)
	return t
}

// G1 appends a point of G1. Several that aren't normalised are better normalised
// together before.
func (t *Items) G1(label string, p *bls12381.G1) *Items {
	t.start(label, bls12381.G1Size)
	t.b = p.Append(t.b)
	return t
}

// G2 appends a point of G2.
func (t *Items) G2(label string, p *bls12381.G2) *Items {
	t.start(label, bls12381.G2Size)
	t.b = p.Append(t.b)
	return t
}

// GT appends an element of GT.
func (t *Items) GT(label string, z *bls12381.GT) *Items {
	t.start(label, bls12381.GTSize)
	t.b = z.Append(t.b)
	return t
}

// List appends a list of items.
func (t *Items) List(label string, list *Items) *Items {
	t.start(label, 8+len(list.b))
	t.b = binary.BigEndian.AppendUint64(t.b, list.count)
	t.b = append(t.b, list.b...)
	return t
}

// Append appends all items of u, as if they had been appended one by one.
func (t *Items) Append(u *Items) *Items {
	t.b = append(t.b, u.b...)
	t.count += u.count
	return t
}

// Clone returns a copy, to which more may be appended.
func (t *Items) Clone() *Items {
	return &Items{b: append([]byte(nil), t.b...), count: t.count}
}

// Len returns the number of items.
func (t *Items) Len() int { return int(t.count) }

// Data returns the encoding. It is valid until the next item is appended.
func (t *Items) Data() []byte { return t.b }

// Sum returns the SHA-256 digest of the encoding.
func (t *Items) Sum() [sha256.Size]byte { return sha256.Sum256(t.b) }

// Challenge returns the items' hash to a scalar under a domain separation tag.
func (t *Items) Challenge(dst []byte) *bls12381.Scalar {
	return new(bls12381.Scalar).SetHash(t.b, dst)
}

// HashToG1 returns the items' hash to a point of G1, for public items.
func (t *Items) HashToG1(dst []byte) *bls12381.G1 {
	return new(bls12381.G1).HashVarTime(t.b, dst)
}

// A Message stands for a message of any length.
type Message struct {
	Digest [sha256.Size]byte // SHA-256
	Size   uint64            // bytes
}

// MessageOf returns the Message of m.
func MessageOf(m []byte) Message {
	return Message{sha256.Sum256(m), uint64(len(m))}
}

// A MessageWriter makes a Message of what is written to it. The zero value is
// ready to use.
type MessageWriter struct {
	h    hash.Hash
	size uint64
}

// Write never returns an error.
func (w *MessageWriter) Write(p []byte) (int, error) {
	if w.h == nil {
		w.h = sha256.New()
	}
	w.size += uint64(len(p))
	return w.h.Write(p)
}

// Message returns the Message of all that was written so far.
func (w *MessageWriter) Message() (m Message) {
	if w.h == nil {
		return MessageOf(nil)
	}
	w.h.Sum(m.Digest[:0])
	m.Size = w.size
	return m
}
