// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package klap20

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

const (
	// SignatureSize is the length of a signature's compact encoding.
	SignatureSize = 3*bls12381.G1Size + 2*bls12381.ScalarSize
	// BatchSignatureSize is the length of a signature's batch encoding.
	BatchSignatureSize = 4*bls12381.G1Size + bls12381.ScalarSize
)

// ErrSignature: a signature is wrong, or for something else.
var ErrSignature = errors.New("klap20: invalid signature")

// A Signature is uu, vv and ww, a credential multiplied by one secret factor, and a
// proof of alpha with ww = alpha·uu.
type Signature struct {
	uu, vv, ww bls12381.G1
	c, s       bls12381.Scalar
	r          *bls12381.G1 // what c was computed from, if it is known, or nil
}

// commitment returns R = s·uu + c·ww.
func (sig *Signature) commitment() *bls12381.G1 {
	return new(bls12381.G1).MultiMultVarTime(bls12381.MulG1(&sig.s, &sig.uu), bls12381.MulG1(&sig.c, &sig.ww))
}

func (sig *Signature) points() []byte {
	b := make([]byte, 0, BatchSignatureSize)
	b = sig.uu.Append(b)
	b = sig.vv.Append(b)
	return sig.ww.Append(b)
}

// Bytes returns the compact encoding without the two bytes in front of
// MarshalBinary's: uu, vv, ww, c, s.
func (sig *Signature) Bytes() []byte { return sig.s.Append(sig.c.Append(sig.points())) }

// BatchBytes returns the batch encoding: uu, vv, ww, R, s.
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
	codec.ReadG1(d, "uu", &sig.uu)
	codec.ReadG1(d, "vv", &sig.vv)
	codec.ReadG1(d, "ww", &sig.ww)
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
		return nil, errors.New("klap20: empty signature")
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
	return x != nil && sig.uu.Equal(&x.uu) && sig.vv.Equal(&x.vv) && sig.ww.Equal(&x.ww) && sig.c.Equal(&x.c) && sig.s.Equal(&x.s)
}
