// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsigtest

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"
	"sync"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/internal/bls12381"
)

// The order of the groups.
var order, _ = new(big.Int).SetString("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001", 16)

// point returns an encoding of 48 bytes that begins with one byte and goes on with
// another.
func point(first, rest byte) []byte {
	return append([]byte{first}, bytes.Repeat([]byte{rest}, bls12381.G1Size-1)...)
}

// fields returns where a signature has points, and where scalars may begin: any other
// alignment has no points.
func fields(sig []byte) (points, scalars []int) {
	var p bls12381.G1
	end := 0
	for i := 0; i+bls12381.G1Size <= len(sig); {
		if p.SetBytes(sig[i:i+bls12381.G1Size]) == nil {
			points = append(points, i)
			i += bls12381.G1Size
			end = i
		} else {
			i++
		}
	}
	for i := end; i+bls12381.ScalarSize <= len(sig); i += bls12381.ScalarSize {
		scalars = append(scalars, i)
	}
	return points, scalars
}

// hostileSignatures returns what can be made of a signature by replacing fields.
func hostileSignatures(sig []byte, thorough bool) map[string][]byte {
	out := map[string][]byte{
		"nothing": nil, "a byte": sig[:1], "truncated": sig[:len(sig)-1], "trailing": append(bytes.Clone(sig), 0),
		"zeros": make([]byte, len(sig)), "ones": bytes.Repeat([]byte{0xff}, len(sig)), "twice": append(bytes.Clone(sig), sig...),
	}
	points, scalars := fields(sig)
	replace := func(what string, at int, b []byte) {
		c := bytes.Clone(sig)
		copy(c[at:], b)
		if !bytes.Equal(c, sig) {
			out[fmt.Sprintf("%s at %d", what, at)] = c
		}
	}
	identities := bytes.Clone(sig)
	for _, i := range points {
		copy(identities[i:], point(0xc0, 0))
	}
	out["identities"] = identities
	if !thorough { // the ends
		points = []int{points[0], points[len(points)-1]}
		scalars = []int{scalars[0], scalars[len(scalars)-1]}
	}
	for _, i := range points {
		replace("the identity", i, point(0xc0, 0))
		replace("the identity with another flag", i, point(0xe0, 0))
		replace("a point of order 3", i, point(0x80, 0))
		replace("a point of order 3", i, point(0xa0, 0))
		replace("an x that is too large", i, point(0x9f, 0xff))
		replace("no point", i, point(0, 0))
		replace("the generator", i, bls12381.G1Generator().Bytes())
		replace("the negative", i, []byte{sig[i] ^ 0x20})
		replace("an uncompressed point", i, []byte{sig[i] &^ 0x80})
		replace("the first point", i, sig[points[0]:points[0]+bls12381.G1Size])
		// A point with a part outside the subgroup, which no pairing sees.
		var p, q bls12381.G1
		if p.SetBytes(sig[i:i+bls12381.G1Size]) == nil && q.SetUncompressedUnsafe(orderThree()) == nil {
			replace("a point outside the subgroup", i, p.Add(&p, &q).Bytes())
		}
	}
	for _, i := range scalars {
		replace("a scalar of 0", i, make([]byte, bls12381.ScalarSize))
		replace("a scalar of -1", i, new(big.Int).Sub(order, big.NewInt(1)).FillBytes(make([]byte, bls12381.ScalarSize)))
		replace("the order", i, order.FillBytes(make([]byte, bls12381.ScalarSize)))
		k := new(big.Int).SetBytes(sig[i : i+bls12381.ScalarSize])
		if k.Add(k, order).BitLen() <= 8*bls12381.ScalarSize {
			replace("a scalar that isn't reduced", i, k.FillBytes(make([]byte, bls12381.ScalarSize)))
		}
	}
	return out
}

// orderThree is the uncompressed point (0, 2).
func orderThree() []byte {
	b := make([]byte, 2*bls12381.G1Size)
	b[len(b)-1] = 2
	return b
}

func testForgeries(g *group) {
	s := g.signed("ada", "m", "s")
	layouts := g.gk.(groupsig.BatchVerifier)
	fast := must(layouts.ForBatch(s.Message, s.Signature, s.Options))(g)
	for layout, sig := range map[string][]byte{"compact": s.Signature, "batch": fast} {
		points, scalars := fields(sig)
		if len(points) < 2 || len(scalars) < 1 {
			g.t.Fatalf("%d points and %d scalars", len(points), len(scalars))
		}
		b := layouts.Batch(s.Options)
		var want []int
		for what, bad := range hostileSignatures(sig, g.thorough) {
			g.refuses(layout+": "+what, s.Message, bad, s.Options)
			want = append(want, b.Len())
			b.Add(s.Message, bad)
		}
		g.bad(b, want)
		g.flips(sig, 1, func(i int, b []byte) {
			g.invalid(fmt.Sprintf("%s: byte %d changed", layout, i), s.Message, b, s.Options)
		})

		g.refuses("another message", []byte("n"), sig, s.Options)
		g.refuses("no message", nil, sig, s.Options)
		if g.scoped() {
			g.refuses("another scope", s.Message, sig, g.options("t"))
			g.refuses("no scope", s.Message, sig, g.options(""))
		}
		if g.f.Has(groupsig.Epoch) {
			for _, window := range [][2]uint64{{0, 0}, {0, epoch - 1}, {epoch + 1, 1 << 63}, {epoch + 1, epoch - 1}} {
				o := s.Options
				o.MinEpoch, o.MaxEpoch = window[0], window[1]
				g.refuses("another epoch", s.Message, sig, o)
			}
			o := s.Options
			o.MinEpoch, o.MaxEpoch = epoch-1, epoch+1
			g.check(g.gk.Verify(s.Message, sig, o))
		}
	}

	// Long messages with the same beginning, or the same end.
	long := strings.Repeat("x", 200)
	l := g.signed("ada", long, "s")
	g.check(g.verify(l))
	for _, other := range []string{long[:199], long + "x", long[:60], long[:199] + "y", "y" + long[1:], long[:64] + "y" + long[65:]} {
		g.refuses("another long message", []byte(other), l.Signature, l.Options)
	}

	// Parts of two signatures, at the same place.
	t := g.signed("ada", "m", "s")
	step := 16
	if !g.thorough {
		step = 112
	}
	for i := 0; i+32 <= len(s.Signature); i += step {
		for _, n := range []int{32, 48} {
			bad := bytes.Clone(s.Signature)
			copy(bad[i:], t.Signature[i:min(i+n, len(bad))])
			if !bytes.Equal(bad, s.Signature) && !bytes.Equal(bad, t.Signature) {
				g.refuses(fmt.Sprintf("a part of another signature at %d", i), s.Message, bad, s.Options)
			}
		}
	}

	// The same label and features, and other keys; and other schemes.
	other := newGroup(g.t, g.scheme, g.f, "conformance")
	other.refuses("another group", s.Message, s.Signature, other.options("s"))
	if _, err := other.gk.ParseMemberKey(g.encoded(g.members["ada"])); err == nil {
		g.t.Error("another group takes the member's key")
	}
	if _, err := g.issuer.Issue(other.gk, other.sessions, other.register, nil, now, g.epoch); err == nil {
		g.t.Error("the issuer of another group")
	}
}

// One verifier, used by many goroutines with good and hostile signatures, must not let
// one spoil what is precomputed for the others.
func testGoroutines(g *group) {
	type item struct {
		groupsig.Signed
		good bool
	}
	var items []item
	layouts := g.gk.(groupsig.BatchVerifier)
	for i, name := range []string{"ada", "bob"} {
		s := g.signed(name, "m", fmt.Sprint("s", i))
		fast := s
		fast.Signature = must(layouts.ForBatch(s.Message, s.Signature, s.Options))(g)
		for _, x := range []groupsig.Signed{s, fast} {
			n := 0
			for _, bad := range hostileSignatures(x.Signature, g.thorough) {
				if n++; n > 6 {
					break
				}
				b := x
				b.Signature = bad
				items = append(items, item{x, true}, item{b, false})
			}
		}
	}
	rounds := len(items)
	if !g.thorough {
		rounds = 3
	}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for j := range rounds {
				it := items[(i+j)%len(items)]
				if err := g.verify(it.Signed); (err == nil) != it.good {
					g.t.Errorf("%v, and it is good: %v", err, it.good)
				}
			}
		})
	}
	wg.Wait()
	// As good as new afterwards.
	g.check(g.verify(items[0].Signed))
	g.refuses("identities", []byte("m"), hostileSignatures(items[0].Signature, g.thorough)["identities"], items[0].Options)
}
