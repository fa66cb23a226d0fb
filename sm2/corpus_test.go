// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2

import (
	"math/big"
	"slices"

	"github.com/emmansun/gmsm/sm2"
)

// corpus returns about n trials: ordinary signatures by few and by many keys,
// changed ones, and every sort of hostile item, in random order, with hints of
// which many are wrong.
func (s *source) corpus(n int) []trial {
	var all []trial
	few := s.keys(6)
	for len(all) < n {
		priv := few[s.IntN(len(few))]
		if s.IntN(3) == 0 {
			priv = s.key()
		}
		switch k := s.IntN(40); {
		case k < 22:
			digest := s.bytes(32)
			all = append(all, digestTrial("ordinary", &priv.PublicKey, digest, s.sign(priv, digest)))
		case k < 30:
			all = append(all, s.changed(priv, few))
		case k < 32:
			all = append(all, s.outOfRange(priv)...)
		case k < 34:
			all = append(all, s.badKeys(priv)...)
		case k < 35:
			all = append(all, s.cancelling(priv)...)
		case k < 36:
			all = append(all, s.equalR(few)...)
		case k < 37:
			all = append(all, s.multiplesOfG()...)
		case k < 38:
			all = append(all, s.smallX()...)
		case k < 39:
			all = append(all, s.infinite(priv)...)
		default:
			all = append(all, s.oddDigests(priv)...)
		}
		if s.IntN(16) == 0 { // once more
			all = append(all, all[s.IntN(len(all))])
		}
	}
	s.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	s.hint(all)
	return all
}

// hint gives hints: right ones, wrong ones, and such as aren't any.
func (s *source) hint(all []trial) {
	for i := range all {
		it := &all[i]
		switch k := s.IntN(8); {
		case k < 4 && it.want:
			it.Hint, _ = FindHint(it.PublicKey, it.Digest, it.Signature)
		case k < 6:
			it.Hint = Hint(s.IntN(7))
		}
	}
}

// changed returns a signature in which something was changed.
func (s *source) changed(priv *sm2.PrivateKey, others []*sm2.PrivateKey) trial {
	digest := s.bytes(32)
	sig := s.sign(priv, digest)
	pub := &priv.PublicKey
	switch s.IntN(6) {
	case 0:
		digest[s.IntN(32)] ^= 1 << s.IntN(8)
	case 1:
		pub = &others[s.IntN(len(others))].PublicKey
	case 2:
		sig = sig[:s.IntN(len(sig))]
	case 3:
		sig = append(sig, s.bytes(1+s.IntN(3))...)
	case 4:
		sig = slices.Insert(sig, s.IntN(len(sig)), s.bytes(1)...)
	default:
		sig[s.IntN(len(sig))] ^= 1 << s.IntN(8)
	}
	return digestTrial("changed", pub, digest, sig)
}

// outOfRange returns signatures with numbers that are equal modulo n to good
// ones, or mean nothing.
func (s *source) outOfRange(priv *sm2.PrivateKey) (out []trial) {
	digest := s.bytes(32)
	z, _, _ := DER.parse(s.sign(priv, digest))
	r, t := new(big.Int).SetBytes(z.r[:]), new(big.Int).SetBytes(z.s[:])
	zero := new(big.Int)
	for _, c := range [][2]*big.Int{
		{new(big.Int).Add(r, bigN), t},
		{r, new(big.Int).Add(t, bigN)},
		{new(big.Int).Sub(r, bigN), t},
		{r, new(big.Int).Sub(t, bigN)},
		{zero, t}, {r, zero}, {zero, zero},
		{bigN, t}, {r, bigN}, {bigN, bigN},
		{r, new(big.Int).Sub(bigN, r)}, // r + s = n
		{r, new(big.Int).Sub(bigN, t)},
		{new(big.Int).Lsh(r, 256), t}, {r, new(big.Int).Lsh(t, 1024)},
		{t, r},
	} {
		out = append(out, digestTrial("out of range", &priv.PublicKey, digest, derOf(c[0], c[1])))
	}
	return out
}

// badKeys returns good signatures with keys that are none, or another writing of
// the same.
func (s *source) badKeys(priv *sm2.PrivateKey) (out []trial) {
	digest := s.bytes(32)
	sig := s.sign(priv, digest)
	p := pt{priv.X, priv.Y}
	one := big.NewInt(1)
	for _, q := range []pt{
		p.neg(),
		{p.x, new(big.Int).Add(p.y, one)},
		{new(big.Int), new(big.Int)},
		{new(big.Int).Add(p.x, bigP), p.y},
		{p.x, new(big.Int).Sub(p.y, bigP)},
		{new(big.Int).Neg(p.x), p.y},
		{p.y, p.x},
		{p.x, new(big.Int).Lsh(p.y, 512)},
		{nil, p.y}, {p.x, nil},
	} {
		out = append(out, digestTrial("bad key", q.public(), digest, sig))
	}
	out = append(out, digestTrial("no key", nil, digest, sig))
	// A key with so small an x that x + p has 256 bits.
	x := big.NewInt(int64(s.IntN(1000)))
	q, ok := lift(x)
	for !ok {
		q, ok = lift(x.Add(x, one))
	}
	a, b := s.scalar(), s.scalar()
	if digest, r, ok := craft(q, a, b); ok {
		out = append(out, digestTrial("small key", q.public(), digest, derOf(r, a)))
		q.x = new(big.Int).Add(q.x, bigP)
		out = append(out, digestTrial("small key plus p", q.public(), digest, derOf(r, a)))
	}
	return out
}

// cancelling returns pairs of invalid signatures, whose defects add up to zero.
func (s *source) cancelling(priv *sm2.PrivateKey) (out []trial) {
	// By the same key, s moved from one to the other.
	e1, e2 := s.bytes(32), s.bytes(32)
	z1, _, _ := DER.parse(s.sign(priv, e1))
	z2, _, _ := DER.parse(s.sign(priv, e2))
	r1, s1 := new(big.Int).SetBytes(z1.r[:]), new(big.Int).SetBytes(z1.s[:])
	r2, s2 := new(big.Int).SetBytes(z2.r[:]), new(big.Int).SetBytes(z2.s[:])
	d := s.scalar()
	out = append(out,
		digestTrial("cancelling", &priv.PublicKey, e1, derOf(r1, add(s1, d))),
		digestTrial("cancelling", &priv.PublicKey, e2, derOf(r2, sub(s2, d))),
		// With the digests and r exchanged.
		digestTrial("exchanged", &priv.PublicKey, e2, derOf(r2, add(s1, sub(r1, r2)))),
		digestTrial("exchanged", &priv.PublicKey, e1, derOf(r1, add(s2, sub(r2, r1)))))

	// A forgery for a victim, and a signature by the forger that makes up for it.
	victim, forger := pt{priv.X, priv.Y}, base(s.scalar())
	for {
		e, r, u := s.scalar(), s.scalar(), s.scalar()
		R, ok := lift(sub(r, e))
		if !ok {
			continue
		}
		if s.IntN(2) == 0 {
			R = R.neg()
		}
		defect := base(u).plus(victim.times(add(r, u))).plus(R.neg())
		v, t := s.scalar(), s.scalar()
		R2 := base(v).plus(forger.times(t)).plus(defect)
		r2 := sub(t, v)
		return append(out,
			digestTrial("forged", victim.public(), b32(e), derOf(r, u)),
			digestTrial("making up", forger.public(), b32(sub(r2, R2.x)), derOf(r2, v)))
	}
}

// equalR returns signatures by different keys that have the same R, or opposite ones.
func (s *source) equalR(keys []*sm2.PrivateKey) (out []trial) {
	k := s.scalar()
	R := base(k)
	for i, priv := range keys[:2+s.IntN(len(keys)-2)] {
		k := k
		if i%3 == 2 {
			k = sub(new(big.Int), k)
		}
		e := s.scalar()
		r := add(e, R.x)
		// s = (k - rd)/(1 + d)
		z := mul(sub(k, mul(r, priv.D)), inv(add(priv.D, big.NewInt(1))))
		out = append(out, digestTrial("equal R", &priv.PublicKey, b32(e), derOf(r, z)))
		if i == 0 {
			out = append(out, digestTrial("equal R, bad", &priv.PublicKey, b32(add(e, big.NewInt(1))), derOf(add(r, big.NewInt(1)), z)))
		}
	}
	return out
}

// multiplesOfG returns signatures by keys that are small multiples of G or powers
// of two of it, with numbers for which sums of table entries meet equal and
// opposite points.
func (s *source) multiplesOfG() (out []trial) {
	one := big.NewInt(1)
	d := new(big.Int)
	switch s.IntN(3) {
	case 0:
		d.SetInt64(int64(1 + s.IntN(5)))
	case 1:
		d.Lsh(one, uint(s.IntN(256)))
	default:
		d.Sub(new(big.Int).Lsh(one, uint(s.IntN(256))), one)
	}
	if d = mod(d); d.Sign() == 0 {
		d = one
	}
	if s.IntN(2) == 0 {
		d = sub(bigN, d)
	}
	p := base(d)
	numbers := []*big.Int{one, big.NewInt(2), sub(bigN, one), s.scalar(), d, sub(bigN, d), inv(d), new(big.Int).Rsh(bigN, 1)}
	for range 6 {
		a, b := numbers[s.IntN(len(numbers))], numbers[s.IntN(len(numbers))]
		if digest, r, ok := craft(p, a, b); ok {
			out = append(out, digestTrial("multiple of G", p.public(), digest, derOf(r, a)))
			out = append(out, digestTrial("multiple of G, bad", p.public(), flipped(digest), derOf(r, a)))
		}
	}
	return out
}

// smallX returns signatures for which r - e is so small that two x are possible, and either is
// that of R, or neither.
func (s *source) smallX() (out []trial) {
	gap := new(big.Int).Sub(bigP, bigN)
	for range 4 {
		x := big.NewInt(int64(s.IntN(64)))
		if s.IntN(4) == 0 {
			x.Sub(gap, x) // the last with two x, or the first with one
		}
		for _, x1 := range []*big.Int{x, new(big.Int).Add(x, bigN)} {
			if x1.Cmp(bigP) >= 0 {
				continue
			}
			R, ok := lift(x1)
			a, t := s.scalar(), s.scalar()
			r := sub(t, a)
			p := base(s.scalar()) // some key
			if ok {
				// P = (R - sG)/t
				p = R.plus(base(a).neg()).times(inv(t))
			}
			out = append(out, digestTrial("small x", p.public(), b32(sub(r, x)), derOf(r, a)))
			out = append(out, digestTrial("small x, bad", p.public(), b32(sub(r, x)), derOf(r, add(a, big.NewInt(1)))))
		}
	}
	return out
}

// infinite returns signatures for which sG + tP is infinity, and one whose e is what
// it would be if that had an x of 0.
func (s *source) infinite(priv *sm2.PrivateKey) (out []trial) {
	t := s.scalar()
	a := sub(new(big.Int), mul(t, priv.D))
	r := sub(t, a)
	return append(out,
		digestTrial("infinity", &priv.PublicKey, b32(r), derOf(r, a)),
		digestTrial("infinity", &priv.PublicKey, s.bytes(32), derOf(r, a)))
}

// oddDigests returns signatures of digests that are longer or shorter than usual, or
// not below n.
func (s *source) oddDigests(priv *sm2.PrivateKey) (out []trial) {
	for _, digest := range [][]byte{
		{}, {1}, s.bytes(1 + s.IntN(31)), s.bytes(33 + s.IntN(40)), b32(bigN), b32(bigP),
		slices.Repeat([]byte{0xff}, 32), slices.Repeat([]byte{0xff}, 64), make([]byte, 32),
	} {
		sig := s.sign(priv, digest)
		out = append(out, digestTrial("odd digest", &priv.PublicKey, digest, sig))
		if len(digest) > 32 {
			cut := slices.Clone(digest[:32])
			out = append(out, digestTrial("odd digest, cut", &priv.PublicKey, cut, sig))
			out = append(out, digestTrial("odd digest, bad", &priv.PublicKey, flipped(cut), sig))
		}
	}
	return out
}

// flipped returns a digest with another last bit.
func flipped(digest []byte) []byte {
	digest = slices.Clone(digest)
	digest[len(digest)-1] ^= 1
	return digest
}
