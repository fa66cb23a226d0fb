// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package arweave

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
)

// ErrSignature: a transaction isn't signed by its owner.
var ErrSignature = errors.New("arweave: invalid signature")

const exponent = 65537

// CheckKey reports why a key can't be a wallet's.
func CheckKey(pub *rsa.PublicKey) error {
	if n := pub.N.BitLen(); n != 8*keySize {
		return fmt.Errorf("arweave: the key has %d bits, and wallets have %d", n, 8*keySize)
	}
	if pub.E != exponent {
		return fmt.Errorf("arweave: the public exponent is %d, and wallets have %d, which transactions don't tell", pub.E, exponent)
	}
	return nil
}

// Address returns the address of a key's wallet: the SHA-256 of the modulus, in base64url.
func Address(pub *rsa.PublicKey) (string, error) {
	if err := CheckKey(pub); err != nil {
		return "", err
	}
	return ownerAddress(pub.N.Bytes()), nil
}

func ownerAddress(owner []byte) string {
	h := sha256.Sum256(owner)
	return encode(h[:])
}

// OwnerAddress returns the address of the transaction's owner, empty if it has none yet.
func (t *Transaction) OwnerAddress() string {
	if len(t.Owner) == 0 {
		return ""
	}
	return ownerAddress(t.Owner)
}

// Key returns the owner's public key.
func (t *Transaction) Key() (*rsa.PublicKey, error) {
	if len(t.Owner) != keySize {
		return nil, errors.New("arweave: no owner")
	}
	pub := &rsa.PublicKey{N: new(big.Int).SetBytes(t.Owner), E: exponent}
	return pub, CheckKey(pub)
}

// Prepare readies a transaction of format 2 for signing with pub: it sets the
// owner, which must not be somebody else, and checks the target and the data.
func (t *Transaction) Prepare(pub *rsa.PublicKey) error {
	if err := CheckKey(pub); err != nil {
		return err
	}
	if t.Format != 2 {
		return errors.New("arweave: only transactions of format 2 are signed: the message of format 1 is ambiguous")
	}
	owner := pub.N.Bytes()
	if len(t.Owner) > 0 && !bytes.Equal(t.Owner, owner) {
		return fmt.Errorf("arweave: the transaction belongs to another wallet, %s", t.OwnerAddress())
	}
	if len(t.Signature) > 0 || len(t.ID) > 0 {
		return errors.New("arweave: the transaction is signed already")
	}
	if len(t.Target) == 0 && t.Quantity != "0" {
		return errors.New("arweave: an amount for nobody: there is a quantity and no target")
	}
	t.Owner = owner
	return t.CheckData()
}

// Digest returns the SHA-256 of the message: what RSASSA-PSS signs.
func (t *Transaction) Digest() ([]byte, error) {
	msg, err := t.Message()
	if err != nil {
		return nil, err
	}
	h := sha256.Sum256(msg)
	return h[:], nil
}

// SetSignature adds the signature of a prepared transaction, which it verifies,
// and the id.
func (t *Transaction) SetSignature(sig []byte) error {
	signed := *t
	signed.Signature = sig
	id := sha256.Sum256(sig)
	signed.ID = id[:]
	if err := signed.Verify(); err != nil {
		return err
	}
	*t = signed
	return nil
}

// Verify checks a signed transaction: signature, id, and the data if it is there.
// A wrong signature is an ErrSignature.
func (t *Transaction) Verify() error {
	if err := t.VerifySignature(); err != nil {
		return err
	}
	if id := sha256.Sum256(t.Signature); !bytes.Equal(id[:], t.ID) {
		return errors.New("arweave: the id isn't the hash of the signature")
	}
	return t.CheckData()
}

// VerifySignature checks the signature alone.
func (t *Transaction) VerifySignature() error {
	pub, err := t.Key()
	if err != nil {
		return err
	}
	if len(t.Signature) == 0 {
		return errors.New("arweave: the transaction isn't signed")
	}
	digest, err := t.Digest()
	if err != nil {
		return err
	}
	opts := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthAuto}
	if rsa.VerifyPSS(pub, crypto.SHA256, digest, t.Signature, opts) != nil {
		return ErrSignature
	}
	return nil
}
