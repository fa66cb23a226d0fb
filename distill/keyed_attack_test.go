// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"fmt"
	"testing"

	"github.com/undersign/undersign/bls"
)

// opposite returns the key with the other sign.
func opposite(k KeyBytes) KeyBytes {
	k[0] ^= blsSign
	return k
}

// TestKeyedOpposite has an attacker register the opposite of a victim's key. Without
// weights both cancel out, and the rest signs for the victim.
func TestKeyedOpposite(t *testing.T) {
	k := newKeyedNet(t, 0, 3)
	victim, friend := k.msgs[0], k.msgs[1]
	rogue := KeyedMessage{opposite(victim.Key), 100, []byte("rogue")}
	k.msgs = []KeyedMessage{victim, friend, rogue}
	forge := func() []byte {
		r, err := k.NewRound(7, 3, 90, k.msgs)
		if err != nil {
			t.Fatal(err)
		}
		sig, err := bls.ProofOfPossession.Sign(k.secrets[friend.Key], r.digest[:])
		if err != nil {
			t.Fatal(err)
		}
		b := r.batch
		copy(b.Aggregate[:], sig.Bytes())
		e, err := b.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	_, err := k.Verify(forge())
	wantRule(t, "weighted", err, RuleAggregate)

	// The attack works where the opposite key passes for proven.
	k.Proven = func(key *KeyBytes) *bls.ProvenKey {
		p, err := bls.ParsePublicKey(key[:])
		if err != nil {
			return nil
		}
		return bls.AssumeProvenUnsafe(p)
	}
	forged := forge()
	_, err = k.Verify(forged)
	wantRule(t, "taken for proven", err, 0)

	// It has no proof.
	proven := k.Proven
	k.Proven = func(key *KeyBytes) *bls.ProvenKey {
		if *key == rogue.Key {
			return nil
		}
		return proven(key)
	}
	_, err = k.Verify(forged)
	wantRule(t, "without a proof", err, RuleKeyedProven)
	_, err = k.NewRound(7, 3, 90, k.msgs)
	wantRule(t, "a round without a proof", err, RuleKeyedProven)

	// The two alone add up to the identity.
	k.Proven, k.msgs = proven, []KeyedMessage{victim, rogue}
	_, err = k.Verify(forge())
	wantRule(t, "sum is the identity", err, RuleKeySum)
}

// TestKeyedSubsets shows that a weighted signature says nothing of any other set of keys,
// and that a signature of the root isn't one of the leaf, nor the other way round.
func TestKeyedSubsets(t *testing.T) {
	k := newKeyedNet(t, 0, 4)
	r, _ := k.round()
	whole := r.sigs
	for name, sigs := range map[string][]*bls.Signature{
		"no weights": whole,
		"one":        whole[:1],
		"one twice":  {whole[0], whole[0], whole[1], whole[2], whole[3]},
	} {
		sum, err := bls.Aggregate(sigs...)
		if err != nil {
			t.Fatal(err)
		}
		b := r.batch
		copy(b.Aggregate[:], sum.Bytes())
		_, err = k.Verify(k.encode(&b))
		wantRule(t, name, err, RuleAggregate)
	}
	// Weights of three keys, in a batch of four where the last is called a straggler.
	sum, err := bls.ProofOfPossession.BDNAggregate(r.keys, r.digest, whole)
	if err != nil {
		t.Fatal(err)
	}
	b := r.batch
	b.Stragglers = []uint32{3}
	copy(b.Aggregate[:], sum.Bytes())
	_, err = k.Verify(k.encode(&b))
	wantRule(t, "weights of another set", err, RuleAggregate)

	// A client's own signature passes for one of the root, or is taken for it.
	m := k.msgs[0]
	r, _ = k.round(0)
	if err := r.Add(&m.Key, k.fold(m)); err != nil {
		t.Fatal(err)
	}
	if late := r.Stragglers(); len(late) != 1 || r.batch.Keys[late[0]] != m.Key {
		t.Errorf("a signature of the leaf passes for one of the root: %d", late)
	}
	r, _ = k.round(0)
	d := r.digest
	sig, err := bls.ProofOfPossession.Sign(k.secrets[m.Key], d[:])
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Finish(sig)
	wantRule(t, "a signature of the root, folded", err, RuleKeyedFolded)
}

// TestKeyedRound gives an aggregator what it must find.
func TestKeyedRound(t *testing.T) {
	for _, flags := range []KeyedFlags{0, KeyedProven} {
		k := newKeyedNet(t, flags, 6)
		r, folded := k.round(5)
		stranger := KeyedMessage{Key: opposite(k.msgs[0].Key)}
		wantRule(t, "a stranger", r.Add(&stranger.Key, folded[0]), RuleKeyedSigners)
		wantRule(t, "a second signature", r.Add(&k.msgs[0].Key, folded[0]), RuleKeyedSigners)
		wantRule(t, "none", r.Add(&k.msgs[5].Key, nil), RuleKeyedSigners)
		_, err := r.Proposal(&stranger.Key)
		wantRule(t, "a proposal for a stranger", err, RuleKeyedSigners)

		// Two collude: their signatures are wrong, and their sum is right.
		a, b := k.msgs[1].Key, k.msgs[2].Key
		i, _ := r.find(&a)
		j, _ := r.find(&b)
		r.sigs[i], r.sigs[j] = r.sigs[j], r.sigs[i]
		late := r.Stragglers()
		if len(late) != 3 {
			t.Fatalf("stragglers: %d", late)
		}
		_, err = r.Finish(folded...)
		wantRule(t, "folded signatures missing", err, RuleKeyedFolded)
		_, err = r.Finish(append(folded, k.fold(k.msgs[1]), k.fold(k.msgs[3]))...)
		wantRule(t, "another's folded", err, RuleKeyedFolded)
		_, err = r.Finish(append(folded, nil)...)
		wantRule(t, "nil folded", err, RuleKeyedFolded)
		folded = append(folded, k.fold(k.msgs[1]), k.fold(k.msgs[2]))
		batch, err := r.Finish(folded...)
		wantRule(t, "finished", err, 0)
		if err == nil {
			_, err = k.Verify(k.encode(batch))
			wantRule(t, "verified", err, 0)
		}
		r.Drop(&k.msgs[0].Key)
		r.Drop(&stranger.Key)
		_, err = r.Finish(folded...)
		wantRule(t, "dropped", err, RuleKeyedFolded)
		_, err = r.Finish(append(folded, k.fold(k.msgs[0]))...)
		wantRule(t, "dropped and folded", err, 0)

		for name, v := range map[string]struct {
			msgs []KeyedMessage
			want Rule
		}{
			"none":      {nil, RuleEmpty},
			"twice":     {[]KeyedMessage{k.msgs[0], k.msgs[1], k.msgs[0]}, RuleKeyedTwice},
			"expired":   {[]KeyedMessage{{k.msgs[0].Key, 89, nil}}, RuleNotAfter},
			"too late":  {[]KeyedMessage{{k.msgs[0].Key, 90 + k.Params.MaxAhead + 1, nil}}, RuleNotAfter},
			"too long":  {[]KeyedMessage{{k.msgs[0].Key, 90, make([]byte, k.Params.MaxPayload+1)}}, RulePayloadSize},
			"too many":  {make([]KeyedMessage, k.Params.MaxLeaves+1), RuleLeaves},
			"not a key": {[]KeyedMessage{{offCurve(), 90, nil}}, map[KeyedFlags]Rule{0: RuleKeyedKey, KeyedProven: RuleKeyedProven}[flags]},
		} {
			_, err := k.NewRound(7, 4, 90, v.msgs)
			wantRule(t, fmt.Sprintf("flags %d, a round: %s", flags, name), err, v.want)
		}
		k.Messages = pieces
		_, err = k.NewRound(7, 4, 90, []KeyedMessage{{k.msgs[0].Key, 90, nil}})
		wantRule(t, "a payload of no messages", err, RuleKeyedPayload)
	}
}

// TestKeyedClient shows proposals to a client that it must not sign.
func TestKeyedClient(t *testing.T) {
	k := newKeyedNet(t, 0, 5)
	r, _ := k.round()
	m := k.msgs[2]
	c := KeyedClient{Net: k.Net, Params: k.Params, Head: 85}
	good := func() *KeyedProposal {
		p, err := r.Proposal(&m.Key)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	d, err := c.Check(good(), &m.Key, m.Payload, m.NotAfter)
	wantRule(t, "good", err, 0)
	if d != r.digest {
		t.Error("another digest")
	}
	for name, v := range map[string]struct {
		change func(*KeyedProposal)
		want   Rule
	}{
		"another network":      {func(p *KeyedProposal) { p.Prop.Net[31]++ }, RuleNetwork},
		"a directory":          {func(p *KeyedProposal) { p.Prop.Dirver = 1 }, RuleKeyedVersion},
		"no leaves":            {func(p *KeyedProposal) { p.Prop.N = 0 }, RuleEmpty},
		"too many leaves":      {func(p *KeyedProposal) { p.Prop.N = c.Params.MaxLeaves + 1 }, RuleLeaves},
		"passed":               {func(p *KeyedProposal) { p.Prop.ValidUntil = c.Head - 1 }, RuleKeyedExpired},
		"outlives the payload": {func(p *KeyedProposal) { p.Prop.ValidUntil = m.NotAfter + 1 }, RuleNotAfter},
		"outside the tree":     {func(p *KeyedProposal) { p.Index = p.Prop.N }, RuleProofIndex},
		"another leaf":         {func(p *KeyedProposal) { p.Index ^= 1 }, RuleProofRoot},
		"another root":         {func(p *KeyedProposal) { p.Prop.Root[0]++ }, RuleProofRoot},
		"a sibling less":       {func(p *KeyedProposal) { p.Siblings = p.Siblings[1:] }, RuleProofDepth},
		"a sibling more":       {func(p *KeyedProposal) { p.Siblings = append(p.Siblings, [32]byte{}) }, RuleProofDepth},
		"more leaves":          {func(p *KeyedProposal) { p.Prop.N = 9 }, RuleProofDepth},
	} {
		p := good()
		v.change(p)
		_, err := c.Sign(k.secrets[m.Key], p, m.Payload, m.NotAfter)
		wantRule(t, name, err, v.want)
	}
	_, err = c.Check(good(), &m.Key, []byte("another"), m.NotAfter)
	wantRule(t, "another payload", err, RuleProofRoot)
	_, err = c.Check(good(), &k.msgs[1].Key, m.Payload, m.NotAfter)
	wantRule(t, "another key", err, RuleProofRoot)
	_, err = c.Check(good(), &m.Key, m.Payload, m.NotAfter+1)
	wantRule(t, "another expiry", err, RuleProofRoot)
	_, err = c.Check(good(), &m.Key, m.Payload, 90+c.Params.MaxAhead+1)
	wantRule(t, "expires too late", err, RuleNotAfter)
	_, err = c.Sign(new(bls.SecretKey), good(), m.Payload, m.NotAfter)
	wantRule(t, "no secret", err, RuleKeyedKey)
}

// FuzzDecodeKeyedBatch holds decoding to one encoding for each batch.
func FuzzDecodeKeyedBatch(f *testing.F) {
	for flags := range KeyedSigned << 1 {
		k := newKeyedNet(f, flags, 3)
		for _, late := range [][]int{nil, {1}} {
			f.Add(k.encode(k.batch(late...)))
		}
	}
	p := DefaultParams()
	p.MaxLeaves, p.MaxBatch = 1<<10, 1<<16
	f.Fuzz(func(t *testing.T, encoded []byte) {
		b, err := DecodeKeyedBatch(encoded, &p)
		if err != nil {
			if RuleOf(err) == 0 {
				t.Fatalf("no rule: %v", err)
			}
			return
		}
		again, err := b.MarshalBinary()
		if err != nil || string(again) != string(encoded) {
			t.Fatalf("%x is encoded as %x: %v", encoded, again, err)
		}
	})
}
