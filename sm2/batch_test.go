// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 gmsm's keys and points have no other arithmetic, and tests need bad ones.

package sm2

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/emmansun/gmsm/sm2"

	"github.com/undersign/undersign/internal/sm2ec"
)

func TestEmptyBatch(t *testing.T) {
	for _, opts := range []*Options{nil, {}, {Cache: NewCache(0)}, {Cache: NewCache(-1), Workers: -3}} {
		b := NewBatch(opts)
		if err := b.Verify(); err != nil || b.Len() != 0 {
			t.Errorf("%v, %d items", err, b.Len())
		}
	}
	var zero Batch
	if err := zero.Verify(); err != nil {
		t.Error(err)
	}
	s := newSource(t)
	priv := s.key()
	zero.Reset()
	zero.Add(&priv.PublicKey, nil, s.sign(priv, s.bytes(32)))
	if bad := badOf(t, zero.Verify()); len(bad) != 1 {
		t.Errorf("bad: %v", bad)
	}
}

// TestNilItems adds what is missing altogether, between good items.
func TestNilItems(t *testing.T) {
	s := newSource(t)
	priv := s.key()
	msg := []byte("message")
	digest, _ := Digest(&priv.PublicKey, UID{}, msg)
	sig := s.sign(priv, digest)
	b := NewBatch(nil)
	b.Add(&priv.PublicKey, msg, sig)
	b.Add(nil, nil, nil)
	b.Add(nil, msg, sig)
	b.Add(&ecdsa.PublicKey{}, msg, sig)
	b.Add(&ecdsa.PublicKey{Curve: curve}, msg, sig)
	b.Add(&ecdsa.PublicKey{Curve: elliptic.P256(), X: priv.X, Y: priv.Y}, msg, sig)
	b.Add(&ecdsa.PublicKey{Curve: hollow{}, X: priv.X, Y: priv.Y}, msg, sig)
	b.Add(&priv.PublicKey, msg, nil)
	b.Add(&priv.PublicKey, nil, sig)
	b.AddDigest(&priv.PublicKey, nil, sig)
	b.AddItem(Item{})
	b.AddCertificate(nil, nil, nil)
	b.AddHinted(&priv.PublicKey, msg, sig, 200)
	// gmsm goes by the parameters' address, and takes that for its own.
	wrapped := &ecdsa.PublicKey{Curve: hollow{curve}, X: priv.X, Y: priv.Y}
	if !oracle(wrapped, digest, sig) {
		t.Error("gmsm has changed")
	}
	b.Add(wrapped, msg, sig)
	if b.Len() != 14 {
		t.Fatalf("%d items", b.Len())
	}
	err := b.Verify()
	var e *BatchError
	if !errors.As(err, &e) || !errors.Is(err, ErrSignature) {
		t.Fatal(err)
	}
	if want := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}; !slices.Equal(e.Bad, want) {
		t.Errorf("bad: %v", e.Bad)
	}
	for i, want := range []Reason{ReasonEncoding, ReasonKey, ReasonKey, ReasonKey, ReasonKey, ReasonKey, ReasonEncoding} {
		if e.Reasons[i] != want {
			t.Errorf("item %d: %v, want %v", e.Bad[i], e.Reasons[i], want)
		}
	}
	if b.Stats().Malformed != 9 {
		t.Errorf("%+v", b.Stats())
	}
}

// hollow is a curve that can't answer.
type hollow struct{ elliptic.Curve }

// TestReasons demands the right reason, on every path.
func TestReasons(t *testing.T) {
	s := newSource(t)
	priv := s.key()
	one := big.NewInt(1)
	var items []Item
	var want []Reason
	expect := func(n int, reason Reason, f func(r, v *big.Int) (*big.Int, *big.Int)) {
		for range n {
			digest := s.bytes(32)
			z, _, _ := DER.parse(s.sign(priv, digest))
			r, v := f(new(big.Int).SetBytes(z.r[:]), new(big.Int).SetBytes(z.s[:]))
			items = append(items, Item{PublicKey: &priv.PublicKey, Digest: digest, Signature: derOf(r, v), Hint: HintEven})
			want = append(want, reason)
		}
	}
	expect(3, 0, func(r, v *big.Int) (*big.Int, *big.Int) { return r, v })
	expect(1, ReasonRange, func(r, v *big.Int) (*big.Int, *big.Int) { return r, new(big.Int) })
	expect(1, ReasonRange, func(r, v *big.Int) (*big.Int, *big.Int) { return new(big.Int).Neg(r), v })
	expect(1, ReasonRange, func(r, v *big.Int) (*big.Int, *big.Int) { return r, new(big.Int).Sub(bigN, r) })
	expect(8, ReasonEquation, func(r, v *big.Int) (*big.Int, *big.Int) { return r, add(v, one) })
	// r - e without a point.
	for range 8 {
		for {
			e, r := s.scalar(), s.scalar()
			if _, ok := lift(sub(r, e)); ok {
				continue
			}
			items = append(items, Item{PublicKey: &priv.PublicKey, Digest: b32(e), Signature: derOf(r, s.scalar())})
			want = append(want, ReasonNoPoint)
			break
		}
	}
	// r - e so small that it may be less n.
	for j, seen := int64(0), [2]bool{}; !seen[0] || !seen[1]; j++ {
		x := big.NewInt(j)
		if _, ok := lift(x); ok {
			continue
		}
		reason, k := ReasonNoPoint, 0
		if _, ok := lift(new(big.Int).Add(x, bigN)); ok {
			reason, k = ReasonEquation, 1
		}
		if seen[k] {
			continue
		}
		seen[k] = true
		e := s.scalar()
		items = append(items, Item{PublicKey: &priv.PublicKey, Digest: b32(e), Signature: derOf(add(e, x), s.scalar())})
		want = append(want, reason)
	}
	everyWay(t, func(t *testing.T, path sm2ec.Path) {
		b := NewBatch(nil)
		b.force = path
		for _, it := range items {
			b.AddItem(it)
		}
		var e *BatchError
		if !errors.As(b.Verify(), &e) {
			t.Fatal("no error")
		}
		got := make([]Reason, len(items))
		for i, k := range e.Bad {
			got[k] = e.Reasons[i]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
	text := (&BatchError{Bad: []int{4, 9}, Reasons: []Reason{ReasonNoPoint, ReasonKey}, Len: 20}).Error()
	if text != "sm2: 2 of 20 signatures are bad, the first of them number 4 (no such point)" {
		t.Error(text)
	}
}

// TestUID verifies signatures by each kind of ID, under each kind.
func TestUID(t *testing.T) {
	s := newSource(t)
	priv := s.key()
	pub := &priv.PublicKey
	msg := []byte("message")
	long := make([]byte, maxUID)
	uids := []UID{{}, NewUID(nil), NewUID([]byte("alice@example.com")), NewUID(long), NoUID()}
	for i, uid := range uids {
		digest, err := Digest(pub, uid, msg)
		if err != nil {
			t.Fatal(err)
		}
		sig := s.sign(priv, digest)
		for j, other := range uids {
			b := NewBatch(&Options{UID: other})
			b.Add(pub, msg, sig)
			b.AddItem(Item{PublicKey: pub, Message: msg, Signature: sig, UID: &uid})
			if bad := badOf(t, b.Verify()); (len(bad) == 0) != (i == j) || len(bad) == 2 {
				t.Errorf("ID %d under %d: bad %v", i, j, bad)
			}
		}
	}
	// gmsm's functions, for those that it has.
	for _, id := range []string{"", "1234567812345678", "alice@example.com", string(long)} {
		sig, err := priv.Sign(s, msg, sm2.NewSM2SignerOption(true, []byte(id)))
		if err != nil {
			t.Fatal(err)
		}
		b := NewBatch(&Options{UID: UIDOrDefault([]byte(id))})
		b.Add(pub, msg, sig)
		if err := b.Verify(); err != nil {
			t.Errorf("%.20q: %v", id, err)
		}
		z, err := sm2.CalculateZA(pub, []byte(id))
		xy, _ := keyBytes(pub)
		if got := zOf(&xy, NewUID([]byte(id))); err != nil || !slices.Equal(got[:], z) {
			t.Errorf("%.20q: Z = %x, want %x", id, got, z)
		}
	}
	// One byte too long.
	tooLong := NewUID(make([]byte, maxUID+1))
	b := NewBatch(&Options{UID: tooLong})
	b.Add(pub, msg, s.sign(priv, s.bytes(32)))
	if got := reasonIn(b.Verify()); got != ReasonEncoding {
		t.Errorf("too long: %v", got)
	}
	if _, err := Digest(pub, tooLong, msg); err == nil {
		t.Error("Digest takes an ID that is too long")
	}
	if _, err := Digest(nil, UID{}, msg); !errors.Is(err, ErrKey) {
		t.Errorf("Digest without a key: %v", err)
	}
	if NewUID([]byte(defaultUID)) != (UID{}) || UIDOrDefault(nil) != (UID{}) || NewUID(nil) == (UID{}) {
		t.Error("IDs that are the same aren't equal, or others are")
	}
}

// TestMessages verifies messages of many lengths, and that nothing of what was
// passed is kept.
func TestMessages(t *testing.T) {
	s := newSource(t)
	priv := s.key()
	pub := &priv.PublicKey
	b := NewBatch(&Options{Workers: 3})
	buf := make([]byte, 3*maxCopied)
	n := 0
	for _, size := range []int{0, 1, 31, 32, 55, 64, 200, maxCopied - 1, maxCopied, maxCopied + 1, 3 * maxCopied} {
		for _, uid := range []UID{{}, NoUID(), NewUID([]byte("x"))} {
			msg := buf[:size]
			s.Read(msg)
			digest, _ := Digest(pub, uid, msg)
			sig := s.sign(priv, digest)
			b.AddItem(Item{PublicKey: pub, Message: msg, Signature: sig, UID: &uid})
			clear(msg)
			clear(sig)
			n++
		}
	}
	for range 2 { // a second time, nothing has changed
		if err := b.Verify(); err != nil {
			t.Error(err)
		}
	}
	// More can be added, and the key may be changed.
	own := &ecdsa.PublicKey{Curve: curve, X: new(big.Int).Set(priv.X), Y: new(big.Int).Set(priv.Y)}
	digest, _ := Digest(pub, UID{}, nil)
	sig := s.sign(priv, digest)
	b.Add(own, nil, sig)
	own.X.SetInt64(1)
	b.Add(pub, []byte("other"), sig)
	if bad := badOf(t, b.Verify()); !slices.Equal(bad, []int{n + 1}) {
		t.Errorf("bad: %v", bad)
	}
	b.Reset()
	if err := b.Verify(); err != nil || b.Len() != 0 {
		t.Errorf("after Reset: %v, %d items", err, b.Len())
	}
	if len(b.keys.keys)+len(b.zs)+len(b.byKey)+len(b.items)+len(b.texts) > 0 {
		t.Error("Reset leaves things behind")
	}
	b.Add(pub, nil, sig)
	if err := b.Verify(); err != nil {
		t.Error(err)
	}
}

// TestHints demands that right hints come out of batches, whatever went in.
func TestHints(t *testing.T) {
	s := newSource(t)
	var items []Item
	var want [][2]Hint // by parity, and by size
	for i := range 64 {
		priv := s.key()
		digest := s.bytes(32)
		sig := s.sign(priv, digest)
		h, err := FindHint(&priv.PublicKey, digest, sig)
		if err != nil || h != HintEven && h != HintOdd {
			t.Fatalf("%v, %v", h, err)
		}
		items = append(items, Item{PublicKey: &priv.PublicKey, Digest: digest, Signature: sig, Hint: Hint(i % 7)})
		z, _, _ := DER.parse(sig)
		r, v := new(big.Int).SetBytes(z.r[:]), new(big.Int).SetBytes(z.s[:])
		y := base(v).plus(pt{priv.X, priv.Y}.times(add(r, v))).y
		if (y.Bit(0) == 1) != (h == HintOdd) {
			t.Errorf("hint %v for y = %x", h, y)
		}
		size := HintLow
		if y.Cmp(new(big.Int).Rsh(bigP, 1)) > 0 {
			size = HintHigh
		}
		want = append(want, [2]Hint{h, size})
	}
	items[40].Signature = s.sign(s.key(), items[40].Digest) // a bad one
	want[40] = [2]Hint{}
	everyWay(t, func(t *testing.T, path sm2ec.Path) {
		b := NewBatch(nil)
		b.force = path
		for _, it := range items {
			b.AddItem(it)
		}
		if b.Hint(3) != NoHint {
			t.Error("a hint before Verify")
		}
		if bad := badOf(t, b.Verify()); !slices.Equal(bad, []int{40}) {
			t.Fatalf("bad: %v", bad)
		}
		for i := range items {
			switch got := b.Hint(i); {
			case got == NoHint && path != sm2ec.Tables:
			case got != want[i][0] && got != want[i][1]:
				t.Errorf("item %d: %v, want %v (was %v)", i, got, want[i], items[i].Hint)
			}
		}
	})
	// Right hints of all kinds need no confirmation, and wrong ones do.
	for _, wrong := range []bool{false, true} {
		b := NewBatch(nil)
		b.force = sm2ec.Joint
		for i, it := range items[:40] {
			it.Hint = want[i][i%2]
			if wrong && i == 17 {
				it.Hint = HintLow + HintHigh - it.Hint
			}
			b.AddItem(it)
		}
		if err := b.Verify(); err != nil || (b.Stats().Confirmed > 0) != wrong {
			t.Errorf("wrong hints %v: %v, %+v", wrong, err, b.Stats())
		}
	}
	if _, err := FindHint(items[0].PublicKey, items[1].Digest, items[0].Signature); !errors.Is(err, ErrSignature) {
		t.Errorf("hint of an invalid signature: %v", err)
	}
	for _, sig := range [][]byte{nil, {1, 2, 3}} {
		if _, err := FindHint(items[0].PublicKey, nil, sig); !errors.Is(err, ErrSignature) {
			t.Errorf("hint of no signature: %v", err)
		}
	}
	if _, err := FindHint(nil, items[0].Digest, items[0].Signature); err == nil {
		t.Error("hint without a key")
	}
}

// TestStrings pins the names that the command prints.
func TestStrings(t *testing.T) {
	var got []string
	for r := range Reason(7) {
		got = append(got, r.String())
	}
	for e := range Encoding(6) {
		got = append(got, e.String())
	}
	for h := range Hint(6) {
		got = append(got, h.String())
	}
	want := "reason 0,encoding,key,range,no such point,equation,reason 6," +
		"default,DER,r||s,SKF,r||s||key,encoding 5,none,even,odd,low,high,hint 5"
	if s := strings.Join(got, ","); s != want {
		t.Error(s)
	}
}
