// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokentest

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/internal/bls12381"
)

// deref returns what a pointer points to.
func deref(v any) any { return reflect.ValueOf(v).Elem().Interface() }

// An object has an encoding, and an empty one of its kind.
type object struct {
	v     Codec
	empty func() Codec
}

// objects returns one object of each kind.
func (s *Suite[P, G, I, O, J, M, S, R, C]) objects() map[string]object {
	f := s.Group()
	j := f.NewJoin("walter")
	r := j.Request()
	f.Sessions.Cancel(r.Session())
	return map[string]object{
		"group key":  {f.G, func() Codec { return s.Zero().GroupKey }},
		"issuer key": {f.Issuer, func() Codec { return s.Zero().Issuer }},
		"opener key": {f.Opener, func() Codec { return s.Zero().Opener }},
		"member key": {f.Members["alice"], func() Codec { return s.Zero().Member }},
		"join":       {j, func() Codec { return s.Zero().Join }},
		"request":    {r, func() Codec { return s.Zero().Request }},
		"credential": {s.Credential(f.Issuer, f.G, r), func() Codec { return s.Zero().Credential }},
		"signature":  {f.Sign("bob", "m"), func() Codec { return s.Zero().Signature }},
		"opening":    {Must(f.Open("m", f.Sign("alice", "m"))), func() Codec { return new(tokens.Opening) }},
	}
}

func (s *Suite[P, G, I, O, J, M, S, R, C]) roundTrips(t *testing.T) {
	for name, x := range s.objects() {
		t.Run(name, func(t *testing.T) {
			b := Must(x.v.MarshalBinary())
			q := x.empty()
			if err := q.UnmarshalBinary(b); err != nil {
				t.Fatal(err)
			}
			if c, err := q.MarshalBinary(); err != nil || !bytes.Equal(b, c) {
				t.Errorf("another encoding: %v", err)
			}
			for _, n := range []int{0, 1, 2, 3, len(b) / 2, len(b) - 1} {
				if x.empty().UnmarshalBinary(b[:n]) == nil {
					t.Errorf("%d bytes of %d accepted", n, len(b))
				}
			}
			if x.empty().UnmarshalBinary(append(bytes.Clone(b), 0)) == nil {
				t.Error("trailing byte accepted")
			}
			for i := range 2 {
				c := bytes.Clone(b)
				c[i]++
				if x.empty().UnmarshalBinary(c) == nil {
					t.Error("unknown version or suite accepted")
				}
			}
			// What decodes with a byte flipped is canonical too. Those that check
			// signatures and credentials accept nothing.
			step := 1
			if len(b) > 400 {
				step = 13
			}
			for i := 2; i < len(b); i += step {
				c := bytes.Clone(b)
				c[i] ^= 1
				q := x.empty()
				if q.UnmarshalBinary(c) != nil {
					continue
				}
				if name == "group key" || name == "member key" {
					t.Errorf("byte %d of %d flipped: accepted", i, len(b))
				}
				if d, err := q.MarshalBinary(); err != nil || !bytes.Equal(c, d) {
					t.Errorf("byte %d: decoded, and encoded as something else: %v", i, err)
				}
			}
			if b, err := x.empty().MarshalBinary(); err == nil {
				t.Errorf("an empty one has the encoding %x", b)
			}
		})
	}
}

func (s *Suite[P, G, I, O, J, M, S, R, C]) equal(t *testing.T) {
	f, o := s.Group(), s.Other()
	var (
		noGroup  G
		noIssuer I
		noOpener O
		noMember M
	)
	for name, ok := range map[string]bool{
		"group key":  f.G.Equal(f.G) && !f.G.Equal(o.G) && !f.G.Equal(noGroup),
		"issuer key": f.Issuer.Equal(f.Issuer) && !f.Issuer.Equal(o.Issuer) && !f.Issuer.Equal(noIssuer),
		"opener key": f.Opener.Equal(f.Opener) && !f.Opener.Equal(o.Opener) && !f.Opener.Equal(noOpener),
		"member key": f.Members["bob"].Equal(f.Members["bob"]) && !f.Members["bob"].Equal(f.Members["alice"]) && !f.Members["bob"].Equal(noMember),
	} {
		if !ok {
			t.Error(name)
		}
	}
}

func (s *Suite[P, G, I, O, J, M, S, R, C]) hostileEncodings(t *testing.T) {
	s.Hostile(t, s.Points, s.Group().Sign("alice", "m").Bytes(), s.Parse)
}

// Hostile tests a parser of signatures with a good encoding of one of "m". Its points are
// given by a letter each: 1 is of G1, 2 of G2, and R one of G1 that may be zero. Scalars
// follow them.
func (s *Suite[P, G, I, O, J, M, S, R, C]) Hostile(t *testing.T, points string, raw []byte, parse func([]byte) (S, error)) {
	f := s.Group()
	order, _ := hex.DecodeString("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001")
	ones := bytes.Repeat([]byte{0xff}, bls12381.G2Size)
	zero := make([]byte, bls12381.G2Size)
	refuse := func(name string, at int, b []byte) {
		t.Helper()
		c := bytes.Clone(raw)
		copy(c[at:], b)
		if _, err := parse(c); !errors.Is(err, s.ErrSignature) {
			t.Errorf("%s at %d: %v", name, at, err)
		}
	}
	at := 0
	for _, kind := range points {
		n := bls12381.G1Size
		if kind == '2' {
			n = bls12381.G2Size
		} else {
			refuse("the point (0, 2) of order 3, which no pairing sees", at, append([]byte{0x80}, zero[1:n]...))
		}
		if kind != 'R' {
			refuse("identity", at, append([]byte{0xc0}, zero[1:n]...))
		}
		refuse("zero", at, zero[:n])
		refuse("x = p or more", at, append([]byte{0x9f}, ones[1:n]...))
		refuse("ones", at, ones[:n])
		refuse("uncompressed", at, []byte{raw[at] &^ 0x80})
		at += n
	}
	for ; at < len(raw); at += bls12381.ScalarSize {
		refuse("scalar r", at, order)
		refuse("scalar above r", at, ones[:bls12381.ScalarSize])
	}
	for _, b := range [][]byte{nil, raw[:len(raw)-1], append(bytes.Clone(raw), 0), make([]byte, len(raw))} {
		if _, err := parse(b); !errors.Is(err, s.ErrSignature) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	}
	for i := range raw {
		for _, bit := range []byte{1, 0x80} {
			c := bytes.Clone(raw)
			c[i] ^= bit
			sig, err := parse(c)
			if err != nil {
				continue
			}
			b := s.Batch(f.G, nil)
			b.Add([]byte("m"), sig)
			if f.G.Verify([]byte("m"), sig, nil) == nil || b.Verify() == nil {
				t.Errorf("byte %d flipped: verifies", i)
			}
		}
	}
}

// FuzzCodec demands that what decodes as an object of a kind is canonical.
func (s *Suite[P, G, I, O, J, M, S, R, C]) FuzzCodec(f *testing.F, name string) {
	s.fuzzCodecs(f, map[string]object{name: s.objects()[name]})
}

// FuzzCodecs is FuzzCodec for all kinds at once.
func (s *Suite[P, G, I, O, J, M, S, R, C]) FuzzCodecs(f *testing.F) { s.fuzzCodecs(f, s.objects()) }

func (s *Suite[P, G, I, O, J, M, S, R, C]) fuzzCodecs(f *testing.F, objects map[string]object) {
	for _, x := range objects {
		b := Must(x.v.MarshalBinary())
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, x := range objects {
			q := x.empty()
			if q.UnmarshalBinary(data) != nil {
				continue
			}
			if b, err := q.MarshalBinary(); err != nil || !bytes.Equal(b, data) {
				t.Errorf("%s: not canonical: %v", name, err)
			}
		}
	})
}

// FuzzSignature demands that what decodes is canonical, and isn't a signature of a
// message that nobody signed.
func (s *Suite[P, G, I, O, J, M, S, R, C]) FuzzSignature(f *testing.F) {
	g := s.Group().G
	f.Add(s.Group().Sign("alice", "m").Bytes())
	f.Add(make([]byte, s.SignatureSize))
	f.Fuzz(func(t *testing.T, raw []byte) {
		sig, err := s.Parse(raw)
		if err != nil {
			return
		}
		if !bytes.Equal(sig.Bytes(), raw) {
			t.Error("not canonical")
		}
		if g.Verify([]byte("not signed"), sig, nil) == nil {
			t.Error("forged")
		}
	})
}

// FuzzRevocationList demands that what decodes is canonical.
func (s *Suite[P, G, I, O, J, M, S, R, C]) FuzzRevocationList(f *testing.F) {
	x := s.Group()
	f.Add(Must(x.List(1).MarshalBinary()))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := x.G.ParseRevocationList(data)
		if err != nil {
			return
		}
		if b, err := l.MarshalBinary(); err != nil || !bytes.Equal(b, data) {
			t.Errorf("not canonical: %v", err)
		}
	})
}
