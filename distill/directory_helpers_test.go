// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"crypto/ed25519"
	"math/big"
	"slices"
	"testing"

	"github.com/undersign/undersign/bls"
)

// A town is a network with several validators and aggregators, whose clients have
// registered in a directory.
type town struct {
	genesis    *Genesis
	net        NetworkID
	validators []*bls.SecretKey
	aggs       map[uint64]ed25519.PrivateKey
	clients    []*resident
}

// A resident is a client's keys.
type resident struct {
	id uint64
	sk *bls.SecretKey
	ed ed25519.PrivateKey
}

func newTown(t testing.TB, validators int, f uint64) *town {
	t.Helper()
	w := &town{aggs: make(map[uint64]ed25519.PrivateKey)}
	w.genesis = &Genesis{Name: "town", F: f, Params: DefaultParams()}
	for i := range validators {
		sk := blsKey(t, big.NewInt(int64(7001+i)))
		proof, err := bls.ProofOfPossession.PopProve(sk)
		if err != nil {
			t.Fatal(err)
		}
		w.validators = append(w.validators, sk)
		w.genesis.Validators = append(w.genesis.Validators, GenesisValidator{[48]byte(sk.PublicKey().Bytes()), [96]byte(proof.Bytes())})
	}
	for _, id := range []uint64{3, 4} {
		w.aggs[id] = edKey("town aggregator", int(id))
		w.genesis.Aggregators = append(w.genesis.Aggregators, GenesisAggregator{id, [32]byte(w.aggs[id].Public().(ed25519.PublicKey))})
	}
	w.net = w.genesis.ID()
	return w
}

// person returns the i-th keys that somebody may register.
func person(t testing.TB, i int) *resident {
	return &resident{sk: blsKey(t, big.NewInt(int64(1_000_003+i*i*77))), ed: edKey("resident", i)}
}

func (w *town) register(t testing.TB, r *resident, notAfter uint64) Change {
	t.Helper()
	c, err := Register(w.net, r.sk, r.ed, notAfter)
	if err != nil {
		t.Fatal(err)
	}
	return *c
}

func (w *town) rotate(t testing.TB, id, dirver uint64, old, r *resident) Change {
	t.Helper()
	c, err := Rotate(w.net, id, dirver, old.ed, r.sk, r.ed)
	if err != nil {
		t.Fatal(err)
	}
	return *c
}

// certify returns the signatures of some validators under a statement.
func (w *town) certify(t testing.TB, s Statement, validators ...int) *Certificate {
	t.Helper()
	c, err := NewCommittee(w.genesis)
	if err != nil {
		t.Fatal(err)
	}
	var shares []Share
	for _, i := range validators {
		share, err := SignStatement(w.validators[i], i, s)
		if err != nil {
			t.Fatal(err)
		}
		shares = append(shares, *share)
	}
	return c.combine(shares)
}

// settle returns the entry that registers n residents, who get the ids from 0 on.
func (w *town) settle(t testing.TB, n int) []byte {
	t.Helper()
	var list []Change
	for i := range n {
		r := person(t, i)
		r.id = uint64(i)
		w.clients = append(w.clients, r)
		list = append(list, w.register(t, r, 100))
	}
	return w.entry(list...)
}

func (w *town) entry(changes ...Change) []byte {
	return (&DirectoryEntry{w.net, changes}).Bytes()
}

// A townLeaf is a message of a resident for a batch.
type townLeaf struct {
	id, nonce, notAfter uint64
	payload             string
	straggler           bool
}

// batch returns a batch of some leaves, signed by those whom it is of. Ids are those of
// residents; with the keys of others in as, by id, they sign with these.
func (w *town) batch(t testing.TB, aggID, seq, dirver, validUntil uint64, mode Mode, leaves []townLeaf, as map[uint64]*resident) *Batch {
	t.Helper()
	slices.SortFunc(leaves, func(a, b townLeaf) int { return int(a.id) - int(b.id) })
	b := &Batch{Net: w.net, Dirver: dirver, AggID: aggID, Seq: seq, ValidUntil: validUntil, Mode: mode}
	v := &Verified{Batch: b}
	for i, l := range leaves {
		b.IDs, b.Nonces, b.NotAfter = append(b.IDs, l.id), append(b.Nonces, l.nonce), append(b.NotAfter, l.notAfter)
		payload := []byte(l.payload)
		if l.straggler {
			b.Stragglers = append(b.Stragglers, uint32(i))
			if mode == ModeLean {
				hash := PayloadHash(payload)
				payload = hash[:]
			}
		}
		b.Payloads.Append(payload)
	}
	v.hashLeaves()
	digest := v.redDigest()
	var sigs []*bls.Signature
	for i, l := range leaves {
		r := as[l.id]
		if r == nil {
			r = w.clients[l.id]
		}
		scheme, msg := bls.ProofOfPossession, digest
		if l.straggler {
			sub := v.sub(i)
			switch mode {
			case ModeEd25519:
				b.StragglerSigs = append(b.StragglerSigs, ed25519.Sign(r.ed, sub.Bytes())...)
				continue
			case ModeLean:
				continue
			}
			scheme, msg = bls.Augmented, sub.Digest()
		}
		sig, err := scheme.Sign(r.sk, msg[:])
		if err != nil {
			t.Fatal(err)
		}
		sigs = append(sigs, sig)
	}
	if len(sigs) > 0 {
		sum, err := bls.Aggregate(sigs...)
		if err != nil {
			t.Fatal(err)
		}
		b.Aggregate = sum.Bytes()
	}
	return b
}

// publish returns the encoding of a batch with its aggregator's signature.
func (w *town) publish(t testing.TB, b *Batch) []byte {
	t.Helper()
	encoded, err := b.Sign(w.aggs[b.AggID])
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}
