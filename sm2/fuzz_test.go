// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 gmsm's keys and points have no other arithmetic, and tests need bad ones.

package sm2

import (
	"math/big"
	"slices"
	"testing"

	"github.com/undersign/undersign/internal/sm2ec"
)

// FuzzDER holds the DER parser's verdicts against gmsm's. A good signature is among the
// seeds, so that changes of it are tried.
func FuzzDER(f *testing.F) {
	// The key 1: whoever reads this knows it.
	p := pt{curve.Params().Gx, curve.Params().Gy}
	digest, r, _ := craft(p, big.NewInt(5), big.NewInt(1<<40))
	good := derOf(r, big.NewInt(5))
	digest2, r2, _ := craft(p, sub(bigN, big.NewInt(9)), big.NewInt(3))
	f.Add(good, digest)
	f.Add(derOf(r2, sub(bigN, big.NewInt(9))), digest2)
	f.Add(derOf(new(big.Int).Neg(r), big.NewInt(5)), digest)
	f.Add(derOf(new(big.Int).Add(r, bigN), big.NewInt(5)), digest)
	f.Add(append(slices.Clone(good), 0), digest)
	f.Add([]byte{0x30, 0x81, 0x06, 2, 1, 1, 2, 1, 1}, []byte{})
	f.Fuzz(func(t *testing.T, sig, digest []byte) {
		if digest == nil {
			digest = []byte{}
		}
		b := NewBatch(&Options{Cache: NewCache(0), Workers: 1})
		b.AddDigest(p.public(), digest, sig)
		if got, want := b.Verify() == nil, oracle(p.public(), digest, sig); got != want {
			t.Errorf("valid is %v, and %v to gmsm", got, want)
		}
		if z, _, bad := DER.parse(sig); bad == 0 && !slices.Equal(z.appendDER(nil), sig) {
			t.Errorf("%x is read, and written %x", sig, z.appendDER(nil))
		}
	})
}

// FuzzEncodings feeds the other parsers, which must be canonical.
func FuzzEncodings(f *testing.F) {
	f.Add(make([]byte, 64))
	f.Add(make([]byte, 128))
	f.Add(slices.Repeat([]byte{0xff}, 128))
	f.Fuzz(func(t *testing.T, sig []byte) {
		for enc := range Encoding(6) {
			z, key, bad := enc.parse(sig)
			if bad != 0 {
				continue
			}
			if again, err := enc.format(&z, key); err != nil || !slices.Equal(again, sig) {
				t.Errorf("%v: %x is read, and written %x (%v)", enc, sig, again, err)
			}
		}
	})
}

// FuzzPublicKey demands that what is read as a key is one, to gmsm as well.
func FuzzPublicKey(f *testing.F) {
	g := append(b32(curve.Params().Gx), b32(curve.Params().Gy)...)
	f.Add(g)
	f.Add(append([]byte{4}, g...))
	f.Add(append([]byte{2}, g[:32]...))
	f.Add(append(unhex(f, "3059301306072a8648ce3d020106082a811ccf5501822d03420004"), g...))
	f.Fuzz(func(t *testing.T, b []byte) {
		pub, err := ParsePublicKey(b)
		if err != nil {
			return
		}
		if !curve.IsOnCurve(pub.X, pub.Y) {
			t.Errorf("%x isn't on the curve", b)
		}
	})
}

// FuzzBatch makes batches of items that share what the fuzzer can't find out, and holds
// them against gmsm's verdicts.
func FuzzBatch(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, uint8(0))
	f.Add([]byte{255, 17, 33, 200, 5, 5, 5, 90}, uint8(3))
	var trials []trial
	f.Fuzz(func(t *testing.T, picks []byte, path uint8) {
		if trials == nil {
			trials = newSource(t).corpus(500)
		}
		var some []trial
		for i := 0; i+1 < len(picks) && i < 80; i += 2 {
			tr := trials[(int(picks[i])<<2|int(picks[i+1])&3)%len(trials)]
			tr.Hint = Hint(picks[i+1] >> 2)
			some = append(some, tr)
		}
		b := fill(&Options{Workers: 1}, some)
		b.force = sm2ec.Path(path % 5)
		check(t, b, some)
	})
}
