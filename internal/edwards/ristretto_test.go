// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package edwards

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"filippo.io/edwards25519"
	"github.com/cloudflare/circl/group"
)

// The first multiples of the generator, RFC 9496, appendix A.1.
var multiples = []string{
	"0000000000000000000000000000000000000000000000000000000000000000",
	"e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76",
	"6a493210f7499cd17fecb510ae0cea23a110e8d5b901f8acadd3095c73a3b919",
	"94741f5d5d52755ece4f23f044ee27d5d1ea1e2bd196b462166b16152a9d0259",
}

func TestRistrettoMultiples(t *testing.T) {
	p := edwards25519.NewIdentityPoint()
	for i, want := range multiples {
		if got := EncodeRistretto(p); hex.EncodeToString(got[:]) != want {
			t.Errorf("%d times the generator: %x", i, got)
		}
		p.Add(p, edwards25519.NewGeneratorPoint())
	}
}

// All points of an element are the element: differences of order 1, 2 and 4 don't show,
// others do.
func TestRistrettoCosets(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	torsion := small(t)
	for range 50 {
		p := new(edwards25519.Point).ScalarBaseMult(randomScalar(r))
		enc := EncodeRistretto(p)
		q, err := DecodeRistretto(enc[:])
		if err != nil || !EqualRistretto(p, q) || EncodeRistretto(q) != enc {
			t.Fatalf("%x doesn't come back: %v", enc, err)
		}
		for i := range 4 {
			other := new(edwards25519.Point).Add(p, torsion[2*i])
			if got := EncodeRistretto(other); got != enc || !EqualRistretto(other, p) {
				t.Errorf("%x and a point of order 4: %x", enc, got)
			}
		}
		twice := new(edwards25519.Point).Add(p, p)
		if EqualRistretto(p, twice) || EncodeRistretto(twice) == enc {
			t.Errorf("%x is twice itself", enc)
		}
	}
	for i := range 8 {
		var p Point
		p.SetLibrary(torsion[i])
		if got := p.IsRistrettoIdentity(); got != (i%2 == 0) {
			t.Errorf("point of small order %d: identity %v", i, got)
		}
	}
	var p Point
	p.SetLibrary(edwards25519.NewGeneratorPoint())
	if p.IsRistrettoIdentity() {
		t.Error("the generator is the identity")
	}
}

// What is decoded, and to what, is as another library has it: of what is random, and
// crafted, as RFC 9496, appendix A.2, lists it.
func TestRistrettoDecode(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	var list [][]byte
	add := func(v *big.Int) {
		b := v.FillBytes(make([]byte, 32))
		slices.Reverse(b)
		list = append(list, b)
	}
	p := new(big.Int).Lsh(big.NewInt(1), 255)
	p.Sub(p, big.NewInt(19))
	for i := range int64(20) { // small ones, negative ones, and not canonical ones
		add(big.NewInt(i))
		add(new(big.Int).Sub(p, big.NewInt(i)))
		add(new(big.Int).Add(p, big.NewInt(i)))
		add(new(big.Int).Add(big.NewInt(i), new(big.Int).Lsh(big.NewInt(1), 255)))
	}
	for i := range 400 {
		b := make([]byte, 32)
		for j := range b {
			b[j] = byte(r.Uint32())
		}
		if i%2 == 0 {
			enc := EncodeRistretto(new(edwards25519.Point).ScalarBaseMult(randomScalar(r)))
			b = enc[:]
		}
		list = append(list, b)
		if i%4 == 0 { // the field's other value
			v := slices.Clone(b)
			slices.Reverse(v)
			add(v2(p, v))
		}
		if i%4 == 2 {
			high := slices.Clone(b)
			high[31] |= 0x80
			list = append(list, high)
		}
	}
	good := 0
	for _, b := range list {
		q, err := DecodeRistretto(b)
		other := group.Ristretto255.NewElement()
		if want := other.UnmarshalBinary(b); (err == nil) != (want == nil) {
			t.Errorf("%x: %v, and by another library %v", b, err, want)
			continue
		}
		if err != nil {
			continue
		}
		good++
		twice := EncodeRistretto(new(edwards25519.Point).Add(q, q))
		want, _ := other.Dbl(other).MarshalBinary()
		if !bytes.Equal(twice[:], want) {
			t.Errorf("twice %x is %x, and by another library %x", b, twice, want)
		}
	}
	if good < 200 || good > len(list)-200 {
		t.Errorf("%d of %d were good", good, len(list))
	}
	for _, n := range []int{0, 31, 33, 64} {
		if _, err := DecodeRistretto(make([]byte, n)); err == nil {
			t.Errorf("%d bytes were decoded", n)
		}
	}
}

// v2 returns p minus a number.
func v2(p *big.Int, b []byte) *big.Int { return new(big.Int).Sub(p, new(big.Int).SetBytes(b)) }

func TestHashToRistretto(t *testing.T) {
	for i := range 40 {
		msg, dst := make([]byte, i*7), bytes.Repeat([]byte{'d'}, 1+i*6)
		for j := range msg {
			msg[j] = byte(i + j)
		}
		got := EncodeRistretto(HashToRistretto(msg, dst))
		want, _ := group.Ristretto255.HashToElement(msg, dst).MarshalBinary()
		if !bytes.Equal(got[:], want) {
			t.Errorf("%d bytes: %x, and by another library %x", len(msg), got, want)
		}
	}
}

func FuzzDecodeRistretto(f *testing.F) {
	for _, s := range multiples {
		b, _ := hex.DecodeString(s)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := DecodeRistretto(b)
		if want := len(b) == 32 && group.Ristretto255.NewElement().UnmarshalBinary(b) == nil; (err == nil) != want {
			t.Fatalf("%x: %v, and by another library %v", b, err, want)
		}
		if err != nil {
			return
		}
		if enc := EncodeRistretto(p); !bytes.Equal(enc[:], b) {
			t.Errorf("%x was decoded, and is encoded as %x", b, enc)
		}
	})
}
