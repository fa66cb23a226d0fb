// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package chia

import (
	"crypto/ed25519"
	"fmt"
	"math/big"
	"slices"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/zip215"
)

// A registry is what a network would know of the keys of synthetic blocks if they were
// registered once and used again: a directory in which they have ids. The keys are proven
// in that their secrets are here.
type registry struct {
	ids     map[Key]uint64
	proven  map[Key]*bls.ProvenKey
	keys    bls.Keys
	ed      []ed25519.PrivateKey
	edKeys  []*zip215.Key
	genesis *distill.Genesis
	agg     ed25519.PrivateKey
}

func newRegistry(c *Chain, blocks []*Owned) (*registry, error) {
	r := &registry{ids: map[Key]uint64{}, proven: map[Key]*bls.ProvenKey{}}
	var all []*bls.ProvenKey
	for _, b := range blocks {
		for _, p := range b.Pairs {
			if _, ok := r.ids[p.Key]; ok {
				continue
			}
			proven := bls.AssumeProvenUnsafe(b.Secrets[p.Key].PublicKey())
			r.ids[p.Key] = uint64(len(all))
			r.proven[p.Key] = proven
			all = append(all, proven)
			ed := c.edKey()
			key, err := zip215.NewKey(ed.Public().(ed25519.PublicKey))
			if err != nil {
				return nil, err
			}
			r.ed, r.edKeys = append(r.ed, ed), append(r.edKeys, key)
		}
	}
	// Twice, so that no block has most of the keys: the sum would cost less than in a
	// directory of a network's size.
	for range 2 {
		if err := r.keys.Add(all...); err != nil {
			return nil, err
		}
	}
	r.agg = c.edKey()
	return r, r.makeGenesis(c)
}

func (c *Chain) edKey() ed25519.PrivateKey {
	var seed [ed25519.SeedSize]byte
	c.bytes.Read(seed[:])
	return ed25519.NewKeyFromSeed(seed[:])
}

func (r *registry) makeGenesis(c *Chain) error {
	secrets := map[Key]*bls.SecretKey{}
	validator := c.key(secrets)
	proof, err := bls.ProofOfPossession.PopProve(secrets[validator])
	if err != nil {
		return err
	}
	r.genesis = &distill.Genesis{
		Name:        "synthetic chain",
		Aggregators: []distill.GenesisAggregator{{ID: 1, Key: [32]byte(r.agg.Public().(ed25519.PublicKey))}},
		Validators:  []distill.GenesisValidator{{Key: validator, Proof: [bls.SignatureSize]byte(proof.Bytes())}},
		Params:      distill.DefaultParams(),
	}
	return nil
}

// Version and the other methods make r a [distill.View].
func (r *registry) Version() uint64 { return 1 }

func (r *registry) FirstInactive(ids []uint64) int {
	return slices.IndexFunc(ids, func(id uint64) bool { return id >= uint64(len(r.ed)) })
}

func (r *registry) SumKeys(ids []uint64) (*bls.ProvenKey, error) {
	positions := make([]int, len(ids))
	for i, id := range ids {
		positions[i] = int(id)
	}
	return r.keys.Sum(positions)
}

func (r *registry) BLSKey(id uint64) *bls.ProvenKey { return r.keys.At(int(id)) }

func (r *registry) EdKey(id uint64) *zip215.Key { return r.edKeys[id] }

// order is that of the groups of BLS12-381.
var order, _ = new(big.Int).SetString("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001", 16)

// sumSecrets returns the sum of the secrets of some of a block's keys: what it signs is the
// sum of what each of them would sign, and costs one signature. It is nil for none.
func (b *Owned) sumSecrets(keys []Key) (*bls.SecretKey, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	sum := new(big.Int)
	for _, k := range keys {
		e, err := b.Secrets[k].MarshalBinary()
		if err != nil {
			return nil, err
		}
		sum.Add(sum, new(big.Int).SetBytes(e))
	}
	sk, err := bls.ParseSecretKey(sum.Mod(sum, order).FillBytes(make([]byte, bls.SecretKeySize)))
	if err != nil {
		return nil, fmt.Errorf("chia: secrets add up to nothing: %w", err)
	}
	return sk, nil
}

// aggregate returns the signature of the digest by keys[i] for which late doesn't have i,
// and the others' of their payloads if fold is set.
func (b *Owned) aggregate(digest [32]byte, keys []Key, payloads *distill.Payloads, late []int, fold bool) (*bls.Signature, error) {
	var signers []Key
	var sigs []*bls.Signature
	for i, k := range keys {
		if !slices.Contains(late, i) {
			signers = append(signers, k)
			continue
		}
		if fold {
			sig, err := b.signMessages(k, payloads.At(i))
			if err != nil {
				return nil, err
			}
			sigs = append(sigs, sig)
		}
	}
	sk, err := b.sumSecrets(signers)
	if err != nil {
		return nil, err
	}
	if sk != nil {
		sig, err := bls.ProofOfPossession.Sign(sk, digest[:])
		if err != nil {
			return nil, err
		}
		sigs = append(sigs, sig)
	}
	if len(sigs) == 0 {
		return nil, nil
	}
	return bls.Aggregate(sigs...)
}

// keyed returns a distilled block of proven keys.
func (r *registry) keyed(v *distill.KeyedVerifier, b *Owned, seq uint64, late []int) ([]byte, error) {
	k := &distill.KeyedBatch{Net: v.Net, Seq: seq, ValidUntil: blockHeight, Flags: v.Flags()}
	var keys []Key
	for _, m := range LeafMessages(b.Pairs, blockHeight) {
		k.Keys, k.NotAfter = append(k.Keys, m.Key), append(k.NotAfter, m.NotAfter)
		k.Payloads.Append(m.Payload)
		keys = append(keys, Key(m.Key))
	}
	for _, i := range late {
		k.Stragglers = append(k.Stragglers, uint32(i))
	}
	digest := k.Prop(distill.NewTree(k.Hashes()).Root()).Red().Digest()
	sig, err := b.aggregate(digest, keys, &k.Payloads, late, true)
	if err != nil {
		return nil, err
	}
	copy(k.Aggregate[:], sig.Bytes())
	return k.MarshalBinary()
}

// numbered returns a distilled block of registered clients, where those who are late
// signed by Ed25519. Leaves are in the order of ids.
func (r *registry) numbered(b *Owned, seq uint64, late []int) ([]byte, error) {
	msgs := LeafMessages(b.Pairs, blockHeight)
	slices.SortFunc(msgs, func(x, y distill.KeyedMessage) int { return int(r.ids[Key(x.Key)]) - int(r.ids[Key(y.Key)]) })
	net := r.genesis.ID()
	x := &distill.Batch{Net: net, Dirver: r.Version(), AggID: 1, Seq: seq, ValidUntil: blockHeight, Mode: distill.ModeEd25519}
	var keys []Key
	var leaves [][32]byte
	for i, m := range msgs {
		id := r.ids[Key(m.Key)]
		sub := distill.Sub{Net: net, ID: id, Nonce: 1, NotAfter: m.NotAfter, PayloadHash: distill.PayloadHash(m.Payload)}
		x.IDs, x.Nonces, x.NotAfter = append(x.IDs, id), append(x.Nonces, 1), append(x.NotAfter, m.NotAfter)
		x.Payloads.Append(m.Payload)
		keys, leaves = append(keys, Key(m.Key)), append(leaves, sub.Leaf().Hash())
		if slices.Contains(late, i) {
			x.Stragglers = append(x.Stragglers, uint32(i))
			x.StragglerSigs = append(x.StragglerSigs, ed25519.Sign(r.ed[id], sub.Bytes())...)
		}
	}
	digest := x.Prop(distill.NewTree(leaves).Root()).Red().Digest()
	sig, err := b.aggregate(digest, keys, &x.Payloads, late, false)
	if err != nil {
		return nil, err
	}
	if sig != nil {
		x.Aggregate = sig.Bytes()
	}
	return x.Sign(r.agg)
}
