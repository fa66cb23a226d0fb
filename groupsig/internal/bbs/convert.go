// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// MaxQuery bounds the number of pseudonyms in a query to the converter.
const MaxQuery = 1 << 14

// A BlindingKey is whose pseudonyms are converted for. It serves one query: results
// of two queries under one key stay apart, but the key gives nothing to gain.
type BlindingKey struct {
	bsk bls12381.Scalar
	bpk bls12381.G1
	gk  *GroupKey
}

// NewBlindingKey returns a key for one query.
func (k *GroupKey) NewBlindingKey() (*BlindingKey, error) {
	if k.empty() || !k.draft.Features.Has(Convert) {
		return nil, errNoConverter
	}
	b := &BlindingKey{gk: k}
	b.bsk.Random()
	b.bpk.CombMult(&b.bsk, k.g.comb())
	bls12381.NormalizeG1(&b.bpk)
	return b, nil
}

var errNoConverter = errors.New("groupsig: the group has no converter")

// Public returns bpk = bsk·g, for the converter.
func (b *BlindingKey) Public() []byte {
	if b.wiped() {
		return nil
	}
	return b.bpk.Bytes()
}

func (b *BlindingKey) wiped() bool { return b == nil || b.gk == nil }

// Wipe overwrites the key.
func (b *BlindingKey) Wipe() {
	if b != nil {
		b.bsk.Wipe()
		b.gk = nil
	}
}

func (b BlindingKey) String() string             { return redacted }
func (b BlindingKey) GoString() string           { return redacted }
func (b BlindingKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, redacted) }

// MarshalBinary returns the canonical encoding, which is secret.
func (b *BlindingKey) MarshalBinary() ([]byte, error) {
	if b.wiped() {
		return nil, errWiped
	}
	var e wire.Encoder
	e.Grow(128)
	e.U8(version)
	e.U8(suite)
	e.U8(kindBlinding)
	e.Fixed(b.gk.id[:])
	codec.PutSecret(&e, b.bsk.Bytes())
	return e.Data(), nil
}

// ParseBlindingKey decodes a key for the group.
func (k *GroupKey) ParseBlindingKey(data []byte) (*BlindingKey, error) {
	b, err := k.NewBlindingKey()
	if err != nil {
		return nil, err
	}
	d := wire.NewDecoder(data)
	k.readHeader(d, kindBlinding)
	codec.ReadSecret(d, "bsk", &b.bsk)
	if err := d.Finish(); err != nil {
		return nil, fmt.Errorf("groupsig: blinding key: %w", err)
	}
	b.bpk.CombMult(&b.bsk, k.g.comb())
	bls12381.NormalizeG1(&b.bpk)
	return b, nil
}

// A blinded pseudonym is n1 = nym1 + b·g, n2 = a·g, n3 = nym2 + b·cpk + a·bpk, and a
// message c1 = c·g, c2 = M + c·bpk, M a hash of the message. A converted one is an
// encryption of r·y·hc to bpk, and a message.
const (
	blindedSize   = 5 * bls12381.G1Size
	convertedSize = 4 * bls12381.G1Size
)

// MessagePoint returns by what an unblinded pseudonym says which message it belongs to.
func (k *GroupKey) MessagePoint(msg transcript.Message) []byte {
	if k.empty() {
		return nil
	}
	return k.messagePoint(msg).Bytes()
}

func (k *GroupKey) messagePoint(msg transcript.Message) *bls12381.G1 {
	return new(transcript.Items).Bytes("gid", k.id[:]).Message("m", msg).HashToG1(k.dst("h2c/message"))
}

// Blind blinds the pseudonym of a signature for a query under a key. It verifies the
// signature: the converter can't, and would be an oracle for anything else. Where the
// signature was made for an epoch, that is checked as the options say.
func (b *BlindingKey) Blind(msg transcript.Message, sig []byte, opts VerifyOptions) ([]byte, error) {
	if b.wiped() {
		return nil, errWiped
	}
	k := b.gk
	g, err := k.verify(msg, sig, &opts)
	if err != nil {
		return nil, err
	}
	i := k.draft.Features.ptConvert()
	var x, y, z bls12381.Scalar
	x.Random()
	y.Random()
	z.Random()
	defer func() { x.Wipe(); y.Wipe(); z.Wipe() }()
	out := make([]bls12381.G1, 5)
	var p bls12381.G1
	out[0].Add(&g.p[i], p.CombMult(&y, k.g.comb()))
	out[1].CombMult(&x, k.g.comb())
	out[2].Add(&g.p[i+1], p.CombMult(&y, k.cpk.comb()))
	out[2].Add(&out[2], p.ScalarMult(&x, &b.bpk))
	out[3].CombMult(&z, k.g.comb())
	out[4].Add(k.messagePoint(msg), p.ScalarMult(&z, &b.bpk))
	return encodePoints(out), nil
}

func encodePoints(ps []bls12381.G1) []byte {
	normalize(ps)
	var b []byte
	for i := range ps {
		b = ps[i].Append(b)
	}
	return b
}

func decodePoints(b []byte, n int) ([]bls12381.G1, error) {
	if len(b) != n*bls12381.G1Size {
		return nil, fmt.Errorf("groupsig: %d bytes, want %d", len(b), n*bls12381.G1Size)
	}
	ps := make([]bls12381.G1, n)
	for i := range ps {
		if err := ps[i].SetBytes(b[i*bls12381.G1Size : (i+1)*bls12381.G1Size]); err != nil {
			return nil, fmt.Errorf("groupsig: point %d: %w", i, err)
		}
	}
	return ps, nil
}

// Convert answers a query: the same pseudonym for what one member signed, a different
// one in every query, in random order. A query of one tells who asked which result is
// whose, and is refused. The converter can't tell whether what it gets comes from
// signatures, and decrypts whatever it gets to a random power: who may ask, and how
// much, is for its owner to limit.
func (c *ConverterKey) Convert(k *GroupKey, bpk []byte, query [][]byte) ([][]byte, error) {
	if err := c.matches(k); err != nil {
		return nil, err
	}
	if len(query) < 2 || len(query) > MaxQuery {
		return nil, fmt.Errorf("groupsig: a query has 2 to %d pseudonyms", MaxQuery)
	}
	var pk bls12381.G1
	if err := pk.SetBytes(bpk); err != nil {
		return nil, fmt.Errorf("groupsig: blinding key: %w", err)
	}
	if pk.Equal(&k.cpk.p) {
		return nil, errors.New("groupsig: the blinding key is the converter's")
	}
	in := make([][]bls12381.G1, len(query))
	for i, q := range query {
		var err error
		if in[i], err = decodePoints(q, blindedSize/bls12381.G1Size); err != nil {
			return nil, fmt.Errorf("pseudonym %d: %w", i, err)
		}
	}
	comb := bls12381.NewG1Comb(&pk)
	out := make([][]byte, len(query))
	var r, r1, r2, rcsk bls12381.Scalar
	// Two queries with one r would be linked: it is hedged, as nonces are.
	var secret transcript.Items
	secret.Grow(64).Scalar("csk", &c.csk[0])
	defer secret.Wipe()
	public := new(transcript.Items).Bytes("gid", k.id[:]).Bytes("bpk", bpk)
	for _, q := range query {
		public.Bytes("query", q)
	}
	for r.IsZero() { // never twice
		n := transcript.NewNonces(k.dst("convert"), &secret, public)
		n.Next(&r)
		n.Wipe()
	}
	rcsk.Mul(&r, &c.csk[0])
	var p bls12381.G1
	for i, q := range in {
		r1.Random()
		r2.Random()
		o := make([]bls12381.G1, 4)
		o[0].Add(o[0].ScalarMult(&r, &q[1]), p.CombMult(&r1, k.g.comb()))
		o[1].Sub(o[1].ScalarMult(&r, &q[2]), p.ScalarMult(&rcsk, &q[0]))
		o[1].Add(&o[1], p.CombMult(&r1, comb))
		o[2].Add(&q[3], p.CombMult(&r2, k.g.comb()))
		o[3].Add(&q[4], p.CombMult(&r2, comb))
		for j := range o {
			if o[j].IsIdentity() {
				return nil, fmt.Errorf("groupsig: pseudonym %d: not an encryption", i)
			}
		}
		out[i] = encodePoints(o)
	}
	r.Wipe()
	r1.Wipe()
	r2.Wipe()
	rcsk.Wipe()
	p.Wipe()
	for i := len(out) - 1; i > 0; i-- { // Durstenfeld 1964
		j := uniform(uint64(i + 1))
		out[i], out[j] = out[j], out[i]
	}
	return out, nil
}

// uniform returns a uniform number below n.
func uniform(n uint64) uint64 {
	limit := (1<<64 - 1) - (1<<64-1)%n
	for {
		var b [8]byte
		rand.Read(b[:])
		if v := binary.BigEndian.Uint64(b[:]); v < limit {
			return v % n
		}
	}
}

// Unblind returns a converted pseudonym, and the point of its message: see
// [GroupKey.MessagePoint]. Within a query equal pseudonyms are of one member.
func (b *BlindingKey) Unblind(converted []byte) (nym, message []byte, err error) {
	if b.wiped() {
		return nil, nil, errWiped
	}
	ps, err := decodePoints(converted, convertedSize/bls12381.G1Size)
	if err != nil {
		return nil, nil, err
	}
	out := make([]bls12381.G1, 2)
	var p bls12381.G1
	out[0].Sub(&ps[1], p.ScalarMult(&b.bsk, &ps[0]))
	out[1].Sub(&ps[3], p.ScalarMult(&b.bsk, &ps[2]))
	if out[0].IsIdentity() || out[1].IsIdentity() {
		return nil, nil, errors.New("groupsig: an empty pseudonym")
	}
	enc := encodePoints(out)
	return enc[:bls12381.G1Size], enc[bls12381.G1Size:], nil
}
