// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"bytes"
	"testing"

	"filippo.io/edwards25519"

	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

func lsagOf[P any](r *Ring) *lsagKeys[P] { return r.keys.(*lsagKeys[P]) }

// With a base H = h·G by a hash h that everybody computes, as one implementation has it,
// Y = h·P_j shows the signer. The control is such a base; ours gives nothing away.
func TestSignerIsntFound(t *testing.T) {
	r, secret := newRingOf(t, Ristretto255, 5)
	k := lsagOf[edwards25519.Point](r)
	const signer = 3
	st := r.statement(nil)
	// Hashes that somebody might take for the logarithm of H.
	var logs []*scalar
	for _, data := range [][]byte{st.domain, st.digest[:], encode(t, r)} {
		for _, dst := range [][]byte{r.group.dst("h2c"), r.group.dst("sig")} {
			logs = append(logs, k.reduce((*[64]byte)(bls12381.ExpandMessageXMD(data, dst, 64))))
		}
	}
	found := func(y *edwards25519.Point) (list []int) {
		for _, h := range logs {
			for i, p := range k.points {
				if bytes.Equal(k.encode(k.mult(h, p)), k.encode(y)) {
					list = append(list, i)
				}
			}
		}
		return list
	}
	weak := k.mult(logs[1], nil)
	if got := found(k.mult(&secret[signer].secret, weak)); len(got) != 1 || got[0] != signer {
		t.Fatalf("the attack doesn't find the signer where it should: %v", got)
	}
	sig := sign(t, secret[signer], r, "message", nil)
	if got := found(sig.image.decoded.(*edwards25519.Point)); got != nil {
		t.Errorf("the signer is found: %v", got)
	}
	// Nor by comparing the image with the keys, or with what the signature has of them.
	for i, p := range k.points {
		for j := range sig.s {
			for _, c := range []*scalar{&sig.s[j], &sig.c} {
				if bytes.Equal(k.encode(k.mult(c, p)), sig.image.encoded) {
					t.Errorf("key %d with a number of the signature is the image", i)
				}
			}
		}
	}
}

// Why a key of G1 signs in rings alone: a BLS signature by the same secret names it.
func TestSharedKeyNamesSigner(t *testing.T) {
	r, secret := newRingOf(t, BLS12381G1, 3)
	k := lsagOf[bls12381.G1](r)
	sig := sign(t, secret[1], r, "message", nil)
	m := new(bls12381.G2).HashVarTime([]byte("BLS"), []byte("test"))
	h := k.base(r.statement(nil))
	minusH := new(bls12381.G1).Neg(h)
	for i, key := range secret {
		bls := new(bls12381.G2).ScalarMult(g1Scalar(&key.secret), m)
		named := bls12381.PairingCheckVarTime(bls12381.Pair{P: sig.image.decoded.(*bls12381.G1), Q: m}, bls12381.Pair{P: minusH, Q: bls})
		if named != (i == 1) {
			t.Errorf("holder %d is named: %v", i, named)
		}
	}
}

// forge closes a chain without a secret, by a random s or by whatever an attacker may put
// into the hash.
func TestForgeries(t *testing.T) {
	r, secret := newRingOf(t, Ristretto255, 3)
	k := lsagOf[edwards25519.Point](r)
	st := r.statement(nil)
	st.message = transcript.MessageOf([]byte("message"))

	t.Run("simulated without a secret", func(t *testing.T) {
		for range 20 {
			image := k.mult(k.newSecret(), nil)
			x := &Signature{group: r.group, ring: r.digest, image: point{k.encode(image), image}, c: *k.newSecret(), s: []scalar{*k.newSecret(), *k.newSecret(), *k.newSecret()}}
			if r.Verify([]byte("message"), x, nil) == nil {
				t.Fatal("random numbers are a signature")
			}
		}
	})

	// A holder who would sign under an image that isn't its own: R is made to fit Y for
	// the chosen challenge, which the hash then changes.
	t.Run("another image", func(t *testing.T) {
		stranger := k.newSecret()
		h := k.base(st)
		y := k.mult(stranger, h)
		image := k.encode(y)
		ch := k.chain(st, image)
		round := k.round(h, y)
		nonce := k.newSecret()
		l, rr := k.mult(nonce, nil), k.mult(nonce, h)
		x := &Signature{group: r.group, ring: r.digest, image: point{image, y}, s: make([]scalar, 3)}
		// The holder is at place 0: it starts with c_1.
		var c *scalar
		for i := 1; i <= 3; i++ {
			c = ch.challenge(i%3, k.encode(l), k.encode(rr))
			if i == 3 {
				break
			}
			x.s[i] = *k.newSecret()
			l, rr = round(&x.s[i], c, k.points[i])
		}
		x.c = *c
		x.s[0] = *k.mulAdd(k.neg(c), &secret[0].secret, nonce)
		if r.Verify([]byte("message"), x, nil) == nil {
			t.Error("the holder has two images")
		}
		// The half on G alone would hold.
		gotL, gotR := round(&x.s[0], c, k.points[0])
		if !bytes.Equal(k.encode(gotL), k.encode(k.mult(nonce, nil))) || bytes.Equal(k.encode(gotR), k.encode(k.mult(nonce, h))) {
			t.Error("the attack isn't what it should be")
		}
	})

	// L and R of the identity: with k = 0 a holder signs, and shows its place. It is no
	// signature, in either layout.
	t.Run("identity", func(t *testing.T) {
		h := k.base(st)
		y := k.mult(&secret[0].secret, h)
		image := k.encode(y)
		ch := k.chain(st, image)
		round := k.round(h, y)
		zero := make([]byte, 32)
		l, rr := zero, zero
		x := &Signature{group: r.group, ring: r.digest, image: point{image, y}, s: make([]scalar, 3)}
		var c *scalar
		for i := 1; i <= 3; i++ {
			c = ch.challenge(i%3, l, rr)
			if i == 3 {
				break
			}
			x.s[i] = *k.newSecret()
			pl, pr := round(&x.s[i], c, k.points[i])
			l, rr = k.encode(pl), k.encode(pr)
		}
		x.c = *c
		x.s[0] = *k.mulAdd(k.neg(c), &secret[0].secret, new(scalar))
		if r.Verify([]byte("message"), x, nil) == nil {
			t.Error("a signature with L and R of the identity is valid")
		}
	})
}

// add returns s + d.
func add(k *lsagKeys[edwards25519.Point], s, d *scalar) scalar {
	one := scalar{1}
	return *k.mulAdd(d, &one, s)
}

// What cancels in a sum with equal weights, within a signature and between two, is
// refused, and located.
func TestBatchCancellation(t *testing.T) {
	r, secret := newRingOf(t, Ristretto255, 3)
	k := lsagOf[edwards25519.Point](r)
	sigs := make([]*Signature, 6)
	for i := range sigs {
		sigs[i] = expand(t, r, "message", sign(t, secret[i%3], r, "message", nil), nil)
	}
	d := k.newSecret()
	minus := k.neg(d)
	change := func(sig *Signature, place int, d *scalar) *Signature {
		x := *sig
		x.s = bytesClone(sig.s)
		x.s[place] = add(k, &x.s[place], d)
		return &x
	}
	within := change(change(sigs[1], 0, d), 1, minus)
	left, right := change(sigs[2], 2, d), change(sigs[4], 2, minus)

	// The control: with equal weights all of it holds.
	st := r.statement(nil)
	st.message = transcript.MessageOf([]byte("message"))
	ones := bytes.Repeat(append([]byte{1}, make([]byte, 15)...), 6*2*3)
	equal := func(list ...*Signature) bool {
		eq := make([]equation, len(list))
		for i, sig := range list {
			eq[i] = k.equation(st, sig, discard{})
		}
		return k.isIdentity(k.sum(k.base(st), eq, ones))
	}
	if !equal(sigs...) || !equal(within) || !equal(left, right) || equal(left) {
		t.Fatal("the control doesn't cancel")
	}
	b := r.Batch(nil)
	for _, sig := range []*Signature{sigs[0], within, left, sigs[3], right, sigs[5]} {
		b.Add([]byte("message"), sig)
	}
	wantBad(t, b.Verify(), 1, 2, 4)
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Sum(b []byte) []byte         { return b }
func (discard) Reset()                      {}
func (discard) Size() int                   { return 0 }
func (discard) BlockSize() int              { return 0 }

func bytesClone(s []scalar) []scalar { return append([]scalar(nil), s...) }
