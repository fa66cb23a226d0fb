// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import (
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"math/big"

	"golang.org/x/crypto/blake2s"

	"github.com/undersign/undersign/internal/bls12381"
)

// scalarFromHash is mcl's setHashOf for scalars: SHA-256 as a little-endian number,
// reduced to 255 bits, and if that isn't below r to 254.
func scalarFromHash(x []byte) *bls12381.Scalar {
	d := sha256.Sum256(x)
	d[31] &= 0x7f
	k, err := decodeScalar(d[:])
	if err != nil {
		d[31] &= 0x3f
		k, _ = decodeScalar(d[:]) // 2²⁵⁴ is below r
	}
	return k
}

// hashBLAKE is the library's challenge: the digest is hashed again.
func hashBLAKE(items ...any) *bls12381.Scalar {
	d := blake2s.Sum256(concat(items...))
	return scalarFromHash(d[:])
}

// hashSHA1 is its challenge in proofs of one logarithm.
func hashSHA1(items ...any) *bls12381.Scalar {
	d := sha1.Sum(concat(items...))
	return scalarFromHash(d[:])
}

func number(hex string) *big.Int {
	n, ok := new(big.Int).SetString(hex, 16)
	if !ok {
		panic("libgroupsig: bad constant")
	}
	return n
}

// The base field, and the constants of the map: a root of -3, and (root-1)/2.
var (
	fieldP    = number("1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab")
	mapC1     = number("be32ce5fbeed9ca374d38c0ed41eefd5bb675277cdf12d11bc2fb026c41400045c03fffffffdfffd")
	mapC2     = new(big.Int).Rsh(new(big.Int).Sub(mapC1, big.NewInt(1)), 1)
	cofactor  = number("396c8c005555e1568c00aaab0000aaab")
	rootPower = new(big.Int).Rsh(new(big.Int).Add(fieldP, big.NewInt(1)), 2) // (p+1)/4
)

// fieldFromHash is mcl's setHashOf for the field: 48 bytes of SHA-512 as a
// little-endian number, reduced to 381 bits, and if that isn't below p to 380.
func fieldFromHash(x []byte) *big.Int {
	d := sha512.Sum512(x)
	b := reversed(d[:48])
	b[0] &= 0x1f
	t := new(big.Int).SetBytes(b)
	if t.Cmp(fieldP) >= 0 {
		b[0] &= 0x0f
		t.SetBytes(b)
	}
	return t
}

// hashToG1 is mcl's hashAndMapTo of a BLAKE2s digest, which is how the library hashes to
// G1. It isn't RFC 9380's: one point of the map, so not all points occur. It returns nil
// for three values of the digest's hash, which nobody finds.
func hashToG1(x []byte) *bls12381.G1 {
	d := blake2s.Sum256(x)
	return mapToG1(fieldFromHash(d[:]))
}

// mapToG1 is the map of Shallue and van de Woestijne in the form of Fouque and Tibouchi,
// Indifferentiable Hashing to Barreto-Naehrig Curves (LATINCRYPT 2012), section 3, with
// the curve's b = 4:
//
//	w = c1·t/(t²+5); x1 = c2-t·w, x2 = -1-x1, x3 = 1+1/w²
//
// x is the first for which x³+4 is a square, and y the root whose sign is that of t's
// Legendre symbol. Then the cofactor is cleared. One of the three is a square, unless w is
// 0 or t²+5 is: there it returns nil, since 5 isn't a square.
func mapToG1(t *big.Int) *bls12381.G1 {
	mod := func(n *big.Int) *big.Int { return n.Mod(n, fieldP) }
	w := mod(new(big.Int).Mul(t, t))
	w = mod(w.Add(w, big.NewInt(5)))
	if t.Sign() == 0 || w.Sign() == 0 {
		return nil
	}
	w.ModInverse(w, fieldP)
	w = mod(w.Mul(w, t))
	w = mod(w.Mul(w, mapC1))

	x1 := mod(new(big.Int).Sub(mapC2, new(big.Int).Mul(t, w)))
	x2 := mod(new(big.Int).Sub(big.NewInt(-1), x1))
	x3 := mod(new(big.Int).Mul(w, w))
	x3.ModInverse(x3, fieldP)
	x3 = mod(x3.Add(x3, big.NewInt(1)))

	for _, x := range []*big.Int{x1, x2, x3} {
		y2 := mod(new(big.Int).Mul(x, x))
		y2 = mod(y2.Mul(y2, x))
		y2 = mod(y2.Add(y2, big.NewInt(4)))
		if big.Jacobi(y2, fieldP) < 0 {
			continue
		}
		y := new(big.Int).Exp(y2, rootPower, fieldP)
		if big.Jacobi(t, fieldP) < 0 {
			y = mod(y.Neg(y))
		}
		return clearCofactor(x, y)
	}
	return nil
}

// clearCofactor returns the cofactor's multiple of a point of the curve, by doubling and
// adding: the formulas hold for all points of the curve.
func clearCofactor(x, y *big.Int) *bls12381.G1 {
	var b [bls12381.G1SizeUncompressed]byte
	x.FillBytes(b[:48])
	y.FillBytes(b[48:])
	p, sum := bls12381.NewG1(), bls12381.NewG1()
	if p.SetUncompressedUnsafe(b[:]) != nil {
		return nil
	}
	for i := cofactor.BitLen() - 1; i >= 0; i-- {
		sum.Double(sum)
		if cofactor.Bit(i) == 1 {
			sum.Add(sum, p)
		}
	}
	bls12381.NormalizeG1(sum)
	return sum
}
