// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
)

// be returns x in n bytes.
func be(x *big.Int, n int) []byte { return x.FillBytes(make([]byte, n)) }

func TestScalarDecode(t *testing.T) {
	r := fr.Modulus()
	top := new(big.Int).Sub(r, big.NewInt(1))
	good := [][]byte{make([]byte, 32), be(big.NewInt(1), 32), be(top, 32)}
	for _, b := range good {
		var k Scalar
		if err := k.SetBytes(b); err != nil || !bytes.Equal(k.Bytes(), b) {
			t.Errorf("%x: %v, %x", b, err, k.Bytes())
		}
		if err := k.SetBytesNonZero(b); (err != nil) != k.IsZero() {
			t.Errorf("%x: %v", b, err)
		}
	}
	bad := [][]byte{nil, {}, make([]byte, 31), make([]byte, 33), be(r, 32), be(new(big.Int).Add(r, big.NewInt(1)), 32), bytes.Repeat([]byte{0xff}, 32)}
	for _, b := range bad {
		k := *new(Scalar).SetUint64(7)
		if k.SetBytes(b) == nil || k.SetBytesNonZero(b) == nil {
			t.Errorf("%x accepted", b)
		}
		if !k.Equal(new(Scalar).SetUint64(7)) {
			t.Errorf("%x: the receiver changed", b)
		}
	}
}

// A codec is one way to decode and encode a kind of element.
type codec struct {
	name   string
	size   int
	decode func([]byte) error
	encode func([]byte) []byte // decodes and encodes
}

func codecs() []codec {
	return []codec{
		{"G1", G1Size, func(b []byte) error { return new(G1).SetBytes(b) },
			func(b []byte) []byte { p := new(G1); p.SetBytes(b); return p.Bytes() }},
		{"G1 uncompressed", G1SizeUncompressed, func(b []byte) error { return new(G1).SetUncompressed(b) },
			func(b []byte) []byte { p := new(G1); p.SetUncompressed(b); return p.UncompressedBytes() }},
		{"G2", G2Size, func(b []byte) error { return new(G2).SetBytes(b) },
			func(b []byte) []byte { p := new(G2); p.SetBytes(b); return p.Bytes() }},
		{"G2 uncompressed", G2SizeUncompressed, func(b []byte) error { return new(G2).SetUncompressed(b) },
			func(b []byte) []byte { p := new(G2); p.SetUncompressed(b); return p.UncompressedBytes() }},
		{"GT", GTSize, func(b []byte) error { return new(GT).SetBytes(b) },
			func(b []byte) []byte { z := new(GT); z.SetBytes(b); return z.Bytes() }},
	}
}

// samples returns an encoding for each codec, of the element with logarithm k.
func samples(k *Scalar) [][]byte {
	p, q := new(G1).ScalarBaseMult(k), new(G2).ScalarBaseMult(k)
	z := new(GT).PairVarTime(p, G2Generator())
	return [][]byte{p.Bytes(), p.UncompressedBytes(), q.Bytes(), q.UncompressedBytes(), z.Bytes()}
}

func TestRoundTrip(t *testing.T) {
	for range 8 {
		enc := samples(new(Scalar).Random())
		for i, c := range codecs() {
			if err := c.decode(enc[i]); err != nil || !bytes.Equal(c.encode(enc[i]), enc[i]) {
				t.Errorf("%s: %x: %v", c.name, enc[i], err)
			}
		}
	}
}

// TestDamage flips every bit: what is accepted then encodes to the same bytes.
// Almost nothing is, as a random point lies outside the subgroup.
func TestDamage(t *testing.T) {
	enc := samples(new(Scalar).SetUint64(5))
	for i, c := range codecs() {
		accepted := 0
		for bit := range 8 * c.size {
			b := bytes.Clone(enc[i])
			b[bit/8] ^= 1 << (bit % 8)
			if c.decode(b) == nil {
				accepted++
				if !bytes.Equal(c.encode(b), b) {
					t.Errorf("%s: bit %d: not canonical", c.name, bit)
				}
			}
		}
		want := 0
		if !strings.Contains(c.name, "un") && c.name != "GT" {
			want = 1 // the sign of y
		}
		if accepted != want {
			t.Errorf("%s: %d changed encodings accepted", c.name, accepted)
		}
		for _, b := range [][]byte{nil, {}, enc[i][:c.size-1], append(bytes.Clone(enc[i]), 0), make([]byte, c.size), bytes.Repeat([]byte{0xff}, c.size)} {
			if c.decode(b) == nil {
				t.Errorf("%s: %d bytes accepted: %.20x", c.name, len(b), b)
			}
		}
	}
}

// TestOtherForm offers each decoder the encodings of the others.
func TestOtherForm(t *testing.T) {
	enc := samples(new(Scalar).SetUint64(5))
	for i, c := range codecs() {
		for j, b := range enc {
			if (c.decode(b) == nil) != (i == j) {
				t.Errorf("%s: encoding %d", c.name, j)
			}
		}
	}
}

// TestNotCanonical adds the modulus to coordinates that stay below 2³⁸¹.
func TestNotCanonical(t *testing.T) {
	p := fp.Modulus()
	limit := new(big.Int).Lsh(big.NewInt(1), 381)
	var tried [5]int
	for k := uint64(1); k < 60; k++ {
		enc := samples(new(Scalar).SetUint64(k))
		for i, c := range codecs() {
			for at := 0; at < c.size; at += 48 {
				b := bytes.Clone(enc[i])
				flags := byte(0)
				if at == 0 && i < 4 {
					flags = b[0] & 0xe0
				}
				word := bytes.Clone(b[at : at+48])
				word[0] &^= flags
				x := new(big.Int).SetBytes(word)
				if x.Add(x, p); i < 4 && x.Cmp(limit) >= 0 {
					continue
				}
				copy(b[at:], be(x, 48))
				b[at] |= flags
				tried[i]++
				if c.decode(b) == nil {
					t.Errorf("%s: coordinate at %d isn't canonical", c.name, at)
				}
			}
			if k > 3 && i == 4 {
				break
			}
		}
	}
	for i, n := range tried {
		if n == 0 {
			t.Errorf("%s: nothing tried", codecs()[i].name)
		}
	}
}

func TestFlags(t *testing.T) {
	for i, c := range codecs()[:4] {
		compressed := i%2 == 0
		good := samples(new(Scalar).SetUint64(5))[i]
		for flags := range byte(8) {
			b := bytes.Clone(good)
			b[0] = b[0]&0x1f | flags<<5
			zero := make([]byte, c.size)
			zero[0] = flags << 5
			// A compressed point has flag 4, and either value of flag 1.
			want := compressed && (flags == 4 || flags == 5) || !compressed && flags == 0
			if (c.decode(b) == nil) != want {
				t.Errorf("%s: flags %03b of a point", c.name, flags)
			}
			if c.decode(zero) == nil {
				t.Errorf("%s: flags %03b of zeros accepted", c.name, flags)
			}
		}
	}
}

func TestIdentityPolicy(t *testing.T) {
	p, q, z := NewG1(), NewG2(), new(GT)
	var a G1
	var b G2
	var c GT
	if a.SetBytes(p.Bytes()) == nil || b.SetBytes(q.Bytes()) == nil || c.SetBytes(z.Bytes()) == nil {
		t.Error("the identity was accepted")
	}
	if a.SetUncompressed(p.UncompressedBytes()) == nil || b.SetUncompressed(q.UncompressedBytes()) == nil ||
		a.SetUncompressedUnsafe(p.UncompressedBytes()) == nil || b.SetUncompressedUnsafe(q.UncompressedBytes()) == nil {
		t.Error("the uncompressed identity was accepted")
	}
	a.SetGenerator()
	b.SetGenerator()
	c.PairVarTime(&a, &b)
	if a.SetBytesOrIdentity(p.Bytes()) != nil || b.SetBytesOrIdentity(q.Bytes()) != nil || c.SetBytesOrIdentity(z.Bytes()) != nil {
		t.Error("the identity was refused")
	}
	if !a.IsIdentity() || !b.IsIdentity() || !c.IsIdentity() {
		t.Error("not the identity")
	}
	if want := append([]byte{0xc0}, make([]byte, 47)...); !bytes.Equal(p.Bytes(), want) {
		t.Errorf("%x", p.Bytes())
	}
	for i := range 47 * 8 {
		enc := p.Bytes()
		enc[1+i/8] |= 1 << (i % 8)
		if a.SetBytesOrIdentity(enc) == nil {
			t.Errorf("identity with bit %d accepted", i)
		}
	}
}

// TestSubgroup has points of the curve that aren't in the subgroup, of small order
// among them.
func TestSubgroup(t *testing.T) {
	// (0, 2) has order 3.
	three := make([]byte, 96)
	three[95] = 2
	var p, sum G1
	if p.SetUncompressed(three) == nil {
		t.Error("a point of order 3 was accepted")
	}
	compressed := append([]byte{0x80}, make([]byte, 47)...)
	if p.SetBytes(compressed) == nil {
		t.Error("a compressed point of order 3 was accepted")
	}
	if err := p.SetUncompressedUnsafe(three); err != nil || p.InSubgroupVarTime() {
		t.Error("a point of order 3 is in the subgroup", err)
	}
	// It is invisible to the pairing, and so must be seen before.
	if sum.Add(G1Generator(), &p); sum.InSubgroupVarTime() {
		t.Error("the generator plus a point of order 3 is in the subgroup")
	}
	if sum.Sub(&sum, &p); !sum.InSubgroupVarTime() || !sum.Equal(G1Generator()) {
		t.Error("the sum without it isn't the generator")
	}
	for i := range 20 {
		a := bls.GeneratePointNotInG1(*new(fe).SetUint64(uint64(i)))
		a2 := bls.GeneratePointNotInG2(fe2{A0: *new(fe).SetUint64(uint64(i))})
		q, q2 := g1FromJacobian(&a), g2FromJacobian(&a2)
		if p.SetBytes(q.Bytes()) == nil || p.SetUncompressed(q.UncompressedBytes()) == nil {
			t.Errorf("point %d outside G1 accepted", i)
		}
		var r G2
		if r.SetBytes(q2.Bytes()) == nil || r.SetUncompressed(q2.UncompressedBytes()) == nil {
			t.Errorf("point %d outside G2 accepted", i)
		}
		if q.InSubgroupVarTime() || q2.InSubgroupVarTime() {
			t.Errorf("point %d is in the subgroup", i)
		}
		if err := r.SetUncompressedUnsafe(q2.UncompressedBytes()); err != nil || !r.Equal(&q2) {
			t.Errorf("point %d: %v", i, err)
		}
	}
}

// TestReceiverKept checks that an error leaves the receiver alone.
func TestReceiverKept(t *testing.T) {
	p, q, z := G1Generator(), G2Generator(), new(GT).PairVarTime(G1Generator(), G2Generator())
	x := z.Bytes()
	for _, n := range []int{0, G1Size, G1SizeUncompressed, G2SizeUncompressed, GTSize} {
		for _, fill := range []byte{0, 0x80, 0xff} {
			b := bytes.Repeat([]byte{fill}, n)
			if p.SetBytes(b) == nil || p.SetUncompressed(b) == nil || q.SetBytes(b) == nil || q.SetUncompressed(b) == nil ||
				z.SetBytes(b) == nil || p.SetUncompressedUnsafe(b) == nil || q.SetUncompressedUnsafe(b) == nil {
				t.Fatalf("%d bytes of %x accepted", n, fill)
			}
		}
	}
	if !p.Equal(G1Generator()) || !q.Equal(G2Generator()) || !bytes.Equal(z.Bytes(), x) {
		t.Error("a receiver changed")
	}
}

func TestNotOnCurve(t *testing.T) {
	g := G1Generator().UncompressedBytes()
	g[95] ^= 1
	g2 := G2Generator().UncompressedBytes()
	g2[191] ^= 1
	if new(G1).SetUncompressedUnsafe(g) == nil || new(G2).SetUncompressedUnsafe(g2) == nil {
		t.Error("a point off the curve was accepted")
	}
	// About half of all x have no y.
	n, n2 := 0, 0
	for i := range byte(100) {
		b := append([]byte{0x80}, make([]byte, 47)...)
		b[47] = i
		if _, err := g1DecodeCurve(b, G1Size, false); err == errNotOnCurve {
			n++
		}
		b = append([]byte{0x80}, make([]byte, 95)...)
		b[95] = i
		if _, err := g2DecodeCurve(b, G2Size, false); err == errNotOnCurve {
			n2++
		}
	}
	if n < 25 || n > 75 || n2 < 25 || n2 > 75 {
		t.Errorf("%d and %d of 100 off the curve", n, n2)
	}
}

// TestGTMembership has elements of Fp12 that aren't in GT: 0, which the backend's
// own test accepts, and elements of other orders.
func TestGTMembership(t *testing.T) {
	var z GT
	var v fe12
	try := func(name string) {
		if b := v.Bytes(); z.SetBytesOrIdentity(b[:]) == nil {
			t.Errorf("%s accepted", name)
		}
	}
	try("0")
	v = fe12One()
	v.C0.B0.A0.Neg(&v.C0.B0.A0)
	try("-1")
	v = fe12One()
	v.C0.B0.A0.SetUint64(2)
	try("2")
	for i := range 12 {
		v = fe12One()
		words := fe12Words(&v)
		words[i].SetUint64(3)
		try(fmt.Sprintf("1 with a 3 at %d", i))
	}
	// The cyclotomic subgroup, of order p⁴ - p² + 1, is larger than GT.
	v.SetRandom()
	var f fe12
	f.Conjugate(&v)
	v.Inverse(&v)
	f.Mul(&f, &v)
	v.FrobeniusSquare(&f)
	v.Mul(&v, &f)
	try("an element of the cyclotomic subgroup")
	v.SetRandom()
	try("a random element")
}

// TestRedaction prints values of all types.
func TestRedaction(t *testing.T) {
	k := new(Scalar).Random()
	p, q := new(G1).ScalarBaseMult(k), new(G2).ScalarBaseMult(k)
	z := new(GT).PairVarTime(p, q)
	for _, v := range []any{k, *k, p, *p, q, *q, z, *z} {
		for _, f := range []string{"%v", "%+v", "%#v", "%s"} {
			if s := fmt.Sprintf(f, v); !strings.HasPrefix(s, "bls12381.") {
				t.Errorf("%T printed with %s: %s", v, f, s)
			}
		}
	}
}
