// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/bls12381"
)

// A blsPool is keys that all libraries have parsed before. Their secrets follow each
// other, so that making them is cheap; the points are as good as any.
type blsPool struct {
	secrets []bls12381.Scalar
	raw     [][]byte // public keys in G1, uncompressed
	first   bls12381.Scalar
}

func newBLSPool(n int) (*blsPool, error) {
	p := &blsPool{secrets: make([]bls12381.Scalar, n), raw: make([][]byte, n)}
	one := new(bls12381.Scalar).SetOne()
	k := new(bls12381.Scalar).Random()
	p.first.Set(k)
	points := make([]*bls12381.G1, n)
	q := new(bls12381.G1).ScalarBaseMult(k)
	for i := range n {
		p.secrets[i].Set(k)
		points[i] = new(bls12381.G1).Set(q)
		k.Add(k, one)
		q.Add(q, bls12381.G1Generator())
	}
	bls12381.NormalizeG1(points...)
	for i, q := range points {
		p.raw[i] = q.UncompressedBytes()
	}
	return p, nil
}

func (p *blsPool) secret(i int) (*bls.SecretKey, error) {
	return bls.ParseSecretKey(p.secrets[i].Bytes())
}

// A blsKind is a kind of operation.
type blsKind int

const (
	blsSign blsKind = iota
	blsSignMin
	blsVerifyKeyParsed
	blsVerifyParsed
	blsVerifyMin
	blsAggregate
	blsAggregateOneKey
	blsFast
	blsSum
	blsHashG2
	blsHashG1
	blsDecodeKey
	blsDecodeSig
	blsPopOne
	blsPopMany
	blsBatch
	blsBDN
	blsReceived
)

// blsInput is the input of a draw. What an operation doesn't need is empty.
type blsInput struct {
	at   []int    // the keys' positions in the pool
	msgs [][]byte // of the keys, or one
	sigs [][]byte // compressed; of the keys, or one that is an aggregate
	want []byte   // of a sum
}

// A blsOp is an operation to measure.
type blsOp struct {
	kind  blsKind
	title string
	draws int
	per   int // items that the time is divided by
	make  func(draw int) (*blsInput, error)

	last int
	in   *blsInput
}

// input returns the input of a draw, which all libraries get.
func (op *blsOp) input(draw int) (*blsInput, error) {
	if op.in == nil || op.last != draw {
		in, err := op.make(draw)
		if err != nil {
			return nil, err
		}
		op.in, op.last = in, draw
	}
	return op.in, nil
}

// A blsWay is a library's way to do an operation.
type blsWay struct {
	note    string
	prepare func(in *blsInput) (blsRun, error)
}

// A blsRun is measured, and then checked.
type blsRun struct {
	do    func() error
	check func() error
}

// A blsPeer is a library.
type blsPeer struct {
	name string
	ways map[blsKind][]blsWay
}

func (p *blsPeer) add(kind blsKind, note string, prepare func(in *blsInput) (blsRun, error)) {
	if p.ways == nil {
		p.ways = make(map[blsKind][]blsWay)
	}
	p.ways[kind] = append(p.ways[kind], blsWay{note, prepare})
}

var errBLSRefused = errors.New("a good signature is refused")

// same returns a check that two lists of encodings are equal.
func same(got, want *[][]byte) func() error {
	return func() error {
		if !slices.EqualFunc(*got, *want, bytes.Equal) {
			return errors.New("a wrong result")
		}
		return nil
	}
}

// operations lists what is compared.
func (p *blsPool) operations(o *blsOptions) []*blsOp {
	var ops []*blsOp
	add := func(kind blsKind, per int, title string, make func(draw int) (*blsInput, error)) {
		ops = append(ops, &blsOp{kind: kind, title: title, draws: o.draws, per: per, make: make})
	}
	signed := func(s bls.Scheme, n int) func(int) (*blsInput, error) {
		return func(draw int) (*blsInput, error) { return p.signed(s, p.pick(draw, n), nil) }
	}
	add(blsSign, 16, "signing", signed(bls.Basic, 16))
	add(blsVerifyKeyParsed, 8, "verifying, key parsed", signed(bls.Basic, 8))
	add(blsVerifyParsed, 8, "verifying, key and signature parsed", signed(bls.Basic, 8))
	add(blsSignMin, 16, "signing in G1", signed(bls.MinSigBasic, 16))
	add(blsVerifyMin, 8, "verifying in G1, key parsed", signed(bls.MinSigBasic, 8))
	for _, n := range []int{37, 100, 890} {
		add(blsAggregate, 1, fmt.Sprintf("AggregateVerify, %d keys and messages, keys parsed", n), func(draw int) (*blsInput, error) {
			return summed(p.signed(bls.Basic, p.pick(draw, n), nil))
		})
	}
	add(blsAggregateOneKey, 1, "AggregateVerify, 100 messages by one key, key parsed", func(draw int) (*blsInput, error) {
		return summed(p.signed(bls.Basic, slices.Repeat(p.pick(draw, 1), 100), nil))
	})
	for _, n := range []int{37, 890} {
		add(blsFast, 1, fmt.Sprintf("FastAggregateVerify, %d keys, parsed", n), func(draw int) (*blsInput, error) {
			return p.together(bls.ProofOfPossession, p.pick(draw, n), fmt.Appendf(nil, "fast %d %d", n, draw))
		})
	}
	for _, n := range []int{4096, 65536} {
		if n <= o.most {
			add(blsSum, 1, fmt.Sprintf("sum of %d keys, parsed", n), func(draw int) (*blsInput, error) { return p.sum(p.pick(draw, n)) })
		}
	}
	add(blsHashG2, 16, "hash to G2", signed(bls.Basic, 16))
	add(blsHashG1, 32, "hash to G1", signed(bls.Basic, 32))
	add(blsDecodeKey, 64, "decoding a key, with subgroup check", signed(bls.Basic, 64))
	add(blsDecodeSig, 64, "decoding a signature, with subgroup check", signed(bls.Basic, 64))
	proofs := func(n int) func(int) (*blsInput, error) {
		return func(draw int) (*blsInput, error) { return p.proofs(p.pick(draw, n)) }
	}
	add(blsPopOne, 8, "proof of possession, key parsed", proofs(8))
	add(blsPopMany, 100, "100 proofs of possession together, for each", proofs(100))
	add(blsBatch, 100, "100 signatures verified together, for each", signed(bls.Basic, 100))
	for _, n := range []int{37, 890} {
		add(blsBDN, 1, fmt.Sprintf("weighted aggregate (BDN) of %d keys, parsed", n), func(draw int) (*blsInput, error) {
			return p.weighted(p.pick(draw, n), fmt.Appendf(nil, "%032d", draw))
		})
	}
	add(blsReceived, 4096, "decoding and adding 4096 uncompressed signatures, for each", func(draw int) (*blsInput, error) {
		return p.received(p.pick(draw, 4096), fmt.Appendf(nil, "received %d", draw))
	})
	return ops
}

// pick returns n positions in the pool in ascending order, others in each draw.
func (p *blsPool) pick(draw, n int) []int {
	r := rand.New(rand.NewPCG(uint64(draw), uint64(n)))
	at := r.Perm(len(p.raw))[:n]
	slices.Sort(at)
	return at
}

// signed returns signatures of different messages, or of the one given.
func (p *blsPool) signed(s bls.Scheme, at []int, msg []byte) (*blsInput, error) {
	in := &blsInput{at: at}
	for i, k := range at {
		sk, err := p.secret(k)
		if err != nil {
			return nil, err
		}
		m := msg
		if m == nil {
			m = fmt.Appendf(nil, "%s, message %d by key %d", s, i, k)
		}
		sig, err := s.Sign(sk, m)
		if err != nil {
			return nil, err
		}
		in.msgs = append(in.msgs, m)
		in.sigs = append(in.sigs, sig.Bytes())
	}
	return in, nil
}

// summed replaces signatures by their sum.
func summed(in *blsInput, err error) (*blsInput, error) {
	if err != nil {
		return nil, err
	}
	var sigs []*bls.Signature
	for _, b := range in.sigs {
		sig, err := bls.ParseSignature(b)
		if err != nil {
			return nil, err
		}
		sigs = append(sigs, sig)
	}
	sum, err := bls.Aggregate(sigs...)
	if err != nil {
		return nil, err
	}
	in.sigs = [][]byte{sum.Bytes()}
	return in, nil
}

// total returns the key whose signature is the sum of those of some keys.
func (p *blsPool) total(at []int) (*bls.SecretKey, error) {
	var sum bls12381.Scalar
	for _, k := range at {
		sum.Add(&sum, &p.secrets[k])
	}
	return bls.ParseSecretKey(sum.Bytes())
}

// together returns the aggregate of one message.
func (p *blsPool) together(s bls.Scheme, at []int, msg []byte) (*blsInput, error) {
	sk, err := p.total(at)
	if err != nil {
		return nil, err
	}
	sig, err := s.Sign(sk, msg)
	if err != nil {
		return nil, err
	}
	return &blsInput{at: at, msgs: [][]byte{msg}, sigs: [][]byte{sig.Bytes()}}, nil
}

func (p *blsPool) sum(at []int) (*blsInput, error) {
	sk, err := p.total(at)
	if err != nil {
		return nil, err
	}
	return &blsInput{at: at, want: sk.PublicKey().Bytes()}, nil
}

func (p *blsPool) proofs(at []int) (*blsInput, error) {
	in := &blsInput{at: at}
	for _, k := range at {
		sk, err := p.secret(k)
		if err != nil {
			return nil, err
		}
		proof, err := bls.ProofOfPossession.PopProve(sk)
		if err != nil {
			return nil, err
		}
		in.msgs = append(in.msgs, sk.PublicKey().Bytes())
		in.sigs = append(in.sigs, proof.Bytes())
	}
	return in, nil
}

// weighted returns a weighted aggregate of a digest.
func (p *blsPool) weighted(at []int, digest []byte) (*blsInput, error) {
	in, err := p.signed(bls.Basic, at, digest)
	if err != nil {
		return nil, err
	}
	var keys []*bls.PublicKey
	var sigs []*bls.Signature
	for i, k := range at {
		key, err := bls.ParseUncompressedPublicKey(p.raw[k])
		if err != nil {
			return nil, err
		}
		sig, err := bls.ParseSignature(in.sigs[i])
		if err != nil {
			return nil, err
		}
		keys, sigs = append(keys, key), append(sigs, sig)
	}
	sum, err := bls.Basic.BDNAggregate(keys, [32]byte(digest), sigs)
	if err != nil {
		return nil, err
	}
	return &blsInput{at: at, msgs: [][]byte{digest}, sigs: [][]byte{sum.Bytes()}}, nil
}

// received returns uncompressed signatures of one message. Those of keys that follow
// each other differ by the message's hash, which is cheaper than to sign.
func (p *blsPool) received(at []int, msg []byte) (*blsInput, error) {
	in, err := p.together(bls.Basic, at, msg)
	if err != nil {
		return nil, err
	}
	in.want, in.sigs = in.sigs[0], nil
	h := new(bls12381.G2).HashVarTime(msg, []byte(bls.Basic.Ciphersuite()))
	points := make([]*bls12381.G2, len(at))
	for i, k := range at {
		points[i] = new(bls12381.G2)
		if i == 0 {
			points[i].ScalarMultVarTime(&p.secrets[k], h)
			continue
		}
		var gap bls12381.Scalar
		gap.SetUint64(uint64(k - at[i-1]))
		points[i].Add(points[i-1], new(bls12381.G2).ScalarMultVarTime(&gap, h))
	}
	bls12381.NormalizeG2(points...)
	for _, q := range points {
		in.sigs = append(in.sigs, q.UncompressedBytes())
	}
	return in, nil
}
