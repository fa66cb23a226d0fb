// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/undersign/undersign/bls"
)

// signedBy reports whether the aggregate of b is what its keys would sign. BLS signatures
// are unique, so that whoever has all secrets can tell without a pairing.
func (k *keyedNet) signedBy(b *KeyedBatch) bool {
	var leaves [][32]byte
	for i := range b.Keys {
		leaves = append(leaves, KeyedLeaf{b.NotAfter[i], KeyedPayloadHash(&b.Keys[i], b.Payloads.At(i))}.Hash())
	}
	for len(leaves) < 1<<Depth(uint64(b.Len())) {
		leaves = append(leaves, [32]byte{})
	}
	for len(leaves) > 1 {
		var up [][32]byte
		for i := 0; i < len(leaves); i += 2 {
			up = append(up, hashNode(&leaves[i], &leaves[i+1]))
		}
		leaves = up
	}
	d := b.Prop(leaves[0]).Red().Digest()
	var keys []*bls.PublicKey
	var sigs, all []*bls.Signature
	for i, key := range b.Keys {
		sk := k.secrets[key]
		if sk == nil {
			return false
		}
		if slices.Contains(b.Stragglers, uint32(i)) {
			all = append(all, k.fold(KeyedMessage{key, b.NotAfter[i], b.Payloads.At(i)}))
			continue
		}
		sig, err := bls.ProofOfPossession.Sign(sk, d[:])
		if err != nil {
			k.t.Fatal(err)
		}
		keys, sigs = append(keys, sk.PublicKey()), append(sigs, sig)
	}
	if len(keys) > 0 {
		sum, err := bls.ProofOfPossession.BDNAggregate(keys, d, sigs)
		if err != nil {
			k.t.Fatal(err)
		}
		all = append(all, sum)
	}
	sum, err := bls.Aggregate(all...)
	return err == nil && bytes.Equal(sum.Bytes(), b.Aggregate[:])
}

// TestKeyedMutants changes batches at random, and compares the verdict with what the owners
// of the keys would have signed.
func TestKeyedMutants(t *testing.T) {
	n := 300
	if os.Getenv("UNDERSIGN_LONG") != "" {
		n = 20000
	}
	r := rand.New(rand.NewPCG(1, 2))
	k := newKeyedNet(t, 0, 4)
	var pool []*KeyedBatch
	for _, late := range [][]int{nil, {0}, {1, 3}, {0, 1, 2, 3}} {
		pool = append(pool, k.batch(late...))
	}
	good := 0
	reached := map[Rule]int{}
	for i := range n {
		e := k.encode(pool[r.IntN(len(pool))])
		b, err := DecodeKeyedBatch(e, &k.Params)
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			k.mutate(b, pool[r.IntN(len(pool))], r)
			if e, err = b.MarshalBinary(); err != nil {
				reached[RuleOf(err)]++
				continue
			}
		} else {
			e[r.IntN(len(e))] ^= 1 << r.IntN(8)
		}
		_, err = k.Verify(e)
		reached[RuleOf(err)]++
		b, decodeErr := DecodeKeyedBatch(e, &k.Params)
		want := decodeErr == nil && b.Net == k.Net && b.Flags == 0 && k.signedBy(b)
		if (err == nil) != want {
			t.Fatalf("mutant %d: %v, want %v: %x", i, err, want, e)
		}
		if err != nil && RuleOf(err) == 0 {
			t.Fatalf("mutant %d: no rule: %v", i, err)
		}
		if want {
			good++
		}
	}
	t.Logf("%d of %d are good: %v", good, n, reached)
	if good == 0 || good > n/4 || reached[RuleAggregate] < n/10 {
		t.Errorf("%d of %d are good, %d reach the last check", good, n, reached[RuleAggregate])
	}
}

// mutate changes a batch, or not, in a way that it can mostly be encoded again.
func (k *keyedNet) mutate(b, other *KeyedBatch, r *rand.Rand) {
	i := r.IntN(b.Len())
	switch r.IntN(10) {
	case 0:
		b.Aggregate = other.Aggregate
	case 1:
		b.Stragglers = other.Stragglers
	case 2:
		b.Stragglers, b.Aggregate = other.Stragglers, other.Aggregate
	case 3:
		b.NotAfter[i] = other.NotAfter[r.IntN(b.Len())]
	case 4:
		b.Payloads.Ends[i]--
	case 5:
		j := r.IntN(b.Len())
		b.Keys[i], b.Keys[j] = b.Keys[j], b.Keys[i]
	case 6:
		b.Keys[i] = opposite(b.Keys[i])
	case 7:
		if b.Len() > 1 && len(b.Stragglers) == 0 {
			dropLeaf(b, i)
		}
	case 8:
		b.Seq ^= uint64(r.IntN(2))
	case 9:
		b.ValidUntil -= uint64(r.IntN(2))
	}
}
