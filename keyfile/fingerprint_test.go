// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"
)

// The test vectors of BIP 173.
func TestBech32Vectors(t *testing.T) {
	for _, s := range []string{
		"A12UEL5L",
		"a12uel5l",
		"an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1tt5tgs",
		"abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw",
		"11qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqc8247j",
		"split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w",
		"?1ezyfcl",
	} {
		hrp, groups, err := bech32Decode(s)
		if err != nil {
			t.Errorf("%q: %v", s, err)
		} else if got := bech32Encode(hrp, groups); got != strings.ToLower(s) {
			t.Errorf("%q is encoded as %q", s, got)
		}
	}
	for s, want := range map[string]string{
		"\x201nwldj5": "character out of range",
		"\x7f1axkwrx": "character out of range",
		"\x801eym55h": "character out of range",
		"an84characterslonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1569pvx": "too long",
		"pzry9x0s0muk":     "not bech32",
		"1pzry9x0s0muk":    "not bech32",
		"x1b4n0q5v":        "a character that isn't bech32",
		"li1dgmt3":         "not bech32",
		"de1lg7wt\xff":     "character out of range",
		"A1G7SGD8":         "wrong checksum",
		"10a06t8":          "not bech32",
		"1qzzfhee":         "not bech32",
		"a12uEL5L":         "mixed case",
		"":                 "not bech32",
		"split1cheo2y9e2w": "a character that isn't bech32",
	} {
		if _, _, err := bech32Decode(s); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", s, err, want)
		}
	}
}

func TestGroups(t *testing.T) {
	for n := range 60 {
		b := make([]byte, n)
		rand.Read(b)
		g := toGroups(b)
		if got, ok := fromGroups(g); !ok || !bytes.Equal(got, b) {
			t.Fatalf("%x becomes %x", b, got)
		}
		if n%5 != 0 {
			g[len(g)-1] |= 1
			if _, ok := fromGroups(g); ok {
				t.Fatalf("%d bytes: accepted padding bits", n)
			}
		}
		if _, ok := fromGroups(append(toGroups(b), 0)); ok && n%5 != 0 && n%5 != 2 && n%5 != 4 {
			t.Fatalf("%d bytes: accepted a group too many", n)
		}
	}
}

func TestFingerprint(t *testing.T) {
	// SHA-256("TEST PUBLIC" || 01 01 || "hello"), by hand.
	v := &fakePublic{[]byte("hello")}
	const want = "us1kkaxlzkmvynzppr37fzw3x0fr4ncmjnmh5n7n2"
	fp := Fingerprint(v)
	if fp != want {
		t.Errorf("got %s, want %s", fp, want)
	}
	if o := Fingerprint(&fakeOther{[]byte("hello")}); o == fp {
		t.Error("the type isn't hashed")
	}
	if o := Fingerprint(&fakePublic{[]byte("hellp")}); o == fp {
		t.Error("the body isn't hashed")
	}
	hash, err := ParseFingerprint(fp)
	if err != nil {
		t.Fatal(err)
	}
	if up, err := ParseFingerprint(strings.ToUpper(fp)); err != nil || up != hash {
		t.Errorf("upper case: %x, %v", up, err)
	}

	// Any one wrong character is found, wherever it stands.
	for i := range fp {
		for _, c := range []byte(bech32Chars + "1bio0 \x00") {
			if bad := fp[:i] + string(c) + fp[i+1:]; bad != fp {
				if _, err := ParseFingerprint(bad); err == nil {
					t.Fatalf("accepted %q for %q", bad, fp)
				}
			}
		}
	}
	g := func(n int) []byte { return make([]byte, n) }
	for _, bad := range []string{
		"", "us1", fp[:len(fp)-1], fp + "q", " " + fp, fp + "\n",
		strings.ToUpper(fp[:5]) + fp[5:],
		bech32Encode("us", g(31)), bech32Encode("us", g(33)), bech32Encode("us", nil),
		bech32Encode("age", g(32)), bech32Encode("bc", g(32)),
	} {
		if _, err := ParseFingerprint(bad); err == nil || !strings.HasPrefix(err.Error(), "keyfile: fingerprint: ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
