// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// What schemes do with this package is tested there. These are lists that no opener
// makes, and records that no scheme passes on.

func testGroup() (*Group, *Key) {
	k := NewKey(&[SeedSize]byte{1})
	return &Group{Scheme: "test", ID: [32]byte{2}, Q: bls12381.NewLinesVarTime(bls12381.G2Generator()), Opener: k.Public()}, k
}

func tokenOf(w uint64) *bls12381.G2 {
	q := new(bls12381.G2).ScalarBaseMult(new(bls12381.Scalar).SetUint64(w))
	bls12381.NormalizeG2(q)
	return q
}

// targetOf is a signature's target for the secret w: A = 5·P1, K = e(w·A, P2).
func targetOf(g *Group, w uint64) *Target {
	var k bls12381.Scalar
	a := new(bls12381.G1).ScalarBaseMult(k.SetUint64(5))
	wa := new(bls12381.G1).ScalarMult(k.SetUint64(w), a)
	bls12381.NormalizeG1(a, wa)
	return &Target{A: a, Pairs: []bls12381.Pair{bls12381.PairWith(wa, g.Q)}, ID: [32]byte{byte(w)}}
}

func TestLists(t *testing.T) {
	g, k := testGroup()
	l, err := g.sign(Terms{Number: 3, Issued: 10, Expires: 20}, []*bls12381.G2{tokenOf(7), tokenOf(8), tokenOf(9)}, k.sign)
	if err != nil {
		t.Fatal(err)
	}
	if l.Number() != 3 || l.Issued() != 10 || l.Expires() != 20 || l.Len() != 3 {
		t.Errorf("list %+v", l)
	}
	for w := uint64(5); w < 12; w++ {
		if err := l.Check(targetOf(g, w)); errors.Is(err, ErrRevoked) != (7 <= w && w <= 9) {
			t.Errorf("%d: %v", w, err)
		}
	}
	// The opener signs something else.
	data, err := l.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	resign := func(change func([]byte) []byte) error {
		b := change(bytes.Clone(data[:len(data)-ed25519.SignatureSize]))
		msg := new(transcript.Items).Bytes("dst", transcript.DST("test", "list")).Bytes("list", b).Data()
		_, err := g.ParseList(append(b, k.Sign(msg)...))
		return err
	}
	const head = 2 + 32 + 3*8 + 4
	if err := resign(func(b []byte) []byte { return b }); err != nil {
		t.Error(err)
	}
	count := func(b []byte, n uint32) []byte { binary.BigEndian.PutUint32(b[head-4:], n); return b }
	for name, change := range map[string]func([]byte) []byte{
		"version":       func(b []byte) []byte { b[0]++; return b },
		"suite":         func(b []byte) []byte { b[1]++; return b },
		"group":         func(b []byte) []byte { b[5]++; return b },
		"before 1970":   func(b []byte) []byte { b[2+32+8] = 0x80; return b },
		"times":         func(b []byte) []byte { b[head-5] = 9; return b },
		"count":         func(b []byte) []byte { return count(b, 2) },
		"count, large":  func(b []byte) []byte { return count(b, 1<<32-1) },
		"more":          func(b []byte) []byte { return append(b, 0) },
		"order":         func(b []byte) []byte { return append(append(b[:head:head], b[head+96:]...), b[head:head+96]...) },
		"twice":         func(b []byte) []byte { copy(b[head+96:], b[head:head+96]); return b },
		"no point":      func(b []byte) []byte { copy(b[head+192:], bytes.Repeat([]byte{0xff}, 96)); return b },
		"zero":          func(b []byte) []byte { copy(b[head:], append([]byte{0xc0}, make([]byte, 95)...)); return b },
		"empty":         func([]byte) []byte { return nil },
		"only the head": func(b []byte) []byte { return b[:head] },
	} {
		if resign(change) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := g.ParseList(make([]byte, head+(MaxListed+1)*bls12381.G2Size)); err == nil {
		t.Error("a list that is too long")
	}
	if _, err := g.sign(Terms{}, make([]*bls12381.G2, MaxListed+1), k.sign); err == nil {
		t.Error("signed a list that is too long")
	}
	if _, err := g.sign(Terms{Issued: -1, Expires: 1}, nil, k.sign); err == nil {
		t.Error("signed a list from before 1970")
	}
	if _, err := g.sign(Terms{}, []*bls12381.G2{tokenOf(7), tokenOf(7)}, k.sign); err == nil {
		t.Error("signed one token twice")
	}
}

func TestSearch(t *testing.T) {
	for _, n := range []int{0, 1, 2, 100} {
		for _, want := range []int{-1, 0, n - 1} {
			var calls atomic.Int64
			got := search(n, func(i int) bool { calls.Add(1); return i == want })
			if want >= n {
				want = -1
			}
			if got != want || want < 0 && calls.Load() != int64(n) {
				t.Errorf("%d of %d: %d, after %d calls", want, n, got, calls.Load())
			}
		}
	}
	if search(1000, func(int) bool { return true }) < 0 {
		t.Error("nothing found")
	}
}

func TestRegister(t *testing.T) {
	g, k := testGroup()
	reg := join.NewRegister("test", g.ID, 0)
	record := func(w uint64) *join.Record {
		p := new(bls12381.G1).ScalarBaseMult(new(bls12381.Scalar).SetUint64(w))
		r := &join.Record{Scheme: "test", GroupID: g.ID, Session: join.SessionID{byte(w)}, Member: fmt.Sprint("member ", w), Point: p.Bytes()}
		if err := r.Sign(ed25519.NewKeyFromSeed(make([]byte, 32))); err != nil {
			t.Fatal(err)
		}
		return r
	}
	for w := uint64(7); w < 10; w++ {
		if err := k.Add(g, reg, record(w), tokenOf(w)); err != nil {
			t.Fatal(err)
		}
	}
	zero := record(11)
	zero.Point = new(bls12381.G1).Bytes()
	for name, err := range map[string]error{
		"wrong token":    k.Add(g, reg, record(11), tokenOf(12)),
		"zero token":     k.Add(g, reg, record(11), new(bls12381.G2)),
		"zero point":     k.Add(g, reg, zero, tokenOf(11)),
		"opposite token": k.Add(g, reg, record(11), new(bls12381.G2).Neg(tokenOf(11))),
		"twice":          k.Add(g, reg, record(7), tokenOf(7)),
	} {
		if err == nil {
			t.Errorf("%s: added", name)
		}
	}
	for r := range reg.All() {
		if bytes.Contains(r.Evidence, tokenOf(7).Bytes()[4:20]) {
			t.Error("a token is in the clear")
		}
	}
	key := ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey)
	target := targetOf(g, 8)
	o, err := k.Open(g, reg, target, []byte("context"))
	if err != nil || o.Member() != "member 8" {
		t.Fatalf("%v: %v", o, err)
	}
	if err := g.VerifyOpening(target, o, key, []byte("context")); err != nil {
		t.Error(err)
	}
	// Another target with the same value has another statement, and so has one for
	// whose signer the opener has no token.
	for name, bad := range map[string]*Target{"other member": targetOf(g, 9), "other ID": {A: target.A, Pairs: target.Pairs}} {
		if g.VerifyOpening(bad, o, key, []byte("context")) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := k.Open(g, reg, targetOf(g, 12), nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("unknown signer: %v", err)
	}
	stranger := NewKey(&[SeedSize]byte{9})
	if _, err := stranger.Open(g, reg, target, nil); err == nil || errors.Is(err, ErrUnknown) {
		t.Errorf("another key opened: %v", err)
	}
	if err := reg.Revoke("member 9"); err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.List(g, reg, Terms{}); err == nil {
		t.Error("another key listed")
	}
	if l, err := k.List(g, reg, Terms{}); err != nil || l.Len() != 1 || l.Check(targetOf(g, 9)) == nil || l.Check(target) != nil {
		t.Errorf("list: %v", err)
	}
}
