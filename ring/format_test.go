// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"slices"
	"testing"

	"github.com/cloudflare/circl/expander"
	"github.com/cloudflare/circl/group"
)

// verifyByFormat verifies a compact signature as docs/formats/ring.md has it, by another
// library and none of this package.
func verifyByFormat(t *testing.T, ring, sig, msg, scope []byte, across bool) bool {
	t.Helper()
	be64 := func(n int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
	item := func(label string, v []byte) []byte {
		return slices.Concat(be64(len(label)), []byte(label), be64(len(v)), v)
	}
	g := group.Ristretto255
	point := func(b []byte) group.Element {
		p := g.NewElement()
		if err := p.UnmarshalBinary(b); err != nil || p.IsIdentity() {
			t.Fatalf("%x: %v", b, err)
		}
		return p
	}
	encode := func(p group.Element) []byte {
		b, err := p.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	scalar := func(b []byte) group.Scalar {
		s := g.NewScalar()
		if err := s.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
		return s
	}

	const dst = "undersign/ring/v1/ristretto255/"
	n := int(binary.BigEndian.Uint32(ring[2:6]))
	all := slices.Concat(item("undersign/ring/v1", []byte("ristretto255")), item("keys", be64(n)))
	for i := range n {
		all = append(all, item("key", ring[6+32*i:][:32])...)
	}
	digest := sha256.Sum256(all)
	if !bytes.Equal(sig[:3], []byte{1, 1, 1}) || !bytes.Equal(sig[3:35], digest[:]) || int(binary.BigEndian.Uint32(sig[35:39])) != n {
		t.Fatal("the head is another")
	}
	domain := item("ring", digest[:])
	if across {
		domain = item("across rings", nil)
	}
	domain = append(domain, item("scope", scope)...)
	h := g.HashToElement(domain, []byte(dst+"h2c"))
	y, rest := sig[39:71], sig[71:]
	d := sha256.Sum256(msg)
	statement := sha256.Sum256(slices.Concat(item("ring", digest[:]), item("domain", domain), item("image", y),
		item("message", append(d[:], be64(len(msg))...))))
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	c0, s := rest[:32], rest[32:]
	if len(s) != 32*n {
		t.Fatalf("%d bytes for %d keys", len(s), n)
	}
	c := c0
	for i := range n {
		l, r := g.NewElement().MulGen(scalar(s[32*i:][:32])), g.NewElement().Mul(h, scalar(s[32*i:][:32]))
		l.Add(l, g.NewElement().Mul(point(ring[6+32*i:][:32]), scalar(c)))
		r.Add(r, g.NewElement().Mul(point(y), scalar(c)))
		wide := expander.NewExpanderMD(crypto.SHA256, []byte(dst+"sig")).Expand(slices.Concat(item("statement", statement[:]),
			item("place", be64((i+1)%n)), item("L", encode(l)), item("R", encode(r))), 64)
		slices.Reverse(wide)
		v := new(big.Int).SetBytes(wide)
		c = v.Mod(v, order).FillBytes(make([]byte, 32))
		slices.Reverse(c)
	}
	return bytes.Equal(c, c0)
}

func TestFormat(t *testing.T) {
	for _, n := range []int{2, 5} {
		r, secret := newRingOf(t, Ristretto255, n)
		for i, k := range secret {
			o := &Options{Scope: []byte("scope"), AcrossRings: i%2 == 1}
			sig := encode(t, sign(t, k, r, "message", o))
			for _, c := range []struct {
				msg, scope string
				across     bool
				want       bool
			}{
				{"message", "scope", o.AcrossRings, true},
				{"massage", "scope", o.AcrossRings, false},
				{"message", "scop", o.AcrossRings, false},
				{"message", "scope", !o.AcrossRings, false},
			} {
				if got := verifyByFormat(t, encode(t, r), sig, []byte(c.msg), []byte(c.scope), c.across); got != c.want {
					t.Errorf("%d keys, holder %d, %+v: %v", n, i, c, got)
				}
			}
		}
	}
}
