// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/zip215"
)

// keyedNet is a network of batches of keys, with the secrets of its clients.
type keyedNet struct {
	KeyedVerifier
	t       testing.TB
	secrets map[KeyBytes]*bls.SecretKey
	msgs    []KeyedMessage
	agg     ed25519.PrivateKey
}

// newKeyedNet makes n clients, in the order of their keys. Some have longer payloads, which
// are several messages for [pieces].
func newKeyedNet(t testing.TB, flags KeyedFlags, n int) *keyedNet {
	k := &keyedNet{t: t, secrets: map[KeyBytes]*bls.SecretKey{}}
	k.Net, k.Params = NetworkID{1}, DefaultParams()
	k.agg = ed25519.NewKeyFromSeed(make([]byte, 32))
	proven := map[KeyBytes]*bls.ProvenKey{}
	for i := range n {
		sk, err := bls.KeyGen(fmt.Appendf(nil, "%032d", i), nil)
		if err != nil {
			t.Fatal(err)
		}
		key := KeyBytes(sk.PublicKey().Bytes())
		k.secrets[key] = sk
		proven[key] = bls.AssumeProvenUnsafe(sk.PublicKey())
		payload := fmt.Appendf(nil, "payload%d", i)
		if i%2 == 1 {
			payload = append(payload, "payload payload!"...)
		}
		k.msgs = append(k.msgs, KeyedMessage{key, 100 + uint64(i), payload})
	}
	slices.SortFunc(k.msgs, func(a, b KeyedMessage) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	if flags&KeyedProven != 0 {
		k.Proven = func(key *KeyBytes) *bls.ProvenKey { return proven[*key] }
	}
	if flags&KeyedSigned != 0 {
		pub, err := zip215.NewKey(k.agg.Public().(ed25519.PublicKey))
		if err != nil {
			t.Fatal(err)
		}
		k.Aggregator = func(id uint64) *zip215.Key {
			if id != 7 {
				return nil
			}
			return pub
		}
	}
	return k
}

// pieces is what keys sign of a payload, if a test wants it so.
func pieces(_ *KeyBytes, payload []byte) ([][]byte, error) {
	if len(payload) == 0 {
		return nil, errors.New("empty")
	}
	return slices.Collect(slices.Chunk(payload, 8)), nil
}

// fold returns the signature that a client makes by itself.
func (k *keyedNet) fold(m KeyedMessage) *bls.Signature {
	k.t.Helper()
	d := KeyedLeaf{m.NotAfter, KeyedPayloadHash(&m.Key, m.Payload)}.Sub(k.Net).Digest()
	msgs := [][]byte{d[:]}
	if k.Messages != nil {
		msgs, _ = k.Messages(&m.Key, m.Payload)
	}
	var sigs []*bls.Signature
	for _, msg := range msgs {
		sig, err := bls.Augmented.Sign(k.secrets[m.Key], msg)
		if err != nil {
			k.t.Fatal(err)
		}
		sigs = append(sigs, sig)
	}
	sum, err := bls.Aggregate(sigs...)
	if err != nil {
		k.t.Fatal(err)
	}
	return sum
}

// round starts a round, in which all but some sign.
func (k *keyedNet) round(late ...int) (*KeyedRound, []*bls.Signature) {
	k.t.Helper()
	r, err := k.NewRound(7, 3, 90, k.msgs)
	if err != nil {
		k.t.Fatal(err)
	}
	var folded []*bls.Signature
	for i, m := range k.msgs {
		if slices.Contains(late, i) {
			folded = append(folded, k.fold(m))
			continue
		}
		p, err := r.Proposal(&m.Key)
		if err != nil {
			k.t.Fatal(err)
		}
		c := KeyedClient{Net: k.Net, Params: k.Params, Head: 80}
		sig, err := c.Sign(k.secrets[m.Key], p, m.Payload, m.NotAfter)
		if err != nil {
			k.t.Fatal(err)
		}
		if err := r.Add(&m.Key, sig); err != nil {
			k.t.Fatal(err)
		}
	}
	return r, folded
}

// batch returns a batch in which some are stragglers.
func (k *keyedNet) batch(late ...int) *KeyedBatch {
	k.t.Helper()
	r, folded := k.round(late...)
	b, err := r.Finish(folded...)
	if err != nil {
		k.t.Fatal(err)
	}
	return b
}

// encode returns the encoding, signed if it is to be.
func (k *keyedNet) encode(b *KeyedBatch) []byte {
	k.t.Helper()
	encode := b.MarshalBinary
	if b.Flags&KeyedSigned != 0 {
		encode = func() ([]byte, error) { return b.Sign(k.agg) }
	}
	e, err := encode()
	if err != nil {
		k.t.Fatal(err)
	}
	return e
}

func wantRule(t testing.TB, what string, err error, want Rule) {
	t.Helper()
	if want == 0 && err != nil || want != 0 && (RuleOf(err) != want || !errors.Is(err, ErrRejected)) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// TestKeyed makes and verifies batches of all kinds.
func TestKeyed(t *testing.T) {
	for flags := range KeyedSigned << 1 {
		for _, split := range []bool{false, true} {
			var all [][]byte
			k := newKeyedNet(t, flags, 5)
			if split {
				k.Messages = pieces
			}
			for _, late := range [][]int{nil, {0}, {1, 4}, {0, 1, 2, 3, 4}} {
				b := k.batch(late...)
				e := k.encode(b)
				what := fmt.Sprintf("flags %d, messages in pieces %v, late %d", flags, split, late)
				v, err := k.Verify(e)
				wantRule(t, what, err, 0)
				if err != nil {
					continue
				}
				if again, err := v.MarshalBinary(); err != nil || !bytes.Equal(again, e) {
					t.Errorf("%s: another encoding", what)
				}
				if len(v.Stragglers) != len(late) || v.Len() != 5 {
					t.Errorf("%s: %d of %d are stragglers", what, len(v.Stragglers), v.Len())
				}
				for i := range v.Len() {
					if v.Leaf(i) != (KeyedLeaf{v.NotAfter[i], v.PayloadHashes[i]}) {
						t.Errorf("%s: leaf %d", what, i)
					}
				}
				all = append(all, e)
			}
			if _, errs := k.VerifyAll(all); slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
				t.Errorf("flags %d, together: %v", flags, errs)
			}
			// One of them with the aggregate of another.
			b, other := k.batch(2), k.batch()
			b.Aggregate = other.Aggregate
			all[1] = k.encode(b)
			got, errs := k.VerifyAll(all)
			for i, err := range errs {
				want := Rule(0)
				if i == 1 {
					want = RuleAggregate
				}
				wantRule(t, fmt.Sprintf("flags %d, one bad, number %d", flags, i), err, want)
				if (got[i] == nil) != (err != nil) {
					t.Errorf("number %d: a result and an error, or neither", i)
				}
			}
		}
	}
}

// TestKeyedRejections breaks every rule of the verifier.
func TestKeyedRejections(t *testing.T) {
	for flags := range KeyedSigned << 1 {
		k := newKeyedNet(t, flags, 5)
		k.Messages = pieces
		good := k.encode(k.batch(1, 2))
		mutations := keyedMutations(k)
		outside := [96]byte(offSubgroup(t))
		mutations["aggregate outside the group"] = keyedMutation{func(b *KeyedBatch) { b.Aggregate = outside }, RuleAggregateEncoding}
		mutations["aggregate outside the group, and a bad key"] = keyedMutation{func(b *KeyedBatch) {
			b.Aggregate, b.Keys[0] = outside, offCurve()
		}, RuleAggregateEncoding}
		for name, v := range mutations {
			b, err := DecodeKeyedBatch(good, &k.Params)
			if err != nil {
				t.Fatal(err)
			}
			v.change(b)
			encoded := k.encode(b)
			_, err = k.Verify(encoded)
			wantRule(t, fmt.Sprintf("flags %d: %s", flags, name), err, v.want)
			results, errs := k.VerifyAll([][]byte{encoded})
			wantRule(t, fmt.Sprintf("flags %d: %s, in VerifyAll", flags, name), errs[0], v.want)
			if (results[0] == nil) != (errs[0] != nil) {
				t.Errorf("flags %d: %s: a result and an error, or neither", flags, name)
			}
		}
		for name, v := range keyedForgeries(k, good) {
			_, err := k.Verify(v.encoded)
			wantRule(t, fmt.Sprintf("flags %d: %s", flags, name), err, v.want)
		}
	}
}

type keyedMutation struct {
	change func(*KeyedBatch)
	want   Rule
}

// keyedMutations can be encoded, and signed by a hostile aggregator.
func keyedMutations(k *keyedNet) map[string]keyedMutation {
	key := RuleKeyedKey
	if k.Proven != nil {
		key = RuleKeyedProven
	}
	identity := RuleKeyedIdentity
	if k.Proven != nil {
		identity = RuleKeyedProven
	}
	return map[string]keyedMutation{
		"nothing":         {func(b *KeyedBatch) {}, 0},
		"another network": {func(b *KeyedBatch) { b.Net[0]++ }, RuleNetwork},
		"another number":  {func(b *KeyedBatch) { b.Seq++ }, RuleAggregate},
		"another height":  {func(b *KeyedBatch) { b.ValidUntil-- }, RuleAggregate},
		"another expiry":  {func(b *KeyedBatch) { b.NotAfter[0]++ }, RuleAggregate},
		"another payload": {func(b *KeyedBatch) { b.Payloads.Data[0]++ }, RuleAggregate},
		"payloads moved":  {func(b *KeyedBatch) { b.Payloads.Ends[0]++ }, RuleAggregate},
		"a leaf left out": {func(b *KeyedBatch) { dropLeaf(b, 0) }, RuleAggregate},
		"a key moved":     {func(b *KeyedBatch) { moveKey(b) }, RuleAggregate},
		"expires too late": {func(b *KeyedBatch) {
			b.NotAfter[3] = b.ValidUntil + k.Params.MaxAhead + 1
		}, RuleNotAfter},
		"payload too long": {func(b *KeyedBatch) {
			b.Payloads.Data = append(b.Payloads.Data, make([]byte, k.Params.MaxPayload)...)
			b.Payloads.Ends[4] += uint32(k.Params.MaxPayload)
		}, RulePayloadSize},
		"empty payload": {func(b *KeyedBatch) {
			b.Payloads.Ends[0] = b.Payloads.Ends[1]
			b.Payloads.Ends[1] = b.Payloads.Ends[0]
		}, RuleKeyedPayload},
		"a straggler among the reducers":  {func(b *KeyedBatch) { b.Stragglers = b.Stragglers[:1] }, RuleAggregate},
		"a reducer among the stragglers":  {func(b *KeyedBatch) { b.Stragglers = append(b.Stragglers, 4) }, RuleAggregate},
		"all stragglers":                  {func(b *KeyedBatch) { b.Stragglers = []uint32{0, 1, 2, 3, 4} }, RuleAggregate},
		"no stragglers":                   {func(b *KeyedBatch) { b.Stragglers = nil }, RuleAggregate},
		"aggregate of another":            {func(b *KeyedBatch) { b.Aggregate = k.batch().Aggregate }, RuleAggregate},
		"aggregate is the identity":       {func(b *KeyedBatch) { b.Aggregate = [96]byte{0xc0} }, RuleAggregateIdentity},
		"aggregate isn't compressed":      {func(b *KeyedBatch) { b.Aggregate[0] &= 0x7f }, RuleAggregateEncoding},
		"aggregate not reduced":           {func(b *KeyedBatch) { b.Aggregate = [96]byte(bytes.Repeat([]byte{0x9f}, 96)) }, RuleAggregateEncoding},
		"aggregate with the other sign":   {func(b *KeyedBatch) { b.Aggregate[0] ^= 0x20 }, RuleAggregate},
		"a key that isn't compressed":     {func(b *KeyedBatch) { b.Keys[0] = KeyBytes{0x1f} }, key},
		"a key off the curve":             {func(b *KeyedBatch) { b.Keys[0] = offCurve() }, key},
		"a key outside the group":         {func(b *KeyedBatch) { b.Keys[0] = outsideGroup() }, key},
		"a key not reduced":               {func(b *KeyedBatch) { b.Keys[4] = KeyBytes(bytes.Repeat([]byte{0xbf}, 48)) }, key},
		"a key is the identity":           {func(b *KeyedBatch) { b.Keys[4] = KeyBytes{0xc0} }, identity},
		"the identity with a sign":        {func(b *KeyedBatch) { b.Keys[4] = KeyBytes{0xe0} }, key},
		"the identity, and another digit": {func(b *KeyedBatch) { b.Keys[4] = KeyBytes{0xc0, 47: 1} }, key},
	}
}

func dropLeaf(b *KeyedBatch, i int) {
	payloads := Payloads{}
	for j := range b.Len() {
		if j != i {
			payloads.Append(b.Payloads.At(j))
		}
	}
	b.Keys, b.NotAfter, b.Payloads = slices.Delete(b.Keys, i, i+1), slices.Delete(b.NotAfter, i, i+1), payloads
	for j := range b.Stragglers {
		b.Stragglers[j]--
	}
}

// moveKey has another key claim the first payload.
func moveKey(b *KeyedBatch) {
	b.NotAfter[0], b.NotAfter[3] = b.NotAfter[3], b.NotAfter[0]
	var payloads Payloads
	for _, i := range []int{3, 1, 2, 0, 4} {
		payloads.Append(b.Payloads.At(i))
	}
	b.Payloads = payloads
}

// offCurve and outsideGroup return encodings with small coordinates, which come before all
// others: with x = 1 there is no point, and with x = 4 there is one of another order.
func offCurve() KeyBytes     { return KeyBytes{0: 0x80, 47: 1} }
func outsideGroup() KeyBytes { return KeyBytes{0: 0x80, 47: 4} }

// TestKeyedPoints shows that the points of the tests are what they are said to be.
func TestKeyedPoints(t *testing.T) {
	for _, key := range []KeyBytes{offCurve(), outsideGroup()} {
		if _, err := bls.ParsePublicKey(key[:]); err == nil {
			t.Errorf("%x is a key", key)
		} else {
			t.Log(err)
		}
	}
}

type keyedForgery struct {
	encoded []byte
	want    Rule
}

// keyedForgeries are encodings that no batch has.
func keyedForgeries(k *keyedNet, good []byte) map[string]keyedForgery {
	signed := k.Aggregator != nil
	body := good
	if signed {
		body = good[:len(good)-signatureSize]
	}
	// sign makes the aggregator answer for a body.
	sign := func(body []byte) []byte {
		if !signed {
			return body
		}
		bat := Bat{k.Net, 7, 3, BatchDigest(append(slices.Clone(body), make([]byte, signatureSize)...))}
		return append(slices.Clone(body), ed25519.Sign(k.agg, bat.Bytes())...)
	}
	// at returns the body with a byte changed.
	at := func(i int, change func(byte) byte) []byte {
		b := slices.Clone(body)
		b[i] = change(b[i])
		return sign(b)
	}
	const keys = keyedHeaderSize
	const notAfter = keys + 5*48
	insert := func(i int, p ...byte) []byte { return sign(slices.Insert(slices.Clone(body), i, p...)) }
	swap := slices.Clone(body)
	copy(swap[keys:], body[keys+48:keys+96])
	copy(swap[keys+48:], body[keys:keys+48])
	twice := slices.Clone(body)
	copy(twice[keys+48:], body[keys:keys+48])
	positions := len(body) - 96 - 2
	forgeries := map[string]keyedForgery{
		"empty":            {nil, RuleHeader},
		"a version":        {at(0, func(byte) byte { return 1 }), RuleHeader},
		"ends in header":   {good[:keyedHeaderSize-1], RuleHeader},
		"other flags":      {at(keyedHeaderSize-9, func(b byte) byte { return b ^ byte(KeyedProven) }), RuleMode},
		"unknown flags":    {at(keyedHeaderSize-9, func(b byte) byte { return b | 0x80 }), RuleMode},
		"no leaves":        {at(keyedHeaderSize-1, func(byte) byte { return 0 }), RuleEmpty},
		"too many leaves":  {at(keyedHeaderSize-5, func(byte) byte { return 1 }), RuleLeaves},
		"more leaves":      {at(keyedHeaderSize-2, func(byte) byte { return 1 }), RuleTruncated},
		"keys swapped":     {sign(swap), RuleKeyedOrder},
		"a key twice":      {sign(twice), RuleKeyedTwice},
		"a longer varint":  {sign(slices.Concat(body[:notAfter], []byte{body[notAfter] | 0x80, 0}, body[notAfter+1:])), RuleVarint},
		"a byte inserted":  {insert(len(body)-96, 0), RuleTrailing},
		"a byte appended":  {insert(len(body), 0), RuleTrailing},
		"a byte less":      {sign(body[:len(body)-1]), RuleTruncated},
		"no aggregate":     {sign(body[:len(body)-96]), RuleTruncated},
		"bitmap's padding": {at(positions+1, func(b byte) byte { return b | 0x80 }), RulePositions},
		"a list instead":   {sign(slices.Concat(body[:positions], []byte{positionsList, 2, 1, 0}, body[len(body)-96:])), RulePositions},
		"unknown form":     {at(positions, func(byte) byte { return 2 }), RulePositions},
		"too long":         {make([]byte, k.Params.MaxBatch+1), RuleBatchSize},
	}
	if signed {
		forgeries["signature changed"] = keyedForgery{append(slices.Clone(body), make([]byte, 64)...), RuleAggregatorSignature}
		forgeries["another aggregator"] = keyedForgery{at(40, func(byte) byte { return 8 }), RuleAggregator}
		forgeries["not signed"] = keyedForgery{body, RuleAggregatorSignature}
	}
	return forgeries
}

// TestKeyedTooMany breaks the bound on stragglers.
func TestKeyedTooMany(t *testing.T) {
	k := newKeyedNet(t, 0, 5)
	e := k.encode(k.batch(0, 1, 2))
	k.Params.MinStragglers, k.Params.StragglerPercent = 2, 100
	_, err := k.Verify(e)
	wantRule(t, "3 of 5", err, RuleStragglers)
	_, err = k.Verify(k.encode(k.batch(0, 1)))
	wantRule(t, "2 of 5", err, 0)
	r, folded := k.round(0, 1, 2)
	_, err = r.Finish(folded...)
	wantRule(t, "made by an aggregator", err, RuleStragglers)
}

// TestKeyedFormat pins the encoding: keys and signatures are the same each time.
func TestKeyedFormat(t *testing.T) {
	for flags, want := range []string{
		"4e016ce3d9abc79fe9e0ce9f16fea086ba737ef5dbeade581b933e0f3f1d5c4a",
		"97deba7023ece2a08c063fab6bf58edf98cec9b6605b0169ea2112481c528b7d",
		"ac92b197631265fcd5bca4a9aec4e78a48bc8c12c8d1661d630688577a8baef9",
		"c710d904863db9292843d7e2c61f75f7ee7712ea4fab4304c7dd831bf6150669",
	} {
		k := newKeyedNet(t, KeyedFlags(flags), 3)
		if got := fmt.Sprintf("%x", sha256.Sum256(k.encode(k.batch(1)))); got != want {
			t.Errorf("flags %d: another encoding, of hash %s", flags, got)
		}
	}
}
