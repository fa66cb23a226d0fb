// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package chia

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// real reads one of the files of real blocks and bundles, or skips the test.
func real(t testing.TB, name string) *File {
	t.Helper()
	r, err := os.Open(filepath.Join("..", "..", "..", "shared", "vectors", "chia", name))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the vectors aren't here")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := ReadFile(r)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestReal verifies real bundles and blocks, and finds a changed bit in each.
func TestReal(t *testing.T) {
	for _, v := range []struct {
		name, network string
		blocks, pairs int
	}{{"mainnet-spend-bundles.json", "mainnet", 90, 949}, {"testnet10-blocks.json", "testnet10", 5, 524}} {
		f := real(t, v.name)
		pairs := 0
		keys := NewKeys()
		for i, b := range f.Blocks {
			pairs += len(b.Pairs)
			if err := b.Verify(keys); err != nil {
				t.Errorf("%s: %v", b.Name, err)
			}
			if n := len(b.Pairs); n > 0 && n < 60 {
				p := &b.Pairs[i%n]
				p.Msg = bytes.Clone(p.Msg)
				p.Msg[i%len(p.Msg)] ^= 1
				wantErr(t, b.Name, b.Verify(keys), ErrSignature)
			}
		}
		if f.Network != v.network || len(f.Blocks) != v.blocks || pairs != v.pairs {
			t.Errorf("%s: %d blocks of %q with %d pairs", v.name, len(f.Blocks), f.Network, pairs)
		}
	}
	f := real(t, "mainnet-block-pairs-unsigned.json")
	for _, b := range f.Blocks {
		wantErr(t, b.Name, b.Verify(nil), ErrSignature)
	}
}

func wantErr(t testing.TB, what string, err, want error) {
	t.Helper()
	if want == nil && err != nil || want != nil && !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func TestVerify(t *testing.T) {
	c := NewChain(1)
	for _, keys := range []*Keys{nil, NewKeys()} {
		b := c.Block(4)
		wantErr(t, "good", b.Verify(keys), nil)
		wantErr(t, "good again", b.Verify(keys), nil)
		for name, change := range map[string]func(*Block){
			"a pair less":            func(b *Block) { b.Pairs = b.Pairs[1:] },
			"a pair twice":           func(b *Block) { b.Pairs = append(b.Pairs, b.Pairs[0]) },
			"another key":            func(b *Block) { b.Pairs[0].Key = b.Pairs[1].Key },
			"another message":        func(b *Block) { b.Pairs[0].Msg = nil },
			"key is the identity":    func(b *Block) { b.Pairs[0].Key = Key{0xc0} },
			"not a key":              func(b *Block) { b.Pairs[0].Key = Key{} },
			"no signature":           func(b *Block) { b.Signature = nil },
			"signature too short":    func(b *Block) { b.Signature = b.Signature[1:] },
			"not a signature":        func(b *Block) { b.Signature = make([]byte, 96) },
			"identity":               func(b *Block) { b.Signature = identityBytes() },
			"no pairs":               func(b *Block) { b.Pairs = nil },
			"signature of the other": func(b *Block) { b.Signature = c.Block(4).Signature },
		} {
			x := b.Block
			x.Pairs = slices.Clone(b.Pairs)
			change(&x)
			wantErr(t, name, x.Verify(keys), ErrSignature)
		}
		empty := Block{Signature: identityBytes()}
		wantErr(t, "no pairs and the identity", empty.Verify(keys), nil)
	}
}

func TestGroupPairs(t *testing.T) {
	a, b := Key{1}, Key{2}
	pairs := []Pair{{b, []byte("z")}, {a, []byte("y")}, {b, []byte("x")}, {b, nil}, {b, []byte("x")}}
	groups := GroupPairs(pairs)
	if len(groups) != 2 || groups[0].Key != a || groups[1].Key != b || len(groups[1].Msgs) != 4 {
		t.Fatalf("%q", groups)
	}
	payload := groups[1].Payload()
	if want := "00000000" + "0000000178" + "0000000178" + "000000017a"; hex.EncodeToString(payload) != want {
		t.Errorf("%x", payload)
	}
	msgs, err := Messages(payload)
	if err != nil || !slices.EqualFunc(msgs, groups[1].Msgs, bytes.Equal) {
		t.Errorf("%q, %v", msgs, err)
	}
	if string(pairs[0].Msg) != "z" {
		t.Error("the pairs have changed")
	}
	for name, s := range map[string]string{
		"nothing":          "",
		"a part of length": "000000",
		"too short":        "0000000278",
		"much too short":   "ffffffff78",
		"left over":        "000000017800",
		"out of order":     "00000001790000000178",
		"shorter later":    "000000017800000000",
	} {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Messages(b)
		wantErr(t, name, err, ErrFormat)
	}
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 1, 7})
	f.Fuzz(func(t *testing.T, payload []byte) {
		msgs, err := Messages(payload)
		if err != nil {
			return
		}
		g := Group{Msgs: msgs}
		if !bytes.Equal(g.Payload(), payload) {
			t.Errorf("%x has another payload: %x", payload, g.Payload())
		}
	})
}

const okFile = `{"network":"n","cases":[{"source":"s","pairs_count":1,"aggregated_signature":"SIG","pairs":[{"pk":"KEY","msg":"00"}]}]}`

func TestReadFile(t *testing.T) {
	fill := strings.NewReplacer("SIG", strings.Repeat("ab", 96), "KEY", strings.Repeat("cd", 48)).Replace
	f, err := ReadFile(strings.NewReader(fill(okFile)))
	if err != nil || f.Network != "n" || f.Blocks[0].Name != "s" || f.Blocks[0].Pairs[0].Key[47] != 0xcd || f.Blocks[0].Signature[95] != 0xab {
		t.Fatalf("%+v, %v", f, err)
	}
	for name, v := range map[string][2]string{
		"nothing":             {okFile, ``},
		"not JSON":            {`{`, `[`},
		"cut":                 {`]}`, ``},
		"trailing":            {okFile, okFile + `{}`},
		"no cases":            {okFile, `{"cases":[]}`},
		"not an object":       {okFile, `[1]`},
		"null":                {okFile, `null`},
		"an unknown field":    {`"network"`, `"net"`},
		"a field twice":       {`"network":"n"`, `"network":"n","network":"n"`},
		"a field in capitals": {`"pk"`, `"PK"`},
		"a count":             {`"pairs_count":1`, `"pairs_count":2`},
		"a fraction":          {`"pairs_count":1`, `"pairs_count":1.5`},
		"another tag":         {`"network":"n"`, `"dst":"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_"`},
		"a key too short":     {`KEY`, `cd`},
		"a key too long":      {`KEY`, `00KEY`},
		"key in capitals":     {`KEY`, strings.Repeat("CD", 48)},
		"signature too short": {`SIG`, ``},
		"an odd digit":        {`"msg":"00"`, `"msg":"000"`},
		"no hexadecimal":      {`"msg":"00"`, `"msg":"0g"`},
		"a number":            {`"msg":"00"`, `"msg":0`},
		"not UTF-8":           {`"n"`, "\"\xff\""},
		"nested":              {`"n"`, strings.Repeat("[", 40) + strings.Repeat("]", 40)},
	} {
		_, err := ReadFile(strings.NewReader(fill(strings.Replace(okFile, v[0], v[1], 1))))
		wantErr(t, name, err, ErrFormat)
	}
	_, err = ReadFile(strings.NewReader(strings.Repeat(" ", MaxFile+1)))
	wantErr(t, "too long", err, ErrFormat)
}

func FuzzReadFile(f *testing.F) {
	f.Add([]byte(okFile))
	f.Add([]byte(`{"cases":[{"pairs":[]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := ReadFile(bytes.NewReader(b))
		if (err == nil) != (file != nil) || err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("%v, %v", file, err)
		}
	})
}
