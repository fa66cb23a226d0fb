// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package chia

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/undersign/undersign/bls"
)

// The sizes of a chain's signed blocks are log-normal with these parameters, cut off at
// MaxPairs, which gives the report's average of 36.5 pairs and its maximum of 890.
const (
	sizeMu    = 3.29
	sizeSigma = 0.783
	MaxPairs  = 890
	MeanPairs = 36.5
)

// A Chain makes blocks, the same ones for the same seed. Their keys are synthetic, so that
// all secrets are known.
type Chain struct {
	rand    *rand.Rand
	bytes   *rand.ChaCha8
	network [32]byte // ends every message, as the genesis challenge does
	blocks  int
}

// NewChain returns the chain of a seed.
func NewChain(seed uint64) *Chain {
	var key [32]byte
	binary.BigEndian.PutUint64(key[:], seed)
	copy(key[8:], "synthetic chain")
	c := &Chain{bytes: rand.NewChaCha8(key), network: sha256.Sum256(key[:])}
	c.rand = rand.New(c.bytes)
	return c
}

// Sizes returns the numbers of pairs of n signed blocks. They are spread evenly over the
// distribution, so that few blocks have its mean as well as many.
func (c *Chain) Sizes(n int) []int {
	sizes := make([]int, n)
	for i := range sizes {
		p := (float64(i) + c.rand.Float64()) / float64(n)
		x := math.Exp(sizeMu + sizeSigma*math.Sqrt2*math.Erfinv(2*p-1))
		sizes[i] = int(math.Round(min(max(x, 1), MaxPairs)))
	}
	c.rand.Shuffle(n, func(i, j int) { sizes[i], sizes[j] = sizes[j], sizes[i] })
	return sizes
}

// Choose returns the indices of some of n things, in ascending order: each of them with
// the given probability.
func (c *Chain) Choose(n int, probability float64) []int {
	var list []int
	for i := range n {
		if c.rand.Float64() < probability {
			list = append(list, i)
		}
	}
	return list
}

// An Owned block is one whose secret keys are known.
type Owned struct {
	Block
	Secrets map[Key]*bls.SecretKey
}

// Block returns a signed block of n pairs, each by a key of its own and with a message of
// 96 bytes, as AGG_SIG_ME has it.
func (c *Chain) Block(n int) *Owned {
	b := &Owned{Secrets: make(map[Key]*bls.SecretKey, n)}
	for range n {
		key := c.key(b.Secrets)
		msg := make([]byte, 64, 96)
		c.bytes.Read(msg)
		b.Pairs = append(b.Pairs, Pair{key, append(msg, c.network[:]...)})
	}
	return c.sign(b, "synthetic")
}

// Rekey returns a signed block of the shape of b: the same messages, by as many keys, each
// with the messages that one of b's keys has.
func (c *Chain) Rekey(b *Block) *Owned {
	out := &Owned{Secrets: map[Key]*bls.SecretKey{}}
	keys := map[Key]Key{}
	for _, p := range b.Pairs {
		key, ok := keys[p.Key]
		if !ok {
			key = c.key(out.Secrets)
			keys[p.Key] = key
		}
		out.Pairs = append(out.Pairs, Pair{key, bytes.Clone(p.Msg)})
	}
	return c.sign(out, "re-keyed "+b.Name)
}

// sign names a block and signs its pairs.
func (c *Chain) sign(b *Owned, name string) *Owned {
	c.blocks++
	b.Name = fmt.Sprintf("%s %d", name, c.blocks)
	sigs := make([]*bls.Signature, len(b.Pairs))
	for i, p := range b.Pairs {
		var err error
		if sigs[i], err = bls.Augmented.Sign(b.Secrets[p.Key], p.Msg); err != nil {
			panic(err) // all secrets are there
		}
	}
	if len(sigs) == 0 {
		b.Signature = slices.Concat([]byte{0xc0}, make([]byte, bls.SignatureSize-1)) // the identity
		return b
	}
	sum, err := bls.Aggregate(sigs...)
	if err != nil {
		panic(err) // there is one
	}
	b.Signature = sum.Bytes()
	return b
}

// key makes a key and puts its secret into a map.
func (c *Chain) key(secrets map[Key]*bls.SecretKey) (k Key) {
	var seed [bls.MinSeedSize]byte
	c.bytes.Read(seed[:])
	sk, err := bls.KeyGen(seed[:], []byte("synthetic chain"))
	if err != nil {
		panic(err) // the seed is long enough
	}
	copy(k[:], sk.PublicKey().Bytes())
	secrets[k] = sk
	return k
}
