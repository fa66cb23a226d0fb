// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"crypto/ed25519"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/zip215"
)

// A batchNet is a network with an aggregator, and clients whose secrets are known. Their
// BLS keys are an arithmetic progression, so that public ones cost an addition each, and
// a sum of signatures costs one signature by the sum of the secrets.
type batchNet struct {
	genesis    *Genesis
	net        NetworkID
	verifier   *Verifier
	aggregator ed25519.PrivateKey
	scalars    []*big.Int // of clients
	ed         []ed25519.PrivateKey
	view       *batchView
}

// testAggID is the id of the aggregator of a batchNet.
const testAggID = 3

// A batchView is a directory with a client for each position, whose id is that of
// batchID, and perhaps some that aren't active.
type batchView struct {
	version  uint64
	keys     bls.Keys
	ed       []*zip215.Key
	inactive map[uint64]bool
}

// batchID returns the id of client i: not dense, so that differences vary.
func batchID(i int) uint64 { return uint64(i) + 2*uint64(i/8) + 500*uint64(i/64) }

func (v *batchView) position(id uint64) int {
	// id = i + 2(i/8) + 500(i/64)
	i := int(id/(64+16+500)*64 + id%(64+16+500)/10*8 + id%(64+16+500)%10)
	if i >= v.keys.Len() || batchID(i) != id || v.inactive[id] {
		return -1
	}
	return i
}

func (v *batchView) Version() uint64 { return v.version }

func (v *batchView) FirstInactive(ids []uint64) int {
	return slices.IndexFunc(ids, func(id uint64) bool { return v.position(id) < 0 })
}

func (v *batchView) SumKeys(ids []uint64) (*bls.ProvenKey, error) {
	positions := make([]int, len(ids))
	for i, id := range ids {
		positions[i] = v.position(id)
	}
	return v.keys.Sum(positions)
}

func (v *batchView) BLSKey(id uint64) *bls.ProvenKey {
	if i := v.position(id); i >= 0 {
		return v.keys.At(i)
	}
	return nil
}

func (v *batchView) EdKey(id uint64) *zip215.Key {
	if i := v.position(id); i >= 0 {
		return v.ed[i]
	}
	return nil
}

// order is that of the groups of BLS12-381.
var order, _ = new(big.Int).SetString("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001", 16)

func blsKey(t testing.TB, k *big.Int) *bls.SecretKey {
	t.Helper()
	sk := new(bls.SecretKey)
	if err := sk.UnmarshalBinary(new(big.Int).Mod(k, order).FillBytes(make([]byte, 32))); err != nil {
		t.Fatal(err)
	}
	return sk
}

func edKey(label string, i int) ed25519.PrivateKey {
	var seed [32]byte
	copy(seed[8:], label)
	binary.BigEndian.PutUint64(seed[:], uint64(i))
	return ed25519.NewKeyFromSeed(seed[:])
}

func newBatchNet(t testing.TB, clients int) *batchNet {
	t.Helper()
	n := &batchNet{aggregator: edKey("aggregator", testAggID), view: &batchView{version: 9}}
	validator := blsKey(t, big.NewInt(77))
	proof, err := bls.ProofOfPossession.PopProve(validator)
	if err != nil {
		t.Fatal(err)
	}
	n.genesis = &Genesis{
		Name:        "test",
		Aggregators: []GenesisAggregator{{ID: testAggID, Key: [32]byte(n.aggregator.Public().(ed25519.PublicKey))}},
		Validators:  []GenesisValidator{{[48]byte(validator.PublicKey().Bytes()), [96]byte(proof.Bytes())}},
		Params:      DefaultParams(),
	}
	n.net = n.genesis.ID()
	if n.verifier, err = NewVerifier(n.genesis); err != nil {
		t.Fatal(err)
	}
	start, step := big.NewInt(1<<40), big.NewInt(1<<20+7)
	proven := make([]*bls.ProvenKey, clients)
	delta := bls.AssumeProvenUnsafe(blsKey(t, step).PublicKey())
	for i := range clients {
		n.scalars = append(n.scalars, new(big.Int).Add(start, new(big.Int).Mul(step, big.NewInt(int64(i)))))
		if i == 0 {
			proven[0] = bls.AssumeProvenUnsafe(blsKey(t, start).PublicKey())
		} else if proven[i], err = bls.SumKeys([]*bls.ProvenKey{proven[i-1], delta}); err != nil {
			t.Fatal(err)
		}
		if clients > 10_000 {
			continue // for benchmarks without stragglers
		}
		n.ed = append(n.ed, edKey("client", i))
		key, err := zip215.NewKey(n.ed[i].Public().(ed25519.PublicKey))
		if err != nil {
			t.Fatal(err)
		}
		n.view.ed = append(n.view.ed, key)
	}
	if err := n.view.keys.Add(proven...); err != nil {
		t.Fatal(err)
	}
	return n
}

// message returns the message of client i: its nonce, payload and expiry.
func (n *batchNet) message(i int) (nonce uint64, payload []byte, notAfter uint64) {
	return uint64(1 + i%300), fmt.Appendf(nil, "pay%05d", i), 1064 + uint64(i%5)
}

// batch returns a batch of some clients' messages, in which some leaves, by index, are of
// stragglers. It isn't signed.
func (n *batchNet) batch(t testing.TB, mode Mode, clients []int, stragglers ...uint32) *Batch {
	t.Helper()
	b := &Batch{Net: n.net, Dirver: n.view.version, AggID: testAggID, Seq: 5, ValidUntil: 1064, Mode: mode, Stragglers: stragglers}
	for i, c := range clients {
		nonce, payload, notAfter := n.message(c)
		b.IDs = append(b.IDs, batchID(c))
		b.Nonces = append(b.Nonces, nonce)
		b.NotAfter = append(b.NotAfter, notAfter)
		if mode == ModeLean && slices.Contains(stragglers, uint32(i)) {
			hash := PayloadHash(payload)
			payload = hash[:]
		}
		b.Payloads.Append(payload)
	}
	n.signLeaves(t, b, clients)
	return b
}

// signLeaves makes the signatures of clients under a batch.
func (n *batchNet) signLeaves(t testing.TB, b *Batch, clients []int) {
	t.Helper()
	v := &Verified{Batch: b}
	v.hashLeaves()
	var sigs []*bls.Signature
	sum := new(big.Int)
	b.StragglerSigs, b.Aggregate = nil, nil
	for i, c := range clients {
		if !slices.Contains(b.Stragglers, uint32(i)) {
			sum.Add(sum, n.scalars[c])
			continue
		}
		sub := v.sub(i)
		switch b.Mode {
		case ModeEd25519:
			b.StragglerSigs = append(b.StragglerSigs, ed25519.Sign(n.ed[c], sub.Bytes())...)
		case ModeFolded:
			digest := sub.Digest()
			sig, err := bls.Augmented.Sign(blsKey(t, n.scalars[c]), digest[:])
			if err != nil {
				t.Fatal(err)
			}
			sigs = append(sigs, sig)
		}
	}
	if len(b.Stragglers) < len(clients) && sum.Mod(sum, order).Sign() != 0 {
		digest := v.redDigest()
		sig, err := bls.ProofOfPossession.Sign(blsKey(t, sum), digest[:])
		if err != nil {
			t.Fatal(err)
		}
		sigs = append(sigs, sig)
	}
	if len(sigs) > 0 {
		sig, err := bls.Aggregate(sigs...)
		if err != nil {
			t.Fatal(err)
		}
		b.Aggregate = sig.Bytes()
	}
}

// sign returns the encoding of b with the aggregator's signature.
func (n *batchNet) sign(t testing.TB, b *Batch) []byte {
	t.Helper()
	encoded, err := b.Sign(n.aggregator)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// resign replaces the aggregator's signature of an encoding, whatever it is.
func (n *batchNet) resign(encoded []byte) []byte {
	encoded = slices.Clone(encoded)
	h, err := DecodeHeader(encoded)
	if err != nil {
		return encoded
	}
	bat := Bat{h.Net, h.AggID, h.Seq, BatchDigest(encoded)}
	copy(encoded[len(encoded)-64:], ed25519.Sign(n.aggregator, bat.Bytes()))
	return encoded
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
