// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/hash_to_curve"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"

	"github.com/undersign/undersign/internal/opcount"
)

// ExpandMessageXMD returns n bytes: expand_message_xmd of RFC 9380, section 5.3.1,
// with SHA-256. A domain separation tag over 255 bytes is hashed as in section
// 5.3.3. It panics if the tag is empty or n is over 8160.
func ExpandMessageXMD(msg, dst []byte, n int) []byte {
	const size, block = sha256.Size, sha256.BlockSize
	if len(dst) == 0 {
		panic("bls12381: empty domain separation tag")
	}
	if n < 0 || n > 255*size {
		panic("bls12381: too many bytes to expand to")
	}
	if len(dst) > 255 {
		h := sha256.New()
		h.Write([]byte("H2C-OVERSIZE-DST-"))
		h.Write(dst)
		dst = h.Sum(nil)
	}
	prime := append(append(make([]byte, 0, len(dst)+1), dst...), byte(len(dst)))

	h := sha256.New()
	h.Write(make([]byte, block))
	h.Write(msg)
	h.Write(binary.BigEndian.AppendUint16(nil, uint16(n)))
	h.Write([]byte{0})
	h.Write(prime)
	var b0, bi [size]byte
	h.Sum(b0[:0])

	out := make([]byte, 0, (n+size-1)/size*size)
	for i := 1; len(out) < n; i++ {
		for j := range bi {
			bi[j] ^= b0[j]
		}
		h.Reset()
		h.Write(bi[:])
		h.Write([]byte{byte(i)})
		h.Write(prime)
		h.Sum(bi[:0])
		out = append(out, bi[:]...)
	}
	return out[:n]
}

// hashToField returns count elements of Fp: RFC 9380, section 5.2, with L = 64.
func hashToField(msg, dst []byte, count int) []fe {
	const l = 64
	uniform := ExpandMessageXMD(msg, dst, count*l)
	u := make([]fe, count)
	for i := range u {
		u[i].SetBytes(uniform[i*l : (i+1)*l])
	}
	return u
}

// HashVarTime sets p to the hash of msg: hash_to_curve of RFC 9380 for the suite
// BLS12381G1_XMD:SHA-256_SSWU_RO_.
func (p *G1) HashVarTime(msg, dst []byte) *G1 {
	opcount.Add(opcount.HashG1, 1)
	u := hashToField(msg, dst, 2)
	var sum, q bls.G1Jac
	for i := range u {
		a := bls.MapToCurve1(&u[i])
		hash_to_curve.G1Isogeny(&a.X, &a.Y)
		q.FromAffine(&a)
		if i == 0 {
			sum = q
		} else {
			sum.AddAssign(&q)
		}
	}
	sum.ClearCofactor(&sum)
	*p = g1FromJacobian(&sum)
	return p
}

// HashVarTime sets p to the hash of msg: hash_to_curve of RFC 9380 for the suite
// BLS12381G2_XMD:SHA-256_SSWU_RO_.
func (p *G2) HashVarTime(msg, dst []byte) *G2 {
	opcount.Add(opcount.HashG2, 1)
	u := hashToField(msg, dst, 4)
	var sum, q bls.G2Jac
	for i := range 2 {
		a := mapToG2VarTime(&fe2{A0: u[2*i], A1: u[2*i+1]})
		q.FromAffine(&a)
		if i == 0 {
			sum = q
		} else {
			sum.AddAssign(&q)
		}
	}
	sum.ClearCofactor(&sum)
	*p = g2FromJacobian(&sum)
	return p
}

// SetHash sets z to hash_to_field of RFC 9380 modulo r: 48 bytes of
// [ExpandMessageXMD].
func (z *Scalar) SetHash(msg, dst []byte) *Scalar {
	return z.SetWide(ExpandMessageXMD(msg, dst, 48))
}
