// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"bytes"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"
)

// FuzzParse: no panics, and what parses is written in one way, which parses to
// the same. What encoding/pem makes of it is the same too.
func FuzzParse(f *testing.F) {
	f.Add([]byte(goodBlock))
	f.Add([]byte("a comment\n" + strings.ReplaceAll(goodBlock, "\n", "\r\n") + "\n \t"))
	f.Add([]byte(goodBlock + goodBlock))
	f.Add([]byte(strings.Replace(goodBlock, "==", "=", 1)))
	f.Add([]byte(strings.ReplaceAll(secretBlock, "UNDERSIGN ", "UNDERSIGN "+insecurePrefix)))
	for _, file := range goldenFiles(f) {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if v, err := ParseInsecurePlaintext(data); err == nil && !IsSecret(v) {
			t.Fatalf("%T isn't secret", v)
		}
		v, err := Parse(data)
		if err != nil {
			return
		}
		if IsSecret(v) {
			t.Fatal("a secret in the open")
		}
		a, err := Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		w, err := Parse(a)
		if err != nil {
			t.Fatalf("%v in\n%s", err, a)
		}
		b, err := Encode(w)
		if err != nil || !bytes.Equal(a, b) {
			t.Fatalf("%v: two encodings:\n%s%s", err, a, b)
		}
		if Fingerprint(v) != Fingerprint(w) {
			t.Fatal("two fingerprints")
		}
		if _, err := ParseFingerprint(Fingerprint(v)); err != nil {
			t.Fatal(err)
		}
		// The same block, as its body is canonical.
		block, rest := pem.Decode(data)
		if block == nil || len(bytes.TrimSpace(rest)) != 0 {
			t.Fatalf("encoding/pem doesn't read it: %q", data)
		}
		if body, _ := v.MarshalBinary(); block.Type != labelPrefix+Type(v) || !bytes.Equal(block.Bytes, body) || len(block.Headers) != 0 {
			t.Fatalf("encoding/pem reads something else: %q", data)
		}
	})
}

// FuzzOpen gives data to Open as a file and as what is inside one.
func FuzzOpen(f *testing.F) {
	file := seal(f, &fakeSecret{[]byte("s3cret")}, alice.Recipient())
	f.Add(file)
	f.Add(dearmored(f, file))
	f.Add([]byte(secretBlock))
	f.Add([]byte(goodBlock))
	f.Add([]byte(strings.ReplaceAll(secretBlock, "UNDERSIGN ", "UNDERSIGN "+insecurePrefix)))
	for name, text := range goldenFiles(f) {
		if strings.HasPrefix(name, "insecure-") {
			f.Add(bytes.ReplaceAll(text, []byte(insecurePrefix), nil))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if v, err := Open(bytes.NewReader(data), alice); err == nil && !IsSecret(v) {
			t.Fatalf("%T isn't secret", v)
		}
		v, err := Open(bytes.NewReader(encrypt(t, string(data), alice.Recipient())), alice)
		if err != nil {
			return
		}
		k, err := kindOf(v)
		if err != nil || !k.secret {
			t.Fatalf("%T isn't secret", v)
		}
		body, err := v.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		w, err := Open(bytes.NewReader(seal(t, v, alice.Recipient())), alice)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := w.MarshalBinary(); err != nil || !bytes.Equal(again, body) {
			t.Fatalf("%v: sealed and opened it's another one", err)
		}
	})
}

// FuzzBase64 compares with encoding/base64.
func FuzzBase64(f *testing.F) {
	f.Add([]byte("AQEA"))
	f.Add([]byte("AQ=="))
	f.Add([]byte("AQE="))
	f.Add([]byte("A==="))
	f.Fuzz(func(t *testing.T, in []byte) {
		if bytes.ContainsAny(in, "\r\n") {
			return
		}
		checkBase64(t, in)
		if got, want := string(appendBase64(nil, in)), base64.StdEncoding.EncodeToString(in); got != want {
			t.Fatalf("%x: %s, want %s", in, got, want)
		}
	})
}

// FuzzAgeFiles: recipients and identities.
func FuzzAgeFiles(f *testing.F) {
	f.Add([]byte("# alice\n" + alice.Recipient().String() + "\n"))
	f.Add([]byte(aliceKey + "\r\n"))
	f.Add([]byte("AGE-PLUGIN-X-1\nage1x1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, opts := range []*Options{nil, {PluginUI: silentUI}} {
			if r, err := ParseRecipients(bytes.NewReader(data), opts); (err == nil) == (len(r) == 0) {
				t.Fatalf("%d recipients, %v", len(r), err)
			}
			if i, err := ParseIdentities(bytes.NewReader(data), opts); (err == nil) == (len(i) == 0) {
				t.Fatalf("%d identities, %v", len(i), err)
			}
		}
	})
}

// FuzzFingerprint: what parses is the encoding of what it parses to.
func FuzzFingerprint(f *testing.F) {
	f.Add(Fingerprint(&fakePublic{}))
	f.Add("A12UEL5L")
	f.Add("us1")
	f.Fuzz(func(t *testing.T, s string) {
		fp, err := ParseFingerprint(s)
		if err != nil {
			return
		}
		if got := bech32Encode(fingerprintHRP, toGroups(fp[:])); got != strings.ToLower(s) {
			t.Fatalf("%s is %s", s, got)
		}
	})
}
