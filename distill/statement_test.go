// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"reflect"
	"testing"
)

// filled returns n bytes that count up from first.
func filled(first byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = first + byte(i)
	}
	return b
}

// statements are one of each kind, with all fields different from zero, and what the
// specification of the protocol says they are.
func statements() map[string]struct {
	s    Statement
	want [][]byte // after the tag and the network
} {
	net := NetworkID(filled(1, 32))
	h1, h2, h3 := [32]byte(filled(50, 32)), [32]byte(filled(90, 32)), [32]byte(filled(130, 32))
	k := [48]byte(filled(7, 48))
	prop := Prop{net, 2, 3, 4, 5, h1, 6}
	type c = struct {
		s    Statement
		want [][]byte
	}
	return map[string]c{
		"sub":  {Sub{net, 2, 3, 4, h1}, [][]byte{be(2), be(3), be(4), h1[:]}},
		"red":  {prop.Red(), [][]byte{be(2), be(3), be(4), be(5), h1[:], be(6)}},
		"prop": {prop, [][]byte{be(2), be(3), be(4), be(5), h1[:], be(6)}},
		"bat":  {Bat{net, 2, 3, h1}, [][]byte{be(2), be(3), h1[:]}},
		"wit":  {Wit{net, 2, 3, h1}, [][]byte{be(2), be(3), h1[:]}},
		"rcpt": {Rcpt{net, 2, h1, h2, 3, h3}, [][]byte{be(2), h1[:], h2[:], be(3), h3[:]}},
		"hgt":  {Hgt{net, 2, 3, h1, 4}, [][]byte{be(2), be(3), h1[:], be(4)}},
		"look": {
			Look{net, h1, 2, 3, 4, 5, 6, LookExecuted, ResultAppReject, 0x0708, 9, h2},
			[][]byte{h1[:], be(2), be(3), be(4), be(5), be(6), {1, 2, 7, 8}, be(9), h2[:]},
		},
		"reg": {Reg{net, k, h1, 2}, [][]byte{k[:], h1[:], be(2)}},
		"rot": {Rot{net, 2, 3, k, h1}, [][]byte{be(2), be(3), k[:], h1[:]}},
		"rvk": {Rvk{net, 2, 3}, [][]byte{be(2), be(3)}},
	}
}

func TestStatements(t *testing.T) {
	list := statements()
	for name, c := range list {
		want := slowTag("dist/" + name + "/v1")
		want = append(want, filled(1, 32)...)
		want = append(want, bytes.Join(c.want, nil)...)
		got := c.s.Bytes()
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %x, not %x", name, got, want)
		}
		if c.s.Digest() != sha256.Sum256(want) {
			t.Errorf("%s: wrong digest", name)
		}
		read := func(b []byte) (any, error) {
			p := reflect.New(reflect.TypeOf(c.s))
			err := p.Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary(b)
			return p.Elem().Interface(), err
		}
		if s, err := read(got); err != nil || s != c.s {
			t.Errorf("%s: read %v, %v", name, s, err)
		}
		for i := range got {
			if _, err := read(got[:i]); RuleOf(err) != RuleStatement {
				t.Errorf("%s of %d bytes: %v", name, i, err)
			}
		}
		if _, err := read(append(bytes.Clone(got), 0)); RuleOf(err) != RuleStatement {
			t.Errorf("%s with a byte more: %v", name, err)
		}
		for i := range tagSize {
			b := bytes.Clone(got)
			b[i] ^= 1
			if _, err := read(b); RuleOf(err) != RuleStatement {
				t.Errorf("%s with another tag: %v", name, err)
			}
		}
		// No field is left out: each bit makes a difference, and reads as another value.
		for i := tagSize; i < len(got); i++ {
			b := bytes.Clone(got)
			b[i] ^= 0x80
			if s, err := read(b); err != nil || s == c.s || !bytes.Equal(s.(Statement).Bytes(), b) {
				t.Errorf("%s: byte %d: %v, %v", name, i, s, err)
			}
		}
		// Nothing is read as a statement of another kind.
		for other, o := range list {
			if _, err := read(o.s.Bytes()); other != name && err == nil {
				t.Errorf("%s is read as %s", other, name)
			}
		}
	}
}

// What isn't a statement can't be mistaken for one either.
func TestTags(t *testing.T) {
	seen := map[tag]bool{}
	for _, x := range []tag{tagReg, tagRot, tagRvk, tagSub, tagRed, tagProp, tagBat, tagRcpt, tagWit, tagHgt, tagLook, tagPayload} {
		if seen[x] || x[tagSize-1] != 0 {
			t.Errorf("%q", x)
		}
		seen[x] = true
	}
}

func TestLeaf(t *testing.T) {
	l := Leaf{0x0102030405060708, 0x1112131415161718, 0x2122232425262728, [32]byte(filled(60, 32))}
	want := append([]byte{0x4c, 1, 0, 0, 0, 0, 0, 0}, be(l.ID)...)
	want = append(append(append(want, be(l.Nonce)...), be(l.NotAfter)...), l.PayloadHash[:]...)
	got := l.Block()
	if !bytes.Equal(got[:], want) || l.Hash() != sha256.Sum256(want) {
		t.Errorf("%x, not %x", got, want)
	}
	sub := Sub{ID: l.ID, Nonce: l.Nonce, NotAfter: l.NotAfter, PayloadHash: l.PayloadHash}
	if sub.Leaf() != l {
		t.Errorf("%v", sub.Leaf())
	}
}

func TestPayloadHash(t *testing.T) {
	seen := map[[32]byte]bool{}
	for n := range 300 {
		p := filled(3, n)
		want := sha256.Sum256(append(append(slowTag("dist/pay/v1"), be(uint64(n))...), p...))
		if PayloadHash(p) != want {
			t.Errorf("%d bytes", n)
		}
		if h := PayloadHash(make([]byte, n)); seen[h] {
			t.Errorf("%d zeros have the hash of fewer", n)
		} else {
			seen[h] = true
		}
	}
	sub := (&Submission{1, 2, 3, []byte("pay"), nil}).Sub(NetworkID{9})
	if (sub != Sub{NetworkID{9}, 1, 2, 3, PayloadHash([]byte("pay"))}) {
		t.Errorf("%v", sub)
	}
	if n := testing.AllocsPerRun(10, func() { PayloadHash(sub.PayloadHash[:]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
