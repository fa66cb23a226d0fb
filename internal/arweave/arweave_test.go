// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package arweave

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// vectors returns a file of the collection of public vectors beside the
// repository, and skips the test where there is none.
func vectors(t *testing.T, name string, v any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "vectors", "rsa", "arweave", name))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the collection of public vectors isn't here")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

// TestMainnet verifies transactions that are on the chain, and one of the
// JavaScript library whose id was never computed.
func TestMainnet(t *testing.T) {
	var file struct {
		Cases []struct {
			Source  string
			Mainnet bool
			Address string          `json:"owner_address"`
			Tx      json.RawMessage `json:"tx"`
		}
	}
	vectors(t, "transactions.json", &file)
	if len(file.Cases) < 8 {
		t.Fatalf("only %d cases", len(file.Cases))
	}
	for _, c := range file.Cases {
		t.Run(filepath.Base(c.Source), func(t *testing.T) {
			t.Parallel()
			tx, err := Parse(c.Tx)
			if err != nil {
				t.Fatal(err)
			}
			if got := tx.OwnerAddress(); got != c.Address {
				t.Errorf("address is %s, want %s", got, c.Address)
			}
			if err := tx.VerifySignature(); err != nil {
				t.Error(err)
			}
			if err := tx.Verify(); (err == nil) != c.Mainnet {
				t.Errorf("Verify: %v", err)
			}
			testTampering(t, tx)

			out, err := json.Marshal(tx)
			if err != nil {
				t.Fatal(err)
			}
			var want, got map[string]any
			if json.Unmarshal(c.Tx, &want) != nil || json.Unmarshal(out, &got) != nil {
				t.Fatal("not JSON")
			}
			for k, v := range want {
				if a, b := mustJSON(t, v), mustJSON(t, got[k]); a != b {
					t.Errorf("%s: written as %s, read as %s", k, b, a)
				}
			}
		})
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// changes are those that a signature of format 2 must notice.
var changes = map[string]func(t *Transaction){
	"format":    func(t *Transaction) { t.Format = 3 - t.Format },
	"owner":     func(t *Transaction) { flip(&t.Owner, keySize-1) },
	"target":    func(t *Transaction) { flip(&t.Target, 0) },
	"quantity":  func(t *Transaction) { t.Quantity += "1" },
	"reward":    func(t *Transaction) { t.Reward += "1" },
	"last_tx":   func(t *Transaction) { flip(&t.LastTx, 0) },
	"data_size": func(t *Transaction) { t.DataSize += "1" },
	"data_root": func(t *Transaction) { flip(&t.DataRoot, 0) },
	"new tag":   func(t *Transaction) { t.Tags = append(slices.Clone(t.Tags), Tag{}) },
	"tag boundary": func(t *Transaction) {
		t.Tags = append(slices.Clone(t.Tags), Tag{Name: []byte("ab"), Value: []byte("c")})
	},
	"signature":     func(t *Transaction) { flip(&t.Signature, 7) },
	"signature end": func(t *Transaction) { flip(&t.Signature, keySize-1) },
	"signature >=n": func(t *Transaction) { t.Signature = slices.Repeat([]byte{0xff}, keySize) },
	"signature 0":   func(t *Transaction) { t.Signature = make([]byte, keySize) },
	"signature cut": func(t *Transaction) { t.Signature = t.Signature[1:] },
}

// flip changes a bit of a copy of b, or makes 32 bytes of none.
func flip(b *[]byte, i int) {
	if len(*b) == 0 {
		*b = make([]byte, hashSize)
		return
	}
	*b = slices.Clone(*b)
	(*b)[i] ^= 1
}

func testTampering(t *testing.T, tx *Transaction) {
	t.Helper()
	for name, change := range changes {
		if tx.Format == 1 && slices.Contains([]string{"data_size", "data_root", "new tag"}, name) {
			continue // not in the message of format 1
		}
		bad := *tx
		change(&bad)
		if bad.VerifySignature() == nil {
			t.Errorf("%s changed: the signature still verifies", name)
		}
	}
	bad := *tx
	flip(&bad.ID, 0)
	if bad.Verify() == nil {
		t.Error("id changed: verifies")
	}
}

// TestDataItems checks the deep hash with the items of bundles (ANS-104), which
// sign another list with it.
func TestDataItems(t *testing.T) {
	var file struct {
		Cases []struct {
			ID, Signature, Owner, Target, Anchor, Data string
			RawTags                                    string `json:"raw_tags"`
			Type                                       int    `json:"signature_type"`
		}
	}
	vectors(t, "ans104-data-items.json", &file)
	if len(file.Cases) == 0 {
		t.Fatal("no cases")
	}
	b := func(s string) []byte {
		out, err := base64.RawURLEncoding.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, c := range file.Cases {
		h := deepHash(list{
			[]byte("dataitem"), []byte("1"), []byte(strconv.Itoa(c.Type)),
			b(c.Owner), b(c.Target), b(c.Anchor), b(c.RawTags), b(c.Data),
		})
		digest := crypto.SHA256.New()
		digest.Write(h[:])
		pub := &rsa.PublicKey{N: new(big.Int).SetBytes(b(c.Owner)), E: exponent}
		if err := rsa.VerifyPSS(pub, crypto.SHA256, digest.Sum(nil), b(c.Signature), nil); err != nil {
			t.Errorf("%s: %v", c.ID, err)
		}
	}
}

// transfer is a transaction before it is signed, as wallets write it.
const transfer = `{"format":2,"id":"","last_tx":"` + h48 + `","owner":"","tags":[{"name":"QXBw","value":"dGVzdA"}],
	"target":"` + h32 + `","quantity":"1000000000000","data":"","data_size":"0","data_tree":[],"data_root":"","reward":"50311118","signature":""}`

const (
	h32 = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE"
	h48 = "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIC"
)

func prepared(t *testing.T) *Transaction {
	t.Helper()
	tx, err := Parse([]byte(transfer))
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Prepare(&testKey().PublicKey); err != nil {
		t.Fatal(err)
	}
	return tx
}

func sign(t *testing.T, tx *Transaction, salt int) []byte {
	t.Helper()
	digest, err := tx.Digest()
	if err != nil {
		t.Fatal(err)
	}
	sig, err := rsa.SignPSS(rand.Reader, testKey(), crypto.SHA256, digest, &rsa.PSSOptions{SaltLength: salt})
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

func TestSign(t *testing.T) {
	for _, salt := range []int{32, rsa.PSSSaltLengthAuto, 1} {
		tx := prepared(t)
		if err := tx.SetSignature(sign(t, tx, salt)); err != nil {
			t.Fatalf("salt %d: %v", salt, err)
		}
		out, err := json.Marshal(tx)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(out)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Verify(); err != nil {
			t.Errorf("salt %d: %v", salt, err)
		}
		if want, _ := Address(&testKey().PublicKey); again.OwnerAddress() != want || want == "" {
			t.Errorf("address %s, want %s", again.OwnerAddress(), want)
		}
		testTampering(t, again)
		if again.Prepare(&testKey().PublicKey) == nil {
			t.Error("a signed transaction is prepared again")
		}
	}
}

func TestSetSignatureRefuses(t *testing.T) {
	tx := prepared(t)
	good := sign(t, tx, 32)
	other := *tx
	other.Quantity = "2"
	for name, sig := range map[string][]byte{
		"of another transaction": sign(t, &other, 32), "empty": nil, "short": good[1:], "long": append([]byte{0}, good...),
	} {
		if err := tx.SetSignature(sig); err == nil {
			t.Errorf("signature %s: accepted", name)
		}
		if len(tx.Signature) > 0 || len(tx.ID) > 0 {
			t.Errorf("signature %s: the transaction was changed", name)
		}
	}
	if err := tx.SetSignature(sign(t, &other, 32)); !errors.Is(err, ErrSignature) {
		t.Errorf("got %v, want ErrSignature", err)
	}
}

func TestPrepareRefuses(t *testing.T) {
	key := &testKey().PublicKey
	small := &rsa.PublicKey{N: new(big.Int).Rsh(key.N, 1), E: exponent}
	for _, tt := range []struct {
		name   string
		pub    *rsa.PublicKey
		change func(*Transaction)
		want   string
	}{
		{"small key", small, nil, "4095 bits"},
		{"exponent", &rsa.PublicKey{N: key.N, E: 3}, nil, "exponent is 3"},
		{"format 1", key, func(t *Transaction) { t.Format = 1 }, "format 2"},
		{"another's", key, func(t *Transaction) { t.Owner = slices.Repeat([]byte{0xff}, keySize) }, "another wallet"},
		{"signed", key, func(t *Transaction) { t.Signature = make([]byte, keySize) }, "signed already"},
		{"has an id", key, func(t *Transaction) { t.ID = make([]byte, hashSize) }, "signed already"},
		{"an amount for nobody", key, func(t *Transaction) { t.Target = nil }, "no target"},
		{"root without data", key, func(t *Transaction) { t.DataRoot = make([]byte, hashSize) }, "contradict"},
		{"size without root", key, func(t *Transaction) { t.DataSize = "1" }, "contradict"},
		{"data without size", key, func(t *Transaction) { t.Data = []byte("x") }, "0, but there are 1 bytes"},
		{"other data", key, func(t *Transaction) {
			t.Data, t.DataSize, t.DataRoot = []byte("x"), "1", DataRoot([]byte("y"))
		}, "root of the data"},
	} {
		tx, err := Parse([]byte(transfer))
		if err != nil {
			t.Fatal(err)
		}
		if tt.change != nil {
			tt.change(tx)
		}
		if err := tx.Prepare(tt.pub); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	edit := func(old, new string) string {
		s := strings.Replace(transfer, old, new, 1)
		if s == transfer {
			t.Fatalf("%q isn't there", old)
		}
		return s
	}
	for _, tt := range []struct{ name, src, want string }{
		{"empty", "", "not a JSON object"},
		{"list", "[]", "not a JSON object"},
		{"no format", `{"reward":"0"}`, "no format"},
		{"no reward", `{"format":2}`, "no reward"},
		{"truncated", transfer[:len(transfer)-1], "too early"},
		{"truncated in a string", transfer[:100], "too early"},
		{"trailing object", transfer + "{}", "data after"},
		{"trailing byte", transfer + "x", "data after"},
		{"unknown field", edit(`"id"`, `"denomination":"1","id"`), "denomination: unknown field"},
		{"field in capitals", edit(`"target"`, `"Target"`), "Target: unknown field"},
		{"field twice", edit(`"id"`, `"format":2,"id"`), "occurs twice"},
		{"format 3", edit(`"format":2`, `"format":3`), "format: not 1 or 2"},
		{"format 2.0", edit(`"format":2`, `"format":2.0`), "format: not 1 or 2"},
		{"format as text", edit(`"format":2`, `"format":"2"`), "format: not 1 or 2"},
		{"owner of 33 bytes", edit(`"owner":""`, `"owner":"`+strings.Repeat("AAAA", 11)+`"`), "owner: 33 bytes"},
		{"signature of 3 bytes", edit(`"signature":""`, `"signature":"AAAA"`), "signature: 3 bytes"},
		{"target cut", edit(h32, h32[:40]), "target: 30 bytes"},
		{"padding", edit(`"QXBw"`, `"QXBw="`), "tags: name of number 1: not base64url"},
		{"padded", edit(`"dGVzdA"`, `"dGVzdA=="`), "value of number 1: not base64url"},
		{"loose bits", edit(`"dGVzdA"`, `"dGVzdB"`), "not base64url"},
		{"line break", edit(`"dGVzdA"`, `"dGVz\ndA"`), "not base64url"},
		{"standard alphabet", edit(`"QXBw"`, `"QX+/"`), "not base64url"},
		{"null", edit(`"target":"`+h32+`"`, `"target":null`), "target: not a string"},
		{"quantity a number", edit(`"1000000000000"`, `1000000000000`), "quantity: not a string"},
		{"quantity signed", edit(`"1000000000000"`, `"-1"`), "quantity: not a canonical"},
		{"quantity with a zero", edit(`"1000000000000"`, `"01"`), "quantity: not a canonical"},
		{"quantity empty", edit(`"1000000000000"`, `""`), "quantity: not a canonical"},
		{"quantity huge", edit(`"1000000000000"`, `"`+strings.Repeat("9", 22)+`"`), "quantity: not a canonical"},
		{"quantity in other digits", edit(`"1000000000000"`, `"١"`), "quantity: not a canonical"},
		{"tags null", edit(`[{"name":"QXBw","value":"dGVzdA"}]`, `null`), "tags: not a list"},
		{"tag without value", edit(`,"value":"dGVzdA"`, ``), "number 1 isn't"},
		{"tag with more", edit(`"name":"QXBw"`, `"name":"QXBw","more":""`), "number 1 isn't"},
		{"tag twice", edit(`"name":"QXBw"`, `"name":"QXBw","name":"QXBw"`), "number 1 isn't"},
		{"tree", edit(`"data_tree":[]`, `"data_tree":["AA"]`), "data_tree: not an empty list"},
		{"many tags", edit(`[{"name":"QXBw","value":"dGVzdA"}]`, "["+strings.Repeat(`{},`, maxTags)+"{}]"), "more than"},
		{"deep", edit(`"data_tree":[]`, `"data_tree":`+strings.Repeat("[", 1<<20)), "depth"},
	} {
		tx, err := Parse([]byte(tt.src))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v and %v, want %q", tt.name, tx, err, tt.want)
		}
	}
	if _, err := Parse([]byte(`{"reward":"0","format":2}`)); err != nil {
		t.Errorf("the least transaction: %v", err)
	}
}

func TestMessageRefuses(t *testing.T) {
	for name, change := range map[string]func(*Transaction){
		"no owner":  func(t *Transaction) { t.Owner = nil },
		"no reward": func(t *Transaction) { t.Reward = "" },
		"format 0":  func(t *Transaction) { t.Format = 0 },
	} {
		tx := prepared(t)
		change(tx)
		if _, err := tx.Message(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	tx := prepared(t)
	if tx.Verify() == nil {
		t.Error("an unsigned transaction verifies")
	}
	tx.Owner[keySize-1] &^= 1 // an even modulus
	tx.Signature = make([]byte, keySize)
	if err := tx.Verify(); !errors.Is(err, ErrSignature) {
		t.Errorf("even modulus: %v", err)
	}
}

// TestDataRoot has roots computed by arweave-js, and inner nodes of its test of
// a longer file.
func TestDataRoot(t *testing.T) {
	if DataRoot(nil) != nil {
		t.Error("no data has a root")
	}
	if got := encode(DataRoot(make([]byte, maxChunk+1))); got != "br1Vtl3TS_NGWdHmYqBh3-MxrlckoluHCZGmUZk-dJc" {
		t.Errorf("256 KiB and 1: %s", got)
	}
	const path = "7EAC9FsACQRwe4oIzu7Mza9KjgWKT4toYxDYGjWrCdp0QgsrYS6AueMJ_rM6ZEGslGqjUekzD3WSe7B5_fwipgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAA" +
		"nH6dASdQCigcL43lp0QclqBaSncF4TspuvxoFbn2L18EXpQrP1wkbwdIjSSWQQRt_F31yNvxtc09KkPFtzMKAwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAAA" +
		"IHiHU9QwOImFzjqSlfxkJJCtSbAox6TbbFhQvlEapSgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAA"
	b, err := base64.RawURLEncoding.DecodeString(path)
	if err != nil {
		t.Fatal(err)
	}
	root := hashAll(b[:32], b[32:64], offset(512<<10))
	left := hashAll(b[96:128], b[128:160], offset(256<<10))
	leaf := hashAll(b[192:224], offset(256<<10))
	if encode(root[:]) != "t-GCOnjPWxdox950JsrFMu3nzOE4RktXpMcIlkqSUTw" || string(left[:]) != string(b[:32]) || string(leaf[:]) != string(b[96:128]) {
		t.Error("inner nodes differ")
	}
}

// TestDataRootShapes counts on the tree's definition, chunk by chunk.
func TestDataRootShapes(t *testing.T) {
	data := make([]byte, 4*maxChunk)
	for i := range data {
		data[i] = byte(i * 7 >> 8)
	}
	leaf := func(from, to int) []byte {
		h := crypto.SHA256.New()
		h.Write(data[from:to])
		n := hashAll(h.Sum(nil), offset(to))
		return n[:]
	}
	join := func(l, r []byte, at int) []byte {
		n := hashAll(l, r, offset(at))
		return n[:]
	}
	const m = maxChunk
	half := m + minChunk - 1 - (m+minChunk-1)/2
	for _, tt := range []struct {
		size int
		want []byte
	}{
		{1, leaf(0, 1)},
		{m - 1, leaf(0, m-1)},
		{m, join(leaf(0, m), leaf(m, m), m)},
		{m + minChunk - 1, join(leaf(0, half), leaf(half, m+minChunk-1), half)},
		{m + minChunk, join(leaf(0, m), leaf(m, m+minChunk), m)},
		{2 * m, join(join(leaf(0, m), leaf(m, 2*m), m), leaf(2*m, 2*m), 2*m)},
	} {
		if got := DataRoot(data[:tt.size]); string(got) != string(tt.want) {
			t.Errorf("%d bytes: got %s, want %s", tt.size, encode(got), encode(tt.want))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(transfer))
	f.Add([]byte(`{"format":1,"reward":"0","data":"AA","data_size":"1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tx, err := Parse(data)
		if err != nil {
			return
		}
		out, err := json.Marshal(tx)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(out)
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if out2, err := json.Marshal(again); err != nil || string(out2) != string(out) {
			t.Fatalf("%s\n%s", out, out2)
		}
		tx.Verify()
	})
}
