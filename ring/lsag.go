// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"

	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// lsag is the scheme over one group.
type lsag[P any] struct {
	arithmetic[P]
	group Group
}

func (g *lsag[P]) decode(b []byte) (any, error) { return g.parse(b) }

func (g *lsag[P]) newSecret() *scalar {
	for {
		var wide [64]byte
		rand.Read(wide[:])
		k := g.reduce(&wide)
		clear(wide[:])
		if *k != (scalar{}) {
			return k
		}
	}
}

func (g *lsag[P]) publicKey(secret *scalar) []byte { return g.encode(g.mult(secret, nil)) }

func (g *lsag[P]) newKeys(encoded [][]byte) (keys, error) {
	k := &lsagKeys[P]{g, make([]*P, len(encoded)), max(1, chunkTerms/(2*len(encoded)))}
	for i, b := range encoded {
		var err error
		if k.points[i], err = g.parse(b); err != nil {
			return nil, fmt.Errorf("ring: key %d: %w", i, err)
		}
	}
	return k, nil
}

// lsagKeys are the keys of a ring, in order.
type lsagKeys[P any] struct {
	*lsag[P]
	points []*P
	chunk  int // how many signatures for batches are summed at a time
}

// base returns H.
func (k *lsagKeys[P]) base(st *statement) *P { return k.hashVarTime(st.domain, k.group.dst("h2c")) }

func (k *lsagKeys[P]) image(secret *scalar, st *statement) []byte {
	return k.encode(k.mult(secret, k.base(st)))
}

// A chain computes the challenges of a signature.
type chain[P any] struct {
	*lsag[P]
	digest [32]byte // of the statement and the key image
	dst    []byte
	n      int
}

func (k *lsagKeys[P]) chain(st *statement, image []byte) *chain[P] {
	return &chain[P]{k.lsag, st.items(image).Sum(), k.group.dst("sig"), len(k.points)}
}

// challenge returns c_i, from L and R at the place before it.
func (c *chain[P]) challenge(i int, l, r []byte) *scalar {
	t := new(transcript.Items).
		Bytes("statement", c.digest[:]).
		Uint64("place", uint64(i)).
		Bytes("L", l).
		Bytes("R", r)
	return c.reduce((*[64]byte)(bls12381.ExpandMessageXMD(t.Data(), c.dst, 64)))
}

// sign goes round the ring from the signer's place. The ring is turned until the signer
// is last, and the result turned back, so that no address and no branch depends on the
// place.
func (k *lsagKeys[P]) sign(secret *scalar, public []byte, st *statement) *Signature {
	n := len(k.points)
	h := k.base(st)
	y := k.mult(secret, h)
	image := k.encode(y)
	ch := k.chain(st, image)

	// The place after the signer's comes first.
	first := 0
	for i, p := range k.points {
		first |= (i + 1) & -subtle.ConstantTimeCompare(k.encode(p), public)
	}
	first = wrap(first, n)
	points := turn(k.points, first, k.selectPoint)

	hedge := new(transcript.Items).Grow(64).Bytes("secret", secret[:])
	nonces := transcript.NewNonces(ch.dst, hedge, st.items(image))
	hedge.Wipe()
	random := func() *scalar {
		var wide [64]byte
		nonces.Read(wide[:])
		s := k.reduce(&wide)
		clear(wide[:])
		return s
	}
	s, c := make([]*scalar, n), make([]*scalar, n)
	nonce := random()
	l, r := k.mult(nonce, nil), k.mult(nonce, h)
	round := k.round(h, y)
	at := first
	for i := range n {
		c[i] = ch.challenge(at, k.encode(l), k.encode(r))
		if i < n-1 {
			s[i] = random()
			l, r = round(s[i], c[i], points[i])
		}
		at = wrap(at+1, n)
	}
	// k - c·x
	s[n-1] = k.mulAdd(k.neg(c[n-1]), secret, nonce)
	clear(nonce[:])
	nonces.Wipe()

	back := wrap(n-first, n)
	selectScalar := func(x, y *scalar, cond int) *scalar {
		z := *y
		subtle.ConstantTimeCopy(cond, z[:], x[:])
		return &z
	}
	sig := &Signature{group: k.group, ring: st.digest, image: point{image, y}, s: make([]scalar, n)}
	for i, v := range turn(s, back, selectScalar) {
		sig.s[i] = *v
	}
	sig.c = *turn(c, back, selectScalar)[0]
	return sig
}

// wrap returns i modulo n, for i from 0 to 2n-1, in constant time.
func wrap(i, n int) int { return subtle.ConstantTimeSelect(subtle.ConstantTimeLessOrEq(n, i), i-n, i) }

// turn returns a list that begins at a place of another, and goes on round, in constant
// time: by each power of two in the place.
func turn[T any](list []*T, place int, choose func(x, y *T, cond int) *T) []*T {
	n := len(list)
	for bit := 1; bit < n; bit <<= 1 {
		next := make([]*T, n)
		cond := subtle.ConstantTimeEq(int32(place&bit), int32(bit))
		for i := range next {
			next[i] = choose(list[(i+bit)%n], list[i], cond)
		}
		list = next
	}
	return list
}

// walk goes round the ring by a compact signature, and reports whether it closes. Then
// visit has been given all L and R. The identity among them, which honest signers don't
// meet, has no place in the layout for batches.
func (k *lsagKeys[P]) walk(st *statement, sig *Signature, visit func(l, r point)) bool {
	n := len(k.points)
	ch := k.chain(st, sig.image.encoded)
	round := k.roundVarTime(k.base(st), sig.image.decoded.(*P), n)
	c := &sig.c
	for i, p := range k.points {
		l, r := round(&sig.s[i], c, p)
		if k.isIdentity(l) || k.isIdentity(r) {
			return false
		}
		bl, br := k.encode(l), k.encode(r)
		visit(point{bl, l}, point{br, r})
		c = ch.challenge((i+1)%n, bl, br)
	}
	return *c == sig.c
}

func (k *lsagKeys[P]) verify(st *statement, sig *Signature) bool {
	return k.walk(st, sig, func(_, _ point) {})
}

func (k *lsagKeys[P]) expand(st *statement, sig *Signature) *Signature {
	x := &Signature{group: sig.group, ring: sig.ring, image: sig.image, s: sig.s}
	if !k.walk(st, sig, func(l, r point) { x.commitments = append(x.commitments, l, r) }) {
		return nil
	}
	return x
}

func (k *lsagKeys[P]) last(st *statement, sig *Signature) *scalar {
	n := len(sig.s)
	return k.chain(st, sig.image.encoded).challenge(0, sig.commitments[2*n-2].encoded, sig.commitments[2*n-1].encoded)
}
