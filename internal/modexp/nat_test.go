// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"bytes"
	"math/big"
	"testing"
)

func TestNat(t *testing.T) {
	r := newRand(t)
	for range 2000 {
		xl, yl := r.IntN(6), r.IntN(6)
		ps := limbPatterns(r, 6)
		x, y := Nat(ps[r.IntN(len(ps))][:xl]), Nat(ps[r.IntN(len(ps))][:yl])
		bx, by := toBig(x), toBig(y)
		l := max(xl, yl) + r.IntN(2)
		width := pow2(64 * l)

		z := make(Nat, l)
		carry := z.Add(x, y)
		sum := new(big.Int).Add(bx, by)
		check(t, "Add", new(big.Int).Add(toBig(z), new(big.Int).Mul(width, new(big.Int).SetUint64(carry))), sum)

		borrow := z.Sub(x, y)
		diff := new(big.Int).Sub(bx, by)
		check(t, "Sub", new(big.Int).Sub(toBig(z), new(big.Int).Mul(width, new(big.Int).SetUint64(borrow))), diff)

		if got, want := x.Less(y) == 1, bx.Cmp(by) < 0; got != want {
			t.Fatalf("Less(%x, %x) = %v", x, y, got)
		}
		if got, want := x.Equal(y) == 1, bx.Cmp(by) == 0; got != want {
			t.Fatalf("Equal(%x, %x) = %v", x, y, got)
		}

		pl := r.IntN(xl + yl + 2)
		p := make(Nat, pl)
		for i := range p {
			p[i] = r.Uint64()
		}
		p.Mul(x, y)
		want := new(big.Int).Mul(bx, by)
		check(t, "Mul", toBig(p), want.Mod(want, pow2(64*pl)))

		for i := range 400 {
			if got, want := x.bit(i), uint64(bx.Bit(i)); got != want {
				t.Fatalf("bit(%d) of %x = %d", i, x, got)
			}
		}
		i, w := r.IntN(400), 1+r.IntN(32)
		v := new(big.Int).Rsh(bx, uint(i))
		if got := x.window(i, w); got != v.Mod(v, pow2(w)).Uint64() {
			t.Fatalf("window(%d, %d) of %x = %x", i, w, x, got)
		}
	}
}

func TestNatAliasing(t *testing.T) {
	x, y := Nat{1<<64 - 1, 7}, Nat{3}
	z := append(Nat(nil), x...)
	if c := z.Add(z, y); c != 0 || z[0] != 2 || z[1] != 8 {
		t.Errorf("z += y: %x", z)
	}
	if b := z.Sub(z, y); b != 0 || z.Equal(x) != 1 {
		t.Errorf("z -= y: %x", z)
	}
	if c := z.Add(z, z); c != 0 || z[0] != 1<<64-2 || z[1] != 15 {
		t.Errorf("z += z: %x", z)
	}
	z.Wipe()
	if z.Equal(nil) != 1 {
		t.Errorf("Wipe left %x", z)
	}
}

func TestNatBytes(t *testing.T) {
	for _, c := range []struct {
		limbs int
		in    string
		ok    bool
	}{
		{0, "", true}, {0, "\x00\x00", true}, {0, "\x01", false},
		{1, "\x01\x02", true}, {1, "\xff\xff\xff\xff\xff\xff\xff\xff", true},
		{1, "\x00\xff\xff\xff\xff\xff\xff\xff\xff", true},
		{1, "\x01\xff\xff\xff\xff\xff\xff\xff\xff", false},
		{2, "\x01\xff\xff\xff\xff\xff\xff\xff\xff", true},
	} {
		z := make(Nat, c.limbs)
		for i := range z {
			z[i] = 5
		}
		err := z.SetBytes([]byte(c.in))
		if (err == nil) != c.ok {
			t.Errorf("SetBytes(%x) to %d limbs: %v", c.in, c.limbs, err)
		}
		want := new(big.Int)
		if c.ok {
			want.SetBytes([]byte(c.in))
		}
		check(t, "SetBytes", toBig(z), want)
	}

	x := Nat{0x0102030405060708, 0x090a}
	for n, want := range map[int]string{
		10: "\x09\x0a\x01\x02\x03\x04\x05\x06\x07\x08",
		12: "\x00\x00\x09\x0a\x01\x02\x03\x04\x05\x06\x07\x08",
		20: "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x09\x0a\x01\x02\x03\x04\x05\x06\x07\x08",
		9:  "",
		0:  "",
	} {
		buf := bytes.Repeat([]byte{0xee}, n)
		err := x.FillBytes(buf)
		if want == "" {
			if err == nil || bytes.Contains(buf, []byte{0x0a}) {
				t.Errorf("FillBytes to %d bytes: %v, %x", n, err, buf)
			}
			continue
		}
		if err != nil || string(buf) != want {
			t.Errorf("FillBytes to %d bytes: %v, %x", n, err, buf)
		}
	}
}

// A destination that is too narrow is the caller's mistake.
func TestNatNarrow(t *testing.T) {
	for name, f := range map[string]func(){
		"Add": func() { make(Nat, 1).Add(make(Nat, 2), nil) },
		"Sub": func() { make(Nat, 1).Sub(nil, make(Nat, 2)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func FuzzNat(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{4, 5}, uint8(1))
	f.Fuzz(func(t *testing.T, xb, yb []byte, limbs uint8) {
		x, y := NewNat(8*len(xb)), NewNat(8*len(yb))
		if x.SetBytes(xb) != nil || y.SetBytes(yb) != nil {
			t.Fatal("SetBytes")
		}
		bx, by := new(big.Int).SetBytes(xb), new(big.Int).SetBytes(yb)
		z := make(Nat, limbs)
		z.Mul(x, y)
		want := new(big.Int).Mul(bx, by)
		check(t, "Mul", toBig(z), want.Mod(want, pow2(64*len(z))))
		if got, want := x.Less(y) == 1, bx.Cmp(by) < 0; got != want {
			t.Fatal("Less")
		}
		if err := z.SetBytes(xb); (err == nil) != (bx.BitLen() <= 64*len(z)) {
			t.Fatalf("SetBytes: %v", err)
		}
		buf := make([]byte, limbs)
		if err := x.FillBytes(buf); (err == nil) != (bx.BitLen() <= 8*len(buf)) {
			t.Fatalf("FillBytes: %v", err)
		} else if err == nil && !bytes.Equal(buf, bx.FillBytes(make([]byte, len(buf)))) {
			t.Fatalf("FillBytes: %x", buf)
		}
	})
}
