// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 gmsm's keys have no other way to their coordinates.

package sm2

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"fmt"
	"math/big"

	"github.com/emmansun/gmsm/sm2"
	"github.com/emmansun/gmsm/smx509"

	"github.com/undersign/undersign/internal/sm2ec"
)

// ParsePublicKey reads a key in any of the usual forms, which differ in length:
// x || y in 64 bytes; the same after a byte 4; x in 32 bytes after a byte 2 or 3 for
// the sign; or a SubjectPublicKeyInfo in DER.
func ParsePublicKey(b []byte) (*ecdsa.PublicKey, error) {
	var xy [64]byte
	switch {
	case len(b) == 64:
		copy(xy[:], b)
	case len(b) == 65 && b[0] == 4:
		copy(xy[:], b[1:])
	case len(b) == 33 && b[0]&^1 == 2:
		if !decompress(&xy, b) {
			return nil, fmt.Errorf("%w: no point has this x", ErrKey)
		}
	case len(b) == 65 || len(b) == 33:
		return nil, fmt.Errorf("%w: it begins with byte %#02x", ErrKey, b[0])
	default:
		return parseSPKI(b)
	}
	if !onCurve(&xy) {
		return nil, fmt.Errorf("%w: not a point of the curve", ErrKey)
	}
	return publicKey(&xy), nil
}

func parseSPKI(b []byte) (*ecdsa.PublicKey, error) {
	k, err := smx509.ParsePKIXPublicKey(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %d bytes that are no public key", ErrKey, len(b))
	}
	pub, ok := k.(*ecdsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("%w: of another kind", ErrKey)
	}
	if xy, ok := keyBytes(pub); !ok || !onCurve(&xy) {
		return nil, fmt.Errorf("%w: not on the SM2 curve", ErrKey)
	}
	return pub, nil
}

// decompress sets xy to the point of an encoding with a byte 2 or 3.
func decompress(xy *[64]byte, b []byte) bool {
	x, y := elliptic.UnmarshalCompressed(sm2.P256(), b)
	if x == nil {
		return false
	}
	x.FillBytes(xy[:32])
	y.FillBytes(xy[32:])
	return true
}

// publicKey returns gmsm's form of the key x || y.
func publicKey(xy *[64]byte) *ecdsa.PublicKey {
	return &ecdsa.PublicKey{
		Curve: sm2.P256(),
		X:     new(big.Int).SetBytes(xy[:32]),
		Y:     new(big.Int).SetBytes(xy[32:]),
	}
}

// keyBytes returns the coordinates x || y of a key, and false if there are none
// on gmsm's curve that fit. Whether they are on the curve is for onCurve.
func keyBytes(pub *ecdsa.PublicKey) (xy [64]byte, ok bool) {
	if pub == nil || pub.X == nil || pub.Y == nil || !isSM2(pub.Curve) {
		return xy, false
	}
	if pub.X.Sign() < 0 || pub.Y.Sign() < 0 || pub.X.BitLen() > 256 || pub.Y.BitLen() > 256 {
		return xy, false
	}
	pub.X.FillBytes(xy[:32])
	pub.Y.FillBytes(xy[32:])
	return xy, true
}

// isSM2 tells the curve as gmsm's verifier does, by its parameters' address.
func isSM2(c elliptic.Curve) (ok bool) {
	if c == nil {
		return false
	}
	if c == sm2.P256() {
		return true
	}
	// A foreign implementation may not be able to answer.
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return c.Params() == sm2.P256().Params()
}

// point sets p to the point x || y, and reports whether it is on the curve.
func point(p *sm2ec.Affine, xy *[64]byte) bool {
	return p.SetBytes((*[32]byte)(xy[:32]), (*[32]byte)(xy[32:]))
}

func onCurve(xy *[64]byte) bool {
	var p sm2ec.Affine
	return point(&p, xy)
}
