// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"errors"
	"slices"
	"testing"
)

// An aggregate is one of Chia's spend bundles or blocks.
type aggregate struct {
	keys []*PublicKey
	msgs [][]byte
	sig  *Signature
}

// chia reads real aggregates.
func chia(t testing.TB, name string) []aggregate {
	t.Helper()
	var file struct {
		Cases []struct {
			Signature string `json:"aggregated_signature"`
			Valid     bool
			Pairs     []struct{ PK, Msg string }
		}
	}
	vector(t, "chia/"+name, &file)
	var out []aggregate
	for _, v := range file.Cases {
		if !v.Valid {
			t.Fatal("an aggregate that isn't valid")
		}
		a := aggregate{sig: must[*Signature](t)(ParseSignature(unhex(t, v.Signature)))}
		for _, p := range v.Pairs {
			a.keys = append(a.keys, must[*PublicKey](t)(ParsePublicKey(unhex(t, p.PK))))
			a.msgs = append(a.msgs, unhex(t, p.Msg))
		}
		out = append(out, a)
	}
	return out
}

// TestChiaAggregates verifies real spend bundles and blocks, one by one and together,
// and then with a bit of a message changed.
func TestChiaAggregates(t *testing.T) {
	for name, want := range map[string]int{"mainnet-spend-bundles.json": 90, "testnet10-blocks.json": 5} {
		list := chia(t, name)
		if len(list) != want {
			t.Errorf("%s: %d aggregates", name, len(list))
		}
		b := NewBatch(Augmented)
		for i, a := range list {
			n := len(a.msgs)
			if testing.Short() && (n > 4 || i%8 > 1) {
				continue
			}
			wantErr(t, name, Augmented.AggregateVerify(a.keys, a.msgs, a.sig), nil)
			b.AddAggregate(a.keys, a.msgs, a.sig)
			if a.sig.IsIdentity() != (n == 0) {
				t.Errorf("%s %d: %d pairs, and the signature is %v", name, i, n, a.sig)
			}
			if n == 0 {
				continue
			}
			msgs := slices.Clone(a.msgs)
			msgs[i%n] = slices.Clone(msgs[i%n])
			msgs[i%n][i%len(msgs[i%n])] ^= 1
			wantErr(t, name, Augmented.AggregateVerify(a.keys, msgs, a.sig), ErrSignature)
			if n <= 8 {
				wantErr(t, name, Augmented.AggregateVerify(a.keys[1:], a.msgs[1:], a.sig), ErrSignature)
				wantErr(t, name, Augmented.AggregateVerify(a.keys[1:], a.msgs, a.sig), ErrMessages)
				wantErr(t, name, Basic.AggregateVerify(a.keys, a.msgs, a.sig), ErrSignature)
			}
		}
		wantErr(t, name, b.Verify(), nil)
		// The signature of another.
		small := list[len(list)-1]
		for _, a := range list {
			if n := len(a.keys); n > 0 && n < max(2, len(small.keys)) {
				small = a
			}
		}
		b.AddAggregate(small.keys, small.msgs, &Signature{list[0].sig.p.add(small.sig.p)})
		var bad *BatchError
		if err := b.Verify(); !errors.As(err, &bad) || !slices.Equal(bad.Bad, []int{b.Len() - 1}) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
