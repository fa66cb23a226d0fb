// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package edwards

import (
	"bytes"
	"crypto/sha512"
	"encoding/binary"
	"errors"

	"filippo.io/edwards25519"
	"filippo.io/edwards25519/field"
)

// ristretto255, RFC 9496. An element is a coset of points that differ by points of order
// 1, 2 or 4: any of them stands for it. Names are those of the RFC.

// RistrettoSize is the length of an element's encoding.
const RistrettoSize = 32

// Constants of RFC 9496, section 4.1, from their definitions.
var (
	one      = element(1)
	minusOne = new(field.Element).Negate(one)
	paramD   = new(field.Element).Multiply(d2, half)
	sqrtM1   = func() *field.Element { // of -1, the non-negative one
		r, _ := new(field.Element).SqrtRatio(minusOne, one)
		return r
	}()
	invSqrtAMinusD = func() *field.Element { // a = -1
		r, _ := new(field.Element).SqrtRatio(one, new(field.Element).Subtract(minusOne, paramD))
		return r
	}()
	sqrtADMinusOne = func() *field.Element {
		v := new(field.Element).Negate(paramD) // a·d
		r, _ := new(field.Element).SqrtRatio(v.Subtract(v, one), one)
		return r.Negate(r) // the RFC takes the negative one
	}()
	oneMinusDSq = func() *field.Element {
		v := new(field.Element).Square(paramD)
		return v.Subtract(one, v)
	}()
	dMinusOneSq = func() *field.Element {
		v := new(field.Element).Subtract(paramD, one)
		return v.Square(v)
	}()
)

var errRistretto = errors.New("edwards: not the canonical encoding of an element of ristretto255")

// DecodeRistretto returns a point of the element with an encoding (section 4.3.1). It
// takes the canonical encoding alone, of the identity too.
func DecodeRistretto(b []byte) (*edwards25519.Point, error) {
	if len(b) != RistrettoSize {
		return nil, errRistretto
	}
	s, err := new(field.Element).SetBytes(b)
	if err != nil || !bytes.Equal(s.Bytes(), b) || s.IsNegative() == 1 {
		return nil, errRistretto
	}
	var ss, u1, u2, u2Sq, v, t, denX, x, y field.Element
	ss.Square(s)
	u1.Subtract(one, &ss)
	u2.Add(one, &ss)
	u2Sq.Square(&u2)
	// v = -(D·u1²) - u2²
	v.Square(&u1)
	v.Multiply(&v, paramD)
	v.Negate(&v)
	v.Subtract(&v, &u2Sq)

	invSqrt, wasSquare := new(field.Element).SqrtRatio(one, t.Multiply(&v, &u2Sq))
	denX.Multiply(invSqrt, &u2)
	denY := t.Multiply(invSqrt, &denX)
	denY.Multiply(denY, &v)

	x.Add(s, s)
	x.Multiply(&x, &denX)
	x.Absolute(&x)
	y.Multiply(&u1, denY)
	var xy, zero field.Element
	xy.Multiply(&x, &y)
	if wasSquare == 0 || xy.IsNegative() == 1 || y.Equal(&zero) == 1 {
		return nil, errRistretto
	}
	return (&Point{x, y, *one, xy}).Library(), nil
}

// EncodeRistretto returns the encoding of p's element (section 4.3.2).
func EncodeRistretto(p *edwards25519.Point) [RistrettoSize]byte {
	x0, y0, z0, t0 := p.ExtendedCoordinates()
	var u1, u2, t, den1, den2, zInv, ix, iy, enchanted field.Element
	u1.Add(z0, y0)
	u1.Multiply(&u1, t.Subtract(z0, y0))
	u2.Multiply(x0, y0)

	invSqrt, _ := new(field.Element).SqrtRatio(one, t.Multiply(&u1, t.Square(&u2)))
	den1.Multiply(invSqrt, &u1)
	den2.Multiply(invSqrt, &u2)
	zInv.Multiply(&den1, &den2)
	zInv.Multiply(&zInv, t0)

	ix.Multiply(x0, sqrtM1)
	iy.Multiply(y0, sqrtM1)
	enchanted.Multiply(&den1, invSqrtAMinusD)

	rotate := t.Multiply(t0, &zInv).IsNegative()
	var x, y, den field.Element
	x.Select(&iy, x0, rotate)
	y.Select(&ix, y0, rotate)
	den.Select(&enchanted, &den2, rotate)

	negative := t.Multiply(&x, &zInv).IsNegative()
	y.Select(t.Negate(&y), &y, negative)
	s := t.Subtract(z0, &y)
	s.Multiply(s, &den)
	s.Absolute(s)
	return [RistrettoSize]byte(s.Bytes())
}

// EqualRistretto reports whether p and q are of the same element (section 4.3.3).
func EqualRistretto(p, q *edwards25519.Point) bool {
	x1, y1, _, _ := p.ExtendedCoordinates()
	x2, y2, _, _ := q.ExtendedCoordinates()
	var l, r field.Element
	a := l.Multiply(x1, y2).Equal(r.Multiply(y1, x2))
	b := l.Multiply(y1, y2).Equal(r.Multiply(x1, x2))
	return a|b == 1
}

// IsRistrettoIdentity reports whether p's element is the identity: p is of order 1, 2
// or 4, and x or y is 0.
func (p *Point) IsRistrettoIdentity() bool {
	var zero field.Element
	return p.x.Equal(&zero)|p.y.Equal(&zero) == 1
}

// MapRistretto maps 64 uniform bytes to an element (section 4.3.4).
func MapRistretto(b *[64]byte) *edwards25519.Point {
	return new(edwards25519.Point).Add(mapRistretto(b[:32]), mapRistretto(b[32:]))
}

func mapRistretto(b []byte) *edwards25519.Point {
	t, err := new(field.Element).SetBytes(b) // leaves out the highest bit
	if err != nil {
		panic("edwards: " + err.Error())
	}
	var r, u, v, c, s, sPrime, n, w0, w1, w2, w3, tmp field.Element
	r.Multiply(sqrtM1, tmp.Square(t))
	u.Multiply(tmp.Add(&r, one), oneMinusDSq)
	// v = (-1 - r·D)·(r + D)
	v.Subtract(minusOne, tmp.Multiply(&r, paramD))
	v.Multiply(&v, tmp.Add(&r, paramD))

	root, wasSquare := s.SqrtRatio(&u, &v)
	sPrime.Multiply(root, t)
	sPrime.Absolute(&sPrime)
	sPrime.Negate(&sPrime)
	s.Select(root, &sPrime, wasSquare)
	c.Select(minusOne, &r, wasSquare)

	// N = c·(r - 1)·(D - 1)² - v
	n.Multiply(&c, tmp.Subtract(&r, one))
	n.Multiply(&n, dMinusOneSq)
	n.Subtract(&n, &v)

	w0.Multiply(&s, &v)
	w0.Add(&w0, &w0)
	w1.Multiply(&n, sqrtADMinusOne)
	ss := tmp.Square(&s)
	w2.Subtract(one, ss)
	w3.Add(one, ss)

	var p Point
	p.x.Multiply(&w0, &w3)
	p.y.Multiply(&w2, &w1)
	p.z.Multiply(&w1, &w3)
	p.t.Multiply(&w0, &w2)
	return p.Library()
}

// HashToRistretto hashes to the group, by RFC 9380's ristretto255_XMD:SHA-512_R255MAP_RO_.
// Nobody knows the discrete logarithm of what comes out. The tag has 1 to 255 bytes.
func HashToRistretto(msg, dst []byte) *edwards25519.Point {
	b := expandXMD(msg, dst)
	return MapRistretto(&b)
}

// expandXMD is expand_message_xmd with SHA-512 for 64 bytes (RFC 9380, section 5.3.1):
// with one block of output.
func expandXMD(msg, dst []byte) [64]byte {
	if len(dst) == 0 || len(dst) > 255 {
		panic("edwards: a domain separation tag has 1 to 255 bytes")
	}
	tag := append(bytes.Clone(dst), byte(len(dst)))
	h := sha512.New()
	h.Write(make([]byte, h.BlockSize()))
	h.Write(msg)
	h.Write(append(binary.BigEndian.AppendUint16(nil, 64), 0))
	h.Write(tag)
	b0 := h.Sum(nil)
	h.Reset()
	h.Write(b0)
	h.Write([]byte{1})
	h.Write(tag)
	return [64]byte(h.Sum(nil))
}
