// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/undersign/undersign/internal/bls12381"
)

// The encodings of mcl. They are little-endian, and of a point have x and in the highest
// bit the parity of y. ZCash's are big-endian, and have three flags there; so points go
// that way, and then y shows which of the two was meant.

var (
	errIdentity = errors.New("it is the identity")
	errElement  = errors.New("it isn't the encoding of an element of the group")
)

const (
	flagOdd        = 0x80 // mcl
	flagCompressed = 0x80 // ZCash
	flagMask       = 0xe0
)

func reversed(b []byte) []byte {
	r := slices.Clone(b)
	slices.Reverse(r)
	return r
}

// isZero reports whether b has zeros only. That is how mcl writes the identity of G1 and
// G2, and points of order 3 with x = 0.
func isZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// zcash returns an encoded point in ZCash's form, whatever its sign, and whether y is odd.
func zcash(b []byte) (z []byte, odd bool, err error) {
	if isZero(b) {
		return nil, false, errIdentity
	}
	z = reversed(b)
	odd = z[0]&flagOdd != 0
	z[0] &^= flagOdd
	if z[0]&flagMask != 0 { // x is above 2³⁸¹
		return nil, false, errElement
	}
	z[0] |= flagCompressed
	return z, odd, nil
}

// decodeG1 decodes a point of G1 that isn't the identity.
func decodeG1(b []byte) (*bls12381.G1, error) {
	z, odd, err := zcash(b)
	if err != nil {
		return nil, err
	}
	p := bls12381.NewG1()
	if p.SetBytes(z) != nil {
		return nil, errElement
	}
	if oddG1(p) != odd {
		p.Neg(p)
	}
	return p, nil
}

func oddG1(p *bls12381.G1) bool {
	return p.UncompressedBytes()[bls12381.G1SizeUncompressed-1]&1 != 0
}

// decodeG2 decodes a point of G2 that isn't the identity.
func decodeG2(b []byte) (*bls12381.G2, error) {
	z, odd, err := zcash(b)
	if err != nil {
		return nil, err
	}
	p := bls12381.NewG2()
	if p.SetBytes(z) != nil {
		return nil, errElement
	}
	// Without y.c0 both signs would have one encoding.
	if isZero(p.UncompressedBytes()[bls12381.G2SizeUncompressed-48:]) {
		return nil, errElement
	}
	if oddG2(p) != odd {
		p.Neg(p)
	}
	return p, nil
}

// oddG2 looks at y.c0, which comes last.
func oddG2(p *bls12381.G2) bool {
	return p.UncompressedBytes()[bls12381.G2SizeUncompressed-1]&1 != 0
}

// decodeGT decodes an element of GT other than 1.
func decodeGT(b []byte) (*bls12381.GT, error) {
	z := new(bls12381.GT)
	if z.SetBytes(reversed(b)) != nil {
		return nil, errElement
	}
	return z, nil
}

func decodeScalar(b []byte) (*bls12381.Scalar, error) {
	k := new(bls12381.Scalar)
	if k.SetBytes(reversed(b)) != nil {
		return nil, errors.New("the number isn't below the group order")
	}
	return k, nil
}

// appendPoint appends x in mcl's form.
func appendPoint(b, zcash []byte, identity, odd bool) []byte {
	x := reversed(zcash)
	last := len(x) - 1
	x[last] &^= flagMask
	if odd && !identity {
		x[last] |= flagOdd
	}
	return append(b, x...)
}

func appendG1(b []byte, p *bls12381.G1) []byte {
	return appendPoint(b, p.Bytes(), p.IsIdentity(), oddG1(p))
}

func appendG2(b []byte, p *bls12381.G2) []byte {
	return appendPoint(b, p.Bytes(), p.IsIdentity(), oddG2(p))
}

func appendGT(b []byte, z *bls12381.GT) []byte { return append(b, reversed(z.Bytes())...) }

func appendScalar(b []byte, k *bls12381.Scalar) []byte { return append(b, reversed(k.Bytes())...) }

// concat returns what the library hashes: elements and byte strings, one after the
// other.
func concat(items ...any) []byte {
	var b []byte
	for _, item := range items {
		switch v := item.(type) {
		case []byte:
			b = append(b, v...)
		case *bls12381.G1:
			b = appendG1(b, v)
		case *bls12381.G2:
			b = appendG2(b, v)
		case *bls12381.GT:
			b = appendGT(b, v)
		case *bls12381.Scalar:
			b = appendScalar(b, v)
		default:
			panic(fmt.Sprintf("libgroupsig: %T in a hash", item))
		}
	}
	return b
}
