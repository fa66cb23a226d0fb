// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/undersign/undersign/internal/bls12381"
)

// A Derivation is a way of making keys from a seed, and keys from keys, after EIP-2333.
// There are two, which differ in the salt that KeyGen starts with, and give different
// keys.
type Derivation uint8

const (
	// EIP2333 is EIP-2333 as it is today, with KeyGen as in the draft's versions from 4 on.
	EIP2333 Derivation = iota
	// Chia is what Chia uses: EIP-2333 as it was before September 2020.
	Chia
)

// String returns the name of d.
func (d Derivation) String() string {
	switch d {
	case EIP2333:
		return "EIP2333"
	case Chia:
		return "Chia"
	}
	return fmt.Sprintf("Derivation(%d)", uint8(d))
}

// MinSeedSize is the least length of a seed.
const MinSeedSize = 32

// KeyGen returns the key that the draft's KeyGen makes from ikm, which is secret, of
// MinSeedSize bytes or more, and hard to guess. The info may be nil.
func KeyGen(ikm, info []byte) (*SecretKey, error) { return EIP2333.keyGen(ikm, info) }

// Master returns the key at the root of the tree of keys of a seed, which is secret, of
// MinSeedSize bytes or more, and hard to guess.
func (d Derivation) Master(seed []byte) (*SecretKey, error) { return d.keyGen(seed, nil) }

func (d Derivation) keyGen(ikm, info []byte) (*SecretKey, error) {
	if d > Chia {
		return nil, fmt.Errorf("bls: unknown derivation %d", uint8(d))
	}
	if len(ikm) < MinSeedSize {
		return nil, fmt.Errorf("%w: a seed of %d bytes, at least %d", ErrKey, len(ikm), MinSeedSize)
	}
	salt := []byte("BLS-SIG-KEYGEN-SALT-")
	if d == EIP2333 {
		salt = hashed(salt)
	}
	return hkdfModR(ikm, info, salt)
}

func hashed(b []byte) []byte {
	h := sha256.Sum256(b)
	return h[:]
}

// hkdfModR is the draft's section 2.3, and EIP-2333's hkdf_mod_r.
func hkdfModR(ikm, info, salt []byte) (*SecretKey, error) {
	const l = 48
	secret := append(ikm[:len(ikm):len(ikm)], 0) // in a new array, to be cleared
	defer clear(secret)
	param := string(binary.BigEndian.AppendUint16(append([]byte(nil), info...), l))
	s := newSecretKey()
	for {
		prk, err := hkdf.Extract(sha256.New, secret, salt)
		if err != nil {
			return nil, fmt.Errorf("bls: key derivation: %w", err)
		}
		okm, err := hkdf.Expand(sha256.New, prk, param, l)
		clear(prk)
		if err != nil {
			return nil, fmt.Errorf("bls: key derivation: %w", err)
		}
		s.k.SetWide(okm)
		clear(okm)
		if !s.k.IsZero() {
			return s, nil
		}
		salt = hashed(salt)
	}
}

// Child returns child number i of sk: EIP-2333's derive_child_SK. It can't be linked to
// its parent or siblings.
func (d Derivation) Child(sk *SecretKey, i uint32) (*SecretKey, error) {
	if sk.empty() {
		return nil, errNoKey
	}
	ikm := sk.k.Bytes()
	defer clear(ikm)
	h := sha256.New()
	salt := binary.BigEndian.AppendUint32(nil, i)
	for range 2 {
		if err := lamport(h.Write, ikm, salt); err != nil {
			return nil, fmt.Errorf("bls: key derivation: %w", err)
		}
		for j := range ikm {
			ikm[j] ^= 0xff
		}
	}
	compressed := h.Sum(nil)
	defer clear(compressed)
	return d.keyGen(compressed, nil)
}

// lamport writes the hashes of the 255 chunks of IKM_to_lamport_SK.
func lamport(write func([]byte) (int, error), ikm, salt []byte) error {
	const chunks = 255
	prk, err := hkdf.Extract(sha256.New, ikm, salt)
	if err != nil {
		return err
	}
	defer clear(prk)
	okm, err := hkdf.Expand(sha256.New, prk, "", chunks*sha256.Size)
	if err != nil {
		return err
	}
	defer clear(okm)
	for i := range chunks {
		x := sha256.Sum256(okm[i*sha256.Size : (i+1)*sha256.Size])
		write(x[:])
		clear(x[:])
	}
	return nil
}

// Path returns the descendant of sk that is reached by a path of children, such as 12381,
// 3600, 0, 0 of EIP-2334 or 12381, 8444, 2, 0 of Chia.
func (d Derivation) Path(sk *SecretKey, path ...uint32) (*SecretKey, error) {
	if sk.empty() {
		return nil, errNoKey
	}
	at := newSecretKey()
	at.k.Set(&sk.k)
	for _, i := range path {
		child, err := d.Child(at, i)
		at.Wipe()
		if err != nil {
			return nil, err
		}
		at = child
	}
	return at, nil
}

// UnhardenedChild returns Chia's unhardened child number i. Whoever has it and the
// parent's public key can compute the parent, and so all its unhardened children.
func (s *SecretKey) UnhardenedChild(i uint32) (*SecretKey, error) {
	if s.empty() {
		return nil, errNoKey
	}
	child := newSecretKey()
	child.k.Add(&s.k, unhardened(s.PublicKey(), i))
	if child.k.IsZero() {
		return nil, errChild
	}
	return child, nil
}

// UnhardenedChild returns the public key of the secret key's child of that number. The
// key must be in G1.
func (k *PublicKey) UnhardenedChild(i uint32) (*PublicKey, error) {
	if k == nil || k.p.empty() {
		return nil, errNoKey
	}
	if k.p.inG2() {
		return nil, errVariant
	}
	p := newPoint(false)
	p.one.ScalarMultVarTime(unhardened(k, i), bls12381.G1Generator())
	p.one.Add(p.one, k.p.one)
	if p.isIdentity() {
		return nil, errChild
	}
	bls12381.NormalizeG1(p.one)
	return &PublicKey{p}, nil
}

// errChild comes with a probability of 2⁻²⁵⁵.
var errChild = fmt.Errorf("%w: no child of that number", ErrKey)

// unhardened returns what Chia adds to a key for its child: a hash of the public key and
// the number, modulo r.
func unhardened(k *PublicKey, i uint32) *bls12381.Scalar {
	return new(bls12381.Scalar).SetWide(hashed(binary.BigEndian.AppendUint32(k.p.bytes(), i)))
}
