// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 gmsm's keys and points have no other arithmetic, and tests need bad ones.

package sm2

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/asn1"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/emmansun/gmsm/sm2"

	"github.com/undersign/undersign/internal/sm2ec"
)

var (
	curve = sm2.P256()
	bigN  = curve.Params().N
	bigP  = curve.Params().P
)

// long reports whether long campaigns are wanted.
var long = os.Getenv("UNDERSIGN_LONG") == "1"

// A source makes up keys, signatures and what looks like them. It is reproducible but for gmsm's own
// randomness.
type source struct {
	*rand.Rand
	tb testing.TB
}

func newSource(tb testing.TB) *source {
	seed := rand.Uint64()
	tb.Logf("seed %d", seed)
	return &source{rand.New(rand.NewPCG(seed, 0)), tb}
}

// Read makes it a source for gmsm.
func (s *source) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(s.Uint32())
	}
	return len(b), nil
}

func (s *source) bytes(n int) []byte {
	b := make([]byte, n)
	s.Read(b)
	return b
}

// scalar returns an integer from 1 to n-1.
func (s *source) scalar() *big.Int {
	for {
		x := mod(new(big.Int).SetBytes(s.bytes(40)))
		if x.Sign() > 0 {
			return x
		}
	}
}

func (s *source) key() *sm2.PrivateKey {
	for {
		if k, err := sm2.NewPrivateKeyFromInt(s.scalar()); err == nil {
			return k
		}
	}
}

func (s *source) keys(n int) []*sm2.PrivateKey {
	out := make([]*sm2.PrivateKey, n)
	for i := range out {
		out[i] = s.key()
	}
	return out
}

// sign returns a signature in DER of a digest.
func (s *source) sign(priv *sm2.PrivateKey, digest []byte) []byte {
	sig, err := priv.Sign(s, digest, nil)
	if err != nil {
		s.tb.Fatal(err)
	}
	return sig
}

func mod(x *big.Int) *big.Int { return new(big.Int).Mod(x, bigN) }

func add(x, y *big.Int) *big.Int { return mod(new(big.Int).Add(x, y)) }

func sub(x, y *big.Int) *big.Int { return mod(new(big.Int).Sub(x, y)) }

func mul(x, y *big.Int) *big.Int { return mod(new(big.Int).Mul(x, y)) }

func inv(x *big.Int) *big.Int { return new(big.Int).ModInverse(x, bigN) }

func b32(x *big.Int) []byte { return x.FillBytes(make([]byte, 32)) }

// A pt is a point; infinity is (0, 0).
type pt struct{ x, y *big.Int }

func base(k *big.Int) pt {
	x, y := curve.ScalarBaseMult(b32(mod(k)))
	return pt{x, y}
}

func (p pt) times(k *big.Int) pt {
	x, y := curve.ScalarMult(p.x, p.y, b32(mod(k)))
	return pt{x, y}
}

func (p pt) plus(q pt) pt {
	x, y := curve.Add(p.x, p.y, q.x, q.y)
	return pt{x, y}
}

func (p pt) neg() pt {
	if p.infinite() {
		return p
	}
	return pt{p.x, new(big.Int).Sub(bigP, p.y)}
}

func (p pt) infinite() bool { return p.x.Sign() == 0 && p.y.Sign() == 0 }

func (p pt) public() *ecdsa.PublicKey { return &ecdsa.PublicKey{Curve: curve, X: p.x, Y: p.y} }

// lift returns a point with this x, and false if there is none.
func lift(x *big.Int) (pt, bool) {
	px, py := elliptic.UnmarshalCompressed(curve, append([]byte{2}, b32(x)...))
	return pt{px, py}, px != nil
}

// derOf writes integers of any value as a signature in DER, by the standard library.
func derOf(r, s *big.Int) []byte {
	b, err := asn1.Marshal(struct{ R, S *big.Int }{r, s})
	if err != nil {
		panic(err)
	}
	return b
}

// craft returns a digest and a signature of it that is valid by the key p, whose
// secret nobody needs to know: e = t - s - x(sG + tP). It is false if that is infinity.
func craft(p pt, s, t *big.Int) (digest []byte, r *big.Int, ok bool) {
	q := base(s).plus(p.times(t))
	r = sub(t, s)
	if q.infinite() || r.Sign() == 0 {
		return nil, nil, false
	}
	return b32(sub(r, q.x)), r, true
}

// A trial is an item with gmsm's verdict.
type trial struct {
	Item
	kind string
	want bool
}

// oracle is gmsm's verdict on a digest and a signature in DER, false where gmsm would
// panic because there is no key.
func oracle(pub *ecdsa.PublicKey, digest, sig []byte) bool {
	return pub != nil && pub.Curve != nil && pub.X != nil && pub.Y != nil && sm2.VerifyASN1(pub, digest, sig)
}

// digestTrial has gmsm judge a signature of a digest.
func digestTrial(kind string, pub *ecdsa.PublicKey, digest, sig []byte) trial {
	if digest == nil {
		digest = []byte{}
	}
	return trial{Item{PublicKey: pub, Digest: digest, Signature: sig, Encoding: DER}, kind, oracle(pub, digest, sig)}
}

// fill adds trials to a new batch.
func fill(opts *Options, trials []trial) *Batch {
	b := NewBatch(opts)
	for i := range trials {
		b.AddItem(trials[i].Item)
	}
	return b
}

// check verifies a batch of the trials, and compares.
func check(t *testing.T, b *Batch, trials []trial) {
	t.Helper()
	if b.Len() != len(trials) {
		t.Fatalf("%d items of %d", b.Len(), len(trials))
	}
	bad := badOf(t, b.Verify())
	var want []int
	for i := range trials {
		if !trials[i].want {
			want = append(want, i)
		}
	}
	if slices.Equal(bad, want) {
		return
	}
	for i := range trials {
		if got := !slices.Contains(bad, i); got != trials[i].want {
			t.Errorf("item %d of %d, %s, hint %v: valid is %v, and %v to gmsm", i, len(trials), trials[i].kind, trials[i].Hint, got, trials[i].want)
		}
	}
	if !t.Failed() {
		t.Fatalf("bad items aren't in order: %v", bad)
	}
}

// badOf returns the bad items of an error by Verify, which must be well-formed.
func badOf(t testing.TB, err error) []int {
	t.Helper()
	if err == nil {
		return nil
	}
	e, ok := err.(*BatchError)
	if !ok {
		t.Fatalf("%T: %v", err, err)
	}
	if len(e.Bad) == 0 || len(e.Bad) != len(e.Reasons) || e.Bad[len(e.Bad)-1] >= e.Len {
		t.Fatalf("%d bad, %d reasons, of %d", len(e.Bad), len(e.Reasons), e.Len)
	}
	return e.Bad
}

// everyWay runs a test on every tier and path.
func everyWay(t *testing.T, f func(t *testing.T, path sm2ec.Path)) {
	for _, tier := range sm2ec.Tiers() {
		for _, path := range []sm2ec.Path{sm2ec.Auto, sm2ec.Tables, sm2ec.Joint, sm2ec.Recovered, sm2ec.Single} {
			t.Run(tier+"/"+path.String(), func(t *testing.T) {
				defer sm2ec.ForceTier(tier)()
				f(t, path)
			})
		}
	}
}
