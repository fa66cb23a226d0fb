// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2paper

import (
	"crypto/ecdsa"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/emmansun/gmsm/sm2"
	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"
)

// NewItem returns the item for a key, a digest and a signature in DER, as gmsm has
// them: a digest of more than 32 bytes is cut, a shorter one is an integer. What
// can't be an item is an error; an item may be invalid yet.
func NewItem(pub *ecdsa.PublicKey, digest, sig []byte) (*Item, error) {
	//lint:ignore SA1019 gmsm's keys have no other form, and it doesn't look for nil
	if pub == nil || pub.Curve != sm2.P256() || pub.X == nil || pub.Y == nil {
		return nil, errors.New("sm2paper: no SM2 key")
	}
	key, err := sm2.PublicKeyToECDH(pub)
	if err != nil {
		return nil, fmt.Errorf("sm2paper: no SM2 key: %w", err)
	}
	it := new(Item)
	b := key.Bytes() // 4, x, y
	copy(it.X[:], b[1:33])
	copy(it.Y[:], b[33:])
	digest = digest[:min(len(digest), 32)]
	copy(it.Digest[32-len(digest):], digest)

	var inner cryptobyte.String
	var r, s []byte
	in := cryptobyte.String(sig)
	if !in.ReadASN1(&inner, asn1.SEQUENCE) || !in.Empty() ||
		!inner.ReadASN1Integer(&r) || !inner.ReadASN1Integer(&s) || !inner.Empty() ||
		len(r) > 32 || len(s) > 32 {
		return nil, errors.New("sm2paper: the signature isn't DER with integers of 256 bits")
	}
	copy(it.R[32-len(r):], r)
	copy(it.S[32-len(s):], s)
	return it, nil
}

// Sample returns n valid items of different signers, made by gmsm. A nil r is
// crypto/rand.
func Sample(r io.Reader, n int) ([]Item, error) {
	if r == nil {
		r = rand.Reader
	}
	items := make([]Item, n)
	for i := range items {
		priv, err := sm2.GenerateKey(r)
		if err != nil {
			return nil, fmt.Errorf("sm2paper: no key: %w", err)
		}
		msg := binary.BigEndian.AppendUint64([]byte("message "), uint64(i))
		digest, err := sm2.CalculateSM2Hash(&priv.PublicKey, msg, nil)
		if err != nil {
			return nil, fmt.Errorf("sm2paper: no digest: %w", err)
		}
		sig, err := sm2.SignASN1(r, priv, digest, nil)
		if err != nil {
			return nil, fmt.Errorf("sm2paper: no signature: %w", err)
		}
		it, err := NewItem(&priv.PublicKey, digest, sig)
		if err != nil {
			return nil, err
		}
		items[i] = *it
	}
	return items, nil
}
