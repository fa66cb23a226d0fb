// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"errors"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/wire"
)

var errNoBLS = errors.New("keyfile: no key, or a key of another scheme")

// A BLSSecretKey is a secret key of package bls and the scheme that it signs in.
type BLSSecretKey struct {
	Scheme bls.Scheme
	Key    *bls.SecretKey
}

// A BLSPublicKey is a public key of package bls and the scheme that it is for.
type BLSPublicKey struct {
	Scheme bls.Scheme
	Key    *bls.PublicKey
}

// A BLSProof is a public key with a proof of possession of its secret. The proof isn't
// verified by reading it: see [bls.Scheme.PopVerify].
type BLSProof struct {
	Scheme bls.Scheme
	Key    *bls.PublicKey
	Proof  *bls.Signature
}

// PublicKey returns the public key for the scheme, or nil if there is none.
func (k *BLSSecretKey) PublicKey() *bls.PublicKey {
	switch {
	case k.Key == nil || k.Scheme > bls.MinSigProofOfPossession:
		return nil
	case isMinSig(k.Scheme):
		return k.Key.MinSigPublicKey()
	}
	return k.Key.PublicKey()
}

// Wipe overwrites the secret.
func (k *BLSSecretKey) Wipe() {
	if k.Key != nil {
		k.Key.Wipe()
	}
}

// MarshalBinary returns the canonical encoding, which is secret.
func (k *BLSSecretKey) MarshalBinary() ([]byte, error) {
	if k.PublicKey() == nil {
		return nil, errNoBLS
	}
	secret, err := k.Key.MarshalBinary()
	if err != nil {
		return nil, err
	}
	defer clear(secret)
	return encodeBLS(k.Scheme, secret), nil
}

// UnmarshalBinary decodes a secret key.
func (k *BLSSecretKey) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	q := BLSSecretKey{Scheme: blsScheme(d)}
	secret := d.Fixed("key", bls.SecretKeySize)
	defer clear(secret)
	err := d.Finish()
	if err == nil {
		q.Key, err = bls.ParseSecretKey(secret)
	}
	if err != nil {
		return err
	}
	*k = q
	return nil
}

// MarshalBinary returns the canonical encoding.
func (k *BLSPublicKey) MarshalBinary() ([]byte, error) {
	if !ofScheme(k.Scheme, k.Key) {
		return nil, errNoBLS
	}
	return encodeBLS(k.Scheme, k.Key.Bytes()), nil
}

// UnmarshalBinary decodes a public key.
func (k *BLSPublicKey) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	q := BLSPublicKey{Scheme: blsScheme(d), Key: new(bls.PublicKey)}
	key := d.Fixed("key", blsKeySize(q.Scheme))
	err := d.Finish()
	if err == nil {
		err = q.Key.UnmarshalBinary(key)
	}
	if err != nil {
		return err
	}
	*k = q
	return nil
}

// MarshalBinary returns the canonical encoding.
func (p *BLSProof) MarshalBinary() ([]byte, error) {
	if !ofScheme(p.Scheme, p.Key) || !hasProofs(p.Scheme) || len(p.Proof.Bytes()) != blsSignatureSize(p.Scheme) {
		return nil, errNoBLS
	}
	return encodeBLS(p.Scheme, p.Key.Bytes(), p.Proof.Bytes()), nil
}

// UnmarshalBinary decodes a key with its proof, which isn't verified.
func (p *BLSProof) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	q := BLSProof{Scheme: blsScheme(d), Key: new(bls.PublicKey), Proof: new(bls.Signature)}
	if !hasProofs(q.Scheme) {
		d.Fail("scheme", "one without proofs of possession")
	}
	key := d.Fixed("key", blsKeySize(q.Scheme))
	proof := d.Fixed("proof", blsSignatureSize(q.Scheme))
	err := d.Finish()
	if err == nil {
		err = q.Key.UnmarshalBinary(key)
	}
	if err == nil {
		err = q.Proof.UnmarshalBinary(proof)
	}
	if err != nil {
		return err
	}
	*p = q
	return nil
}

// encodeBLS writes the scheme and fields of fixed lengths.
func encodeBLS(s bls.Scheme, fields ...[]byte) []byte {
	var e wire.Encoder
	e.Grow(3 + 3*bls.SignatureSize)
	e.U8(1) // version
	e.U8(1) // suite
	e.U8(uint8(s) + 1)
	for _, f := range fields {
		e.Fixed(f)
	}
	return e.Data()
}

// blsScheme reads what encodeBLS writes before the fields.
func blsScheme(d *wire.Decoder) bls.Scheme {
	d.Header(1, 1)
	s := d.U8("scheme")
	if d.Err() == nil && (s < 1 || s > uint8(bls.MinSigProofOfPossession)+1) {
		d.Fail("scheme", "%d isn't one", s)
	}
	if d.Err() != nil {
		return bls.Basic
	}
	return bls.Scheme(s - 1)
}

func isMinSig(s bls.Scheme) bool { return s >= bls.MinSigBasic }

func hasProofs(s bls.Scheme) bool {
	return s == bls.ProofOfPossession || s == bls.MinSigProofOfPossession
}

func blsKeySize(s bls.Scheme) int {
	if isMinSig(s) {
		return bls.MinSigPublicKeySize
	}
	return bls.PublicKeySize
}

func blsSignatureSize(s bls.Scheme) int {
	if isMinSig(s) {
		return bls.MinSigSignatureSize
	}
	return bls.SignatureSize
}

// ofScheme reports whether a key isn't empty, and in the group of the scheme's keys.
func ofScheme(s bls.Scheme, k *bls.PublicKey) bool {
	return s <= bls.MinSigProofOfPossession && len(k.Bytes()) == blsKeySize(s)
}
