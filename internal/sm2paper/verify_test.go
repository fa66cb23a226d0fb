// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2paper

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/undersign/undersign/internal/sm2ec"
)

// mutations spoil a valid item.
var mutations = map[string]func(t *testing.T, it *Item){
	"s+1":          func(_ *testing.T, it *Item) { it.S = bytesOf(mod(it.s().Add(it.s(), big.NewInt(1)))) },
	"r+1":          func(_ *testing.T, it *Item) { it.R = bytesOf(mod(it.r().Add(it.r(), big.NewInt(1)))) },
	"-s":           func(_ *testing.T, it *Item) { it.S = bytesOf(mod(it.s().Neg(it.s()))) },
	"digest":       func(_ *testing.T, it *Item) { it.Digest[17] ^= 4 },
	"other key":    func(t *testing.T, it *Item) { setKey(it, randomPoint(t)) },
	"-P":           func(t *testing.T, it *Item) { setKey(it, negKey(t, it)) },
	"key G":        func(_ *testing.T, it *Item) { setKey(it, sm2ec.Generator()) },
	"no key":       func(_ *testing.T, it *Item) { it.X, it.Y = [32]byte{}, [32]byte{} },
	"off curve":    func(_ *testing.T, it *Item) { it.Y[31] ^= 1 },
	"x >= p":       func(_ *testing.T, it *Item) { it.X = [32]byte(bytes.Repeat([]byte{0xff}, 32)) },
	"r = 0":        func(_ *testing.T, it *Item) { it.R = [32]byte{} },
	"s = 0":        func(_ *testing.T, it *Item) { it.S = [32]byte{} },
	"r = n":        func(_ *testing.T, it *Item) { it.R = bytesOf(orderInt) },
	"s = n":        func(_ *testing.T, it *Item) { it.S = bytesOf(orderInt) },
	"s = 2²⁵⁶-1":   func(_ *testing.T, it *Item) { it.S = [32]byte(bytes.Repeat([]byte{0xff}, 32)) },
	"t = 0":        func(_ *testing.T, it *Item) { it.S = bytesOf(mod(it.r().Neg(it.r()))) },
	"r, s swapped": func(_ *testing.T, it *Item) { it.R, it.S = it.S, it.R },
}

func setKey(it *Item, p sm2ec.Affine) { it.X, it.Y = p.X.Bytes(), p.Y.Bytes() }

func negKey(t *testing.T, it *Item) (p sm2ec.Affine) {
	if !p.SetBytes(&it.X, &it.Y) {
		t.Fatal("no key")
	}
	p.Y = neg(p.Y)
	return p
}

func TestVerdicts(t *testing.T) {
	lengths := []Options{
		{}, {RandomizerBits: 32}, {RandomizerBits: 65}, {RandomizerBits: 192},
		{NoRandomizersUnsafe: true}, {SkipLiftCheckUnsafe: true},
	}
	rounds := 1
	if os.Getenv("UNDERSIGN_LONG") != "" {
		rounds = 500
	}
	for k := range rounds * (MaxItems - 1) {
		n := MinItems + k%(MaxItems-1)
		t.Run(fmt.Sprintf("t=%d", n), func(t *testing.T) {
			for _, opts := range lengths {
				for _, items := range [][]Item{sample(t, n), sampleOf(t, n)} {
					if ok, c := verify(t, items, &opts); !ok || c.Degenerate {
						t.Errorf("%+v: %v, degenerate %v", opts, ok, c.Degenerate)
					}
				}
			}
			i := k
			for name, spoil := range mutations {
				items, opts := sample(t, n), lengths[i%len(lengths)]
				spoil(t, &items[i%n])
				if ok, _ := verify(t, items, &opts); ok {
					t.Errorf("%s at %d: accepted with %+v", name, i%n, opts)
				}
				i++
			}
		})
	}
}

// TestOrder verifies the same items in every rotation: each of them comes to every place
// of the two polynomials.
func TestOrder(t *testing.T) {
	for n := MinItems; n <= MaxItems; n++ {
		good := sample(t, n)
		bad := append([]Item(nil), good...)
		mutations["s+1"](t, &bad[0])
		for range n {
			good = append(good[1:], good[0])
			bad = append(bad[1:], bad[0])
			if ok, _ := verify(t, good, nil); !ok {
				t.Errorf("%d items: rejected", n)
			}
			if ok, _ := verify(t, bad, nil); ok {
				t.Errorf("%d items: accepted", n)
			}
		}
	}
}

// attacks are batches of which all items of the attack are invalid, and that are accepted
// without randomisers.
var attacks = map[string]func(t *testing.T) []Item{
	// (r₁, s₁+d) and (r₂, s₂-d) of one signer: the sums of s and t stay.
	"cancelling pair": func(t *testing.T) []Item {
		items := sampleOf(t, 2)
		for i, d := range []int64{12345, -12345} {
			s, tt, x := items[i].s(), items[i].t(), new(big.Int).Sub(items[i].r(), items[i].e())
			delta := big.NewInt(d)
			var key sm2ec.Affine
			key.SetBytes(&items[i].X, &items[i].Y)
			// r and e move along, so that r-e and r stay.
			items[i] = withPoint(key, mod(s.Add(s, delta)), mod(tt.Add(tt, delta)), mod(x))
		}
		return items
	},
	// Two items with each other's points.
	"swapped points": func(t *testing.T) []Item {
		items := sample(t, 2)
		x0 := mod(new(big.Int).Sub(items[0].r(), items[0].e()))
		x1 := mod(new(big.Int).Sub(items[1].r(), items[1].e()))
		items[0].Digest = bytesOf(mod(new(big.Int).Sub(items[0].r(), x1)))
		items[1].Digest = bytesOf(mod(new(big.Int).Sub(items[1].r(), x0)))
		return items
	},
	// A forgery for a victim's key, whose defect the attacker's own item makes good.
	"rogue pair": func(t *testing.T) []Item {
		victim, mine := randomPoint(t), randomPoint(t)
		r1, s1, t1 := randomPoint(t), randomInt(t), randomInt(t)
		forged := withPoint(victim, s1, t1, mod(intOf(r1.X)))
		s2, t2 := randomInt(t), randomInt(t)
		// R₂ = s₂G + t₂P₂ + s₁G + t₁P₁ - R₁
		f := free
		sums := f.invertTables([]term{
			{sm2ec.Generator(), scalarOf(new(big.Int).Add(s1, s2))},
			{victim, scalarOf(t1)}, {mine, scalarOf(t2)}, {r1, scalarOf(big.NewInt(-1))},
		})
		q := f.joint(sums)
		r2, ok := q.Affine()
		if !ok {
			t.Fatal("infinity")
		}
		return []Item{forged, withPoint(mine, s2, t2, mod(intOf(r2.X)))}
	},
}

func TestAttacks(t *testing.T) {
	for name, attack := range attacks {
		for n := MinItems; n <= MaxItems; n++ {
			bad := attack(t)
			if gmsmSays(t, &bad[0]) || gmsmSays(t, &bad[1]) {
				t.Fatalf("%s: one of them is valid", name)
			}
			items := append(sample(t, n-2), bad...)
			// The known weakness: the test that the attack is one.
			ok, c, err := Verify(items, &Options{NoRandomizersUnsafe: true})
			if err != nil || !ok || c.Degenerate {
				t.Errorf("%s, %d items: without randomisers: %v, %v, degenerate %v", name, n, ok, err, c.Degenerate)
			}
			for _, bits := range []int{0, 32, 64} {
				if ok, _ := verify(t, items, &Options{RandomizerBits: bits}); ok {
					t.Errorf("%s, %d items: accepted with %d bits", name, n, bits)
				}
			}
		}
	}
}

// TestSoundness measures how often a cancelling pair is accepted with short randomisers:
// at least when z₁ = z₂, and at most as often as SoundnessBits says.
func TestSoundness(t *testing.T) {
	const bits, rounds = 4, 1200
	items := attacks["cancelling pair"](t)
	n := 0
	for range rounds {
		ok, _, err := Verify(items, &Options{RandomizerBits: bits})
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			n++
		}
	}
	least, most := rounds>>bits, rounds>>-SoundnessBits(2, bits)
	if n < least/2 || n > most {
		t.Errorf("accepted %d times of %d, expected from about %d to %d", n, rounds, least, most)
	}
}

// twistItem returns an invalid item for a key whose logarithm d is known: sG + tP is
// infinity, and r-e is x.
func twistItem(t *testing.T, x element) Item {
	d, tt := randomInt(t), randomInt(t)
	s := mod(new(big.Int).Neg(new(big.Int).Mul(tt, d)))
	return withPoint(multiple(t, d), s, tt, intOf(x))
}

// TestTwist makes a batch of a valid item and three whose coordinates are those of points
// of order 7 on the quadratic twist: for 5 of 14 choices of their multiples modulo 7 (of
// which some are zero) signs make their sum vanish, however long the randomisers are.
func TestTwist(t *testing.T) {
	var x7 element
	for x := newElement(1000); x7.IsZero(); x = add(x, one) {
		c := free.rhs(&x)
		if free.isSquare(&c) {
			continue
		}
		k := new(big.Int).Div(twistOrder, big.NewInt(7))
		var kb [4]uint64
		for i := range kb {
			kb[i] = new(big.Int).Rsh(k, uint(64*i)).Uint64()
		}
		num, den, ok := free.seminumeric(&x, &c, (*sm2ec.Scalar)(&kb))
		if !ok {
			continue // infinity: the order of this one isn't divisible by 7
		}
		ds := []element{den}
		free.invert(ds)
		free.mul(&x7, &num, &ds[0])
		c = free.rhs(&x7)
		seven := scalarOf(big.NewInt(7))
		if _, _, ok = free.seminumeric(&x7, &c, &seven); ok {
			t.Fatal("the order isn't 7")
		}
	}
	valid := sample(t, 1)
	items := []Item{valid[0], twistItem(t, x7), twistItem(t, x7), twistItem(t, x7)}
	for i := range items[1:] {
		if gmsmSays(t, &items[1+i]) {
			t.Fatal("an item of the attack is valid")
		}
	}
	n := 0
	const rounds = 100
	for range rounds {
		ok, _, err := Verify(items, &Options{SkipLiftCheckUnsafe: true})
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			n++
		}
		if ok, _, err := Verify(items, nil); ok || err != nil {
			t.Fatalf("with the check: %v, %v", ok, err)
		}
	}
	// 35 % in the mean, so that 10 and 60 are five standard deviations away.
	if n < 10 || n > 60 {
		t.Errorf("without the check %d of %d are accepted, and not about 35", n, rounds)
	}
}

// TestDegenerate has batches for which the polynomials aren't defined.
func TestDegenerate(t *testing.T) {
	none := &Options{NoRandomizersUnsafe: true}
	opposite := func() []Item { // R and -R: L is infinity too
		items := sampleOf(t, 1)
		s, tt := items[0].s(), items[0].t()
		var key sm2ec.Affine
		key.SetBytes(&items[0].X, &items[0].Y)
		x := mod(new(big.Int).Sub(items[0].r(), items[0].e()))
		return append(items, withPoint(key, mod(s.Neg(s)), mod(tt.Neg(tt)), x))
	}
	twoXs := func(x *big.Int) Item { // valid with x+n, or x
		for ; ; x.Add(x, big.NewInt(1)) {
			var p sm2ec.Affine
			p.X = elementOf(t, x)
			c := free.rhs(&p.X)
			if p.Y.Sqrt(&c) {
				s, tt := randomInt(t), randomInt(t)
				return withPoint(keyFor(t, p, s, tt), s, tt, mod(new(big.Int).Set(x)))
			}
		}
	}
	twice := sample(t, 1)
	twice = append(twice, twice[0])
	sum := func(sign int) []Item { // R₃ = R₁+R₂, or else -(R₁+R₂), with which L is infinity
		items := sample(t, 2)
		var ps [2]sm2ec.Affine
		for i := range items {
			p, _ := items[i].parse()
			ps[i], _ = mulAdd(items[i].s(), items[i].t(), &p.key)
		}
		j := ps[0].Jacobian()
		free.addAffine(&sm2Curve, &j, &j, &ps[1])
		p, _ := j.Affine()
		if sign < 0 {
			p.Y = neg(p.Y)
		}
		s, tt := randomInt(t), randomInt(t)
		return append(items, withPoint(keyFor(t, p, s, tt), s, tt, mod(intOf(p.X))))
	}
	for name, test := range map[string]struct {
		items []Item
		opts  *Options
		all   bool // also beside others
	}{
		"twice":    {twice, none, false},
		"opposite": {opposite(), none, false},
		"x":        {append(sample(t, 1), twoXs(big.NewInt(1))), nil, true},
		"x+n":      {append(sample(t, 1), twoXs(new(big.Int).Add(orderInt, big.NewInt(5)))), nil, true},
		"sum":      {append(sum(1), sample(t, 1)...), none, false},
		"L":        {sum(-1), none, false},
	} {
		items := test.items
		for len(items) <= MaxItems {
			ok, c := verify(t, items, test.opts)
			if !ok || !c.Degenerate {
				t.Errorf("%s, %d items: %v, degenerate %v", name, len(items), ok, c.Degenerate)
			}
			if c.Single.Inv != len(items) {
				t.Errorf("%s: %d inversions for %d items", name, c.Single.Inv, len(items))
			}
			for i := range items {
				bad := append([]Item(nil), items...)
				mutations["s+1"](t, &bad[i])
				if ok, _ := verify(t, bad, test.opts); ok {
					t.Errorf("%s, %d items: accepted a bad one", name, len(items))
				}
			}
			if !test.all {
				break
			}
			items = append(items, sample(t, 1)...)
		}
	}
}

// TestInfinity has invalid items, of other coordinates, whose L is infinity.
func TestInfinity(t *testing.T) {
	key, s, tt := randomPoint(t), randomInt(t), randomInt(t)
	items := []Item{
		withPoint(key, s, tt, mod(intOf(randomPoint(t).X))),
		withPoint(key, mod(new(big.Int).Neg(s)), mod(new(big.Int).Neg(tt)), mod(intOf(randomPoint(t).X))),
	}
	if ok, c := verify(t, items, &Options{NoRandomizersUnsafe: true}); ok || !c.Degenerate {
		t.Errorf("%v, degenerate %v", ok, c.Degenerate)
	}
}

// TestKeys has keys whose subset sums are infinity, or need a doubling.
func TestKeys(t *testing.T) {
	g, p := sm2ec.Generator(), randomPoint(t)
	minus := func(p sm2ec.Affine) sm2ec.Affine { return sm2ec.Affine{X: p.X, Y: neg(p.Y)} }
	keys := []sm2ec.Affine{g, minus(g), p, minus(p), multiple(t, big.NewInt(2)), multiple(t, big.NewInt(3)), minus(multiple(t, big.NewInt(2))), p, g}
	for n := MinItems; n <= MaxItems; n++ {
		for from := range keys {
			var items []Item
			for i := range n {
				key, s, tt := keys[(from+i)%len(keys)], randomInt(t), randomInt(t)
				q, ok := mulAdd(s, tt, &key)
				if !ok {
					t.Fatal("infinity")
				}
				items = append(items, withPoint(key, s, tt, mod(intOf(q.X))))
			}
			if ok, c := verify(t, items, nil); !ok || c.Degenerate {
				t.Errorf("%d items from key %d: %v, degenerate %v", n, from, ok, c.Degenerate)
			}
			mutations["digest"](t, &items[from%n]) // s+1 stays valid with the key -G
			if ok, _ := verify(t, items, nil); ok {
				t.Errorf("%d items from key %d: accepted a bad one", n, from)
			}
		}
	}
}

// TestZeros: the equation holds, and the item is invalid all the same.
func TestZeros(t *testing.T) {
	key, k := randomPoint(t), randomInt(t)
	zero := new(big.Int)
	for name, st := range map[string][2]*big.Int{"r = 0": {k, k}, "s = 0": {zero, k}, "t = 0": {k, zero}} {
		q, ok := mulAdd(st[0], st[1], &key)
		if !ok {
			t.Fatal("infinity")
		}
		it := withPoint(key, st[0], st[1], mod(intOf(q.X)))
		if ok, _ := VerifySingle(&it); ok || gmsmSays(t, &it) {
			t.Errorf("%s is accepted singly", name)
		}
		if ok, _ := verify(t, append(sample(t, 3), it), nil); ok {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestSingle compares single verification with gmsm, for keys that meet the table entries.
func TestSingle(t *testing.T) {
	g := sm2ec.Generator()
	keys := map[string]sm2ec.Affine{"G": g, "-G": {X: g.X, Y: neg(g.Y)}, "random": randomPoint(t)}
	for k := int64(2); k < 9; k++ {
		keys[fmt.Sprintf("%dG", k)] = multiple(t, big.NewInt(k))
	}
	for name, key := range keys {
		for _, s := range []*big.Int{big.NewInt(1), big.NewInt(2), new(big.Int).Sub(orderInt, big.NewInt(1)), randomInt(t)} {
			tt := randomInt(t)
			p, ok := mulAdd(s, tt, &key)
			if !ok {
				t.Fatal("infinity")
			}
			it := withPoint(key, s, tt, mod(intOf(p.X)))
			if ok, _ := VerifySingle(&it); !ok || !gmsmSays(t, &it) {
				t.Errorf("%s, s = %v: %v, and gmsm says %v", name, s, ok, gmsmSays(t, &it))
			}
			for what, spoil := range mutations {
				bad := it
				spoil(t, &bad)
				if ok, _ := VerifySingle(&bad); ok != gmsmSays(t, &bad) {
					t.Errorf("%s, s = %v, %s: %v, and gmsm says otherwise", name, s, what, ok)
				}
			}
		}
	}
	// sG + tP is infinity.
	it := twistItem(t, g.X)
	if ok, _ := VerifySingle(&it); ok || gmsmSays(t, &it) {
		t.Error("infinity is accepted")
	}
}

func TestOptions(t *testing.T) {
	items := sample(t, MaxItems)
	for name, test := range map[string]struct {
		items []Item
		opts  Options
		want  string
	}{
		"none":         {nil, Options{}, "2 to 9 items"},
		"one":          {items[:1], Options{}, "2 to 9 items"},
		"ten":          {append(items, items[0]), Options{}, "2 to 9 items"},
		"negative":     {items[:2], Options{RandomizerBits: -1}, "1 to 192 bits"},
		"too long":     {items[:2], Options{RandomizerBits: 193}, "1 to 192 bits"},
		"both":         {items[:2], Options{RandomizerBits: 8, NoRandomizersUnsafe: true}, "randomisers that aren't to be"},
		"short reader": {items[:2], Options{Rand: strings.NewReader("too short")}, "no randomness"},
		"bad reader":   {items[:2], Options{Rand: iotest.ErrReader(errors.New("broken"))}, "broken"},
	} {
		ok, _, err := Verify(test.items, &test.opts)
		if ok || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
}

func TestRandomizers(t *testing.T) {
	// A zero stands for 2^bits.
	for _, bits := range []int{1, 7, 8, 63, 64, 65, 128, 192} {
		zs, err := (&Options{RandomizerBits: bits, Rand: zeros{}}).randomizers(2)
		if err != nil {
			t.Fatal(err)
		}
		want := scalarOf(new(big.Int).Lsh(big.NewInt(1), uint(bits)))
		if zs[0] != want {
			t.Errorf("%d bits: %x", bits, zs[0])
		}
		zs, err = (&Options{RandomizerBits: bits, Rand: ones{}}).randomizers(1)
		if err != nil {
			t.Fatal(err)
		}
		b := zs[0].Bytes()
		if n := new(big.Int).SetBytes(b[:]).BitLen(); n != bits {
			t.Errorf("%d bits: %d", bits, n)
		}
	}
	zs, err := (&Options{NoRandomizersUnsafe: true}).randomizers(3)
	if err != nil || len(zs) != 3 || zs[2] != (sm2ec.Scalar{1}) {
		t.Errorf("without: %v, %v", zs, err)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

type ones struct{}

func (ones) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 0xff
	}
	return len(b), nil
}
