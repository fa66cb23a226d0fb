// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"bufio"
	"bytes"
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/undersign/undersign/thresholdrsa"
)

var newGolden = flag.Bool("new-golden", false, "write the golden files that don't exist yet")

// goldenFiles returns the files of testdata by name.
func goldenFiles(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("no testdata: %v", err)
	}
	files := make(map[string][]byte)
	for _, name := range names {
		files[filepath.Base(name)] = readGolden(t, filepath.Base(name))
	}
	return files
}

func readGolden(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// expectation is the line "expect: ..." among the comments.
func expectation(t testing.TB, name string, data []byte) string {
	t.Helper()
	s := bufio.NewScanner(bytes.NewReader(data))
	for s.Scan() {
		if want, ok := strings.CutPrefix(s.Text(), "expect: "); ok {
			return want
		}
	}
	t.Fatalf("%s: no expect: line", name)
	return ""
}

// TestGolden pins the formats: what these files say they must say for ever. A file
// may be added and never changed.
func TestGolden(t *testing.T) {
	if *newGolden {
		writeGolden(t)
	}
	describe := func(v Object, err error) string {
		if err != nil {
			return "error " + err.Error()
		}
		return "ok " + Type(v) + " " + Fingerprint(v)
	}
	seen := map[string]bool{}
	for name, data := range goldenFiles(t) {
		want := expectation(t, name, data)
		if file, ok := strings.CutSuffix(name, ".age.txt"); ok {
			v, err := Open(bytes.NewReader(readGolden(t, file+".age")), alice)
			if got := describe(v, err); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
			continue
		}
		read := Parse
		if strings.HasPrefix(name, "insecure-") {
			read = ParseInsecurePlaintext
		}
		v, err := read(data)
		if got := describe(v, err); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if err != nil {
			continue
		}
		seen[Type(v)] = true
		write := Encode
		if IsSecret(v) {
			write = EncodeInsecurePlaintext
		}
		block, err := write(v)
		if err != nil || !bytes.HasSuffix(data, append([]byte{'\n'}, block...)) {
			t.Errorf("%s: %v, and it's written as\n%s", name, err, block)
		}
	}
	for _, k := range kinds {
		if !strings.HasPrefix(k.label, "TEST ") && !seen[k.label] {
			t.Errorf("no golden file of type %s", k.label)
		}
	}
}

func golden[T Object](t *testing.T, name string) T {
	t.Helper()
	v, err := ParseAs[T](readGolden(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestGoldenMeaning checks that the golden files still belong together: the hashes
// inside are pinned too.
func TestGoldenMeaning(t *testing.T) {
	key := golden[*thresholdrsa.PublicKey](t, "public-key.txt")
	dealing := golden[*thresholdrsa.Dealing](t, "dealing.txt")
	share, err := OpenAs[*thresholdrsa.KeyShare](bytes.NewReader(readGolden(t, "share.age")), alice)
	if err != nil {
		t.Fatal(err)
	}
	if !dealing.PublicKey().Equal(key) || !share.PublicKey().Equal(key) {
		t.Error("the dealing or the share is of another key")
	}
	if err := share.CheckDealing(dealing); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"pkcs1", "pss"} {
		r := golden[*thresholdrsa.Request](t, "request-"+name+".txt")
		s1 := golden[*thresholdrsa.SignatureShare](t, "signature-share-"+name+".txt")
		s2, err := share.Sign(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := key.VerifyShare(r, s1); err != nil {
			t.Error(err)
		}
		sig, bad, err := key.Combine(r, s1, s2)
		if err != nil || len(bad) != 0 {
			t.Fatal(err, bad)
		}
		if err := r.Verify(key.RSA(), sig); err != nil {
			t.Error(err)
		}
		if name == "pss" { // the derived salt
			again, err := thresholdrsa.NewRequest(key, r.Digest(), &rsa.PSSOptions{SaltLength: 20, Hash: crypto.SHA384})
			if err != nil || !again.Equal(r) {
				t.Errorf("%v, or another salt", err)
			}
		}
	}
}

// writeGolden makes a key and a file of each type, and writes those that are missing.
func writeGolden(t *testing.T) {
	put := func(name string, data []byte) {
		path := filepath.Join("testdata", name)
		if _, err := os.Stat(path); err == nil {
			t.Logf("%s exists", path)
			return
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(v Object) string { return "expect: ok " + Type(v) + " " + Fingerprint(v) }
	public := func(name string, v Object) {
		b, err := Encode(v, expect(v))
		if err != nil {
			t.Fatal(err)
		}
		put(name, b)
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	priv, err := thresholdrsa.GenerateKey(context.Background(), 2048, nil)
	must(err)
	dealing, shares, err := thresholdrsa.Deal(priv, 2, 3, &thresholdrsa.DealOptions{Names: []string{"alice", "bob", "carol"}})
	must(err)
	key := dealing.PublicKey()
	public("public-key.txt", key)
	public("dealing.txt", dealing)
	put("share.age", seal(t, shares[0], alice.Recipient()))
	put("share.age.txt", []byte(expect(shares[0])+"\n"))
	insecure, err := EncodeInsecurePlaintext(shares[1], expect(shares[1]))
	must(err)
	put("insecure-share.txt", insecure)

	sum256, sum384 := sha256.Sum256([]byte("hello")), sha512.Sum384([]byte("hello"))
	pkcs1, err := thresholdrsa.NewRequest(key, sum256[:], crypto.SHA256)
	must(err)
	pss, err := thresholdrsa.NewRequest(key, sum384[:], &rsa.PSSOptions{SaltLength: 20, Hash: crypto.SHA384})
	must(err)
	for name, r := range map[string]*thresholdrsa.Request{"pkcs1": pkcs1, "pss": pss} {
		public("request-"+name+".txt", r)
		s, err := shares[2].Sign(r)
		must(err)
		public("signature-share-"+name+".txt", s)
	}
}
