// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package zip215

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"filippo.io/edwards25519"
	"github.com/hdevalence/ed25519consensus"
)

// A signed message.
type signed struct {
	key, msg, sig []byte
}

func newSigned(t testing.TB, i int) signed {
	t.Helper()
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], uint64(i)+1)
	priv := ed25519.NewKeyFromSeed(seed[:])
	msg := fmt.Appendf(nil, "message %d", i)
	return signed{priv.Public().(ed25519.PublicKey), msg, ed25519.Sign(priv, msg)}
}

func newList(t testing.TB, n int) []signed {
	list := make([]signed, n)
	for i := range list {
		list[i] = newSigned(t, i)
	}
	return list
}

// verify returns the verdict on one signature: of Verify, or of reading the key.
func (s signed) verify() error {
	k, err := NewKey(s.key)
	if err != nil {
		return err
	}
	return k.Verify(s.msg, s.sig)
}

func batchOf(list []signed) *Batch {
	b := NewBatch(len(list))
	for _, s := range list {
		k, _ := NewKey(s.key) // nil if it can't be read
		b.Add(k, s.msg, s.sig)
	}
	return b
}

// torsion returns the encodings of the points of small order, those that aren't
// canonical included: 14, of which 8 are canonical.
func torsion(t *testing.T) [][]byte {
	t.Helper()
	// A point of order 8 is what remains of some point if it is multiplied by the
	// order of the group, in two steps as that is 0 as a scalar.
	minusOne := new(edwards25519.Scalar).Negate(scalar(1))
	var p8 *edwards25519.Point
	for y := byte(2); ; y++ {
		p, err := new(edwards25519.Point).SetBytes(append([]byte{y}, make([]byte, 31)...))
		if err != nil {
			continue
		}
		q := new(edwards25519.Point).ScalarMult(minusOne, p)
		q.Add(q, p)
		if four := mult(q, 4); four.Equal(edwards25519.NewIdentityPoint()) != 1 {
			p8 = q
			break
		}
	}
	var list [][]byte
	for i := range 8 {
		list = append(list, mult(p8, i).Bytes())
	}
	// Other encodings: y + p if that is less than 2^255, and a sign of x = 0.
	p := slices.Repeat([]byte{0xff}, 32)
	p[0], p[31] = 0xed, 0x7f
	for _, enc := range slices.Clone(list) {
		sign := enc[31] & 0x80
		y := bytes.Clone(enc)
		y[31] &= 0x7f
		forms := [][]byte{y}
		if y[0] < 19 && bytes.Equal(y[1:], make([]byte, 31)) {
			more := bytes.Clone(p)
			more[0] += y[0]
			forms = append(forms, more)
		}
		for _, form := range forms {
			for _, s := range []byte{0, 0x80} {
				enc2 := bytes.Clone(form)
				enc2[31] |= s
				q, err := new(edwards25519.Point).SetBytes(enc2)
				if err != nil {
					continue
				}
				orig, err := new(edwards25519.Point).SetBytes(enc)
				if err != nil {
					t.Fatal(err)
				}
				known := slices.ContainsFunc(list, func(e []byte) bool { return bytes.Equal(e, enc2) })
				if s == sign || q.Equal(orig) == 1 {
					if !known {
						list = append(list, enc2)
					}
				}
			}
		}
	}
	return list
}

func scalar(v byte) *edwards25519.Scalar {
	s, _ := new(edwards25519.Scalar).SetCanonicalBytes(append([]byte{v}, make([]byte, 31)...))
	return s
}

func mult(p *edwards25519.Point, n int) *edwards25519.Point {
	q := edwards25519.NewIdentityPoint()
	for range n {
		q.Add(q, p)
	}
	return q
}

// TestSmallOrder is the 196 cases of ZIP-215: keys and R of small order, s = 0. All are
// valid, whatever the message.
func TestSmallOrder(t *testing.T) {
	points := torsion(t)
	if len(points) != 14 {
		t.Fatalf("%d encodings of points of small order, not 14", len(points))
	}
	var all []signed
	for _, a := range points {
		for _, r := range points {
			s := signed{a, []byte("Zcash"), append(bytes.Clone(r), make([]byte, 32)...)}
			if err := s.verify(); err != nil {
				t.Errorf("A %x, R %x: %v", a, r, err)
			}
			if !ed25519consensus.Verify(s.key, s.msg, s.sig) {
				t.Errorf("A %x, R %x: the oracle refuses", a, r)
			}
			if bad := batchOf([]signed{s, newSigned(t, 1)}).Verify(); bad != nil {
				t.Errorf("A %x, R %x: in a batch: %v", a, r, bad)
			}
			all = append(all, s)
		}
		if err := CheckRegistration(a); !errors.Is(err, ErrKey) {
			t.Errorf("%x may be registered: %v", a, err)
		}
	}
	if bad := batchOf(all).Verify(); bad != nil {
		t.Errorf("all in a batch: %v", bad)
	}
	// With s = 1 none is valid.
	for i := range all {
		all[i].sig[32] = 1
	}
	if bad := batchOf(all).Verify(); len(bad) != len(all) {
		t.Errorf("%d of %d bad", len(bad), len(all))
	}
}

// A mixed key or R, with a part of small order, is valid too, though its signature
// doesn't satisfy the equation without the cofactor.
func TestMixedOrder(t *testing.T) {
	points := torsion(t)
	var seed [32]byte
	h := sha512.Sum512(seed[:])
	a, _ := new(edwards25519.Scalar).SetBytesWithClamping(h[:32])
	for i, small := range points[:8] {
		for j, other := range points[:8] {
			p, _ := new(edwards25519.Point).SetBytes(small)
			q, _ := new(edwards25519.Point).SetBytes(other)
			key := p.Add(p, new(edwards25519.Point).ScalarBaseMult(a)).Bytes()
			r := scalar(7)
			enc := q.Add(q, new(edwards25519.Point).ScalarBaseMult(r)).Bytes()
			msg := []byte("mixed")
			sum := sha512.Sum512(slices.Concat(enc, key, msg))
			k, _ := new(edwards25519.Scalar).SetUniformBytes(sum[:])
			s := signed{key, msg, append(enc, new(edwards25519.Scalar).MultiplyAdd(k, a, r).Bytes()...)}
			if err := s.verify(); err != nil {
				t.Errorf("%d, %d: %v", i, j, err)
			}
			if bad := batchOf([]signed{newSigned(t, 1), s}).Verify(); bad != nil {
				t.Errorf("%d, %d: in a batch: %v", i, j, bad)
			}
			if err := CheckRegistration(key); err != nil {
				t.Errorf("%d: %v", i, err)
			}
			s.sig[40] ^= 1
			if s.verify() == nil || batchOf([]signed{newSigned(t, 1), s}).Verify() == nil {
				t.Errorf("%d, %d: forged", i, j)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	good := newSigned(t, 0)
	order := []byte{
		0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
	}
	noPoint := append([]byte{2}, make([]byte, 31)...)
	larger := bytes.Clone(good.sig) // s + order
	carry := 0
	for i := range order {
		carry += int(larger[32+i]) + int(order[i])
		larger[32+i] = byte(carry)
		carry >>= 8
	}
	flip := func(b []byte, bit int) []byte {
		b = bytes.Clone(b)
		b[bit/8] ^= 1 << (bit % 8)
		return b
	}
	cases := map[string]signed{
		"other message":      {good.key, []byte("other"), good.sig},
		"other key":          {newSigned(t, 1).key, good.msg, good.sig},
		"R":                  {good.key, good.msg, flip(good.sig, 1)},
		"sign of R":          {good.key, good.msg, flip(good.sig, 255)},
		"s":                  {good.key, good.msg, flip(good.sig, 256)},
		"s not reduced":      {good.key, good.msg, larger},
		"s is the order":     {good.key, good.msg, append(bytes.Clone(good.sig[:32]), order...)},
		"R no point":         {good.key, good.msg, append(bytes.Clone(noPoint), good.sig[32:]...)},
		"sign of key":        {flip(good.key, 255), good.msg, good.sig},
		"key no point":       {noPoint, good.msg, good.sig},
		"short key":          {good.key[:31], good.msg, good.sig},
		"long key":           {append(bytes.Clone(good.key), 0), good.msg, good.sig},
		"no key":             {nil, good.msg, good.sig},
		"short":              {good.key, good.msg, good.sig[:63]},
		"long":               {good.key, good.msg, append(bytes.Clone(good.sig), 0)},
		"none":               {good.key, good.msg, nil},
		"zeros":              {good.key, good.msg, make([]byte, 64)},
		"of the key negated": {good.key, good.msg, append(flip(good.sig[:32], 255), good.sig[32:]...)},
	}
	for name, s := range cases {
		if s.verify() == nil {
			t.Errorf("%s: accepted", name)
		}
		if bad := batchOf([]signed{good, s, good}).Verify(); !slices.Equal(bad, []int{1}) {
			t.Errorf("%s: in a batch: %v", name, bad)
		}
		if bad := batchOf([]signed{s}).Verify(); !slices.Equal(bad, []int{0}) {
			t.Errorf("%s: alone in a batch: %v", name, bad)
		}
	}
	for _, k := range [][]byte{nil, good.key[:31], noPoint} {
		if !errors.Is(CheckRegistration(k), ErrKey) {
			t.Errorf("%x may be registered", k)
		}
	}
	if err := CheckRegistration(good.key); err != nil {
		t.Error(err)
	}
	// y = p + 3 is a point of large order in another encoding.
	for y := byte(2); y < 19; y++ {
		enc := slices.Repeat([]byte{0xff}, 32)
		enc[0], enc[31] = 0xed+y, 0x7f
		if err := CheckRegistration(enc); !errors.Is(err, ErrKey) {
			t.Errorf("%x may be registered: %v", enc, err)
		}
	}
}

// Errors of two signatures that cancel without weights don't with them.
func TestOffsetErrors(t *testing.T) {
	a, b := newSigned(t, 1), newSigned(t, 2)
	s, _ := new(edwards25519.Scalar).SetCanonicalBytes(a.sig[32:])
	u, _ := new(edwards25519.Scalar).SetCanonicalBytes(b.sig[32:])
	copy(a.sig[32:], s.Add(s, scalar(1)).Bytes())
	copy(b.sig[32:], u.Subtract(u, scalar(1)).Bytes())
	if bad := batchOf([]signed{a, b}).Verify(); !slices.Equal(bad, []int{0, 1}) {
		t.Error(bad)
	}
}

// Batches of all sizes find what is bad in them, and single verification and the oracle
// come to the same verdict.
func TestBatch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	list := newList(t, 1100)
	for _, n := range []int{0, 1, 2, 3, 15, 16, 17, 40, 70, 200, 600, 1100} {
		for _, share := range []float64{0, 0.002, 0.1, 1} {
			var want []int
			set := slices.Clone(list[:n])
			for i := range set {
				if r.Float64() >= share && (share != 0.002 || i != n/2) {
					continue
				}
				want = append(want, i)
				set[i].sig = bytes.Clone(set[i].sig)
				set[i].sig[r.IntN(64)] ^= 1 << r.IntN(8)
				if set[i].verify() == nil || ed25519consensus.Verify(set[i].key, set[i].msg, set[i].sig) {
					t.Fatal("a changed signature is valid")
				}
			}
			if got := batchOf(set).Verify(); !slices.Equal(got, want) {
				t.Errorf("%d signatures: bad are %v, not %v", n, got, want)
			}
		}
	}
}

func TestKeyBytes(t *testing.T) {
	for i, enc := range append(torsion(t), newSigned(t, 0).key) {
		k, err := NewKey(enc)
		if err != nil {
			t.Fatal(err)
		}
		if got := k.Bytes(); !bytes.Equal(got[:], enc) {
			t.Errorf("%d: %x, not %x", i, got, enc)
		}
	}
}

// FuzzVerify compares with the oracle.
func FuzzVerify(f *testing.F) {
	s := newSigned(f, 0)
	f.Add(s.key, s.msg, s.sig)
	f.Add(make([]byte, 32), []byte{}, make([]byte, 64))
	other := newSigned(f, 1)
	f.Fuzz(func(t *testing.T, key, msg, sig []byte) {
		s := signed{key, msg, sig}
		want := len(key) == 32 && ed25519consensus.Verify(key, msg, sig)
		if got := s.verify() == nil; got != want {
			t.Errorf("valid: %v, and by the oracle %v", got, want)
		}
		if bad := batchOf([]signed{other, s}).Verify(); (bad == nil) != want {
			t.Errorf("bad in a batch: %v, and valid by the oracle: %v", bad, want)
		}
	})
}

func BenchmarkBatch(b *testing.B) {
	for _, n := range []int{2, 8, 16, 32, 64, 100, 256, 1000, 4096, 16384} {
		list := newList(b, n)
		keys := make([]*Key, n)
		for i, s := range list {
			keys[i], _ = NewKey(s.key)
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				batch := NewBatch(n)
				for i, s := range list {
					batch.Add(keys[i], s.msg, s.sig)
				}
				if batch.Verify() != nil {
					b.Fatal("bad")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "us/sig")
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	s := newSigned(b, 0)
	k, _ := NewKey(s.key)
	for b.Loop() {
		if k.Verify(s.msg, s.sig) != nil {
			b.Fatal("bad")
		}
	}
}
