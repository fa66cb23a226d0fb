// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"slices"
	"sync"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// SeedSize is the length of a [Key]'s seed.
const SeedSize = 32

// A Key is what an opener signs lists, and seals and marks tokens with. All are derived
// from one seed.
type Key struct {
	seed [SeedSize]byte
	sign ed25519.PrivateKey
	seal cipher.AEAD
	mark []byte
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
	k.mark = derive("mark", 32)
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
	clear(k.mark)
	k.seal = nil
}

// A shared token is in two parts, b - r·P2 with a random r: b says
// nothing of it, and may go where the token mustn't, such as into a pairing.
type shared struct {
	r bls12381.Scalar
	b bls12381.G2
}

const sharedSize = bls12381.ScalarSize + bls12381.G2SizeUncompressed

// share splits a token.
func share(token *bls12381.G2) *shared {
	s := new(shared)
	s.r.Random()
	s.b.ScalarBaseMult(&s.r)
	s.b.Add(&s.b, token)
	bls12381.NormalizeG2(&s.b)
	return s
}

// token returns the token.
func (s *shared) token() *bls12381.G2 {
	t := s.sum()
	Normalize(t)
	return t
}

// Normalize normalises secret points along with a random one, by which the inversion,
// which isn't constant time, is blinded: the product of all is inverted.
func Normalize(points ...*bls12381.G2) {
	var blind bls12381.G2
	var k bls12381.Scalar
	blind.ScalarBaseMult(k.Random())
	k.Wipe()
	bls12381.NormalizeG2(append(points, &blind)...)
}

func (s *shared) sum() *bls12381.G2 {
	t := new(bls12381.G2).ScalarBaseMult(&s.r)
	return t.Sub(&s.b, t)
}

// pairs returns two pairings whose product is e(a, token), for the comb of -a. They
// see b, which is random, and r·a: what leaks of them, and of their product, is about
// this a at the most, and not about the token.
func (s *shared) pairs(a *bls12381.G1, neg *bls12381.G1Comb) []bls12381.Pair {
	ra := new(bls12381.G1).CombMult(&s.r, neg)
	bls12381.NormalizeG1(ra)
	return []bls12381.Pair{bls12381.PairOf(a, &s.b), bls12381.PairWith(ra, linesP2())}
}

var linesP2 = sync.OnceValue(func() *bls12381.Lines { return bls12381.NewLinesVarTime(bls12381.G2Generator()) })

func (s *shared) wipe() {
	s.r.Wipe()
	s.b.Wipe()
}

// markSize is the length of a mark, by which an opener sees that a token is in its register
// already, where points have bases of their own: many pairs of points have one token then.
// Two records with one token would be opened as the first of them.
const markSize = sha256.Size

// markOf returns a token's mark, which says nothing of it to who hasn't got the key, and
// nothing in groups where the points determine the token.
func (k *Key) markOf(g *Group, token *bls12381.G2) []byte {
	if g.Points == nil {
		return nil
	}
	h := hmac.New(sha256.New, k.mark)
	b := new(transcript.Items).Grow(3*bls12381.G2Size).Bytes("dst", g.dst("mark")).Bytes("gid", g.ID[:]).G2("token", token)
	h.Write(b.Data())
	b.Wipe()
	return h.Sum(nil)
}

// Mark returns what registers of groups whose points have bases of their own are made with, by
// [join.NewRegisterBy]: the mark in an opener's, and the nonce in an issuer's, which is
// as long.
func Mark(r *join.Record) []byte {
	if len(r.Evidence) < markSize {
		return nil
	}
	return r.Evidence[:markSize]
}

// sealToken encrypts a token for one record of the group, and puts its mark in front.
func (k *Key) sealToken(g *Group, r *join.Record, s *shared, mark []byte) ([]byte, error) {
	context, err := g.sealContext(r, mark)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, sharedSize)
	defer func() { clear(b[:cap(b)]) }()
	b = s.r.Append(b)
	b = append(b, s.b.UncompressedBytes()...)
	return k.seal.Seal(slices.Clip(mark), nil, b, context), nil
}

// openToken decrypts a record's token.
func (k *Key) openToken(g *Group, r *join.Record) (*shared, error) {
	sealed := r.Evidence
	var mark []byte
	if g.Points != nil {
		if mark = Mark(r); mark == nil {
			return nil, errors.New("wrong length")
		}
		sealed = sealed[markSize:]
	}
	context, err := g.sealContext(r, mark)
	if err != nil {
		return nil, err
	}
	b, err := k.seal.Open(nil, nil, sealed, context)
	if err != nil {
		return nil, err
	}
	defer clear(b)
	if len(b) != sharedSize {
		return nil, errors.New("wrong length")
	}
	s := new(shared)
	if err := s.r.SetBytesNonZero(b[:bls12381.ScalarSize]); err != nil {
		return nil, err
	}
	return s, s.b.SetUncompressed(b[bls12381.ScalarSize:])
}

// sealContext is what a sealed token is bound to: the record without evidence, and the
// mark.
func (g *Group) sealContext(r *join.Record, mark []byte) ([]byte, error) {
	q := *r
	q.Evidence = nil
	b, err := q.MarshalBinary()
	if err != nil {
		return nil, err
	}
	items := new(transcript.Items).Bytes("dst", g.dst("seal")).Bytes("record", b)
	if mark != nil {
		items.Bytes("mark", mark)
	}
	return items.Data(), nil
}
