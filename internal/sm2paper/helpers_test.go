// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2paper

import (
	"crypto/ecdsa"
	"crypto/rand"
	"encoding/asn1"
	"math/big"
	"testing"

	"github.com/emmansun/gmsm/sm2"

	"github.com/undersign/undersign/internal/sm2ec"
)

// orderInt is n, and twistOrder the number of points of the quadratic twist, 2p+2-n.
var (
	orderInt      = sm2.P256().Params().N
	twistOrder, _ = new(big.Int).SetString("ffffffff0000000000000000000000008dfc2092de39fad6ac440bf6c62abedd", 16)
)

// free is a field whose costs nobody asks for.
var free = field{new(Cost)}

func scalarOf(x *big.Int) (k sm2ec.Scalar) {
	var b [32]byte
	new(big.Int).Mod(x, orderInt).FillBytes(b[:])
	k.SetBytes(&b)
	return k
}

func bytesOf(x *big.Int) (b [32]byte) {
	x.FillBytes(b[:])
	return b
}

func elementOf(t testing.TB, x *big.Int) (e element) {
	b := bytesOf(x)
	if !e.SetBytes(&b) {
		t.Fatalf("%x isn't below p", x)
	}
	return e
}

func intOf(x element) *big.Int {
	b := x.Bytes()
	return new(big.Int).SetBytes(b[:])
}

func mod(x *big.Int) *big.Int { return x.Mod(x, orderInt) }

func randomInt(t testing.TB) *big.Int {
	x, err := rand.Int(rand.Reader, new(big.Int).Sub(orderInt, big.NewInt(1)))
	if err != nil {
		t.Fatal(err)
	}
	return x.Add(x, big.NewInt(1))
}

// mulAdd returns sG + tP.
func mulAdd(s, t *big.Int, p *sm2ec.Affine) (sm2ec.Affine, bool) {
	tables := free.invertTables([]term{{sm2ec.Generator(), scalarOf(s)}, {*p, scalarOf(t)}})
	q := free.joint(tables)
	return q.Affine()
}

// multiple returns kG.
func multiple(t testing.TB, k *big.Int) sm2ec.Affine {
	g := sm2ec.Generator()
	p, ok := mulAdd(new(big.Int), k, &g)
	if !ok {
		t.Fatal("infinity")
	}
	return p
}

// randomPoint returns a point whose logarithm is forgotten.
func randomPoint(t testing.TB) sm2ec.Affine { return multiple(t, randomInt(t)) }

// itemOf makes an item of integers.
func itemOf(key sm2ec.Affine, e, r, s *big.Int) Item {
	return Item{key.X.Bytes(), key.Y.Bytes(), bytesOf(e), bytesOf(r), bytesOf(s)}
}

func (it *Item) r() *big.Int { return new(big.Int).SetBytes(it.R[:]) }
func (it *Item) s() *big.Int { return new(big.Int).SetBytes(it.S[:]) }
func (it *Item) e() *big.Int { return new(big.Int).SetBytes(it.Digest[:]) }
func (it *Item) t() *big.Int { return mod(new(big.Int).Add(it.r(), it.s())) }

// withPoint returns the item for a key, s and t whose coordinate r-e is x: valid if
// that is the one of sG + tP.
func withPoint(key sm2ec.Affine, s, t, x *big.Int) Item {
	r := mod(new(big.Int).Sub(t, s))
	return itemOf(key, mod(new(big.Int).Sub(r, x)), r, s)
}

// keyFor returns the key for which s and t give the point p: (p - sG)/t.
func keyFor(tb testing.TB, p sm2ec.Affine, s, t *big.Int) sm2ec.Affine {
	ti := new(big.Int).ModInverse(t, orderInt)
	key, ok := mulAdd(mod(new(big.Int).Neg(mod(new(big.Int).Mul(s, ti)))), ti, &p)
	if !ok {
		tb.Fatal("infinity")
	}
	return key
}

// gmsmSays is the oracle: what gmsm says about an item.
func gmsmSays(tb testing.TB, it *Item) bool {
	sig, err := asn1.Marshal(struct{ R, S *big.Int }{it.r(), it.s()})
	if err != nil {
		tb.Fatal(err)
	}
	//lint:ignore SA1019 so that gmsm judges keys, too
	pub := &ecdsa.PublicKey{Curve: sm2.P256(), X: new(big.Int).SetBytes(it.X[:]), Y: new(big.Int).SetBytes(it.Y[:])}
	return sm2.VerifyASN1(pub, it.Digest[:], sig)
}

func gmsmSaysAll(tb testing.TB, items []Item) bool {
	ok := true
	for i := range items {
		ok = gmsmSays(tb, &items[i]) && ok
	}
	return ok
}

func sample(tb testing.TB, n int) []Item {
	items, err := Sample(nil, n)
	if err != nil {
		tb.Fatal(err)
	}
	return items
}

// sampleOf returns n valid items of one signer.
func sampleOf(tb testing.TB, n int) []Item {
	d := randomInt(tb)
	key := multiple(tb, d)
	items := make([]Item, n)
	for i := range items {
		s, t := randomInt(tb), randomInt(tb)
		p, ok := mulAdd(s, t, &key)
		if !ok {
			tb.Fatal("infinity")
		}
		items[i] = withPoint(key, s, t, intOf(p.X))
	}
	return items
}

// verify verifies with gmsm's verdict beside it.
func verify(tb testing.TB, items []Item, opts *Options) (ok bool, c Counts) {
	tb.Helper()
	ok, c, err := Verify(items, opts)
	if err != nil {
		tb.Fatal(err)
	}
	if want := gmsmSaysAll(tb, items); ok != want {
		tb.Errorf("%d items, %+v: %v, and gmsm says %v", len(items), opts, ok, want)
	}
	return ok, c
}
