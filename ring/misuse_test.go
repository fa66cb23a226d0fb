// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/cryptotest"

	"filippo.io/edwards25519"

	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// What a caller does with its variables after Add changes nothing: neither decoding the next
// signature into the one before, or another ring, nor writing over a message or the scope.
func TestBatchKeepsWhatItWasGiven(t *testing.T) {
	eachGroup(t, func(t *testing.T, g Group) {
		r, secret := newRingOf(t, g, 3)
		larger, others := newRingOf(t, g, 5)
		scope := []byte("scope")
		o := &Options{Scope: scope}
		good := sign(t, secret[0], r, "yes", o)
		for _, good := range []*Signature{good, expand(t, r, "yes", good, o)} {
			bad := *good
			bad.s = slices.Clone(good.s)
			bad.s[1], bad.s[2] = bad.s[2], bad.s[1]
			variable := *r
			b := variable.Batch(o)
			var sig Signature
			msg := []byte("yes")
			for _, data := range [][]byte{encode(t, good), encode(t, &bad), encode(t, good)} {
				if err := sig.UnmarshalBinary(data); err != nil {
					t.Fatal(err)
				}
				b.Add(msg, &sig)
				o.Scope[0]++
			}
			copy(scope, "scope")
			msg[0]++
			sig = *sign(t, others[4], larger, "yes", nil)
			variable = *larger
			wantBad(t, b.Verify(), 1)
		}
	})
}

// The image of somebody's signature can be copied into one that isn't valid, and sent before
// it: that makes nothing a duplicate.
func TestDuplicatesOfInvalid(t *testing.T) {
	r, secret := newRingOf(t, Ristretto255, 3)
	honest := sign(t, secret[1], r, "yes", nil)
	copied := *sign(t, secret[0], r, "no", nil)
	copied.image = honest.image
	again := sign(t, secret[1], r, "no", nil)
	b := r.Batch(nil)
	b.Add([]byte("no"), &copied)
	b.Add([]byte("yes"), honest)
	if got := b.Duplicates(); got != nil {
		t.Errorf("the honest one is a duplicate of one that isn't valid: %v", got)
	}
	wantBad(t, b.Verify(), 0)
	b.Add([]byte("no"), again)
	b.Add([]byte("no"), &copied)
	if got := b.Duplicates(); !slices.Equal(got, []int{2}) {
		t.Errorf("duplicates are %v", got)
	}
	wantBad(t, b.Verify(), 0, 3)
	if !bytes.Equal(again.Image(), honest.Image()) {
		t.Error("the images differ")
	}
	if new(Batch).Duplicates() != nil {
		t.Error("a batch of no ring has duplicates")
	}
}

// A signature says how many keys there are, and each has points to be decoded: in G1 it takes
// 12 s for 8 MB. Who knows the ring decodes none of another's.
func TestParseSignature(t *testing.T) {
	eachGroup(t, func(t *testing.T, g Group) {
		r, secret := newRingOf(t, g, 3)
		larger, others := newRingOf(t, g, 5)
		sig := sign(t, secret[1], r, "message", nil)
		wide := expand(t, r, "message", sig, nil)
		for _, sig := range []*Signature{sig, wide} {
			back, err := r.ParseSignature(encode(t, sig))
			if err != nil || r.Verify([]byte("message"), back, nil) != nil {
				t.Errorf("for batches %v: %v", sig.ForBatch(), err)
			}
			if _, err := larger.ParseSignature(encode(t, sig)); !errors.Is(err, ErrSignature) {
				t.Errorf("of another ring: %v", err)
			}
		}
		data := encode(t, wide)
		if len(data) != r.MaxSignatureSize() {
			t.Errorf("%d bytes, and at most %d", len(data), r.MaxSignatureSize())
		}
		// The points are no points, which goes unseen where the ring is another.
		foreign := encode(t, expand(t, larger, "message", sign(t, others[0], larger, "message", nil), nil))
		size := groups[g].pointSize()
		for i := 39; i < 39+size*11; i++ {
			foreign[i] = 0xff
		}
		for name, change := range map[string]func(b []byte) []byte{
			"digest":      func(b []byte) []byte { return b },
			"number":      func(b []byte) []byte { copy(b[3:], data[3:35]); return b },
			"other group": func(b []byte) []byte { b[1] = 3 - b[1]; return b },
		} {
			_, err := r.ParseSignature(change(bytes.Clone(foreign)))
			if !errors.Is(err, ErrSignature) || strings.Contains(err.Error(), "image") {
				t.Errorf("%s: %v", name, err)
			}
		}
		for i := range data {
			if _, err := r.ParseSignature(data[:i]); !errors.Is(err, ErrSignature) {
				t.Errorf("%d bytes: %v", i, err)
			}
		}
		if _, err := new(Ring).ParseSignature(data); err == nil || new(Ring).MaxSignatureSize() != 0 {
			t.Error("a signature of no ring")
		}
	})
}

// One ring and one signature serve many goroutines, with hostile ones in between.
func TestConcurrent(t *testing.T) {
	eachGroup(t, func(t *testing.T, g Group) {
		r, secret := newRingOf(t, g, 3)
		fresh := sign(t, secret[1], r, "message", nil)
		wide := expand(t, r, "message", fresh, nil)
		decoded := new(Signature)
		if err := decoded.UnmarshalBinary(encode(t, wide)); err != nil {
			t.Fatal(err)
		}
		hostile := *wide
		hostile.s = bytesClone(wide.s)
		hostile.s[0], hostile.s[1] = hostile.s[1], hostile.s[0]
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				for range 2 {
					for _, sig := range []*Signature{fresh, wide, decoded} {
						if err := r.Verify([]byte("message"), sig, nil); err != nil {
							t.Errorf("goroutine %d: %v", i, err)
						}
					}
					b := r.Batch(nil)
					for _, sig := range []*Signature{wide, &hostile, decoded, fresh, &hostile} {
						b.Add([]byte("message"), sig)
					}
					wantBad(t, b.Verify(), 1, 4)
					sign(t, secret[i%3], r, "message", nil)
				}
			})
		}
		wg.Wait()
	})
}

// Two holders who put their keys together make what no honest signer does: L of the identity
// where R isn't, at the place of the one whose secret is used up there. It is refused in
// both layouts.
func TestIdentityAtAnotherPlace(t *testing.T) {
	r, secret := newRingOf(t, Ristretto255, 3)
	k := lsagOf[edwards25519.Point](r)
	st := r.statement(nil)
	st.message = transcript.MessageOf([]byte("message"))
	h := k.base(st)
	y := k.mult(&secret[0].secret, h)
	image := k.encode(y)
	ch := k.chain(st, image)
	round := k.round(h, y)
	for _, zero := range []bool{false, true} {
		x := &Signature{group: r.group, ring: r.digest, image: point{image, y}, s: make([]scalar, 3)}
		nonce := k.newSecret()
		l, rr := k.mult(nonce, nil), k.mult(nonce, h)
		x.commitments = make([]point, 6)
		var c *scalar
		for i := range 3 {
			x.commitments[2*i], x.commitments[2*i+1] = point{k.encode(l), l}, point{k.encode(rr), rr}
			c = ch.challenge((i+1)%3, k.encode(l), k.encode(rr))
			if i == 2 {
				break
			}
			x.s[i+1] = *k.newSecret()
			if zero && i == 0 { // -c·x
				x.s[1] = *k.mulAdd(k.neg(c), &secret[1].secret, new(scalar))
			}
			l, rr = round(&x.s[i+1], c, k.points[i+1])
		}
		x.s[0] = *k.mulAdd(k.neg(c), &secret[0].secret, nonce)
		narrow := &Signature{group: x.group, ring: x.ring, image: x.image, c: *c, s: x.s}
		if err := r.Verify([]byte("message"), narrow, nil); (err == nil) == zero {
			t.Errorf("identity %v, compact: %v", zero, err)
		}
		back, err := r.ParseSignature(encode(t, x))
		if err == nil {
			err = r.Verify([]byte("message"), back, nil)
		}
		if (err == nil) == zero {
			t.Errorf("identity %v, for batches: %v", zero, err)
		}
	}
}

// Keys that depend on another's give no signature in its name, and one of the other's is
// linked to none of theirs.
func TestRelatedKeys(t *testing.T) {
	eachGroup(t, func(t *testing.T, g Group) {
		victim, err := GenerateKey(g)
		if err != nil {
			t.Fatal(err)
		}
		e := groups[g]
		var two, one scalar
		if one[0] = 1; g == BLS12381G1 {
			one = scalar{scalarSize - 1: 1}
		}
		add := func(x, y, z *scalar) *scalar {
			if k, ok := e.(*lsag[edwards25519.Point]); ok {
				return k.mulAdd(x, y, z)
			}
			return e.(*lsag[bls12381.G1]).mulAdd(x, y, z)
		}
		neg := func(x *scalar) *scalar {
			if k, ok := e.(*lsag[edwards25519.Point]); ok {
				return k.neg(x)
			}
			return e.(*lsag[bls12381.G1]).neg(x)
		}
		two = *add(&one, &one, &one)
		// What the attacker knows of is the factor and the difference, not the secret.
		keys := []*PublicKey{victim.Public()}
		for _, s := range []*scalar{neg(&victim.secret), add(&two, &victim.secret, new(scalar)), add(&one, &victim.secret, &one)} {
			keys = append(keys, &PublicKey{g, e.publicKey(s)})
		}
		r, err := NewRing(keys...)
		if err != nil {
			t.Fatal(err)
		}
		sig := sign(t, victim, r, "message", nil)
		for name, change := range map[string]func(s *scalar) scalar{
			"negated": func(s *scalar) scalar { return *neg(s) },
			"doubled": func(s *scalar) scalar { return *add(&two, s, new(scalar)) },
			"moved":   func(s *scalar) scalar { return *add(&one, s, neg(&sig.c)) },
		} {
			for i := range sig.s {
				x := *sig
				x.s = bytesClone(sig.s)
				x.s[i] = change(&sig.s[i])
				if r.Verify([]byte("message"), &x, nil) == nil {
					t.Errorf("s_%d %s", i, name)
				}
			}
		}
		// In another ring of the same keys but one the signature is none.
		smaller, err := NewRing(keys[:3]...)
		if err != nil {
			t.Fatal(err)
		}
		x := *sig
		x.ring, x.s = smaller.digest, sig.s[:3]
		if smaller.Verify([]byte("message"), &x, nil) == nil {
			t.Error("it is moved to a smaller ring")
		}
	})
}

// With a generator that repeats itself, no nonce is used under two challenges: L and R differ
// at all places for another message, scope or ring.
func TestNoncesAreHedged(t *testing.T) {
	for _, g := range Groups() {
		r, secret := newRingOf(t, g, 3)
		other, err := NewRing(r.Key(0), r.Key(1))
		if err != nil {
			t.Fatal(err)
		}
		k := secret[0]
		seen := make(map[string]bool)
		for i, in := range []struct {
			r     *Ring
			msg   string
			scope string
		}{{r, "a", ""}, {r, "b", ""}, {r, "a", "b"}, {other, "a", ""}} {
			cryptotest.SetGlobalRandom(t, 1)
			o := &Options{Scope: []byte(in.scope), AcrossRings: true}
			sig := expand(t, in.r, in.msg, sign(t, k, in.r, in.msg, o), o)
			for _, p := range sig.commitments {
				if seen[string(p.encoded)] {
					t.Errorf("%s, %d: L or R came before", g, i)
				}
				seen[string(p.encoded)] = true
			}
			for _, s := range sig.s {
				if seen[string(s[:])] {
					t.Errorf("%s, %d: s came before", g, i)
				}
				seen[string(s[:])] = true
			}
		}
	}
}

// What is empty is equal and linked to nothing, not even to itself.
func TestEmptyIsEqualToNothing(t *testing.T) {
	var public PublicKey
	var private, wiped PrivateKey
	var r Ring
	k, err := GenerateKey(Ristretto255)
	if err != nil {
		t.Fatal(err)
	}
	wiped = *k
	wiped.Wipe()
	if public.Equal(&public) || private.Equal(&private) || wiped.Equal(&private) || r.Equal(&r) {
		t.Error("zero values are equal")
	}
	if Linked(nil, nil) || Linked(nil, new(Signature)) || Linked(new(Signature), nil) {
		t.Error("no signatures are linked")
	}
	if !k.Equal(k) || !k.Public().Equal(k.Public()) {
		t.Error("a key isn't equal to itself")
	}
}
