// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import (
	"encoding/binary"
	"fmt"

	"github.com/undersign/undersign/internal/bls12381"
)

// What follows makes groups, signs and exports as the library does, faults included. Only
// tests may: its nonces aren't hedged, and its issuers know everything.

type (
	sc = bls12381.Scalar
	p1 = bls12381.G1
	p2 = bls12381.G2
)

func rnd() *sc         { return new(sc).Random() }
func rnd1() *p1        { return new(p1).ScalarBaseMult(rnd()) }
func rnd2() *p2        { return new(p2).ScalarBaseMult(rnd()) }
func mul(a, b *sc) *sc { return new(sc).Mul(a, b) }
func add(a, b *sc) *sc { return new(sc).Add(a, b) }
func neg(a *sc) *sc    { return new(sc).Neg(a) }
func inv(a *sc) *sc    { return new(sc).Inverse(a) }

// lin returns the sum of k·P for its arguments, by twos.
func lin(args ...any) *p1 {
	sum := new(p1)
	for i := 0; i < len(args); i += 2 {
		sum.Add(sum, new(p1).ScalarMult(args[i].(*sc), args[i+1].(*p1)))
	}
	return sum
}

func lin2(k *sc, p *p2) *p2 { return new(p2).ScalarMult(k, p) }

func pair(p *p1, q *p2) *bls12381.GT { return new(bls12381.GT).PairVarTime(p, q) }

// export appends elements with their lengths, and bytes as they are.
func export(b []byte, items ...any) []byte {
	for _, item := range items {
		switch v := item.(type) {
		case byte:
			b = append(b, v)
		case Scheme:
			b = append(b, byte(v))
		case uint64:
			b = binary.LittleEndian.AppendUint64(b, v)
		case nil:
			b = append(b, 0, 0, 0, 0)
		case []byte:
			b = append(b, v...)
		default:
			e := concat(v)
			b = binary.LittleEndian.AppendUint32(b, uint32(len(e)))
			b = append(b, e...)
		}
	}
	return b
}

// A testGroup is a group with one member for each call of join.
type testGroup struct {
	scheme Scheme
	key    []byte
	join   func() testMember
	// fields are the kinds of a signature's elements: p for points, s for scalars.
	fields string
	tail   int // bytes after them
}

type testMember struct {
	sign  func(scope, text []byte) []byte
	entry map[Edition][]byte // without ID; nil if there are no lists
}

func proveLog(msg []byte, w, g *p1, secret *sc) (c, s *sc) {
	k := rnd()
	c = hashSHA1(msg, w, g, lin(k, g))
	return c, add(k, neg(mul(c, secret)))
}

func newBBS04() testGroup {
	g1, g2, h := rnd1(), rnd2(), rnd1()
	xi1, xi2, gamma := rnd(), rnd(), rnd()
	u, v, w := lin(inv(xi1), h), lin(inv(xi2), h), lin2(gamma, g2)
	hw, hg, gg := pair(h, w), pair(h, g2), pair(g1, g2)
	return testGroup{
		scheme: BBS04,
		key:    export(nil, BBS04, byte(0), g1, g2, h, u, v, w, hw, hg, gg),
		fields: "pppssssss",
		join: func() testMember {
			x := rnd()
			a := lin(inv(add(gamma, x)), g1)
			return testMember{
				entry: map[Edition][]byte{Fork: export(nil, a), IBM: export(nil, a, nil)},
				sign: func(_, text []byte) []byte {
					al, be := rnd(), rnd()
					t1, t2, t3 := lin(al, u), lin(be, v), lin(new(sc).SetOne(), a, add(al, be), h)
					d1, d2 := mul(x, al), mul(x, be)
					ra, rb, rx, r1, r2 := rnd(), rnd(), rnd(), rnd(), rnd()
					// e(T3,g2)^rx e(h,w)^(-ra-rb) e(h,g2)^(-r1-r2)
					r3 := new(bls12381.GT).Exp(pair(t3, g2), rx)
					r3.Mul(r3, new(bls12381.GT).Exp(hw, neg(add(ra, rb))))
					r3.Mul(r3, new(bls12381.GT).Exp(hg, neg(add(r1, r2))))
					c := hashBLAKE(text, t1, t2, t3, lin(ra, u), lin(rb, v), r3, lin(rx, t1, neg(r1), u), lin(rx, t2, neg(r2), v))
					s := func(r, secret *sc) *sc { return add(r, mul(c, secret)) }
					return export(nil, BBS04, t1, t2, t3, c, s(ra, al), s(rb, be), s(rx, x), s(r1, d1), s(r2, d2))
				},
			}
		},
	}
}

func newPS16() testGroup {
	g, gg, x, y := rnd1(), rnd2(), rnd(), rnd()
	xx, yy := lin2(x, gg), lin2(y, gg)
	return testGroup{
		scheme: PS16,
		key:    export(nil, PS16, byte(0), g, gg, xx, yy),
		fields: "ppss",
		join: func() testMember {
			sk := rnd()
			sigma1 := rnd1()
			sigma2 := lin(add(x, mul(y, sk)), sigma1)
			entry := export(nil, lin(sk, g), lin2(sk, yy))
			return testMember{
				entry: map[Edition][]byte{Fork: entry, IBM: entry},
				sign: func(_, text []byte) []byte {
					t, k := rnd(), rnd()
					s1, s2 := lin(t, sigma1), lin(t, sigma2)
					c := hashBLAKE(s1, s2, new(bls12381.GT).Exp(pair(s1, yy), k), text)
					return export(nil, PS16, s1, s2, c, add(k, mul(c, sk)))
				},
			}
		},
	}
}

func newKLAP20() testGroup {
	g, gg, x, y, z0, z1 := rnd1(), rnd2(), rnd(), rnd(), rnd(), rnd()
	return testGroup{
		scheme: KLAP20,
		key:    export(nil, KLAP20, byte(0), g, gg, lin2(x, gg), lin2(y, gg), lin2(z0, gg), lin2(z1, gg)),
		fields: "pppss",
		join: func() testMember {
			alpha, s0, s1 := rnd(), rnd(), rnd()
			f := lin(alpha, g)
			u := hashToG1(export(nil, f))
			w := lin(alpha, u)
			v := lin(x, u, y, w)
			crypt := func(s, z *sc) *p2 { return new(p2).Add(lin2(alpha, gg), lin2(mul(s, z), gg)) }
			list := export(nil, lin2(s0, gg), lin2(s1, gg), crypt(s0, z0), crypt(s1, z1))
			return testMember{
				entry: map[Edition][]byte{Fork: export(list, pair(f, gg)), IBM: export(list, nil)},
				sign: func(_, text []byte) []byte {
					r := rnd()
					uu, vv, ww := lin(r, u), lin(r, v), lin(r, w)
					c, s := proveLog(text, ww, uu, alpha)
					return export(nil, KLAP20, uu, vv, ww, c, s)
				},
			}
		},
	}
}

func newDL21(scheme Scheme) testGroup {
	g1, g2, h1, h2, isk := rnd1(), rnd2(), rnd1(), rnd1(), rnd()
	g := testGroup{
		scheme: scheme,
		key:    export(nil, scheme, byte(0), g1, g2, h1, h2, lin2(isk, g2)),
		fields: "pppsssssssp",
	}
	if scheme == DL21SEQ {
		g.tail = 3 * (8 + lenSequence)
	}
	g.join = func() testMember {
		y, x, s := rnd(), rnd(), rnd()
		one := new(sc).SetOne()
		b := lin(one, g1, y, h1, s, h2)
		a := lin(inv(add(isk, x)), b)
		return testMember{sign: func(scope, text []byte) []byte {
			return signDL21(scheme, scope, text, g1, h1, h2, a, b, x, s, y, y)
		}}
	}
	return g
}

// signDL21 signs with a pseudonym of nymY, which ought to be y.
func signDL21(scheme Scheme, scope, text []byte, g1, h1, h2, a, b *p1, x, s, y, nymY *sc) []byte {
	r1, r2 := rnd(), rnd()
	hs := hashToG1(scope)
	nym := lin(nymY, hs)
	aa := lin(r1, a)
	a2 := lin(neg(x), aa, r1, b)
	d := lin(r1, b, neg(r2), h2)
	r3 := inv(r1)
	secrets := []*sc{neg(x), nymY, r2, r3, neg(add(s, neg(mul(r2, r3)))), neg(y)}
	rels := relationsDL21(nym, new(p1).Sub(a2, d), g1)
	bases := []*p1{hs, aa, h2, d, h1}
	ks := make([]*sc, len(secrets))
	for i := range ks {
		ks[i] = rnd()
	}
	commitments := make([]*p1, len(rels))
	for i, rel := range rels {
		commitments[i] = new(p1)
		for _, t := range rel.terms {
			commitments[i].Add(commitments[i], lin(ks[t.secret], bases[t.base]))
		}
	}
	c := repChallenge(text, rels, bases, commitments)
	out := export(nil, scheme, aa, a2, d, c)
	for i := range ks {
		out = export(out, add(ks[i], neg(mul(c, secrets[i]))))
	}
	out = export(out, nym)
	if scheme == DL21SEQ {
		seq := make([]byte, lenSequence)
		for range 3 {
			out = export(out, uint64(lenSequence), seq)
		}
	}
	return out
}

func newTestGroup(s Scheme) testGroup {
	switch s {
	case BBS04:
		return newBBS04()
	case PS16:
		return newPS16()
	case KLAP20:
		return newKLAP20()
	}
	return newDL21(s)
}

// list exports a list of members with IDs from 0.
func list(e Edition, members ...testMember) []byte {
	b := export(nil, uint64(len(members)))
	for i, m := range members {
		b = export(b, uint64(i), m.entry[e])
	}
	return b
}

func message(scope, text string) []byte {
	return fmt.Appendf(nil, `{"scope": %q, "message": %q}`, scope, text)
}
