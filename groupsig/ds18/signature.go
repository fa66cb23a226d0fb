// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ds18

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

const (
	// SignatureSize is the length of a signature's compact encoding.
	SignatureSize = 4*bls12381.G1Size + bls12381.G2Size + 2*bls12381.ScalarSize
	// BatchSignatureSize is the length of a signature's batch encoding.
	BatchSignatureSize = 5*bls12381.G1Size + bls12381.G2Size + bls12381.ScalarSize
)

// ErrSignature: a signature is wrong, or for something else.
var ErrSignature = errors.New("ds18: invalid signature")

// A Signature is a credential for a multiple of the member's class, and a proof of the
// factor.
type Signature struct {
	m1, m2, z, w bls12381.G1
	ww           bls12381.G2
	c, s         bls12381.Scalar
	r            *bls12381.G1 // what c was computed from, if it is known, or nil
}

var tableP1 = sync.OnceValue(func() *bls12381.G1Table { return bls12381.NewG1TableVarTime(bls12381.G1Generator()) })

// commitment returns R = s·P1 + c·M2.
func (sig *Signature) commitment() *bls12381.G1 {
	return new(bls12381.G1).MultiMultVarTime(bls12381.MulG1Table(&sig.s, tableP1()), bls12381.MulG1(&sig.c, &sig.m2))
}

func (sig *Signature) points() []byte {
	b := make([]byte, 0, BatchSignatureSize)
	for _, p := range []*bls12381.G1{&sig.m1, &sig.m2, &sig.z, &sig.w} {
		b = p.Append(b)
	}
	return sig.ww.Append(b)
}

// Bytes returns the compact encoding without the two bytes in front of
// MarshalBinary's: M1, M2, Z, W, WW, c, s.
func (sig *Signature) Bytes() []byte { return sig.s.Append(sig.c.Append(sig.points())) }

// BatchBytes returns the batch encoding: M1, M2, Z, W, WW, R, s.
func (sig *Signature) BatchBytes() []byte {
	r := sig.r
	if r == nil {
		r = sig.commitment()
	}
	return sig.s.Append(r.Append(sig.points()))
}

// ParseSignature decodes what Bytes returned.
func ParseSignature(raw []byte) (*Signature, error) {
	return readSignature(wire.NewDecoder(raw))
}

func readSignature(d *wire.Decoder) (*Signature, error) {
	sig := new(Signature)
	sig.readPoints(d)
	codec.ReadScalar(d, "c", &sig.c)
	codec.ReadScalar(d, "s", &sig.s)
	if err := d.Finish(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return sig, nil
}

func (sig *Signature) readPoints(d *wire.Decoder) {
	codec.ReadG1(d, "M1", &sig.m1)
	codec.ReadG1(d, "M2", &sig.m2)
	codec.ReadG1(d, "Z", &sig.z)
	codec.ReadG1(d, "W", &sig.w)
	codec.ReadG2(d, "WW", &sig.ww)
}

// ParseBatchSignature decodes what BatchBytes returned for a signature of msg, with
// the context in the options, from which it computes c.
func (g *GroupKey) ParseBatchSignature(raw, msg []byte, opts *VerifyOptions) (*Signature, error) {
	d := wire.NewDecoder(raw)
	sig := &Signature{r: new(bls12381.G1)}
	sig.readPoints(d)
	if b := d.Fixed("R", bls12381.G1Size); b != nil { // whatever the compact layout can stand for
		if err := sig.r.SetBytesOrIdentity(b); err != nil {
			d.Fail("R", "%v", err)
		}
	}
	codec.ReadScalar(d, "s", &sig.s)
	if err := d.Finish(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	var context []byte
	if opts != nil {
		context = opts.Context
	}
	sig.c.Set(g.challenge(msg, context, sig, sig.r))
	return sig, nil
}

// MarshalBinary returns a version and a suite, and then Bytes.
func (sig *Signature) MarshalBinary() ([]byte, error) {
	if sig.hasZero() {
		return nil, errors.New("ds18: empty signature")
	}
	return append([]byte{version, suite}, sig.Bytes()...), nil
}

// UnmarshalBinary decodes what MarshalBinary returned.
func (sig *Signature) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	q, err := readSignature(d)
	if err != nil {
		return err
	}
	*sig = *q
	return nil
}

// ID returns the digest that names the signature, in whatever layout it came: in
// lists, and in openings.
func (sig *Signature) ID() [32]byte {
	return new(transcript.Items).Bytes("sig", sig.Bytes()).Sum()
}

// Equal reports whether x is the same signature, in whatever layout it came.
func (sig *Signature) Equal(x *Signature) bool {
	return x != nil && bytes.Equal(sig.Bytes(), x.Bytes())
}
