// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package transcript

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/undersign/undersign/internal/bls12381"
)

var update = flag.Bool("update", false, "write the expect: lines of testdata/items.txt")

const itemsFile = "testdata/items.txt"

// A block of the file is a name, lines of items and lines of expectations.
type block struct {
	name   string
	items  []string
	expect []string
}

func readBlocks(t *testing.T) (header string, blocks []*block) {
	t.Helper()
	f, err := os.Open(itemsFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		line := s.Text()
		name, isName := strings.CutPrefix(line, "name ")
		switch {
		case isName:
			blocks = append(blocks, &block{name: name})
		case len(blocks) == 0:
			header += line + "\n"
		case strings.HasPrefix(line, "expect: "):
			b := blocks[len(blocks)-1]
			b.expect = append(b.expect, line)
		case line != "":
			b := blocks[len(blocks)-1]
			b.items = append(b.items, line)
		}
	}
	return header, blocks
}

// TestKnownAnswers holds the encoding against frozen values, and against a second,
// plain encoder.
func TestKnownAnswers(t *testing.T) {
	header, blocks := readBlocks(t)
	out := header
	for _, b := range blocks {
		var items Items
		plain, rest := build(t, &items, b.items, "")
		if len(rest) != 0 {
			t.Fatalf("%s: lines left over: %q", b.name, rest)
		}
		if !bytes.Equal(items.Data(), plain) {
			t.Errorf("%s: items differ from the plain encoding\n%x\n%x", b.name, items.Data(), plain)
		}
		sum := items.Sum()
		got := []string{
			fmt.Sprintf("expect: length %d", len(items.Data())),
			fmt.Sprintf("expect: sha256 %x", sum),
			fmt.Sprintf("expect: challenge dl21/sig %x", items.Challenge(DST("dl21", "sig")).Bytes()),
			fmt.Sprintf("expect: challenge dl21/link %x", items.Challenge(DST("dl21", "link")).Bytes()),
			fmt.Sprintf("expect: g1 dl21/h2c/scope %x", items.HashToG1(DST("dl21", "h2c/scope")).Bytes()),
		}
		if *update {
			out += "name " + b.name + "\n" + strings.Join(append(b.items, got...), "\n") + "\n\n"
			continue
		}
		if a, w := strings.Join(got, "\n"), strings.Join(b.expect, "\n"); a != w {
			t.Errorf("%s:\n%s\nwant\n%s", b.name, a, w)
		}
	}
	if *update {
		if err := os.WriteFile(itemsFile, []byte(strings.TrimSuffix(out, "\n")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// build appends the items of the lines that have the given indent to t, and returns
// their plain encoding.
func build(t *testing.T, items *Items, lines []string, indent string) (plain []byte, rest []string) {
	t.Helper()
	length := func(b []byte) []byte {
		return append(binary.BigEndian.AppendUint64(nil, uint64(len(b))), b...)
	}
	for len(lines) > 0 && strings.HasPrefix(lines[0], indent) {
		f := strings.SplitN(strings.TrimPrefix(lines[0], indent)+" ", " ", 3)
		kind, label, value := f[0], f[1], strings.TrimSpace(f[2])
		lines = lines[1:]
		var enc []byte
		switch kind {
		case "bytes":
			enc = unhex(t, value)
			items.Bytes(label, enc)
		case "uint64":
			v, err := strconv.ParseUint(value, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			enc = binary.BigEndian.AppendUint64(nil, v)
			items.Uint64(label, v)
		case "message":
			m, err := strconv.Unquote(value)
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256([]byte(m))
			enc = binary.BigEndian.AppendUint64(sum[:], uint64(len(m)))
			items.Message(label, MessageOf([]byte(m)))
		case "scalar":
			var k bls12381.Scalar
			enc = unhex(t, value)
			if err := k.SetBytes(enc); err != nil {
				t.Fatal(err)
			}
			items.Scalar(label, &k)
		case "g1", "g2", "gt":
			v, err := strconv.ParseUint(value, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			enc = element(items, kind, label, v)
		case "list":
			var list Items
			inner, more := build(t, &list, lines, indent+"  ")
			items.List(label, &list)
			count := 0
			for _, l := range lines[:len(lines)-len(more)] {
				if !strings.HasPrefix(l, indent+"   ") {
					count++
				}
			}
			enc = append(binary.BigEndian.AppendUint64(nil, uint64(count)), inner...)
			lines = more
		default:
			t.Fatalf("unknown kind %q", kind)
		}
		plain = append(plain, length([]byte(label))...)
		plain = append(plain, length(enc)...)
	}
	return plain, lines
}

// element appends a multiple of a generator.
func element(items *Items, kind, label string, v uint64) []byte {
	k := new(bls12381.Scalar).SetUint64(v)
	switch kind {
	case "g1":
		p := new(bls12381.G1).ScalarBaseMult(k)
		items.G1(label, p)
		return p.Bytes()
	case "g2":
		p := new(bls12381.G2).ScalarBaseMult(k)
		items.G2(label, p)
		return p.Bytes()
	}
	z := new(bls12381.GT).PairVarTime(bls12381.G1Generator(), bls12381.G2Generator())
	z.ExpVarTime(z, k)
	items.GT(label, z)
	return z.Bytes()
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestInjective has statements that a careless encoding would confuse.
func TestInjective(t *testing.T) {
	inner := func(labels ...string) *Items {
		var list Items
		for _, l := range labels {
			list.Bytes(l, nil)
		}
		return &list
	}
	statements := map[string]*Items{
		"empty":           {},
		"ab|":             new(Items).Bytes("ab", nil),
		"a|b":             new(Items).Bytes("a", []byte("b")),
		"|ab":             new(Items).Bytes("", []byte("ab")),
		"a|;b|":           new(Items).Bytes("a", nil).Bytes("b", nil),
		"b|;a|":           new(Items).Bytes("b", nil).Bytes("a", nil),
		"list(a,b)":       new(Items).List("l", inner("a", "b")),
		"list(b,a)":       new(Items).List("l", inner("b", "a")),
		"list(a)":         new(Items).List("l", inner("a")),
		"list()":          new(Items).List("l", inner()),
		"list(a),b":       new(Items).List("l", inner("a")).Bytes("b", nil),
		"list(list(a))":   new(Items).List("l", new(Items).List("l", inner("a"))),
		"message":         new(Items).Message("m", MessageOf([]byte("x"))),
		"other message":   new(Items).Message("m", MessageOf([]byte("y"))),
		"length as value": new(Items).Bytes("l", make([]byte, 16)),
		"zero":            new(Items).Uint64("m", 0),
	}
	seen := map[string]string{}
	for name, s := range statements {
		if other, ok := seen[string(s.Data())]; ok {
			t.Errorf("%s and %s have one encoding", name, other)
		}
		seen[string(s.Data())] = name
	}
}

func TestAppend(t *testing.T) {
	a := new(Items).Bytes("a", []byte("1"))
	c := a.Clone().Bytes("b", []byte("2"))
	d := new(Items).Append(a).Append(new(Items).Bytes("b", []byte("2")))
	if !bytes.Equal(c.Data(), d.Data()) || c.Len() != 2 || d.Len() != 2 || a.Len() != 1 {
		t.Error("Append differs from item by item")
	}
	a.Bytes("x", []byte("y"))
	if bytes.Equal(a.Data(), c.Data()) {
		t.Error("a clone shares memory")
	}
}

func TestMessageWriter(t *testing.T) {
	var w MessageWriter
	if w.Message() != MessageOf(nil) {
		t.Error("empty message")
	}
	text := bytes.Repeat([]byte("message"), 1000)
	for i := 0; i < len(text); i += 100 {
		w.Write(text[i : i+100])
	}
	for range 2 { // asking doesn't change the state
		if w.Message() != MessageOf(text) {
			t.Error("streamed message differs")
		}
	}
}

func TestDST(t *testing.T) {
	if s := string(DST("ps16", "h2c/gen")); s != "undersign/groupsig/v1/ps16/h2c/gen" {
		t.Errorf("%q", s)
	}
	for _, bad := range [][2]string{{"", "sig"}, {"ps16", ""}, {"ps16/h2c", "gen"}, {"ps16", strings.Repeat("x", 250)}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q accepted", bad)
				}
			}()
			DST(bad[0], bad[1])
		}()
	}
}
