// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestTables(t *testing.T) { onTiers(t, testTables) }

func testTables(t *testing.T) {
	r := newRand(t)
	most := 10
	if testing.Short() {
		most = 6
	}
	for w := 2; w <= most; w++ {
		var ps []Affine
		for range []int{1, 2, 17}[w%3] {
			ps = append(ps, randPoint(r))
		}
		ps = append(ps, generator)
		for j, tab := range NewTables(ps, w) {
			if tab.Point() != ps[j] || tab.Width() != w || tab.Windows() != windows(w) || int64(len(tab.entries)+len(tab.packed))*64 > tab.Size() {
				t.Fatalf("w=%d: table %d is another's", w, j)
			}
			step := 1
			if w > 4 {
				step = 37 // of all entries, these few
			}
			for e := r.IntN(step); e < tableLen(w); e += step {
				i := e >> (w - 1)
				k := new(big.Int).Lsh(big.NewInt(int64(2*(e-i<<(w-1))+1)), uint(w*i))
				var p Jacobian
				s := scalarOf(k)
				p.ScalarMult(&ps[j], &s)
				if a, _ := p.Affine(); a != tab.at(e) {
					t.Fatalf("w=%d: entry %d of table %d", w, e, j)
				}
			}
		}
	}
	if ts := NewTables(nil, 5); len(ts) != 0 {
		t.Fatal("tables of no points")
	}
	p := randPoint(r)
	if one, many := NewTable(&p, 6), NewTables([]Affine{generator, p}, 6); fmt.Sprint(one.entries, one.packed) != fmt.Sprint(many[1].entries, many[1].packed) {
		t.Fatal("a table depends on its neighbours")
	}
}

func TestSumTables(t *testing.T) { onTiers(t, testSumTables) }

func testSumTables(t *testing.T) {
	r := newRand(t)
	odd := crafted(r)
	tables := map[string]*Table{}
	table := func(p *Affine, w int) *Table {
		key := fmt.Sprint(*p, w)
		if tables[key] == nil {
			tables[key] = NewTable(p, w)
		}
		return tables[key]
	}
	for _, n := range []int{0, 1, 2, 3, 5, 54, 55, 127, 128, 129, 300} {
		if testing.Short() && n > 60 && n != 129 {
			continue
		}
		items := ordinary(r, n, 9)
		ordinaryEnd := len(items)
		if n%2 == 1 {
			items = append(items, odd...)
		}
		r.Shuffle(len(items), func(i, j int) {
			if (i < ordinaryEnd) == (j < ordinaryEnd) {
				items[i], items[j] = items[j], items[i]
			}
		})
		wg := []int{5, 8, 7}[n%3]
		g := NewTable(&generator, wg)
		order := r.Perm(len(items))
		terms := make([]Term, len(items))
		inRange := make([]bool, len(items))
		for i, at := range order {
			it := &items[at]
			terms[i].S = it.S
			terms[i].T, inRange[i] = it.T()
			if terms[i].Table = table(&it.P, 4+2*r.IntN(2)); n == 129 {
				terms[i].Table = table(&it.P, wg)
			}
		}
		dst, flagged := make([]Jacobian, len(terms)), make([]bool, len(terms))
		for i := range flagged {
			flagged[i] = r.IntN(2) == 0 // whatever was there before
		}
		SumTables(dst, flagged, g, terms)
		flags := 0
		for i, at := range order {
			it := &items[at]
			if flagged[i] {
				flags++
				if at < ordinaryEnd {
					t.Fatalf("n=%d: an ordinary item is flagged: %x", n, it)
				}
				continue
			}
			if got, want := inRange[i] && it.XMatches(&dst[i]), oracle(it); got != want {
				t.Fatalf("n=%d: %v, gmsm says %v: %x", n, got, want, it)
			}
			var p Jacobian
			p.ScalarMult(&it.P, &terms[i].T)
			p.addMultiple(g, &it.S)
			if !p.Equal(&dst[i]) {
				t.Fatalf("n=%d: wrong sum for %x", n, it)
			}
		}
		if n%2 == 1 && flags == 0 {
			t.Fatalf("n=%d: no crafted item was flagged", n)
		}
	}
}

// Half of the items meet equal or opposite entries at once. The others are none the worse for it.
func TestSumTablesCollisions(t *testing.T) { onTiers(t, testSumTablesCollisions) }

func testSumTablesCollisions(t *testing.T) {
	r := newRand(t)
	g := NewTable(&generator, 6)
	d := randPoint(r)
	other := NewTable(&d, 6)
	terms := make([]Term, 2*sumChunk)
	for i := range terms {
		s := randScalar(r)
		terms[i] = Term{S: s, T: s, Table: g}
		if i%2 == 1 {
			terms[i].T.Neg(&s)
		}
		if i%8 >= 4 {
			terms[i].T, terms[i].Table = randScalar(r), other // nothing special
		}
	}
	terms[5].Table, terms[6].S, terms[7].T = nil, Scalar{}, Scalar{}
	dst, flagged := make([]Jacobian, len(terms)), make([]bool, len(terms))
	SumTables(dst, flagged, g, terms)
	for i := range terms {
		if want := i%8 < 4 || i < 8 && i > 4; flagged[i] != want {
			t.Fatalf("item %d flagged: %v", i, flagged[i])
		}
		if flagged[i] {
			continue
		}
		var p, q Jacobian
		p.BaseMult(&terms[i].S)
		q.ScalarMult(&d, &terms[i].T)
		p.Add(&p, &q)
		if !p.Equal(&dst[i]) {
			t.Fatalf("item %d: wrong sum", i)
		}
	}
}

func FuzzVerify(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, it := range append(crafted(r), ordinary(r, 20, 20)...) {
		e, rr, s := it.E.Bytes(), it.R.Bytes(), it.S.Bytes()
		x, y := it.P.X.Bytes(), it.P.Y.Bytes()
		f.Add(e[:], rr[:], s[:], x[:], y[:], byte(4))
	}
	f.Fuzz(func(t *testing.T, e, rr, s, x, y []byte, w byte) {
		var it Item
		if len(e) != 32 || len(rr) != 32 || len(s) != 32 || len(x) != 32 || len(y) != 32 {
			return
		}
		if it.E.SetDigest((*[32]byte)(e)); !it.R.SetBytes((*[32]byte)(rr)) || !it.S.SetBytes((*[32]byte)(s)) {
			return
		}
		// A point for any x, or a multiple of G.
		if !it.P.SetBytes((*[32]byte)(x), (*[32]byte)(y)) {
			k := Scalar{uint64(x[0]), uint64(x[1])}
			if k.IsZero() {
				return
			}
			var p Jacobian
			p.BaseMult(&k)
			it.P, _ = p.Affine()
		}
		want := oracle(&it)
		tt, inRange := it.T()
		tab := NewTable(&it.P, 2+int(w)%5)
		for _, name := range Tiers() {
			restore := ForceTier(name)
			if got := VerifySingle(&it); got != want {
				t.Errorf("%s: %v, gmsm says %v", name, got, want)
			}
			terms := make([]Term, 1+int(w)/4)
			for i := range terms {
				terms[i] = Term{S: it.S, T: tt, Table: tab}
			}
			dst, flagged := make([]Jacobian, len(terms)), make([]bool, len(terms))
			SumTables(dst, flagged, smallGenerator(), terms)
			for i := range terms {
				if got := inRange && it.XMatches(&dst[i]); !flagged[i] && got != want {
					t.Errorf("%s: tables say %v, gmsm says %v", name, got, want)
				}
			}
			restore()
		}
	})
}

func BenchmarkSumTables(b *testing.B) {
	r := newRand(b)
	for _, name := range Tiers() {
		for _, w := range []int{6, 10, 13} {
			restore := ForceTier(name)
			items := ordinary(r, 1024, 1)
			tab := NewTable(&items[0].P, w)
			g := GeneratorTable(1 << 14)
			restore()
			terms := make([]Term, len(items))
			for i := range terms {
				terms[i] = Term{S: items[i].S, Table: tab}
				terms[i].T, _ = items[i].T()
			}
			for _, n := range []int{1, 4, 16, 64, 128, 1024} {
				if w != 13 && n != 1024 {
					continue
				}
				dst, flagged := make([]Jacobian, n), make([]bool, n)
				b.Run(fmt.Sprintf("tier=%s/w=%d/n=%d", name, w, n), func(b *testing.B) {
					defer ForceTier(name)()
					at := 0
					best(b, n, func() {
						SumTables(dst, flagged, g, terms[at:at+n])
						at = (at + n) % len(terms)
					})
				})
			}
		}
	}
}

func BenchmarkNewTable(b *testing.B) {
	p := randPoint(newRand(b))
	for _, name := range Tiers() {
		for _, w := range []int{5, 6, 8, 10, 13} {
			b.Run(fmt.Sprintf("tier=%s/w=%d", name, w), func(b *testing.B) {
				defer ForceTier(name)()
				best(b, 1, func() { NewTable(&p, w) })
			})
		}
	}
}
