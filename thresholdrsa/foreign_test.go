// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// foreignFiles are the documents of one dealing in testdata/foreign.
type foreignFiles struct {
	public, shares []string
	signature      string
}

var foreignLibraries = map[string]foreignFiles{
	"tcrsa": {[]string{"tcrsa-meta.json"}, []string{"tcrsa-shares.json"}, "tcrsa-signature.json"},
	"safeheron": {
		[]string{"safeheron-public.json", "safeheron-meta.json"},
		[]string{"safeheron-share-1.json", "safeheron-share-2.json", "safeheron-share-3.json"},
		"safeheron-signature.json",
	},
}

func foreignFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "foreign", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func foreignDocs(t testing.TB, names []string) [][]byte {
	t.Helper()
	var docs [][]byte
	for _, name := range names {
		docs = append(docs, foreignFile(t, name))
	}
	return docs
}

func foreignKeyOf(t testing.TB, library string) *foreignKey {
	t.Helper()
	k, err := parseForeignKey(foreignDocs(t, foreignLibraries[library].public)...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Every quorum of the imported shares makes the signature that the library made.
func TestForeign(t *testing.T) {
	want := map[string]struct{ k, l int }{"tcrsa": {3, 5}, "safeheron": {2, 3}}
	for library, files := range foreignLibraries {
		t.Run(library, func(t *testing.T) {
			key := foreignKeyOf(t, library)
			if key.k != want[library].k || key.l != want[library].l || key.e != 65537 || key.n.BitLen() != 2047 {
				t.Fatalf("got %d of %d, e = %d, %d bits", key.k, key.l, key.e, key.n.BitLen())
			}
			shares, err := parseForeignShares(key, foreignDocs(t, files.shares)...)
			if err != nil {
				t.Fatal(err)
			}
			if len(shares) != key.l {
				t.Fatalf("%d shares", len(shares))
			}
			for _, s := range shares {
				if new(big.Int).Exp(key.v, s.s, key.n).Cmp(key.vi[s.index-1]) != 0 {
					t.Errorf("v^s_%d isn't v_%d", s.index, s.index)
				}
			}

			var answer struct {
				Message   string
				Signature []byte
			}
			if err := json.Unmarshal(foreignFile(t, files.signature), &answer); err != nil {
				t.Fatal(err)
			}
			pub := &rsa.PublicKey{N: key.n, E: key.e}
			digest := sha256.Sum256([]byte(answer.Message))
			if err := rsa.VerifyPKCS1v15(pub, crypto.SHA256, digest[:], answer.Signature); err != nil {
				t.Fatal(err)
			}
			y := new(big.Int).SetBytes(answer.Signature)
			x := new(big.Int).Exp(y, big.NewInt(int64(key.e)), key.n)
			n := 0
			subsets(key.l, key.k, func(set []int) {
				n++
				if got := combineForeign(key, shares, set, x); got.Cmp(y) != 0 {
					t.Errorf("holders %v: another signature than the library's", set)
				}
			})
			if n == 0 {
				t.Error("no subset tried")
			}
		})
	}
}

// combineForeign signs and combines as Shoup 2000, section 3 has it, with Gamma = 1.
func combineForeign(key *foreignKey, shares []*foreignShare, set []int, x *big.Int) *big.Int {
	w := big.NewInt(1)
	for _, j := range set {
		num, den := new(big.Int).MulRange(1, int64(key.l)), big.NewInt(1)
		for _, i := range set {
			if i != j {
				num.Mul(num, big.NewInt(int64(-i)))
				den.Mul(den, big.NewInt(int64(j-i)))
			}
		}
		lambda := num.Quo(num, den)
		for _, s := range shares {
			if s.index == j {
				xi := new(big.Int).Exp(x, new(big.Int).Lsh(s.s, 1), key.n)
				w = mulMod(w, xi.Exp(xi, lambda.Lsh(lambda, 1), key.n), key.n)
			}
		}
	}
	// w = x^(4d); 4a + eb = 1.
	a, b := new(big.Int), new(big.Int)
	new(big.Int).GCD(a, b, big.NewInt(4), big.NewInt(int64(key.e)))
	return mulMod(new(big.Int).Exp(w, a, key.n), new(big.Int).Exp(x, b, key.n), key.n)
}

// Order of documents, layout and the second spelling of a name don't matter.
func TestForeignKeyLayout(t *testing.T) {
	public, meta := foreignFile(t, "safeheron-public.json"), foreignFile(t, "safeheron-meta.json")
	want := foreignKeyOf(t, "safeheron")
	var indented bytes.Buffer
	if err := json.Indent(&indented, meta, "", " "); err != nil {
		t.Fatal(err)
	}
	for name, docs := range map[string][][]byte{
		"other order": {meta, public},
		"indented":    {public, indented.Bytes()},
		"vki_arr":     {public, bytes.Replace(meta, []byte("vkiArr"), []byte("vki_arr"), 1)},
		"lower case":  {public, bytes.ReplaceAll(meta, []byte("A"), []byte("a"))},
	} {
		if name == "lower case" {
			docs[1] = bytes.Replace(docs[1], []byte("vkiarr"), []byte("vkiArr"), 1)
		}
		got, err := parseForeignKey(docs...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got.n.Cmp(want.n) != 0 || got.v.Cmp(want.v) != 0 || got.vi[2].Cmp(want.vi[2]) != 0 {
			t.Errorf("%s: another key", name)
		}
	}
}

// edit decodes a document, lets f change it and encodes it again.
func edit(t *testing.T, doc []byte, f func(m map[string]any)) []byte {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		t.Fatal(err)
	}
	f(m)
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTCRSAKeyRejects(t *testing.T) {
	doc := foreignFile(t, "tcrsa-meta.json")
	key := foreignKeyOf(t, "tcrsa")
	b64 := func(x *big.Int) string { return base64.StdEncoding.EncodeToString(x.Bytes()) }
	num := func(x *big.Int) json.Number { return json.Number(x.String()) }
	pub := func(m map[string]any) map[string]any { return m["PublicKey"].(map[string]any) }
	ver := func(m map[string]any) map[string]any { return m["VerificationKey"].(map[string]any) }
	vi := func(m map[string]any) []any { return ver(m)["I"].([]any) }
	add := func(x *big.Int, d int64) *big.Int { return new(big.Int).Add(x, big.NewInt(d)) }

	for name, c := range map[string]struct {
		change func(m map[string]any)
		want   string
	}{
		"no public key":     {func(m map[string]any) { delete(m, "PublicKey") }, "missing"},
		"null public key":   {func(m map[string]any) { m["PublicKey"] = nil }, "not a JSON object"},
		"unknown member":    {func(m map[string]any) { m["k"] = 3 }, "unknown member"},
		"unknown inner":     {func(m map[string]any) { pub(m)["D"] = 3 }, "unknown member"},
		"K zero":            {func(m map[string]any) { m["K"] = 0 }, "not within 1 and 5"},
		"K above L":         {func(m map[string]any) { m["K"] = 6 }, "not within 1 and 5"},
		"K negative":        {func(m map[string]any) { m["K"] = -3 }, "whole number"},
		"K fraction":        {func(m map[string]any) { m["K"] = 2.5 }, "whole number"},
		"K exponent":        {func(m map[string]any) { m["K"] = json.Number("3e0") }, "whole number"},
		"K string":          {func(m map[string]any) { m["K"] = "3" }, "whole number"},
		"K too small":       {func(m map[string]any) { m["K"] = 2 }, "don't make the private key"},
		"L one":             {func(m map[string]any) { m["L"] = 1 }, "not within 2 and 255"},
		"L 256":             {func(m map[string]any) { m["L"] = 256 }, "not within 2 and 255"},
		"L huge":            {func(m map[string]any) { m["L"] = json.Number(strings.Repeat("9", 40)) }, "not within 2 and 255"},
		"L above the array": {func(m map[string]any) { m["L"] = 6 }, "array of 6 numbers"},
		"L below the array": {func(m map[string]any) { m["L"] = 4 }, "array of 4 numbers"},
		"N string":          {func(m map[string]any) { pub(m)["N"] = key.n.String() }, "whole number"},
		"N negative":        {func(m map[string]any) { pub(m)["N"] = num(new(big.Int).Neg(key.n)) }, "whole number"},
		"N endless":         {func(m map[string]any) { pub(m)["N"] = json.Number(strings.Repeat("7", 100000)) }, "longer than"},
		"N even":            {func(m map[string]any) { pub(m)["N"] = num(add(key.n, 1)) }, "two safe primes"},
		"N other":           {func(m map[string]any) { pub(m)["N"] = num(add(key.n, 12)) }, "inconsistent"},
		"N small":           {func(m map[string]any) { pub(m)["N"] = num(new(big.Int).Rsh(key.n, 1024)) }, "modulus of 1023 bits"},
		"N large":           {func(m map[string]any) { pub(m)["N"] = num(new(big.Int).Lsh(key.n, 7000)) }, "modulus of 9047 bits"},
		"E even":            {func(m map[string]any) { pub(m)["E"] = 65536 }, "isn't a prime"},
		"E of a holder":     {func(m map[string]any) { pub(m)["E"] = 5 }, "isn't a prime above"},
		"E one":             {func(m map[string]any) { pub(m)["E"] = 1 }, "not within"},
		"E composite":       {func(m map[string]any) { pub(m)["E"] = 65535 }, "isn't a prime"},
		"E other":           {func(m map[string]any) { pub(m)["E"] = 257 }, "don't make the private key"},
		"E huge":            {func(m map[string]any) { pub(m)["E"] = json.Number("4294967311") }, "not within"},
		"V missing":         {func(m map[string]any) { delete(ver(m), "V") }, "missing"},
		"V null":            {func(m map[string]any) { ver(m)["V"] = nil }, "not a string"},
		"V empty":           {func(m map[string]any) { ver(m)["V"] = "" }, "empty"},
		"V zero":            {func(m map[string]any) { ver(m)["V"] = "AA==" }, "isn't a unit"},
		"V one":             {func(m map[string]any) { ver(m)["V"] = "AQ==" }, "doesn't generate"},
		"V minus one":       {func(m map[string]any) { ver(m)["V"] = b64(add(key.n, -1)) }, "doesn't generate"},
		"V is n":            {func(m map[string]any) { ver(m)["V"] = b64(key.n) }, "isn't a unit"},
		"V above n":         {func(m map[string]any) { ver(m)["V"] = b64(new(big.Int).Add(key.n, key.v)) }, "isn't a unit"},
		"V other":           {func(m map[string]any) { ver(m)["V"] = b64(add(key.v, 1)) }, "don't make the private key"},
		"V not base64":      {func(m map[string]any) { ver(m)["V"] = "****" }, "malformed base64"},
		"V unpadded":        {func(m map[string]any) { ver(m)["V"] = strings.TrimRight(b64(key.v), "=") + "A" }, "malformed base64"},
		"V broken line":     {func(m map[string]any) { ver(m)["V"] = b64(key.v)[:64] + "\n" + b64(key.v)[64:] }, "malformed base64"},
		"V endless":         {func(m map[string]any) { ver(m)["V"] = strings.Repeat("AAAA", 10000) }, "longer than"},
		"U missing":         {func(m map[string]any) { delete(ver(m), "U") }, "missing"},
		"I null":            {func(m map[string]any) { ver(m)["I"] = nil }, "not an array"},
		"I endless":         {func(m map[string]any) { ver(m)["I"] = make([]int, 100000) }, "not an array of 5"},
		"I null element":    {func(m map[string]any) { vi(m)[1] = nil }, "not a string"},
		"I zero":            {func(m map[string]any) { vi(m)[1] = "AA==" }, "holder 2: verification key isn't a unit"},
		"I twice":           {func(m map[string]any) { vi(m)[4] = vi(m)[3] }, "holder 5: verification key is another"},
		"I swapped":         {func(m map[string]any) { vi(m)[3], vi(m)[4] = vi(m)[4], vi(m)[3] }, "aren't of one polynomial"},
		"I first wrong":     {func(m map[string]any) { vi(m)[0] = b64(mulMod(key.vi[0], key.v, key.n)) }, "don't make the private key"},
		"I last wrong":      {func(m map[string]any) { vi(m)[4] = b64(mulMod(key.vi[4], key.v, key.n)) }, "holders 2 to 5 aren't"},
		"Safeheron's":       {func(m map[string]any) { clear(m); m["n"] = "00"; m["e"] = "03" }, "two documents"},
	} {
		_, err := parseForeignKey(edit(t, doc, c.change))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}

	for name, c := range map[string]struct{ doc, want string }{
		"nothing":        {"", "not a JSON object"},
		"null":           {"null", "not a JSON object"},
		"array":          {"[" + string(doc) + "]", "not a JSON object"},
		"cut off":        {string(doc[:len(doc)/2]), "malformed"},
		"trailing":       {string(doc) + "{}", "more than one"},
		"trailing junk":  {string(doc) + "x", "more than one"},
		"member twice":   {strings.Replace(string(doc), `"K":3`, `"K":3,"K":2`, 1), `"K" twice`},
		"N twice":        {strings.Replace(string(doc), `"N":`, `"N":35,"N":`, 1), `"N" twice`},
		"folded case":    {strings.Replace(string(doc), `"K":3`, `"K":3,"k":2`, 1), "unknown member"},
		"too long":       {string(doc) + strings.Repeat(" ", maxForeignDocument), "longer than"},
		"deeply nested":  {`{"PublicKey":` + strings.Repeat("[", 500000), "malformed"},
		"name not a key": {`{1:2}`, "malformed"},
	} {
		_, err := parseForeignKey([]byte(c.doc))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if _, err := parseForeignKey(); err == nil {
		t.Error("no document: accepted")
	}
}

func TestSafeheronKeyRejects(t *testing.T) {
	public, meta := foreignFile(t, "safeheron-public.json"), foreignFile(t, "safeheron-meta.json")
	none := func(map[string]any) {}
	vki := func(m map[string]any) []any { return m["vkiArr"].([]any) }
	for name, c := range map[string]struct {
		public, meta func(m map[string]any)
		want         string
	}{
		"n missing":    {func(m map[string]any) { delete(m, "n") }, none, "public key"},
		"n a number":   {func(m map[string]any) { m["n"] = 35 }, none, "not a string"},
		"n negative":   {func(m map[string]any) { m["n"] = "-" + m["n"].(string) }, none, "not hexadecimal"},
		"n signed":     {func(m map[string]any) { m["n"] = "+" + m["n"].(string) }, none, "not hexadecimal"},
		"n prefixed":   {func(m map[string]any) { m["n"] = "0x" + m["n"].(string) }, none, "not hexadecimal"},
		"n underscore": {func(m map[string]any) { m["n"] = "A_" + m["n"].(string) }, none, "not hexadecimal"},
		"n endless":    {func(m map[string]any) { m["n"] = strings.Repeat("A", 5000) }, none, "longer than"},
		"n empty":      {func(m map[string]any) { m["n"] = "" }, none, "empty"},
		"e even":       {func(m map[string]any) { m["e"] = "010000" }, none, "isn't a prime"},
		"e two":        {func(m map[string]any) { m["e"] = "02" }, none, "isn't a prime above"},
		"e zero":       {func(m map[string]any) { m["e"] = "0" }, none, "isn't a prime above"},
		"e long":       {func(m map[string]any) { m["e"] = "8000000000000001" }, none, "longer than 31 bits"},
		"k zero":       {none, func(m map[string]any) { m["k"] = 0 }, "not within"},
		"k negative":   {none, func(m map[string]any) { m["k"] = -1 }, "whole number"},
		"k missing":    {none, func(m map[string]any) { delete(m, "k") }, "missing"},
		"l zero":       {none, func(m map[string]any) { m["l"] = 0 }, "not within"},
		"vki short":    {none, func(m map[string]any) { m["vkiArr"] = vki(m)[:2] }, "array of 3"},
		"vki long":     {none, func(m map[string]any) { m["vkiArr"] = append(vki(m), "01") }, "array of 3"},
		"vki missing":  {none, func(m map[string]any) { delete(m, "vkiArr") }, "missing"},
		"vki twice":    {none, func(m map[string]any) { m["vki_arr"] = m["vkiArr"] }, "given twice"},
		"vki equal":    {none, func(m map[string]any) { vki(m)[2] = vki(m)[0] }, "another holder's"},
		"vki empty":    {none, func(m map[string]any) { vki(m)[2] = "" }, "empty"},
		"vkv one":      {none, func(m map[string]any) { m["vkv"] = "01" }, "doesn't generate"},
		"two publics":  {none, func(m map[string]any) { clear(m); m["n"] = "23"; m["e"] = "03" }, "unknown member"},
		"tcrsa's":      {none, func(m map[string]any) { clear(m); m["K"] = 3 }, "unknown member"},
	} {
		_, err := parseForeignKey(edit(t, public, c.public), edit(t, meta, c.meta))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// A v that is 1 modulo one factor passes every other equation and signs never.
func TestForeignKeyHalfGenerator(t *testing.T) {
	p, q := primeElevenModTwelve(t, 1024), primeElevenModTwelve(t, 1023)
	n := new(big.Int).Mul(p, q)
	v := new(big.Int).ModInverse(q, p) // q (1/q mod p) is 1 mod p, 0 mod q
	v.Mul(v, q)
	v.Add(v, big.NewInt(3)).Sub(v, new(big.Int).Mul(big.NewInt(2), mulMod(q, new(big.Int).ModInverse(q, p), n)))
	v.Mod(v, n) // 3 + x - 2x: 2 mod p, 3 mod q
	k := &foreignKey{n: n, e: 65537, k: 1, l: 2, v: v, vi: []*big.Int{v, v}}
	if err := k.check(); err == nil || strings.Contains(err.Error(), "generate") {
		t.Errorf("v = 2 mod p, 3 mod q: %v", err)
	}
	for _, r := range []*big.Int{one, new(big.Int).Sub(p, one)} { // both have the square 1
		h := new(big.Int).ModInverse(p, q)
		h.Mul(h, p).Mul(h, big.NewInt(3))                                          // 0 mod p, 3 mod q
		h.Add(h, new(big.Int).Mul(r, mulMod(q, new(big.Int).ModInverse(q, p), n))) // r mod p
		k.v = h.Mod(h, n)
		err := k.check()
		if err == nil || !strings.Contains(err.Error(), "doesn't generate") || !errors.Is(err, ErrDealing) {
			t.Errorf("v = +-1 mod p: %v", err)
		}
	}
	k.v = p
	if err := k.check(); err == nil || !strings.Contains(err.Error(), "unit") {
		t.Errorf("v = p: %v", err)
	}
	k.v, k.vi = v, []*big.Int{v, q}
	if err := k.check(); err == nil || !strings.Contains(err.Error(), "holder 2") {
		t.Errorf("v_2 = q: %v", err)
	}
}

func primeElevenModTwelve(t *testing.T, bits int) *big.Int {
	t.Helper()
	for {
		p, err := rand.Prime(rand.Reader, bits)
		if err != nil {
			t.Fatal(err)
		}
		if new(big.Int).Mod(p, big.NewInt(12)).Int64() == 11 {
			return p
		}
	}
}

func TestForeignShareRejects(t *testing.T) {
	key := foreignKeyOf(t, "tcrsa")
	var list []json.RawMessage
	if err := json.Unmarshal(foreignFile(t, "tcrsa-shares.json"), &list); err != nil {
		t.Fatal(err)
	}
	b64 := func(x *big.Int) string { return base64.StdEncoding.EncodeToString(x.Bytes()) }
	none := func(map[string]any) {}

	// What the first versions wrote, with the modulus.
	withN := edit(t, list[0], func(m map[string]any) { m["N"] = b64(key.n) })
	if _, err := parseForeignShares(key, withN); err != nil {
		t.Errorf("with N: %v", err)
	}

	for name, c := range map[string]struct {
		change func(m map[string]any)
		want   string
	}{
		"index zero":     {func(m map[string]any) { m["Id"] = 0 }, "not within 1 and 5"},
		"index six":      {func(m map[string]any) { m["Id"] = 6 }, "not within 1 and 5"},
		"index missing":  {func(m map[string]any) { delete(m, "Id") }, "missing"},
		"index string":   {func(m map[string]any) { m["Id"] = "1" }, "whole number"},
		"index folded":   {func(m map[string]any) { m["ID"] = 2 }, "unknown member"},
		"share missing":  {func(m map[string]any) { delete(m, "Si") }, "missing"},
		"share null":     {func(m map[string]any) { m["Si"] = nil }, "not a string"},
		"share empty":    {func(m map[string]any) { m["Si"] = "" }, "empty"},
		"share zero":     {func(m map[string]any) { m["Si"] = "AA==" }, "isn't between 0"},
		"share is n":     {func(m map[string]any) { m["Si"] = b64(key.n) }, "isn't between 0"},
		"share long":     {func(m map[string]any) { m["Si"] = b64(new(big.Int).Lsh(key.n, 8)) }, "isn't between 0"},
		"share endless":  {func(m map[string]any) { m["Si"] = strings.Repeat("AAAA", 10000) }, "longer than"},
		"share in hex":   {func(m map[string]any) { m["Si"] = "0F-" }, "malformed base64"},
		"another key":    {func(m map[string]any) { m["N"] = b64(new(big.Int).Add(key.n, one)) }, "another key"},
		"mixed":          {func(m map[string]any) { m["si"] = "01" }, "unknown member"},
		"of the others":  {func(m map[string]any) { clear(m); m["i"], m["si"] = 6, "01" }, "not within"},
		"theirs zero":    {func(m map[string]any) { clear(m); m["i"], m["si"] = 1, "00" }, "isn't between 0"},
		"theirs minus":   {func(m map[string]any) { clear(m); m["i"], m["si"] = 1, "-01" }, "not hexadecimal"},
		"theirs no si":   {func(m map[string]any) { clear(m); m["i"] = 1 }, "missing"},
		"empty object":   {func(m map[string]any) { clear(m) }, "missing"},
		"a key document": {func(m map[string]any) { m["V"] = "" }, "unknown member"},
	} {
		_, err := parseForeignShares(key, edit(t, list[0], c.change))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		secret := edit(t, list[0], none)
		var s struct{ Si string }
		if json.Unmarshal(secret, &s) != nil || strings.Contains(fmt.Sprint(err), s.Si) {
			t.Errorf("%s: the error shows the share", name)
		}
	}

	all := foreignFile(t, "tcrsa-shares.json")
	for name, c := range map[string]struct {
		docs [][]byte
		want string
	}{
		"none":         {nil, "none given"},
		"empty list":   {[][]byte{[]byte("[]")}, "none given"},
		"null list":    {[][]byte{[]byte("[null]")}, "not a JSON object"},
		"twice":        {[][]byte{list[1], list[1]}, "holder 2 twice"},
		"list and one": {[][]byte{all, list[3]}, "holder 4 twice"},
		"long list":    {[][]byte{[]byte("[" + strings.Repeat("{},", 1000) + "{}]")}, "not a JSON object"},
		"trailing":     {[][]byte{append(bytes.Clone(all), '1')}, "not a JSON object"},
		"too long":     {[][]byte{make([]byte, maxForeignDocument+1)}, "longer than"},
		"not JSON":     {[][]byte{{0xff, 0x00}}, "not a JSON object"},
	} {
		_, err := parseForeignShares(key, c.docs...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestForeignShareRedacted(t *testing.T) {
	s := &foreignShare{index: 2, s: big.NewInt(123456789)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(verb, s); strings.Contains(got, "123456789") || strings.Contains(got, "75bcd15") {
			t.Errorf("%s shows the share: %s", verb, got)
		}
	}
}

func FuzzForeignKey(f *testing.F) {
	for _, files := range foreignLibraries {
		docs := foreignDocs(f, files.public)
		f.Add(docs[0], docs[len(docs)-1])
	}
	f.Add([]byte(`{"n":"23","e":"03"}`), []byte(`{"k":1,"l":2,"vkv":"4","vku":"2","vkiArr":["4","4"]}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		for _, docs := range [][][]byte{{a}, {a, b}} {
			if k, err := parseForeignKey(docs...); err == nil {
				if k.k < 1 || k.k > k.l || len(k.vi) != k.l || k.n.BitLen() < minForeignBits {
					t.Fatal("accepted an impossible key")
				}
			}
		}
	})
}

func FuzzForeignShares(f *testing.F) {
	key := foreignKeyOf(f, "tcrsa")
	for _, files := range foreignLibraries {
		for _, doc := range foreignDocs(f, files.shares) {
			f.Add(doc)
		}
	}
	f.Add([]byte(`{"Si":"AQ==","Id":1,"N":"AQ=="}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		shares, err := parseForeignShares(key, data)
		if err != nil {
			return
		}
		seen := map[int]bool{}
		for _, s := range shares {
			if s.index < 1 || s.index > key.l || s.s.Sign() <= 0 || s.s.Cmp(key.n) >= 0 {
				t.Fatal("accepted an impossible share")
			}
			seen[s.index] = true
		}
		if len(seen) != len(shares) || len(maps.Clone(seen)) == 0 {
			t.Fatal("accepted a holder twice, or nobody")
		}
	})
}
