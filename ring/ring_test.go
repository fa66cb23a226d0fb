// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"filippo.io/edwards25519"

	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/edwards"
)

// newRingOf returns a ring, and the keys of its holders in its order.
func newRingOf(t testing.TB, g Group, n int) (*Ring, []*PrivateKey) {
	t.Helper()
	secret := make([]*PrivateKey, n)
	public := make([]*PublicKey, n)
	for i := range secret {
		var err error
		if secret[i], err = GenerateKey(g); err != nil {
			t.Fatal(err)
		}
		public[i] = secret[i].Public()
	}
	r, err := NewRing(public...)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(secret, func(a, b *PrivateKey) int { return bytes.Compare(a.pub.point, b.pub.point) })
	return r, secret
}

func sign(t testing.TB, k *PrivateKey, r *Ring, msg string, o *Options) *Signature {
	t.Helper()
	sig, err := k.Sign(r, []byte(msg), o)
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

func expand(t testing.TB, r *Ring, msg string, sig *Signature, o *Options) *Signature {
	t.Helper()
	x, err := r.Expand([]byte(msg), sig, o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func encode(t testing.TB, x interface{ MarshalBinary() ([]byte, error) }) []byte {
	t.Helper()
	b, err := x.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// eachGroup runs a test for all groups.
func eachGroup(t *testing.T, f func(t *testing.T, g Group)) {
	for _, g := range Groups() {
		t.Run(g.String(), func(t *testing.T) {
			t.Parallel()
			f(t, g)
		})
	}
}

// Whoever signs, the signature verifies, in both layouts and by both ways, and comes back
// from its encoding.
func TestSign(t *testing.T) {
	eachGroup(t, func(t *testing.T, g Group) {
		for _, n := range []int{2, 3, 4, 7, 33} {
			r, secret := newRingOf(t, g, n)
			for i, k := range secret {
				if i > 4 && i < n-1 {
					continue
				}
				o := &Options{Scope: []byte("vote"), AcrossRings: i%2 == 0}
				sig := sign(t, k, r, "message", o)
				wide := expand(t, r, "message", sig, o)
				for _, x := range []*Signature{sig, wide} {
					var back Signature
					if err := back.UnmarshalBinary(encode(t, x)); err != nil {
						t.Fatal(err)
					}
					if err := r.Verify([]byte("message"), &back, o); err != nil {
						t.Errorf("%d keys, holder %d, for batches %v: %v", n, i, back.ForBatch(), err)
					}
					if !bytes.Equal(encode(t, &back), encode(t, x)) {
						t.Error("another encoding comes back")
					}
					narrow, err := r.Compact([]byte("message"), &back, o)
					if err != nil || !bytes.Equal(encode(t, narrow), encode(t, sig)) {
						t.Errorf("another compact signature comes back: %v", err)
					}
				}
				image, err := k.Image(r, o)
				if err != nil || !bytes.Equal(image, sig.Image()) {
					t.Errorf("the key image is %x, and in the signature %x: %v", image, sig.Image(), err)
				}
			}
		}
	})
}

func TestLinking(t *testing.T) {
	eachGroup(t, func(t *testing.T, g Group) {
		r, secret := newRingOf(t, g, 3)
		public := []*PublicKey{secret[0].Public(), secret[1].Public()}
		other, err := NewRing(public...)
		if err != nil {
			t.Fatal(err)
		}
		type made struct {
			holder int
			ring   *Ring
			opts   Options
		}
		var list []made
		for holder := range 2 {
			for _, ring := range []*Ring{r, other} {
				for _, scope := range []string{"", "a", "b"} {
					for _, across := range []bool{false, true} {
						m := made{holder, ring, Options{[]byte(scope), across}}
						list = append(list, m, m)
					}
				}
			}
		}
		sigs := make([]*Signature, len(list))
		for i, m := range list {
			sigs[i] = sign(t, secret[m.holder], m.ring, fmt.Sprint(i), &m.opts)
		}
		for i, a := range list {
			for j, b := range list {
				want := a.holder == b.holder && bytes.Equal(a.opts.Scope, b.opts.Scope) && a.opts.AcrossRings == b.opts.AcrossRings &&
					(a.ring == b.ring || a.opts.AcrossRings)
				if got := Linked(sigs[i], sigs[j]); got != want {
					t.Errorf("holder %d in %d keys, %+v, and holder %d in %d keys, %+v: linked %v",
						a.holder, a.ring.Len(), a.opts, b.holder, b.ring.Len(), b.opts, got)
				}
			}
		}
	})
}

// A signature is for its message, scope, kind of scope and ring alone.
func TestBinding(t *testing.T) {
	eachGroup(t, func(t *testing.T, g Group) {
		r, secret := newRingOf(t, g, 3)
		same, _ := NewRing(r.Key(2), r.Key(0), r.Key(1))
		smaller, _ := NewRing(r.Key(0), r.Key(1))
		larger, _ := newRingOf(t, g, 3)
		o := Options{Scope: []byte("scope")}
		sig := sign(t, secret[1], r, "message", &o)
		if err := same.Verify([]byte("message"), sig, &o); err != nil {
			t.Errorf("the keys in another order: %v", err)
		}
		for _, sig := range []*Signature{sig, expand(t, r, "message", sig, &o)} {
			for name, err := range map[string]error{
				"message":      r.Verify([]byte("massage"), sig, &o),
				"no message":   r.Verify(nil, sig, &o),
				"scope":        r.Verify([]byte("message"), sig, &Options{Scope: []byte("scop")}),
				"no scope":     r.Verify([]byte("message"), sig, nil),
				"kind":         r.Verify([]byte("message"), sig, &Options{Scope: o.Scope, AcrossRings: true}),
				"smaller ring": smaller.Verify([]byte("message"), sig, &o),
				"other ring":   larger.Verify([]byte("message"), sig, &o),
			} {
				if !errors.Is(err, ErrSignature) {
					t.Errorf("another %s: %v", name, err)
				}
			}
		}
	})
}

// No changed byte of an encoding is accepted.
func TestFlips(t *testing.T) {
	eachGroup(t, func(t *testing.T, g Group) {
		r, secret := newRingOf(t, g, 2)
		sig := sign(t, secret[0], r, "message", nil)
		for _, sig := range []*Signature{sig, expand(t, r, "message", sig, nil)} {
			data := encode(t, sig)
			for i := range data {
				for _, mask := range []byte{1, 0x80} {
					b := bytes.Clone(data)
					b[i] ^= mask
					x := new(Signature)
					if err := x.UnmarshalBinary(b); err != nil {
						if !errors.Is(err, ErrSignature) {
							t.Errorf("byte %d: %v", i, err)
						}
						continue
					}
					if r.Verify([]byte("message"), x, nil) == nil {
						t.Errorf("byte %d of %d with %#x is valid", i, len(data), mask)
					}
				}
			}
			for _, b := range [][]byte{nil, data[:len(data)-1], append(bytes.Clone(data), 0), data[:40]} {
				if err := new(Signature).UnmarshalBinary(b); !errors.Is(err, ErrSignature) {
					t.Errorf("%d bytes: %v", len(b), err)
				}
			}
		}
	})
}

// order is each group's, in the byte order of its scalars.
func order(g Group) []byte {
	e := groups[g]
	var one scalar
	if g == Ristretto255 {
		one[0] = 1
	} else {
		one[scalarSize-1] = 1
	}
	var minus scalar
	switch e := e.(type) {
	case *lsag[edwards25519.Point]:
		minus = *e.neg(&one)
		minus[0]++ // of -1, an even number
	case *lsag[bls12381.G1]:
		minus = *e.neg(&one)
		minus[scalarSize-1]++
	}
	return minus[:]
}

func TestScalarsAreCanonical(t *testing.T) {
	eachGroup(t, func(t *testing.T, g Group) {
		n := order(g)
		e := groups[g]
		if e.checkScalar(n) == nil || e.checkScalar(bytes.Repeat([]byte{0xff}, scalarSize)) == nil || e.checkScalar(n[:31]) == nil {
			t.Error("the order is a scalar")
		}
		if err := e.checkScalar(make([]byte, scalarSize)); err != nil {
			t.Error(err)
		}
		r, secret := newRingOf(t, g, 2)
		data := encode(t, sign(t, secret[0], r, "message", nil))
		for _, at := range []int{len(data) - 32, len(data) - 64, len(data) - 96} { // s_1, s_0, c_0
			b := bytes.Clone(data)
			copy(b[at:], n)
			if err := new(Signature).UnmarshalBinary(b); !errors.Is(err, ErrSignature) {
				t.Errorf("the order at %d: %v", at, err)
			}
		}
		private := encode(t, secret[0])
		for _, secret := range [][]byte{n, make([]byte, scalarSize)} {
			if err := new(PrivateKey).UnmarshalBinary(append(bytes.Clone(private[:2]), secret...)); err == nil {
				t.Errorf("the secret %x was decoded", secret)
			}
		}
	})
}

// badPoints are not encodings of points other than the identity.
func badPoints(t *testing.T, g Group) map[string][]byte {
	if g == Ristretto255 {
		negative := bytes.Clone(groups[g].publicKey(groups[g].newSecret()))
		negative[0] |= 1
		noSquare := make([]byte, 32) // an even number that no element has
		for {
			noSquare[0] += 2
			if _, err := edwards.DecodeRistretto(noSquare); err != nil {
				break
			}
		}
		return map[string][]byte{
			"identity":      make([]byte, 32),
			"negative":      negative,
			"not canonical": append([]byte{0xed}, append(bytes.Repeat([]byte{0xff}, 30), 0x7f)...),
			"no square":     noSquare,
		}
	}
	// (0, 2) has order 3: outside the subgroup.
	outside := make([]byte, bls12381.G1Size)
	outside[0] = 0x80
	identity := make([]byte, bls12381.G1Size)
	identity[0] = 0xc0
	uncompressed := bytes.Clone(groups[g].publicKey(groups[g].newSecret()))
	uncompressed[0] &^= 0x80
	large := bytes.Repeat([]byte{0xff}, bls12381.G1Size)
	large[0] = 0x9f
	return map[string][]byte{"identity": identity, "outside": outside, "no flag": uncompressed, "not canonical": large}
}

// No field takes the identity, or what is no canonical encoding of a group's element.
func TestBadPoints(t *testing.T) {
	eachGroup(t, func(t *testing.T, g Group) {
		r, secret := newRingOf(t, g, 2)
		size := groups[g].pointSize()
		sig := sign(t, secret[0], r, "message", nil)
		narrow, wide := encode(t, sig), encode(t, expand(t, r, "message", sig, nil))
		ring, key := encode(t, r), encode(t, r.Key(0))
		for name, bad := range badPoints(t, g) {
			with := func(data []byte, at int) []byte {
				b := bytes.Clone(data)
				copy(b[at:], bad)
				return b
			}
			for field, err := range map[string]error{
				"image":         new(Signature).UnmarshalBinary(with(narrow, 39)),
				"image, batch":  new(Signature).UnmarshalBinary(with(wide, 39)),
				"L_0":           new(Signature).UnmarshalBinary(with(wide, 39+size)),
				"R_1":           new(Signature).UnmarshalBinary(with(wide, 39+4*size)),
				"first of ring": new(Ring).UnmarshalBinary(with(ring, 6)),
				"last of ring":  new(Ring).UnmarshalBinary(with(ring, 6+size)),
				"key":           new(PublicKey).UnmarshalBinary(with(key, 2)),
			} {
				if err == nil {
					t.Errorf("%s as %s was decoded", name, field)
				}
			}
		}
	})
}

func TestNewRing(t *testing.T) {
	r, _ := newRingOf(t, Ristretto255, 3)
	other, _ := newRingOf(t, BLS12381G1, 2)
	for name, list := range map[string][]*PublicKey{
		"none":       nil,
		"one":        {r.Key(0)},
		"twice":      {r.Key(0), r.Key(1), r.Key(0)},
		"two groups": {r.Key(0), other.Key(0)},
		"nil":        {r.Key(0), nil},
		"zero":       {r.Key(0), new(PublicKey)},
		"too many":   make([]*PublicKey, MaxKeys+1),
	} {
		if _, err := NewRing(list...); err == nil {
			t.Errorf("%s: a ring was made", name)
		}
	}
	data := encode(t, r)
	swapped := slices.Concat(data[:6], data[38:70], data[6:38], data[70:])
	twice := slices.Concat(data[:6], data[6:38], data[6:38], data[70:])
	count := bytes.Clone(data)
	count[2] = 0xff
	one := slices.Concat(data[:5], []byte{1}, data[6:38])
	for name, b := range map[string][]byte{
		"swapped": swapped, "twice": twice, "count": count, "one": one, "short": data[:len(data)-1], "long": append(bytes.Clone(data), 0),
		"empty": nil, "version": append([]byte{2}, data[1:]...), "group": append([]byte{1, 3}, data[2:]...), "other group": append([]byte{1, 2}, data[2:]...),
	} {
		if err := new(Ring).UnmarshalBinary(b); err == nil {
			t.Errorf("%s: a ring was decoded", name)
		}
	}
	var back Ring
	if err := back.UnmarshalBinary(data); err != nil || !back.Equal(r) || back.String() != r.String() || back.Group() != r.Group() {
		t.Errorf("another ring comes back: %v", err)
	}
}

// Who holds none of the keys can't sign, nor with a key of the other group.
func TestStrangers(t *testing.T) {
	eachGroup(t, func(t *testing.T, g Group) {
		r, _ := newRingOf(t, g, 3)
		for _, group := range Groups() {
			k, _ := GenerateKey(group)
			if _, err := k.Sign(r, []byte("message"), nil); err == nil {
				t.Errorf("a stranger's key of %s signs", group)
			}
			if _, err := k.Image(r, nil); err == nil {
				t.Errorf("a stranger's key of %s has an image", group)
			}
		}
		// Past the check of membership too.
		k, _ := GenerateKey(g)
		st := r.statement(nil)
		sig := r.keys.sign(&k.secret, k.pub.point, st)
		if r.Verify(nil, sig, nil) == nil {
			t.Error("a stranger's signature is valid")
		}
		// Nor under another holder's key image.
		r2, secret := newRingOf(t, g, 3)
		good := sign(t, secret[0], r2, "message", nil)
		other := sign(t, secret[1], r2, "message", nil)
		swapped := *good
		swapped.image = other.image
		if r2.Verify([]byte("message"), &swapped, nil) == nil {
			t.Error("a signature is valid under another key image")
		}
	})
}

// Zero values and nil give errors, and nothing panics.
func TestZeroValues(t *testing.T) {
	r, secret := newRingOf(t, Ristretto255, 2)
	sig := sign(t, secret[0], r, "message", nil)
	var noRing Ring
	var noKey PrivateKey
	var noSig Signature
	for name, f := range map[string]func() error{
		"zero ring":       func() error { return noRing.Verify(nil, sig, nil) },
		"nil ring":        func() error { return (*Ring)(nil).Verify(nil, sig, nil) },
		"zero signature":  func() error { return r.Verify(nil, &noSig, nil) },
		"nil signature":   func() error { return r.Verify(nil, nil, nil) },
		"zero key":        func() error { _, err := noKey.Sign(r, nil, nil); return err },
		"nil key":         func() error { _, err := (*PrivateKey)(nil).Sign(r, nil, nil); return err },
		"in zero ring":    func() error { _, err := secret[0].Sign(&noRing, nil, nil); return err },
		"in nil ring":     func() error { _, err := secret[0].Sign(nil, nil, nil); return err },
		"image":           func() error { _, err := noKey.Image(r, nil); return err },
		"expand":          func() error { _, err := r.Expand(nil, &noSig, nil); return err },
		"expand invalid":  func() error { _, err := r.Expand([]byte("other"), sig, nil); return err },
		"compact":         func() error { _, err := noRing.Compact(nil, sig, nil); return err },
		"marshal ring":    func() error { _, err := noRing.MarshalBinary(); return err },
		"marshal key":     func() error { _, err := noKey.MarshalBinary(); return err },
		"marshal nil key": func() error { _, err := (*PrivateKey)(nil).MarshalBinary(); return err },
		"marshal public":  func() error { _, err := new(PublicKey).MarshalBinary(); return err },
		"marshal nil sig": func() error { _, err := (*Signature)(nil).MarshalBinary(); return err },
		"marshal sig":     func() error { _, err := noSig.MarshalBinary(); return err },
		"batch":           func() error { b := noRing.Batch(nil); b.Add(nil, sig); return b.Verify() },
		"batch of nil":    func() error { b := r.Batch(nil); b.Add(nil, nil); b.Add(nil, &noSig); return b.Verify() },
		"zero batch":      func() error { return new(Batch).Verify() },
		"generate":        func() error { _, err := GenerateKey(3); return err },
		"parse group":     func() error { _, err := ParseGroup("curve25519"); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if Linked(&noSig, &noSig) || noKey.Equal(nil) || noRing.Equal(nil) || new(PublicKey).Equal(nil) || noRing.Contains(r.Key(0)) || r.Contains(nil) {
		t.Error("zero values are equal to something")
	}
	if err := r.Batch(nil).Verify(); err != nil {
		t.Errorf("an empty batch: %v", err)
	}
	(*PrivateKey)(nil).Wipe()
	_ = noKey.String() + noRing.String() + new(PublicKey).String() + Group(9).String()
}

func TestSecretsArentPrinted(t *testing.T) {
	eachGroup(t, func(t *testing.T, g Group) {
		k, _ := GenerateKey(g)
		raw := encode(t, k)
		secret := fmt.Sprintf("%x", raw[2:])
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
			for _, out := range []string{fmt.Sprintf(verb, k), fmt.Sprintf(verb, *k)} {
				if strings.Contains(out, secret[:16]) || !strings.Contains(out, g.String()) {
					t.Errorf("%s prints %s", verb, out)
				}
			}
		}
		var back PrivateKey
		if err := back.UnmarshalBinary(raw); err != nil || !back.Equal(k) || !back.Public().Equal(k.Public()) {
			t.Errorf("another key comes back: %v", err)
		}
		k.Wipe()
		if !bytes.Equal(k.secret[:], make([]byte, scalarSize)) || k.Group() != 0 {
			t.Error("the key is still there")
		}
		if _, err := k.MarshalBinary(); err == nil {
			t.Error("a wiped key was encoded")
		}
	})
}

// A ring of 1024 signs and verifies, whoever signs.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	for _, g := range Groups() {
		r, secret := newRingOf(t, g, 1024)
		for _, i := range []int{0, 511, 1023} {
			if i != 511 && g != Ristretto255 {
				continue
			}
			sig := sign(t, secret[i], r, "message", nil)
			if err := r.Verify([]byte("message"), sig, nil); err != nil {
				t.Errorf("%s, holder %d: %v", g, i, err)
			}
			if n := len(encode(t, sig)); g == Ristretto255 && n != 32871 {
				t.Errorf("%d bytes", n)
			}
			runtime.GC()
		}
	}
}
