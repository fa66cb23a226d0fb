// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"

	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// seqSize is the length of a signature's place in a sequence: three digests.
const seqSize = 3 * sha256.Size

// seqKeys make the sequence of a member (Diaz and Lehmann 2021, section 6): the i-th
// signature, counted from 1, has n_i = HMAC(k, i), and commits to
// x_i = HMAC(k', n_i) and to x_i xor x_(i-1). x_0 is public.
type seqKeys struct {
	on    bool
	k, kk [32]byte
	next  uint64
}

func (q *seqKeys) generate(f Features) {
	if q.on = f.Has(Sequence); q.on {
		rand.Read(q.k[:])
		rand.Read(q.kk[:])
		q.next = 1
	}
}

func (q *seqKeys) wipe() { *q = seqKeys{} }

func (q *seqKeys) encode(e *wire.Encoder) {
	if q.on {
		e.Fixed(q.k[:])
		e.Fixed(q.kk[:])
		e.U64(q.next)
	}
}

func (q *seqKeys) decode(d *wire.Decoder, f Features) {
	if q.on = f.Has(Sequence); q.on {
		d.Read("sequence key", q.k[:])
		d.Read("sequence key", q.kk[:])
		q.next = d.U64("sequence index")
		if d.Err() == nil && (q.next == 0 || q.k == q.kk) {
			d.Fail("sequence", "no index or equal keys")
		}
	}
}

func mac(key [32]byte, b []byte) (out [32]byte) {
	h := hmac.New(sha256.New, key[:])
	h.Write(b)
	h.Sum(out[:0])
	return out
}

// n returns n_i.
func (q *seqKeys) n(i uint64) [32]byte { return mac(q.k, binary.BigEndian.AppendUint64(nil, i)) }

// x returns x_i, for i > 0.
func (q *seqKeys) x(i uint64) [32]byte {
	n := q.n(i)
	return mac(q.kk, n[:])
}

// seqZero returns x_0 of the group.
func (k *GroupKey) seqZero() [32]byte {
	return new(transcript.Items).Bytes("seq0", k.id[:]).Sum()
}

func seq1(x [32]byte) [32]byte { return new(transcript.Items).Bytes("seq1", x[:]).Sum() }

func seq2(x, before [32]byte) [32]byte {
	for i := range x {
		x[i] ^= before[i]
	}
	return new(transcript.Items).Bytes("seq2", x[:]).Sum()
}

// place returns the three digests of the i-th signature.
func (q *seqKeys) place(k *GroupKey, i uint64) (out [seqSize]byte) {
	before := k.seqZero()
	if i > 1 {
		before = q.x(i - 1)
	}
	x := q.x(i)
	a, b, n := seq1(x), seq2(x, before), q.n(i)
	copy(out[:], a[:])
	copy(out[32:], b[:])
	copy(out[64:], n[:])
	return out
}
