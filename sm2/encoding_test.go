// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 gmsm's keys and points have no other arithmetic, and tests need bad ones.

package sm2

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/big"
	"slices"
	"testing"

	"github.com/emmansun/gmsm/sm2"
)

// TestDER holds the parser against gmsm's on signatures by a key, in all sorts of
// wrong encodings of numbers that are right.
func TestDER(t *testing.T) {
	s := newSource(t)
	priv := s.key()
	digest := s.bytes(32)
	pub := &priv.PublicKey
	for range 20 {
		sig := s.sign(priv, digest)
		z, _, _ := DER.parse(sig)
		r, v := z.r[:], z.s[:]
		i := func(content ...byte) []byte { return append([]byte{2, byte(len(content))}, content...) }
		plus := func(content []byte) []byte { // with the zero that it needs, or shortest
			content = bytes.TrimLeft(content, "\x00")
			if content[0] >= 0x80 {
				content = append([]byte{0}, content...)
			}
			return content
		}
		seq := func(parts ...[]byte) []byte {
			body := bytes.Join(parts, nil)
			return append([]byte{0x30, byte(len(body))}, body...)
		}
		R, S := i(plus(r)...), i(plus(v)...)
		good := seq(R, S)
		if !bytes.Equal(good, sig) {
			t.Fatalf("%x: %x", sig, good)
		}
		for name, c := range map[string]struct {
			sig  []byte
			want Reason
		}{
			"good":                 {good, 0},
			"nil":                  {nil, ReasonEncoding},
			"empty":                {[]byte{}, ReasonEncoding},
			"one byte":             {[]byte{0x30}, ReasonEncoding},
			"no integers":          {seq(), ReasonEncoding},
			"one integer":          {seq(R), ReasonEncoding},
			"three integers":       {seq(R, S, i(0)), ReasonEncoding},
			"trailing byte":        {append(slices.Clone(good), 0), ReasonEncoding},
			"trailing inside":      {seq(R, S, []byte{0}), ReasonEncoding},
			"cut":                  {good[:len(good)-1], ReasonEncoding},
			"set":                  {append([]byte{0x31}, good[1:]...), ReasonEncoding},
			"primitive":            {append([]byte{0x10}, good[1:]...), ReasonEncoding},
			"long length":          {append([]byte{0x30, 0x81}, good[1:]...), ReasonEncoding},
			"indefinite length":    {append(append([]byte{0x30, 0x80}, good[2:]...), 0, 0), ReasonEncoding},
			"long integer length":  {seq(append([]byte{2, 0x81}, R[1:]...), S), ReasonEncoding},
			"octet string":         {seq(append([]byte{4}, R[1:]...), S), ReasonEncoding},
			"empty integer":        {seq(i(), S), ReasonEncoding},
			"empty second integer": {seq(R, i()), ReasonEncoding},
			"padded":               {seq(i(append([]byte{0}, plus(r)...)...), S), ReasonEncoding},
			"padded second":        {seq(R, i(append([]byte{0}, plus(v)...)...)), ReasonEncoding},
			"negative padded":      {seq(R, i(append([]byte{0xff, 0xff}, v[1:]...)...)), ReasonEncoding},
			"zero":                 {seq(i(0), S), ReasonRange},
			"second zero":          {seq(R, i(0)), ReasonRange},
			"negative":             {seq(i(append([]byte{0x80}, r[1:]...)...), S), ReasonRange},
			"second negative":      {seq(R, i(0xff)), ReasonRange},
			"33 bytes":             {seq(i(append([]byte{1}, r...)...), S), ReasonRange},
			"second 33 bytes":      {seq(R, i(append([]byte{1}, v...)...)), ReasonRange},
			"second of 40 bytes":   {seq(R, i(append(bytes.Repeat([]byte{1}, 8), v...)...)), ReasonRange},
			"negative, trailing":   {append(seq(i(0xfe), S), 1), ReasonEncoding},
			"n":                    {seq(i(plus(b32(bigN))...), S), ReasonRange},
		} {
			b := NewBatch(nil)
			b.AddDigest(pub, digest, c.sig)
			got := reasonIn(b.Verify())
			if got != c.want {
				t.Errorf("%s (%x): %v, want %v", name, c.sig, got, c.want)
			}
			if (got == 0) != sm2.VerifyASN1(pub, digest, c.sig) {
				t.Errorf("%s (%x): gmsm disagrees", name, c.sig)
			}
		}
	}
}

// reasonIn returns the reason of the first bad item.
func reasonIn(err error) Reason {
	var e *BatchError
	if errors.As(err, &e) {
		return e.Reasons[0]
	}
	return 0
}

func TestEncodings(t *testing.T) {
	s := newSource(t)
	priv, other := s.key(), s.key()
	digest := s.bytes(32)
	der := s.sign(priv, digest)
	z, _, _ := DER.parse(der)
	key, _ := keyBytes(&priv.PublicKey)
	raw := slices.Concat(z.r[:], z.s[:])
	var pad [32]byte
	skf := slices.Concat(pad[:], z.r[:], pad[:], z.s[:])
	with := slices.Concat(raw, key[:])
	changed := func(b []byte, i int) []byte {
		b = slices.Clone(b)
		b[i] ^= 1
		return b
	}
	for _, c := range []struct {
		name string
		enc  Encoding
		pub  *sm2.PrivateKey
		sig  []byte
		want Reason
	}{
		{"der", DER, priv, der, 0},
		{"der as raw", Raw64, priv, der, ReasonEncoding},
		{"raw", Raw64, priv, raw, 0},
		{"raw as der", DER, priv, raw, ReasonEncoding},
		{"raw short", Raw64, priv, raw[:63], ReasonEncoding},
		{"raw long", Raw64, priv, append(slices.Clone(raw), 0), ReasonEncoding},
		{"raw with key", Raw64, priv, with, ReasonEncoding},
		{"raw, r = 0", Raw64, priv, append(pad[:], z.s[:]...), ReasonRange},
		{"raw, s = n", Raw64, priv, append(z.r[:], b32(bigN)...), ReasonRange},
		{"raw changed", Raw64, priv, changed(raw, 63), ReasonEquation},
		{"skf", SKF128, priv, skf, 0},
		{"skf, first padding", SKF128, priv, changed(skf, 3), ReasonEncoding},
		{"skf, second padding", SKF128, priv, changed(skf, 95), ReasonEncoding},
		{"skf short", SKF128, priv, skf[:127], ReasonEncoding},
		{"skf is 64 bytes", SKF128, priv, raw, ReasonEncoding},
		{"skf changed", SKF128, priv, changed(skf, 127), ReasonEquation},
		{"with key", Raw128WithKey, priv, with, 0},
		{"with key alone", Raw128WithKey, nil, with, 0},
		{"with another key", Raw128WithKey, other, with, ReasonKey},
		{"with a bad key", Raw128WithKey, nil, changed(with, 127), ReasonKey},
		{"with a bad key, and the good one", Raw128WithKey, priv, changed(with, 127), ReasonKey},
		{"with key short", Raw128WithKey, priv, with[:127], ReasonEncoding},
		{"with key changed", Raw128WithKey, priv, changed(with, 63), ReasonEquation},
		{"unknown", 77, priv, raw, ReasonEncoding},
		{"raw without key", Raw64, nil, raw, ReasonKey},
	} {
		for _, item := range []bool{false, true} {
			opts, it := &Options{Encoding: c.enc}, Item{Digest: digest, Signature: c.sig}
			if item { // the item's wins
				opts.Encoding, it.Encoding = SKF128, c.enc
			}
			if c.pub != nil {
				it.PublicKey = &c.pub.PublicKey
			}
			b := NewBatch(opts)
			b.AddItem(it)
			if got := reasonIn(b.Verify()); got != c.want && !(c.want == ReasonEquation && got == ReasonNoPoint) {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		}
	}
	for from, sig := range map[Encoding][]byte{DER: der, Raw64: raw, SKF128: skf, Raw128WithKey: with} {
		for to, want := range map[Encoding][]byte{0: der, DER: der, Raw64: raw, SKF128: skf, Raw128WithKey: with} {
			got, err := Convert(sig, from, to)
			switch {
			case to == Raw128WithKey && from != Raw128WithKey:
				if err == nil {
					t.Errorf("%v to %v: no error", from, to)
				}
			case err != nil || !bytes.Equal(got, want):
				t.Errorf("%v to %v: %x, %v", from, to, got, err)
			}
		}
		if _, err := Convert(sig[1:], from, DER); !errors.Is(err, ErrSignature) {
			t.Errorf("%v, cut: %v", from, err)
		}
	}
	if _, err := Convert(der, DER, 9); err == nil {
		t.Error("converted to an unknown encoding")
	}
}

// TestPublicKeyForms reads one key in all its forms, and what isn't one in any.
func TestPublicKeyForms(t *testing.T) {
	s := newSource(t)
	priv := s.key()
	xy, _ := keyBytes(&priv.PublicKey)
	sign := byte(2 + priv.Y.Bit(0))
	// id-ecPublicKey with the curve's name.
	spki := append(unhex(t, "3059301306072a8648ce3d020106082a811ccf5501822d03420004"), xy[:]...)
	x := xy[:32]
	for name, b := range map[string][]byte{
		"raw": xy[:], "uncompressed": append([]byte{4}, xy[:]...), "compressed": append([]byte{sign}, x...), "SPKI": spki,
	} {
		pub, err := ParsePublicKey(b)
		if err != nil || !pub.Equal(&priv.PublicKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if pub, err := ParsePublicKey(append([]byte{sign ^ 1}, x...)); err != nil || pub.Equal(&priv.PublicKey) || pub.X.Cmp(priv.X) != 0 {
		t.Errorf("the opposite key: %v", err)
	}
	off := slices.Clone(xy[:])
	off[63] ^= 1
	noX := s.bytes(32)
	for {
		if _, ok := lift(new(big.Int).SetBytes(noX)); !ok {
			break
		}
		noX = s.bytes(32)
	}
	nist := unhex(t, "3059301306072a8648ce3d020106082a8648ce3d03010703420004"+
		"6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"+
		"4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
	for name, b := range map[string][]byte{
		"nothing":            nil,
		"infinity":           {0},
		"63 bytes":           xy[:63],
		"66 bytes":           append([]byte{4, 0}, xy[:]...),
		"off the curve":      off,
		"off, uncompressed":  append([]byte{4}, off...),
		"off, SPKI":          append(slices.Clone(spki[:27]), off...),
		"hybrid":             append([]byte{sign + 4}, xy[:]...),
		"wrong prefix":       append([]byte{3}, xy[:]...),
		"compressed with 4":  append([]byte{4}, x...),
		"no such x":          append([]byte{2}, noX...),
		"x above p":          append([]byte{2}, bytes.Repeat([]byte{0xff}, 32)...),
		"zeros":              make([]byte, 64),
		"SPKI, trailing":     append(slices.Clone(spki), 0),
		"SPKI, cut":          spki[:90],
		"SPKI, other curve":  nist,
		"SPKI, SM2 on P-256": append(slices.Clone(spki[:27]), nist[27:]...),
		"SPKI, Ed25519":      append(unhex(t, "302a300506032b6570032100"), x...),
		"a text":             []byte("-----BEGIN PUBLIC KEY-----"),
	} {
		if _, err := ParsePublicKey(b); !errors.Is(err, ErrKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
