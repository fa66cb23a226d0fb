// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package edwards

import (
	"bytes"
	"crypto/sha512"
	"encoding/hex"
	"math/big"
	"slices"
	"strings"
	"testing"

	"filippo.io/edwards25519"
	"filippo.io/edwards25519/field"
)

// RFC 9496, appendix A.3: 64 uniform bytes to elements. Four inputs are of one element,
// since the highest bit doesn't count, and 2^255 - 19 is 0.
func TestRistrettoMap(t *testing.T) {
	for label, want := range map[string]string{
		"Ristretto is traditionally a short shot of espresso coffee":      "3066f82a1a747d45120d1740f14358531a8f04bbffe6a819f86dfe50f44a0a46",
		"made with the normal amount of ground coffee but extracted with": "f26e5b6f7d362d2d2a94c5d0e7602cb4773c95a2e5c31a64f133189fa76ed61b",
		"about half the amount of water in the same amount of time":       "006ccd2a9e6867e6a2c5cea83d3302cc9de128dd2a9a57dd8ee7b9d7ffe02826",
		"by using a finer grind.":                                         "f8f0c87cf237953c5890aec3998169005dae3eca1fbb04548c635953c817f92a",
		"This produces a concentrated shot of coffee per volume.":         "ae81e7dedf20a497e10c304a765c1767a42d6e06029758d2d7e8ef7cc4c41179",
		"Just pulling a normal shot short will produce a weaker shot":     "e2705652ff9f5e44d3e841bf1c251cf7dddb77d140870d1ab2ed64f1a9ce8628",
		"and is not a Ristretto as some believe.":                         "80bd07262511cdde4863f8a7434cef696750681cb9510eea557088f76d9e5065",
	} {
		b := sha512.Sum512([]byte(label))
		if got := EncodeRistretto(MapRistretto(&b)); hex.EncodeToString(got[:]) != want {
			t.Errorf("%s: %x", label, got)
		}
	}
	zeros, ones := strings.Repeat("00", 30), strings.Repeat("ff", 30)
	for _, in := range []string{
		"ed" + ones + "ff" + "12" + zeros + "00",
		"ed" + ones + "7f" + "ff" + ones + "ff",
		"00" + zeros + "80" + "ff" + ones + "7f",
		"00" + zeros + "00" + "12" + zeros + "80",
	} {
		b, err := hex.DecodeString(in)
		if err != nil {
			t.Fatal(err)
		}
		got := EncodeRistretto(MapRistretto((*[64]byte)(b)))
		if hex.EncodeToString(got[:]) != "304282791023b73128d277bdcb5c7746ef2eac08dde9f2983379cb8e5ef0517f" {
			t.Errorf("%s: %x", in, got)
		}
	}
}

// sqrt returns a root of x, if there is one.
func sqrt(x *field.Element) (*field.Element, bool) {
	r, was := new(field.Element).SqrtRatio(x, one)
	return r, was == 1
}

// Where the map divides by 0, as at r = -d and r = -1/d, it gives the identity; it is even, and
// never leaves the curve.
func TestRistrettoMapExceptions(t *testing.T) {
	at := func(t *field.Element) *edwards25519.Point { return mapRistretto(t.Bytes()) }
	// r = i·t².
	i := new(field.Element).Invert(sqrtM1)
	minusD := new(field.Element).Negate(paramD)
	exceptions := 0
	for _, r := range []*field.Element{minusD, new(field.Element).Invert(minusD), one, minusOne, new(field.Element).Zero()} {
		root, ok := sqrt(new(field.Element).Multiply(r, i))
		if !ok {
			continue
		}
		exceptions++
		var p Point
		p.SetLibrary(at(root))
		if r.Equal(minusD)|r.Equal(new(field.Element).Invert(minusD)) == 1 && !p.IsRistrettoIdentity() {
			t.Errorf("t = %x isn't of the identity", root.Bytes())
		}
	}
	if exceptions < 3 {
		t.Errorf("%d exceptions were met", exceptions)
	}
	for v := range uint32(200) {
		x := element(v)
		p, minus := at(x), at(new(field.Element).Negate(x))
		if !EqualRistretto(p, minus) {
			t.Errorf("%d and its negative are of two elements", v)
		}
		enc := EncodeRistretto(p)
		if q, err := DecodeRistretto(enc[:]); err != nil || !EqualRistretto(p, q) {
			t.Errorf("%d: %x doesn't come back: %v", v, enc, err)
		}
	}
}

// RFC 9496, appendix A.2: what isn't canonical, in each of the ways that there are.
func TestRistrettoBadEncodings(t *testing.T) {
	p := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	encode := func(v *big.Int) []byte {
		b := v.FillBytes(make([]byte, 32))
		slices.Reverse(b)
		return b
	}
	good, err := hex.DecodeString(multiples[1])
	if err != nil {
		t.Fatal(err)
	}
	high := bytes.Clone(good)
	high[31] |= 0x80
	slices.Reverse(good)
	negative := encode(new(big.Int).Sub(p, new(big.Int).SetBytes(good)))
	for name, b := range map[string][]byte{
		"p, which is 0":          encode(p),
		"p + 1":                  encode(new(big.Int).Add(p, big.NewInt(1))),
		"p + 18":                 encode(new(big.Int).Add(p, big.NewInt(18))),
		"2^256 - 1":              bytes.Repeat([]byte{0xff}, 32),
		"2^255":                  encode(new(big.Int).Lsh(big.NewInt(1), 255)),
		"the generator, bit 255": high,
		"the generator, negated": negative,
		"1":                      encode(big.NewInt(1)),
		"-1, of which y is 0":    encode(new(big.Int).Sub(p, big.NewInt(1))),
	} {
		if q, err := DecodeRistretto(b); err == nil {
			t.Errorf("%s: decoded to %x", name, q.Bytes())
		}
	}
}

// Digits stand for their scalar, at the ends of what there is: about l and powers of two,
// where carries go all the way up.
func TestRecode(t *testing.T) {
	l, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	var list []*big.Int
	for i := range int64(3) {
		list = append(list, big.NewInt(i), new(big.Int).Sub(l, big.NewInt(i+1)))
	}
	for _, bit := range []uint{1, 4, 5, 6, 7, 8, 13, 14, 63, 64, 65, 127, 128, 129, 191, 192, 250, 251, 252} {
		v := new(big.Int).Lsh(big.NewInt(1), bit)
		list = append(list, v, new(big.Int).Sub(v, big.NewInt(1)))
		if bit < 252 {
			list = append(list, new(big.Int).Add(v, big.NewInt(1)))
		}
	}
	for w := 4; w <= 14; w++ {
		digits := make([]int16, (254+w-1)/w)
		for _, v := range list {
			b := v.FillBytes(make([]byte, 32))
			slices.Reverse(b)
			s, err := new(edwards25519.Scalar).SetCanonicalBytes(b)
			if err != nil {
				t.Fatalf("%d: %v", v, err)
			}
			recode(digits, s, w)
			sum := new(big.Int)
			for i := len(digits) - 1; i >= 0; i-- {
				if d := int(digits[i]); d > 1<<(w-1) || d < 1-1<<(w-1) {
					t.Errorf("width %d, %d: digit %d", w, v, d)
				}
				sum.Lsh(sum, uint(w)).Add(sum, big.NewInt(int64(digits[i])))
			}
			if sum.Cmp(v) != 0 {
				t.Errorf("width %d: %d became %d", w, v, sum)
			}
		}
	}
}

// The tag of RFC 9380 has at most 255 bytes here: longer ones would have to be hashed, and
// no caller has one.
func TestHashToRistrettoTags(t *testing.T) {
	for _, n := range []int{0, 256} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a tag of %d bytes", n)
				}
			}()
			HashToRistretto(nil, make([]byte, n))
		}()
	}
}
