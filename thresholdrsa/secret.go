// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/rand"
	"math/big"

	"github.com/undersign/undersign/internal/modexp"
)

const encryptionKeySize = 32 // X25519, public and private

// natOf returns x, 0 <= x < 2^bits, as a number of fixed width.
func natOf(x *big.Int, bits int) modexp.Nat {
	z := modexp.NewNat(bits)
	b := x.FillBytes(make([]byte, (bits+7)/8))
	mustSet(z, b)
	clear(b)
	return z
}

// mustSet is SetBytes where the widths are known to fit.
func mustSet(z modexp.Nat, b []byte) {
	if err := z.SetBytes(b); err != nil {
		panic("thresholdrsa: " + err.Error())
	}
}

// fill writes x to size bytes, where it is known to fit.
func fill(x modexp.Nat, size int) []byte {
	b := make([]byte, size)
	if err := x.FillBytes(b); err != nil {
		panic("thresholdrsa: " + err.Error())
	}
	return b
}

// maskBits clears all but the low bits of the big-endian b.
func maskBits(b []byte, bits int) {
	if extra := 8*len(b) - bits; extra > 0 {
		b[0] &= 0xff >> extra
	}
}

// randomBits returns a uniform number below 2^bits.
func randomBits(bits int) modexp.Nat {
	b := make([]byte, (bits+7)/8)
	rand.Read(b)
	maskBits(b, bits)
	z := modexp.NewNat(bits)
	mustSet(z, b)
	clear(b)
	return z
}

// randomBelow returns a uniform number below m. The numbers it throws away show
// in its time; they are independent of the one it returns.
func randomBelow(m modexp.Nat, bits int) modexp.Nat {
	for {
		if z := randomBits(bits); z.Less(m) == 1 {
			return z
		}
	}
}

// evalNat returns sum coeffs[t] x^t, which is known to be below 2^bits, by
// Horner's rule. x is public.
func evalNat(coeffs []modexp.Nat, x int, bits int) modexp.Nat {
	acc, next := modexp.NewNat(bits), modexp.NewNat(bits)
	point := modexp.Nat{uint64(x)}
	for t := len(coeffs) - 1; t >= 0; t-- {
		next.Mul(acc, point)
		// A coefficient may be a limb wider than the sum's bound; its top limb is zero then.
		acc.Add(next, narrow(coeffs[t], len(acc)))
	}
	next.Wipe()
	return acc
}

// narrow cuts off limbs that are known to be zero.
func narrow(x modexp.Nat, limbs int) modexp.Nat { return x[:min(len(x), limbs)] }

func wipeAll(xs []modexp.Nat) {
	for _, x := range xs {
		x.Wipe()
	}
}

// newEncryptionKey returns an X25519 private key and its public key.
func newEncryptionKey() (priv, pub []byte, err error) {
	k, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	return k.Bytes(), k.PublicKey().Bytes(), nil
}

// seal encrypts to an X25519 public key (RFC 9180, base mode).
func seal(pub, info, plaintext []byte) ([]byte, error) {
	k, err := ecdh.X25519().NewPublicKey(pub)
	if err != nil {
		return nil, err
	}
	pk, err := hpke.NewDHKEMPublicKey(k)
	if err != nil {
		return nil, err
	}
	return hpke.Seal(pk, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), info, plaintext)
}

// open decrypts what seal encrypted.
func open(priv, info, ciphertext []byte) ([]byte, error) {
	k, err := ecdh.X25519().NewPrivateKey(priv)
	if err != nil {
		return nil, err
	}
	sk, err := hpke.NewDHKEMPrivateKey(k)
	if err != nil {
		return nil, err
	}
	return hpke.Open(sk, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), info, ciphertext)
}

// sealedSize is the length of what seal makes of n bytes: the encapsulated key
// and the tag come to them.
func sealedSize(n int) int { return 32 + n + 16 }
