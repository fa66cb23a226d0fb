// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 gmsm's keys and points have no other arithmetic, and tests need bad ones.

package sm2

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"slices"
	"testing"

	"github.com/emmansun/gmsm/sm2"
)

// oddDER returns a signature that is put together like one in DER, with something
// out of order in most cases: tags, lengths, integers, or what follows.
func (s *source) oddDER(z *signature) []byte {
	tag := func(b byte) byte {
		if s.IntN(25) == 0 {
			return []byte{0x30, 2, 0x10, 0x22, 0x1f, 0, 0xa0, 3}[s.IntN(8)]
		}
		return b
	}
	length := func(n int) []byte {
		switch s.IntN(12) {
		case 0:
			return []byte{0x81, byte(n)}
		case 1:
			return []byte{0x82, byte(n >> 8), byte(n)}
		case 2:
			return []byte{0x84, 0, 0, 0, byte(n)}
		case 3:
			return []byte{0x80}
		case 4:
			return []byte{byte(n + s.IntN(3) - 1)}
		}
		if n >= 0x80 {
			return []byte{0x81, byte(n)}
		}
		return []byte{byte(n)}
	}
	integer := func(v []byte) []byte {
		v = bytes.TrimLeft(v, "\x00")
		switch k := s.IntN(10); {
		case k == 0:
			v = append(make([]byte, s.IntN(100)), v...)
		case k == 1:
			v = append([]byte{0xff}, v...)
		case k == 2:
			v = []byte{0}
		case k == 3:
			v = nil
		case k > 4 && len(v) > 0 && v[0] >= 0x80:
			v = append([]byte{0}, v...)
		}
		return slices.Concat([]byte{tag(2)}, length(len(v)), v)
	}
	end := func(b []byte) []byte {
		switch s.IntN(15) {
		case 0:
			return append(b, s.bytes(s.IntN(4))...)
		case 1:
			return b[:s.IntN(len(b)+1)]
		}
		return b
	}
	body := end(append(integer(z.r[:]), integer(z.s[:])...))
	return end(slices.Concat([]byte{tag(0x30)}, length(len(body)), body))
}

// gmsm's parser and ours agree on what only looks like DER.
func TestOddDER(t *testing.T) {
	s := newSource(t)
	priv := s.key()
	var trials []trial
	good := 0
	n := 6000
	if long {
		n *= 100
	}
	for range n {
		digest := s.bytes(32)
		z, _, _ := DER.parse(s.sign(priv, digest))
		tr := digestTrial("odd DER", &priv.PublicKey, digest, s.oddDER(&z))
		if tr.want {
			good++
		}
		trials = append(trials, tr)
	}
	check(t, fill(nil, trials), trials)
	if good < n/100 || good > n/2 {
		t.Errorf("%d of %d are in order", good, n)
	}
}

// A foreignCurve answers as it likes for its parameters.
type foreignCurve struct {
	elliptic.Curve
	params func() *elliptic.CurveParams
}

func (c foreignCurve) Params() *elliptic.CurveParams { return c.params() }

// Curves that aren't gmsm's are refused, whatever they do, and don't disturb others.
func TestForeignCurves(t *testing.T) {
	s := newSource(t)
	priv := s.key()
	digest := s.bytes(32)
	sig := s.sign(priv, digest)
	params := *sm2.P256().Params()
	b := NewBatch(nil)
	add := func(c elliptic.Curve) {
		b.AddDigest(&ecdsa.PublicKey{Curve: c, X: priv.X, Y: priv.Y}, digest, sig)
	}
	add(sm2.P256())
	add(foreignCurve{params: sm2.P256().Params})
	for _, c := range []elliptic.Curve{
		foreignCurve{params: func() *elliptic.CurveParams { panic("no parameters") }},
		foreignCurve{params: func() *elliptic.CurveParams { return nil }},
		foreignCurve{},
		(*elliptic.CurveParams)(nil),
		&params, // gmsm computes by these, and takes infinity for a point with x = 0
		elliptic.P224(), elliptic.P256(), elliptic.P521(), elliptic.P256().Params(),
	} {
		add(c)
	}
	add(sm2.P256().Params())
	err, ok := b.Verify().(*BatchError)
	if !ok || !slices.Equal(err.Bad, []int{2, 3, 4, 5, 6, 7, 8, 9, 10}) {
		t.Fatalf("%+v", err)
	}
	for i, r := range err.Reasons {
		if r != ReasonKey {
			t.Errorf("item %d: %v", err.Bad[i], r)
		}
	}
}

// The slices and numbers that were passed may change after that.
func TestPassedMayChange(t *testing.T) {
	s := newSource(t)
	for _, size := range []int{0, 200, maxCopied, maxCopied + 1} {
		b := NewBatch(nil)
		priv := s.key()
		msg := s.bytes(size)
		digest, err := Digest(&priv.PublicKey, UID{}, msg)
		if err != nil {
			t.Fatal(err)
		}
		sig := s.sign(priv, digest)
		id := []byte("someone")
		uid := NewUID(id)
		other, err := Digest(&priv.PublicKey, uid, msg)
		if err != nil {
			t.Fatal(err)
		}
		otherSig := s.sign(priv, other)
		z, _, _ := DER.parse(sig)
		withKey, _ := Raw128WithKey.format(&z, (*[64]byte)(append(b32(priv.X), b32(priv.Y)...)))

		pub := &ecdsa.PublicKey{Curve: priv.Curve, X: add(priv.X, base(s.scalar()).x), Y: priv.Y}
		pub.X.Set(priv.X)
		b.Add(pub, msg, sig)
		b.AddDigest(pub, digest, sig)
		b.AddItem(Item{PublicKey: pub, Message: msg, UID: &uid, Signature: otherSig})
		b.AddItem(Item{Message: msg, Encoding: Raw128WithKey, Signature: withKey})
		pub.X.SetInt64(7)
		pub.Curve = nil
		uid = NoUID()
		for _, x := range [][]byte{msg, digest, other, sig, otherSig, withKey, id} {
			clear(x)
		}
		if err := b.Verify(); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
