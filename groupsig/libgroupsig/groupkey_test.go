// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/undersign/undersign/internal/bls12381"
)

func TestParseGroupKey(t *testing.T) {
	points := badPoints(t)
	for _, s := range Schemes() {
		t.Run(s.String(), func(t *testing.T) {
			key := newTestGroup(s).key
			k, err := ParseGroupKey([]byte(base64.StdEncoding.EncodeToString(key)))
			if err != nil {
				t.Fatal(err)
			}
			if b, err := k.MarshalBinary(); err != nil || !bytes.Equal(b, key) {
				t.Error("the key changes when it is written again:", err)
			}
			bad := func(what string, data []byte) {
				t.Helper()
				if _, err := ParseGroupKey(data); err == nil {
					t.Error(what, "is a key")
				}
			}
			bad("with a byte more it", append(bytes.Clone(key), 0))
			for i := range key {
				if i < 64 || i%37 == 0 {
					bad("what is truncated", key[:i])
				}
			}
			for kind := 1; kind < 5; kind++ {
				other := bytes.Clone(key)
				other[1] = byte(kind)
				bad("another kind", other)
			}
			for at := 2; at < len(key); {
				size := int(binary.LittleEndian.Uint32(key[at:]))
				set := func(what string, enc []byte) {
					t.Helper()
					x := bytes.Clone(key)
					copy(x[at+4:], enc)
					bad(what, x)
				}
				set("zero", make([]byte, size))
				set("ones", bytes.Repeat([]byte{0xff}, size))
				switch size {
				case bls12381.G1Size:
					for name, enc := range points {
						set(name, enc)
					}
				case bls12381.GTSize:
					set("1", append([]byte{1}, make([]byte, size-1)...))
					set("another pairing", appendGT(nil, pair(rnd1(), rnd2())))
					set("what isn't in the subgroup", append([]byte{2}, make([]byte, size-1)...))
				}
				x := bytes.Clone(key)
				x[at]++
				bad("another length", x)
				at += 4 + size
			}
		})
	}
}

func TestUnsupported(t *testing.T) {
	for _, s := range []Scheme{KTY04, CPY06, GL19} {
		if _, err := ParseGroupKey([]byte{byte(s), 0}); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), s.String()) {
			t.Errorf("%s: %v", s, err)
		}
		if len(s.Flaws()) > 0 {
			t.Errorf("%s has flaws of valid signatures", s)
		}
	}
	for _, code := range []byte{8, 255} {
		if _, err := ParseGroupKey([]byte{code, 0}); err == nil || errors.Is(err, ErrUnsupported) {
			t.Errorf("code %d: %v", code, err)
		}
		if Scheme(code).Flaws() != nil || Scheme(code).supported() == nil {
			t.Errorf("code %d is a scheme", code)
		}
	}
}

func TestMemberLists(t *testing.T) {
	for _, s := range Schemes() {
		t.Run(s.String(), func(t *testing.T) {
			g := newTestGroup(s)
			k, err := ParseGroupKey(g.key)
			if err != nil {
				t.Fatal(err)
			}
			bad := func(what string, data []byte, word string) {
				t.Helper()
				if _, err := k.ParseMemberList(data); err == nil || !strings.Contains(err.Error(), word) {
					t.Errorf("%s: %v", what, err)
				}
			}
			a, b := g.join(), g.join()
			if a.entry == nil {
				bad("a list", list(Fork), "no lists")
				return
			}
			bad("nothing", nil, "number")
			bad("text", []byte("no base64"), "base64")
			for _, e := range []Edition{Fork, IBM} {
				data := list(e, a, b, a)
				l, err := k.ParseMemberList(data)
				if err != nil {
					t.Fatal(e, err)
				}
				if len(l.Members) != 3 || l.Members[2].ID != 2 || len(l.Repeated) != 1 || l.Repeated[0] != 2 {
					t.Errorf("%v: %v, repeated %v", e, l.Members, l.Repeated)
				}
				if b, err := l.MarshalBinary(); err != nil || !bytes.Equal(b, data) {
					t.Errorf("%v: it changes when it is written again: %v", e, err)
				}
				if l, err := k.ParseMemberList(list(e)); err != nil || len(l.Members) != 0 || len(l.Editions) != 2 {
					t.Errorf("%v: an empty list: %v", e, err)
				}
				if _, err := k.ParseMemberList([]byte(base64.StdEncoding.EncodeToString(data))); err != nil {
					t.Errorf("%v: in base64: %v", e, err)
				}
				bad("with a byte more it", append(bytes.Clone(data), 0), "bytes")
				for _, n := range []uint64{0, 2, 4, 1 << 32, 1<<56 - 1} {
					x := bytes.Clone(data)
					binary.LittleEndian.PutUint64(x, n)
					bad("another number", x, "bytes")
				}
				for _, n := range []uint64{1 << 56, 1 << 63, 1<<64 - 1} {
					x := bytes.Clone(data)
					binary.LittleEndian.PutUint64(x, n)
					bad("a number too large", x, "base64")
				}
				for i := range data {
					if i%7 == 0 {
						bad("what is truncated", data[:i], "")
					}
				}
				x := bytes.Clone(data)
				binary.LittleEndian.PutUint64(x[8+8+len(a.entry[e]):], 0)
				bad("one ID twice", x, "twice")
				x = bytes.Clone(data)
				clear(x[8+8+4 : 8+8+4+48])
				bad("the identity", x, "entry 0")
				x = bytes.Clone(data)
				x[8+8]++
				bad("another length", x, "length")
				if s != PS16 && e == IBM {
					x = bytes.Clone(data)
					x[8+8+len(a.entry[e])-1] = 1
					bad("an absent element that is there", x, "absent")
				}
			}
			if s == PS16 {
				x := list(Fork, a, b)
				copy(x[8+8+4:], appendG1(nil, rnd1()))
				bad("an entry of nobody", x, "entry 0")
				x = list(Fork, a, newTestGroup(PS16).join())
				bad("an entry of another group", x, "entry 1")
			}
		})
	}
}
