// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package codec reads points and scalars of BLS12-381 from encodings, and writes secrets. What
// is read is canonical, and in the subgroup.
package codec

import (
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/wire"
)

// PutSecret appends b and clears it.
func PutSecret(e *wire.Encoder, b []byte) {
	e.Fixed(b)
	clear(b)
}

// ReadSecret reads a scalar other than 0, and clears its encoding.
func ReadSecret(d *wire.Decoder, field string, k *bls12381.Scalar) {
	b := d.Fixed(field, bls12381.ScalarSize)
	if b == nil {
		return
	}
	if err := k.SetBytesNonZero(b); err != nil {
		d.Fail(field, "%v", err)
	}
	clear(b)
}

// ReadG1 reads a point of G1 that isn't the identity.
func ReadG1(d *wire.Decoder, field string, p *bls12381.G1) {
	if b := d.Fixed(field, bls12381.G1Size); b != nil {
		if err := p.SetBytes(b); err != nil {
			d.Fail(field, "%v", err)
		}
	}
}

// ReadG2 reads a point of G2 that isn't the identity.
func ReadG2(d *wire.Decoder, field string, p *bls12381.G2) {
	if b := d.Fixed(field, bls12381.G2Size); b != nil {
		if err := p.SetBytes(b); err != nil {
			d.Fail(field, "%v", err)
		}
	}
}

// ReadScalar reads a public scalar, which may be 0.
func ReadScalar(d *wire.Decoder, field string, k *bls12381.Scalar) {
	if b := d.Fixed(field, bls12381.ScalarSize); b != nil {
		if err := k.SetBytes(b); err != nil {
			d.Fail(field, "%v", err)
		}
	}
}
