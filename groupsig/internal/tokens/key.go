// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/subtle"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// SeedSize is the length of a [Key]'s seed.
const SeedSize = 32

// A Key is what an opener signs lists and seals tokens with. Both are derived from
// one seed.
type Key struct {
	seed [SeedSize]byte
	sign ed25519.PrivateKey
	seal cipher.AEAD
}

// NewKey returns the key of a seed.
func NewKey(seed *[SeedSize]byte) *Key {
	derive := func(info string, n int) []byte {
		b, err := hkdf.Expand(sha256.New, seed[:], "undersign/groupsig/v1/opener/"+info, n)
		if err != nil {
			panic(err) // only for lengths that aren't used here
		}
		return b
	}
	k := &Key{seed: *seed}
	s := derive("sign", ed25519.SeedSize)
	defer clear(s)
	k.sign = ed25519.NewKeyFromSeed(s)
	a := derive("seal", 32)
	defer clear(a)
	block, err := aes.NewCipher(a)
	if err == nil {
		k.seal, err = cipher.NewGCMWithRandomNonce(block)
	}
	if err != nil {
		panic(err) // the key has the right length
	}
	return k
}

// Seed returns the secret seed.
func (k *Key) Seed() [SeedSize]byte { return k.seed }

// Public returns the key that verifies lists.
func (k *Key) Public() ed25519.PublicKey { return k.sign.Public().(ed25519.PublicKey) }

// Sign signs a message that begins with a domain separation tag.
func (k *Key) Sign(msg []byte) []byte { return ed25519.Sign(k.sign, msg) }

// Equal reports, in constant time, whether x is the same key.
func (k *Key) Equal(x *Key) bool { return subtle.ConstantTimeCompare(k.seed[:], x.seed[:]) == 1 }

// Wipe overwrites what can be overwritten.
func (k *Key) Wipe() {
	clear(k.seed[:])
	clear(k.sign)
	k.seal = nil
}

// sealToken encrypts a token for one record of the group.
func (k *Key) sealToken(g *Group, r *join.Record, token *bls12381.G2) ([]byte, error) {
	context, err := g.sealContext(r)
	if err != nil {
		return nil, err
	}
	var norm bls12381.G2
	bls12381.NormalizeG2(norm.Set(token))
	b := norm.UncompressedBytes()
	defer clear(b)
	defer norm.Wipe()
	return k.seal.Seal(nil, nil, b, context), nil
}

// openToken decrypts a record's token.
func (k *Key) openToken(g *Group, r *join.Record) (*bls12381.G2, error) {
	context, err := g.sealContext(r)
	if err != nil {
		return nil, err
	}
	b, err := k.seal.Open(nil, nil, r.Evidence, context)
	if err != nil {
		return nil, err
	}
	defer clear(b)
	q := new(bls12381.G2)
	return q, q.SetUncompressed(b)
}

// sealContext is what a sealed token is bound to: the record without evidence.
func (g *Group) sealContext(r *join.Record) ([]byte, error) {
	q := *r
	q.Evidence = nil
	b, err := q.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return new(transcript.Items).Bytes("dst", g.dst("seal")).Bytes("record", b).Data(), nil
}
