// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// rounds returns how often a random test repeats itself.
func rounds(few, many int) int {
	if long() {
		return many
	}
	return few
}

// randomSource returns a generator whose seed a failure shows.
func randomSource(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

// choose returns k of 1..n in ascending order.
func choose(rng *rand.Rand, n, k int) []int {
	set := rng.Perm(n)[:k]
	for i := range set {
		set[i]++
	}
	slices.Sort(set)
	return set
}

// Chains of ceremonies with random thresholds: after each, random quorums sign, the
// signature is that of every epoch, shares are in range, and old shares mix with new
// ones in no way.
func TestRandomChains(t *testing.T) {
	small(t)
	rng := randomSource(t)
	for range rounds(2, 60) {
		name := []string{"small-a", "small-b", "plain-1023"}[rng.IntN(3)]
		l := 2 + rng.IntN(6)
		k := 2 + rng.IntN(l-1)
		_, shares := freshSharing(t, name, k, l)
		history := fmt.Sprintf("%s (%d,%d)", name, k, l)
		for range rounds(3, 6) {
			key := shares[0].key
			var olds []*KeyShare
			for _, s := range shares {
				olds = append(olds, reparse(t, s, new(KeyShare)))
			}
			if rng.IntN(2) == 0 {
				contributors := choose(rng, key.l, key.k)
				if key.form == FormInteger {
					contributors = choose(rng, key.l, key.k+rng.IntN(key.l-key.k+1))
				}
				shares = refresh(t, shares, contributors...).finish(nil)
				history += fmt.Sprintf(", refresh by %v", contributors)
			} else {
				l := 2 + rng.IntN(8)
				k := 2 + rng.IntN(l-1)
				var names []string
				for i := range l {
					names = append(names, fmt.Sprintf("epoch %d, %d", key.epoch+1, i))
				}
				contributors := choose(rng, key.l, key.k)
				shares = reshare(t, shares, contributors, k, names...).finish(nil)
				history += fmt.Sprintf(", (%d,%d) by %v", k, l, contributors)
			}
			next := shares[0].key
			if next.epoch != key.epoch+1 || next.parent != key.id || next.n.Cmp(key.n) != 0 || next.form != FormInteger {
				t.Fatalf("%s: the new record isn't a successor", history)
			}
			checkEpoch(t, rng, history, olds, shares)
			if t.Failed() {
				return
			}
		}
	}
}

// checkEpoch checks the shares of a new epoch, and mixes of them with old ones.
func checkEpoch(t *testing.T, rng *rand.Rand, history string, olds, shares []*KeyShare) {
	t.Helper()
	next := shares[0].key
	x := new(big.Int).SetBytes(bytes.Repeat([]byte{0x5a}, next.size()-2))
	prove := func(shares []*KeyShare) (out []*SignatureShare) {
		for _, s := range shares {
			if natBig(s.s).Cmp(s.key.smax) >= 0 || s.Check() != nil {
				t.Errorf("%s: share %d of epoch %d is wrong", history, s.index, s.key.epoch)
			}
			sig, err := s.prove(x)
			if err != nil {
				t.Fatal(err)
			}
			if e := s.key.verifyProof(x, sig); e != nil {
				t.Errorf("%s: epoch %d: %v", history, s.key.epoch, e)
			}
			out = append(out, sig)
		}
		return out
	}
	before, after := prove(olds), prove(shares)
	old := olds[0].key
	want := old.combine(x, before[:old.k])
	for range 5 {
		set := choose(rng, next.l, next.k)
		if got := next.combine(x, pick(after, set)); got == nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v signs %x, want %x", history, set, got, want)
		}
	}
	// K-1 new ones and an old one under a new holder's index, and the reverse.
	for range 5 {
		set := choose(rng, next.l, next.k)
		mix := slices.Clone(pick(after, set))
		at := rng.IntN(len(mix))
		stale := *before[rng.IntN(len(before))]
		stale.index = mix[at].index
		if bytes.Equal(stale.x, mix[at].x) {
			continue // a sharing of zero that is zero here: it doesn't happen
		}
		mix[at] = &stale
		if next.combine(x, mix) != nil {
			t.Errorf("%s: an old share combines with new ones", history)
		}
		if next.verifyProof(x, &stale) == nil {
			t.Errorf("%s: an old proof holds", history)
		}
		if e := next.checkShare([32]byte{}, &stale); e == nil {
			t.Errorf("%s: an old share is taken", history)
		}
	}
}

// Quorums with random damage: bits, bytes, fields of other shares, truncation.
// With K good shares there is a signature, with fewer there is none, and no share
// that came untouched from a holder is ever blamed on it.
func TestRandomDamage(t *testing.T) {
	small(t)
	rng := randomSource(t)
	d, shares := sharing(t, "small-a", 3, 5)
	p := d.key
	r := request(t, p, "damage")
	good := signAll(t, r, shares)
	foreign := signAll(t, request(t, p, "another"), shares)
	for range rounds(150, 5000) {
		var all []*SignatureShare
		honest := map[int]bool{}
		for n := 3 + rng.IntN(6); n > 0; n-- {
			i := rng.IntN(5)
			if rng.IntN(2) == 0 {
				all, honest[i+1] = append(all, good[i]), true
				continue
			}
			b := good[i].encode()
			switch rng.IntN(6) {
			case 0:
				b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
			case 1:
				for range 1 + rng.IntN(20) {
					b[rng.IntN(len(b))] = byte(rng.Uint32())
				}
			case 2:
				s := clone(good[i])
				o := good[rng.IntN(5)]
				switch rng.IntN(4) {
				case 0:
					s.x = o.x
				case 1:
					s.c = o.c
				case 2:
					s.z = o.z
				case 3:
					s.index = o.index
				}
				b = s.encode()
			case 3:
				s := clone(foreign[i])
				s.requestID = good[i].requestID
				b = s.encode()
			case 4:
				b = b[:rng.IntN(len(b))]
			case 5:
				b = spoilProof(good[i]).encode()
			}
			s := new(SignatureShare)
			if s.UnmarshalBinary(b) == nil {
				all = append(all, s)
			}
		}
		sig, bad, err := p.Combine(r, all...)
		if err == nil {
			checkRaw(t, p, r, sig)
		} else if len(honest) >= 3 || sig != nil {
			t.Errorf("%d honest holders: %v, named %v", len(honest), err, bad)
		}
		for _, s := range all {
			if e := p.VerifyShare(r, s); (e == nil) != slices.ContainsFunc(good, s.Equal) {
				t.Errorf("holder %d: %v", s.index, e)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// Random garbage is refused by every decoder, and so is garbage behind a true
// header.
func TestRandomGarbage(t *testing.T) {
	small(t)
	rng := randomSource(t)
	d, shares := sharing(t, "small-a", 2, 3)
	r := request(t, d.key, "garbage")
	heads := [][]byte{d.encode(), d.key.encoding, shares[0].encode(), r.encode(), sign(t, r, shares[0]).encode(), {version, suite}}
	for range rounds(2000, 100000) {
		b := slices.Clone(heads[rng.IntN(len(heads))])
		b = b[:rng.IntN(len(b))]
		for range rng.IntN(200) {
			b = append(b, byte(rng.Uint32()))
		}
		for _, x := range []codec{
			new(PublicKey), new(Dealing), new(Request), new(SignatureShare), new(KeyShare), new(Receiver), new(ReceiverKey),
			new(Proposal), new(Contribution), new(Ack), new(Refusal), new(Certificate),
		} {
			if x.UnmarshalBinary(b) != nil {
				continue
			}
			if c, err := x.MarshalBinary(); err != nil || !bytes.Equal(b, c) {
				t.Errorf("%T: %x encodes to %x", x, b, c)
			}
		}
	}
}

// A key of the default kind from its generation to a refreshed signature, at full
// size.
func TestWholeLife(t *testing.T) {
	needLong(t)
	for _, name := range []string{"safe-2048-a", "safe-4096", "plain-2050"} {
		_, shares := freshSharing(t, name, 3, 5)
		signSubsets(t, shares, name)
		shares = refresh(t, shares, 1, 3, 5).finish(nil)
		signSubsets(t, shares, name)
		shares = reshare(t, shares, []int{2, 3, 4}, 4, "a", "b", "c", "d", "e", "f", "g").finish(nil)
		r := request(t, shares[0].key, name)
		verifyEverywhere(t, shares[0].key, r, quorumSign(t, r, shares))
		shares = refresh(t, shares, 1, 2, 3, 4, 5, 6, 7).finish(nil)
		r = request(t, shares[0].key, name)
		verifyEverywhere(t, shares[0].key, r, quorumSign(t, r, shares[3:]))
		t.Logf("%s: shares of %d bits, of %d at the beginning", name, shares[0].key.ShareBits(), shares[0].key.n.BitLen())
	}
}
