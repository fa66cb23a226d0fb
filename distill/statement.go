// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"crypto/sha256"
	"encoding/binary"
)

// Everything that is signed is a statement: a tag of 16 bytes, the network, and fields
// of fixed length, with integers in eight bytes, big-endian. Clients and validators
// sign the SHA-256 of it with BLS; Ed25519 signs it as it is.

const tagSize = 16

type tag [tagSize]byte

func newTag(s string) (t tag) {
	copy(t[:], s)
	return t
}

var (
	tagReg  = newTag("dist/reg/v1")
	tagRot  = newTag("dist/rot/v1")
	tagRvk  = newTag("dist/rvk/v1")
	tagSub  = newTag("dist/sub/v1")
	tagRed  = newTag("dist/red/v1")
	tagProp = newTag("dist/prop/v1")
	tagBat  = newTag("dist/bat/v1")
	tagRcpt = newTag("dist/rcpt/v1")
	tagWit  = newTag("dist/wit/v1")
	tagHgt  = newTag("dist/hgt/v1")
	tagLook = newTag("dist/look/v1")

	// tagPayload is of a hash that isn't signed.
	tagPayload = newTag("dist/pay/v1")
)

// A Statement is something to be signed. Its methods, but for UnmarshalBinary, are
// those of its pointer as well.
type Statement interface {
	Bytes() []byte    // what Ed25519 signs
	Digest() [32]byte // its SHA-256, what BLS signs
}

// A layout reads or writes the fields of a statement, in order.
type layout struct {
	b       []byte
	reading bool
	bad     bool
}

func (l *layout) fixed(p []byte) {
	if !l.reading {
		l.b = append(l.b, p...)
		return
	}
	if len(l.b) < len(p) {
		l.bad = true
		return
	}
	copy(p, l.b)
	l.b = l.b[len(p):]
}

func (l *layout) tag(t tag) {
	got := t
	l.fixed(got[:])
	l.bad = l.bad || got != t
}

func (l *layout) u64(v *uint64) {
	var p [8]byte
	binary.BigEndian.PutUint64(p[:], *v)
	l.fixed(p[:])
	*v = binary.BigEndian.Uint64(p[:])
}

func (l *layout) u16(v *uint16) {
	var p [2]byte
	binary.BigEndian.PutUint16(p[:], *v)
	l.fixed(p[:])
	*v = binary.BigEndian.Uint16(p[:])
}

func (l *layout) u8(v *uint8) {
	p := [1]byte{*v}
	l.fixed(p[:])
	*v = p[0]
}

type fields interface{ fields(*layout) }

func write(f fields, dst []byte) []byte {
	l := layout{b: dst}
	f.fields(&l)
	return l.b
}

func digest(f fields) [32]byte {
	var buf [256]byte
	return sha256.Sum256(write(f, buf[:0]))
}

func read(f fields, b []byte) error {
	l := layout{b: b, reading: true}
	f.fields(&l)
	if l.bad || len(l.b) != 0 {
		return reject(RuleStatement)
	}
	return nil
}

// Sub is what a client signs to have a payload executed, whoever puts it into a batch.
type Sub struct {
	Net                 NetworkID
	ID, Nonce, NotAfter uint64
	PayloadHash         [32]byte
}

func (s *Sub) fields(l *layout) {
	l.tag(tagSub)
	l.fixed(s.Net[:])
	l.u64(&s.ID)
	l.u64(&s.Nonce)
	l.u64(&s.NotAfter)
	l.fixed(s.PayloadHash[:])
}

// Leaf returns the leaf that says the same.
func (s Sub) Leaf() Leaf { return Leaf{s.ID, s.Nonce, s.NotAfter, s.PayloadHash} }

// A Submission is what a client sends: the fields of a [Sub], with the payload, and its
// signature of the Sub, which is by Ed25519 in [ModeEd25519], of 64 bytes, by BLS in
// [ModeFolded], of 96 bytes, and none in [ModeLean].
type Submission struct {
	ID, Nonce, NotAfter uint64
	Payload             []byte
	Signature           []byte
}

// Sub returns the statement that s is signed by.
func (s *Submission) Sub(net NetworkID) Sub {
	return Sub{net, s.ID, s.Nonce, s.NotAfter, PayloadHash(s.Payload)}
}

// Prop is what an aggregator signs when it proposes a tree of leaves.
type Prop struct {
	Net        NetworkID
	Dirver     uint64 // version of the directory that says whose key an id means
	AggID      uint64 // the aggregator
	Seq        uint64 // its number for the batch
	N          uint64 // leaves in the tree
	Root       [32]byte
	ValidUntil uint64 // last height at which the batch may be executed
}

func (p *Prop) fields(l *layout) { p.under(l, tagProp) }

func (p *Prop) under(l *layout, t tag) {
	l.tag(t)
	l.fixed(p.Net[:])
	l.u64(&p.Dirver)
	l.u64(&p.AggID)
	l.u64(&p.Seq)
	l.u64(&p.N)
	l.fixed(p.Root[:])
	l.u64(&p.ValidUntil)
}

// Red returns what clients sign to agree.
func (p Prop) Red() Red { return Red(p) }

// Red is what clients sign to agree to a [Prop], after they have found their leaves in
// the tree. Its digest is the message that all signatures of a batch have in common.
type Red Prop

func (r *Red) fields(l *layout) { (*Prop)(r).under(l, tagRed) }

// Bat is what an aggregator signs to publish a batch.
type Bat struct {
	Net         NetworkID
	AggID, Seq  uint64
	BatchDigest [32]byte
}

func (b *Bat) fields(l *layout) { b.under(l, tagBat) }

func (b *Bat) under(l *layout, t tag) {
	l.tag(t)
	l.fixed(b.Net[:])
	l.u64(&b.AggID)
	l.u64(&b.Seq)
	l.fixed(b.BatchDigest[:])
}

// Wit is what a validator signs when it has verified a batch and stored it.
type Wit Bat

func (w *Wit) fields(l *layout) { (*Bat)(w).under(l, tagWit) }

// Rcpt is what a validator signs about an entry of the log: a batch with its results.
// Its digest is the log's hash up to the entry.
type Rcpt struct {
	Net         NetworkID
	Height      uint64
	PrevLogHash [32]byte
	BatchDigest [32]byte // or the hash of a change of the directory, with N and ResultRoot 0
	N           uint64
	ResultRoot  [32]byte
}

func (r *Rcpt) fields(l *layout) {
	l.tag(tagRcpt)
	l.fixed(r.Net[:])
	l.u64(&r.Height)
	l.fixed(r.PrevLogHash[:])
	l.fixed(r.BatchDigest[:])
	l.u64(&r.N)
	l.fixed(r.ResultRoot[:])
}

// Hgt is what a validator signs about the end of the log.
type Hgt struct {
	Net     NetworkID
	Height  uint64
	Batches uint64 // in the log so far
	LogHash [32]byte
	Dirver  uint64
}

func (h *Hgt) fields(l *layout) {
	l.tag(tagHgt)
	l.fixed(h.Net[:])
	l.u64(&h.Height)
	l.u64(&h.Batches)
	l.fixed(h.LogHash[:])
	l.u64(&h.Dirver)
}

// A LookCode is a validator's answer to the question whether a nonce was executed.
type LookCode uint8

const (
	LookExecuted    LookCode = iota + 1 // by the outcome and at the height given
	LookNotExecuted                     // and it never will be after its NotAfter
	LookUnknown                         // too long ago to tell
)

// String returns the name of c.
func (c LookCode) String() string {
	switch c {
	case LookExecuted:
		return "EXECUTED"
	case LookNotExecuted:
		return "NOT_EXECUTED"
	case LookUnknown:
		return "UNKNOWN"
	}
	return "invalid"
}

// Look is what a validator signs to answer a question of a client. The challenge is the
// client's, so that no old answer is taken for a new one.
type Look struct {
	Net         NetworkID
	Challenge   [32]byte
	Height      uint64 // of the validator
	ID          uint64
	Nonce       uint64 // asked for
	NotAfter    uint64 // asked for
	LastNonce   uint64 // the largest that was executed for ID, or 0
	Code        LookCode
	FirstCode   ResultCode // of the execution, or 0
	AppCode     uint16     // of the execution, or 0
	ExecHeight  uint64     // or 0
	PayloadHash [32]byte   // of what was executed, or 0
}

func (k *Look) fields(l *layout) {
	l.tag(tagLook)
	l.fixed(k.Net[:])
	l.fixed(k.Challenge[:])
	l.u64(&k.Height)
	l.u64(&k.ID)
	l.u64(&k.Nonce)
	l.u64(&k.NotAfter)
	l.u64(&k.LastNonce)
	l.u8((*uint8)(&k.Code))
	l.u8((*uint8)(&k.FirstCode))
	l.u16(&k.AppCode)
	l.u64(&k.ExecHeight)
	l.fixed(k.PayloadHash[:])
}

// Reg is what a client signs, with both of its keys, to be registered.
type Reg struct {
	Net      NetworkID
	BLSKey   [48]byte
	EdKey    [32]byte
	NotAfter uint64 // last height at which it may be registered
}

func (r *Reg) fields(l *layout) {
	l.tag(tagReg)
	l.fixed(r.Net[:])
	l.fixed(r.BLSKey[:])
	l.fixed(r.EdKey[:])
	l.u64(&r.NotAfter)
}

// Rot is what a client signs, with its old Ed25519 key and both new keys, to change
// its keys.
type Rot struct {
	Net    NetworkID
	ID     uint64
	Dirver uint64 // version of the directory that the client has seen
	BLSKey [48]byte
	EdKey  [32]byte
}

func (r *Rot) fields(l *layout) {
	l.tag(tagRot)
	l.fixed(r.Net[:])
	l.u64(&r.ID)
	l.u64(&r.Dirver)
	l.fixed(r.BLSKey[:])
	l.fixed(r.EdKey[:])
}

// Rvk is what a client signs with its Ed25519 key to be revoked.
type Rvk struct {
	Net    NetworkID
	ID     uint64
	Dirver uint64 // version of the directory that the client has seen
}

func (r *Rvk) fields(l *layout) {
	l.tag(tagRvk)
	l.fixed(r.Net[:])
	l.u64(&r.ID)
	l.u64(&r.Dirver)
}

// append appends what is signed, without an allocation.
func (s *Sub) append(dst []byte) []byte {
	l := layout{b: dst}
	s.fields(&l)
	return l.b
}
