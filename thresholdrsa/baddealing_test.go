// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/undersign/undersign/internal/modexp"
)

// tamper returns a copy of a dealing that f has changed, with a record that is
// well-formed, or the error that says why it can't be. Its trial shares are made
// anew by the shares, which f may change too: the dealer cheats.
func tamper(t testing.TB, d *Dealing, shares []*KeyShare, f func(d *Dealing, p *PublicKey, shares []*KeyShare)) (*Dealing, []*KeyShare, error) {
	t.Helper()
	p := *d.key
	p.vi, p.holders, p.arith = slices.Clone(p.vi), slices.Clone(p.holders), nil
	out := &Dealing{key: &p, commitments: slices.Clone(d.commitments)}
	var copies []*KeyShare
	for _, s := range shares {
		c := *s
		copies = append(copies, &c)
	}
	f(out, &p, copies)
	key, err := p.finish()
	if err != nil {
		return nil, nil, err
	}
	out.key = key
	r, err := trialRequest(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range copies {
		s.key = key
		out.trial = append(out.trial, sign(t, r, s))
	}
	return out, copies, nil
}

// crt returns x = a mod p and b mod q.
func crt(a, p, b, q *big.Int) *big.Int {
	x := new(big.Int).Sub(a, b)
	x.Mul(x, new(big.Int).ModInverse(q, p)).Mod(x, p)
	return x.Mul(x, q).Add(x, b)
}

func neg(x, n *big.Int) *big.Int { return new(big.Int).Sub(n, x) }

func shift(s *KeyShare, by *big.Int) {
	x := natBig(s.s)
	s.s = natOf(x.Add(x, by), 64*len(s.s))
}

func TestBadDealings(t *testing.T) {
	small(t)
	good, goodShares := sharing(t, "small-a", 3, 5)
	imported, importedShares := freshSharing(t, "plain-1024", 2, 3)
	p, q := primesOf(t, "small-a")
	m := new(big.Int).Mul(new(big.Int).Rsh(p, 1), new(big.Int).Rsh(q, 1))
	// u with u^2 = 1 mod q, and not mod p.
	half := crt(big.NewInt(7), p, big.NewInt(1), q)
	// recompute makes all published powers anew after v was changed.
	recompute := func(d *Dealing, key *PublicKey, shares []*KeyShare) {
		key.v = new(big.Int).Mul(key.root, key.root)
		key.v.Mod(key.v, key.n)
		for i, s := range shares {
			key.vi[i] = new(big.Int).Exp(key.v, natBig(s.s), key.n)
		}
	}
	for _, c := range []struct {
		name   string
		change func(d *Dealing, p *PublicKey, shares []*KeyShare)
		reason string // of Verify or of the record's refusal
	}{
		{"v = 1", func(d *Dealing, p *PublicKey, shares []*KeyShare) {
			p.root = big.NewInt(1)
			recompute(d, p, shares)
			for j := range d.commitments {
				d.commitments[j] = big.NewInt(1)
			}
		}, "shares a factor"},
		{"v = 1 mod q", func(d *Dealing, p *PublicKey, shares []*KeyShare) {
			p.root = half
			recompute(d, p, shares)
		}, "shares a factor"},
		{"v = 0 mod q", func(d *Dealing, p *PublicKey, shares []*KeyShare) {
			p.root = q
		}, "shares a factor"},
		{"root n-1", func(d *Dealing, p *PublicKey, _ []*KeyShare) { p.root = neg(one, p.n) }, "shares a factor"},
		{"root n", func(d *Dealing, p *PublicKey, _ []*KeyShare) { p.root = p.n }, "root of v out of range"},
		{"another root", func(d *Dealing, p *PublicKey, shares []*KeyShare) {
			p.root = big.NewInt(5)
			recompute(d, p, shares)
		}, "first commitment"},
		{"v_2 and v_4 exchanged", func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.vi[1], p.vi[3] = p.vi[3], p.vi[1] }, "holder 2"},
		{"v_2 = 0", func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.vi[1] = new(big.Int) }, "out of range"},
		{"v_2 = n", func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.vi[1] = p.n }, "out of range"},
		{"v_2 + n", func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.vi[1] = new(big.Int).Add(p.vi[1], p.n) }, "out of range"},
		{"v_2 = q", func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.vi[1] = q }, "shares a factor"},
		{"v_2 = 1", func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.vi[1] = big.NewInt(1) }, "holder 2"},
		{"A_0 negated", func(d *Dealing, p *PublicKey, _ []*KeyShare) { d.commitments[0] = neg(d.commitments[0], p.n) }, "first commitment"},
		{"A_0 = v", func(d *Dealing, p *PublicKey, _ []*KeyShare) { d.commitments[0] = p.v }, "first commitment"},
		{"A_0 = 1", func(d *Dealing, p *PublicKey, _ []*KeyShare) { d.commitments[0] = big.NewInt(1) }, "first commitment"},
		{"A_1 = 0", func(d *Dealing, p *PublicKey, _ []*KeyShare) { d.commitments[1] = new(big.Int) }, "commitment 1"},
		{"A_1 = n", func(d *Dealing, p *PublicKey, _ []*KeyShare) { d.commitments[1] = p.n }, "commitment 1"},
		{"A_1 = p", func(d *Dealing, _ *PublicKey, _ []*KeyShare) { d.commitments[1] = p }, "commitment 1"},
		{"A_1 and A_2 exchanged", func(d *Dealing, _ *PublicKey, _ []*KeyShare) {
			d.commitments[1], d.commitments[2] = d.commitments[2], d.commitments[1]
		}, "holder 2"}, // 1 and 1^2 are one exponent
		{"A_1 negated", func(d *Dealing, p *PublicKey, _ []*KeyShare) { d.commitments[1] = neg(d.commitments[1], p.n) }, "holder 1"},
		{"A_2 times another element", func(d *Dealing, p *PublicKey, _ []*KeyShare) {
			d.commitments[2] = mulMod(d.commitments[2], p.v, p.n)
		}, "holder 1"},
		{"the key of d+1", func(d *Dealing, p *PublicKey, shares []*KeyShare) {
			d.commitments[0] = mulMod(d.commitments[0], p.v, p.n)
		}, "first commitment"},
		{"s_2 + 1, v_2 with it", func(_ *Dealing, p *PublicKey, shares []*KeyShare) {
			shift(shares[1], one)
			p.vi[1] = mulMod(p.vi[1], p.v, p.n)
		}, "holder 2"},
		{"s_2 + 1", func(_ *Dealing, _ *PublicKey, shares []*KeyShare) { shift(shares[1], one) }, "the proof doesn't hold"},
		{"v_2 and its share negated by 2 s", func(_ *Dealing, p *PublicKey, shares []*KeyShare) {
			p.vi[1] = mulMod(p.vi[1], neg(one, p.n), p.n)
			shift(shares[1], big.NewInt(2))
		}, "holder 2"},
		{"epoch 2", func(_ *Dealing, p *PublicKey, _ []*KeyShare) {
			p.epoch, p.parent, p.ceremony = 2, [32]byte{1}, [32]byte{1}
		}, "of epoch 2"},
		{"integer form", func(_ *Dealing, p *PublicKey, _ []*KeyShare) {
			p.form, p.gamma, p.ubound = FormInteger, new(big.Int).Exp(factorial(5), big.NewInt(2), nil), p.n
		}, "aren't those of an import"},
		{"Smax n-1", func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.smax = new(big.Int).Sub(p.n, one) }, "parameters of another form"},
		{"Gamma 2", func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.gamma = big.NewInt(2) }, "parameters of another form"},
		{"epoch 0", func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.epoch = 0 }, "epoch 0"},
		{"e = 65535", func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.e = 65535 }, "public exponent"},
		{"e = 5", func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.e = 5 }, "public exponent"},
		{"even modulus", func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.n = new(big.Int).Add(p.n, one); p.smax = p.n }, "even"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, _, err := tamper(t, good, goodShares, c.change)
			if err == nil {
				err = d.Verify()
			}
			if err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("got %v, want %q", err, c.reason)
			}
		})
	}
	for _, c := range []struct {
		name   string
		change func(d *Dealing, p *PublicKey, shares []*KeyShare)
		reason string
	}{
		{"A_0 negated", func(d *Dealing, p *PublicKey, _ []*KeyShare) { d.commitments[0] = neg(d.commitments[0], p.n) }, "first commitment"},
		{"A_1 negated", func(d *Dealing, p *PublicKey, _ []*KeyShare) { d.commitments[1] = neg(d.commitments[1], p.n) }, "holder 1"},
		{"v_2 negated", func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.vi[1] = neg(p.vi[1], p.n) }, "holder 2"},
		{"Smax + 1", func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.smax = new(big.Int).Add(p.smax, one) }, "aren't those of an import"},
		{"twice U", func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.ubound = new(big.Int).Lsh(p.ubound, 1) }, "aren't those of an import"},
		{"U 0", func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.ubound = new(big.Int) }, "U isn't positive"},
		{"four times Gamma", func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.gamma = new(big.Int).Lsh(p.gamma, 2) }, "aren't those of an import"},
		{"Gamma 1", func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.gamma = one }, "multiple of Delta^2"},
		{"Gamma a multiple of e", func(_ *Dealing, p *PublicKey, _ []*KeyShare) {
			p.gamma = new(big.Int).Mul(p.gamma, big.NewInt(int64(p.e)))
		}, "prime to the public exponent"},
		{"modular form", func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.form = FormModular }, "parameters of another form"},
		{"form 3", func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.form = 3 }, "unknown form"},
	} {
		t.Run("import/"+c.name, func(t *testing.T) {
			d, _, err := tamper(t, imported, importedShares, c.change)
			if err == nil {
				err = d.Verify()
			}
			if err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("got %v, want %q", err, c.reason)
			}
		})
	}

	// Nothing wrong, to know that tamper spoils nothing itself.
	d, shares, err := tamper(t, good, goodShares, func(*Dealing, *PublicKey, []*KeyShare) {})
	if err != nil || d.Verify() != nil || shares[1].CheckDealing(d) != nil {
		t.Fatalf("an untouched dealing: %v, %v", err, d.Verify())
	}

	// The sign of v_2 goes unseen in v_2^Delta, and in the trial if the challenge is
	// even. Holder 2 always sees it; if it doesn't look, its own proofs suffer alone.
	d, shares, err = tamper(t, good, goodShares, func(_ *Dealing, p *PublicKey, _ []*KeyShare) { p.vi[1] = neg(p.vi[1], p.n) })
	if err != nil || d.verifyKeys() != nil {
		t.Errorf("v_2 negated: %v, %v", err, d.verifyKeys())
	}
	var de *DealingError
	if err := shares[1].Check(); !errors.As(err, &de) || de.Index != 2 {
		t.Errorf("v_2 negated, holder 2: %v", err)
	}
	r := request(t, d.key, "negated")
	if sig, _, err := d.key.Combine(r, signAll(t, r, shares)...); err != nil {
		t.Errorf("v_2 negated: %v", err)
	} else {
		checkRaw(t, d.key, r, sig)
	}

	// Signs of A_1 and A_2 that cancel change nothing: i + i^2 is even. All equations
	// hold, and everybody signs.
	d, shares, err = tamper(t, good, goodShares, func(d *Dealing, p *PublicKey, _ []*KeyShare) {
		d.commitments[1], d.commitments[2] = neg(d.commitments[1], p.n), neg(d.commitments[2], p.n)
	})
	if err != nil || d.Verify() != nil {
		t.Errorf("A_1 and A_2 negated: %v, %v", err, d.Verify())
	}
	for _, s := range shares {
		if err := s.CheckDealing(d); err != nil {
			t.Error(err)
		}
	}
	signSubsets(t, shares, "negated")

	// s_2 + m is in range: v^(s_2) is what it was, and so are its signatures.
	d, shares, err = tamper(t, good, goodShares, func(_ *Dealing, p *PublicKey, shares []*KeyShare) {
		shift(shares[1], m)
	})
	if err != nil || d.Verify() != nil || shares[1].CheckDealing(d) != nil {
		t.Errorf("s_2 + m: %v", err)
	}
	signSubsets(t, shares, "m more")
}

// signSubsets lets every quorum sign.
func signSubsets(t testing.TB, shares []*KeyShare, message string) {
	t.Helper()
	p := shares[0].key
	r := request(t, p, message)
	sigs := signAll(t, r, shares)
	for _, s := range sigs {
		if err := p.VerifyShare(r, s); err != nil {
			t.Error(err)
		}
	}
	var first []byte
	subsets(p.l, p.k, func(set []int) {
		sig, bad, err := p.Combine(r, pick(sigs, set)...)
		if err != nil || len(bad) != 0 {
			t.Errorf("%v: %v, %v", set, bad, err)
			return
		}
		checkRaw(t, p, r, sig)
		if first == nil {
			first = sig
		}
		if !bytes.Equal(first, sig) {
			t.Errorf("%v signs otherwise", set)
		}
	})
}

// A holder refuses a share that isn't its own, in range or not.
func TestCheckDealingRefuses(t *testing.T) {
	small(t)
	d, shares := sharing(t, "small-a", 3, 5)
	other, _ := sharing(t, "small-b", 3, 5)
	m := natBig(shares[0].s)
	for name, s := range map[string]modexp.Nat{
		"another holder's": shares[2].s,
		"one more":         natOf(m.Add(m, one), 64*len(shares[0].s)),
		"zero":             make(modexp.Nat, len(shares[0].s)),
	} {
		c := *shares[0]
		c.s = s
		var e *DealingError
		if err := c.CheckDealing(d); !errors.As(err, &e) || e.Index != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	var e *KeyError
	if err := shares[0].CheckDealing(other); !errors.As(err, &e) {
		t.Errorf("another key's dealing: %v", err)
	}
	// The trial shares are all of them, and each its holder's.
	for name, f := range map[string]func(trial []*SignatureShare){
		"exchanged":           func(x []*SignatureShare) { x[1], x[2] = x[2], x[1] },
		"one twice":           func(x []*SignatureShare) { x[1] = x[0] },
		"renamed":             func(x []*SignatureShare) { x[1] = clone(x[2]); x[1].index = 2 },
		"wrong":               func(x []*SignatureShare) { x[1] = spoil(x[1]) },
		"proof of nothing":    func(x []*SignatureShare) { x[1] = spoilProof(x[1]) },
		"of another request":  func(x []*SignatureShare) { x[1] = sign(t, request(t, d.key, "x"), shares[1]) },
		"of another key":      func(x []*SignatureShare) { x[1] = other.trial[1] },
		"of holder 0":         func(x []*SignatureShare) { x[1] = clone(x[1]); x[1].index = 0 },
		"all from one holder": func(x []*SignatureShare) { x[1], x[2], x[3], x[4] = x[0], x[0], x[0], x[0] },
	} {
		bad := &Dealing{key: d.key, commitments: d.commitments, trial: slices.Clone(d.trial)}
		f(bad.trial)
		if err := bad.Verify(); err == nil {
			t.Errorf("trial shares %s: accepted", name)
		}
		if err := shares[0].CheckDealing(bad); err == nil {
			t.Errorf("trial shares %s: the holder accepts", name)
		}
	}
}

// Moduli that a dealer mustn't choose. These checks are off behind the door, so it
// stays shut: what fails is the record, or the first equation that Verify looks at.
func TestBadModuli(t *testing.T) {
	d, _ := sharing(t, "safe-2048-a", 2, 3)
	p, q := primesOf(t, "safe-2048-a")
	plainP, plainQ := primesOf(t, "plain-2048")
	with := func(n *big.Int, form Form) error {
		key := *d.key
		key.n, key.smax, key.arith = n, n, nil
		if form == FormInteger {
			key.form = form
			integerSharing(&key, factorial(3))
		}
		if key.check() == nil {
			key.vi = slices.Clone(key.vi)
			for i := range key.vi {
				key.vi[i] = new(big.Int).Exp(key.v, big.NewInt(int64(i+5)), n)
			}
		}
		x, err := key.finish()
		if err != nil {
			return err
		}
		return (&Dealing{key: x, commitments: d.commitments, trial: d.trial}).Verify()
	}
	mul := func(xs ...*big.Int) *big.Int {
		n := big.NewInt(1)
		for _, x := range xs {
			n.Mul(n, x)
		}
		return n
	}
	// A cofactor that makes 2048 bits with a factor 65521.
	cofactor := new(big.Int).Div(mul(p, q), big.NewInt(65521))
	for cofactor.SetBit(cofactor, 0, 1); new(big.Int).Mod(mul(cofactor, big.NewInt(65521)), big.NewInt(12)).Int64() != 1; {
		cofactor.Add(cofactor, big.NewInt(2))
	}
	shortP, shortQ := primesOf(t, "plain-1024")
	wide, _ := primesOf(t, "safe-8192")
	for _, c := range []struct {
		name, reason string
		n            *big.Int
		form         Form
	}{
		{"too short", "modulus of 1024 bits", mul(shortP, shortQ), FormInteger},
		{"too long", "modulus of", mul(wide, wide, p), FormModular},
		{"a square", "is a square", mul(p, p), FormModular},
		{"a factor 65521", "divisible by 65521", mul(cofactor, big.NewInt(65521)), FormModular},
		{"not 1 mod 12", "isn't a product of two safe primes", notOneMod12(mul(plainP, plainQ)), FormModular},
		{"zero", "modulus of 0 bits", new(big.Int), FormModular},
		{"one", "modulus of 1 bits", one, FormModular},
	} {
		if err := with(c.n, c.form); err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %v, want %q", c.name, err, c.reason)
		}
	}
	// The control: the right modulus comes to the equations.
	if err := with(mul(p, q), FormModular); err == nil || !strings.Contains(err.Error(), "verification key") {
		t.Errorf("the right modulus: %v", err)
	}
}

func notOneMod12(n *big.Int) *big.Int {
	if new(big.Int).Mod(n, big.NewInt(12)).Int64() == 1 {
		n.Add(n, big.NewInt(2))
	}
	return n
}

// An object cut off anywhere, or with anything behind it, is refused.
func TestTruncatedTranscripts(t *testing.T) {
	small(t)
	d, shares := sharing(t, "small-a", 2, 3)
	r := request(t, d.key, "truncated")
	for _, x := range []interface {
		encoding.BinaryMarshaler
		encoding.BinaryUnmarshaler
	}{d, d.key, shares[0], r, sign(t, r, shares[0])} {
		b, err := x.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		fresh := func() encoding.BinaryUnmarshaler {
			switch x.(type) {
			case *Dealing:
				return new(Dealing)
			case *PublicKey:
				return new(PublicKey)
			case *KeyShare:
				return new(KeyShare)
			case *Request:
				return new(Request)
			}
			return new(SignatureShare)
		}
		if err := fresh().UnmarshalBinary(b); err != nil {
			t.Fatalf("%T: %v", x, err)
		}
		for i := range b {
			if fresh().UnmarshalBinary(b[:i]) == nil {
				t.Errorf("%T: accepted with %d bytes of %d", x, i, len(b))
			}
		}
		for _, tail := range [][]byte{{0}, {1}, b, bytes.Repeat([]byte{0}, 100)} {
			if fresh().UnmarshalBinary(append(bytes.Clone(b), tail...)) == nil {
				t.Errorf("%T: accepted with %d bytes more", x, len(tail))
			}
		}
		if fresh().UnmarshalBinary(nil) == nil {
			t.Errorf("%T: accepted from nothing", x)
		}
	}
}

// flips calls f with the encoding of x after a change of each byte, or with
// UNDERSIGN_LONG=1 after nine changes of each.
func flips(t testing.TB, x encoding.BinaryMarshaler, f func(at string, b []byte)) {
	t.Helper()
	b, err := x.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		masks := []byte{1 << (i % 8)}
		if long() {
			masks = []byte{1, 2, 4, 8, 16, 32, 64, 128, 255}
		}
		for _, mask := range masks {
			c := bytes.Clone(b)
			c[i] ^= mask
			f(fmt.Sprintf("byte %d ^ %#x", i, mask), c)
		}
	}
}

// Every change of a byte of an object is refused by its decoder, or makes another
// object, which verifies nothing that the first one does.
func TestChangedBytes(t *testing.T) {
	small(t)
	d, shares := sharing(t, "small-a", 2, 3)
	p := d.key
	r := request(t, p, "changed")
	good := signAll(t, r, shares)
	canonical := func(at string, x encoding.BinaryMarshaler, b []byte) {
		t.Helper()
		if c, err := x.MarshalBinary(); err != nil || !bytes.Equal(b, c) {
			t.Errorf("%s: decodes to what encodes otherwise: %v", at, err)
		}
	}
	t.Run("SignatureShare", func(t *testing.T) {
		flips(t, good[0], func(at string, b []byte) {
			s := new(SignatureShare)
			if s.UnmarshalBinary(b) != nil {
				return
			}
			canonical(at, s, b)
			if err := p.VerifyShare(r, s); !errors.Is(err, ErrShare) {
				t.Errorf("%s: %v", at, err)
			}
			if sig, _, err := p.Combine(r, s, good[1], good[2]); err != nil {
				t.Errorf("%s: %v", at, err)
			} else {
				checkRaw(t, p, r, sig)
			}
		})
	})
	t.Run("Request", func(t *testing.T) {
		flips(t, r, func(at string, b []byte) {
			q := new(Request)
			if q.UnmarshalBinary(b) != nil {
				return
			}
			canonical(at, q, b)
			if q.ID() == r.ID() || q.Equal(r) {
				t.Errorf("%s: the same request", at)
			}
			if p.VerifyShare(q, good[0]) == nil {
				t.Errorf("%s: the share answers it", at)
			}
			if sig, _, err := p.Combine(q, good...); sig != nil || err == nil {
				t.Errorf("%s: combined", at)
			}
		})
	})
	t.Run("PublicKey", func(t *testing.T) {
		flips(t, p, func(at string, b []byte) {
			q := new(PublicKey)
			if q.UnmarshalBinary(b) != nil {
				return
			}
			canonical(at, q, b)
			if q.id == p.id || q.Equal(p) {
				t.Errorf("%s: the same record", at)
			}
			if q.VerifyShare(r, good[0]) == nil {
				t.Errorf("%s: the share belongs to it", at)
			}
			if sig, _, err := q.Combine(r, good...); sig != nil || err == nil {
				t.Errorf("%s: combined", at)
			}
		})
	})
	t.Run("KeyShare", func(t *testing.T) {
		flips(t, shares[0], func(at string, b []byte) {
			s := new(KeyShare)
			if s.UnmarshalBinary(b) != nil {
				return
			}
			canonical(at, s, b)
			if s.Equal(shares[0]) {
				t.Errorf("%s: the same share", at)
			}
			// The seed may be any, and five bits of an X25519 key don't count. All else does.
			if s.Check() == nil && s.key.id == p.id && s.seed == shares[0].seed && bytes.Equal(s.decryption, shares[0].decryption) {
				t.Errorf("%s: the share passes", at)
			}
			if s.key.id == p.id && s.index == 1 {
				return
			}
			if sig, err := s.Sign(r); err == nil && p.VerifyShare(r, sig) == nil {
				t.Errorf("%s: the share signs", at)
			}
		})
	})
	t.Run("Dealing", func(t *testing.T) {
		n := 0
		flips(t, d, func(at string, b []byte) {
			if n++; n%3 != 0 {
				return
			}
			q := new(Dealing)
			if q.UnmarshalBinary(b) != nil {
				return
			}
			canonical(at, q, b)
			if q.Verify() == nil {
				t.Errorf("%s: the transcript passes", at)
			}
		})
	})
}
