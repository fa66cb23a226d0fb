// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/undersign/undersign/thresholdrsa"
)

func TestJWSSigningInput(t *testing.T) {
	// RFC 7515, appendix A.2.1, has this header and payload.
	payload := "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}"
	want := "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
	got, err := jwsSigningInput(jwsAlgorithm{thresholdrsa.PKCS1v15, crypto.SHA256}, "", []byte(payload))
	if err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if _, err := jwsSigningInput(jwsAlgorithm{thresholdrsa.PSS, crypto.SHA256}, "k\xff", nil); exitCode(err) != ExitUsage {
		t.Errorf("a key ID that isn't UTF-8: %v", err)
	}
	j, err := parseJWS(want + ".AQID")
	if err != nil {
		t.Fatal(err)
	}
	if string(j.payload) != payload || j.detached || string(j.signature) != "\x01\x02\x03" || j.alg.name() != "RS256" {
		t.Errorf("parsed: %+v", j)
	}
}

func TestParseJWS(t *testing.T) {
	b64 := base64.RawURLEncoding.EncodeToString
	for _, tt := range []struct{ header, want string }{
		{`{"alg":"PS256"}`, ""},
		{`{"kid":"a","alg":"RS512","typ":"JWT"}`, ""},
		{` { "alg" : "RS256" } `, ""},
		{`{"alg":"none"}`, `algorithm "none"`},
		{`{"alg":"HS256"}`, `algorithm "HS256"`},
		{`{"alg":"ES256"}`, "algorithm"},
		{`{"alg":"rs256"}`, "algorithm"},
		{`{"ALG":"RS256"}`, "no alg"},
		{`{"alg":1}`, "no alg"},
		{`{}`, "no alg"},
		{`{"alg":"RS256","alg":"PS256"}`, "twice"},
		{`{"alg":"RS256","crit":["b64"],"b64":false}`, `"crit"`},
		{`{"alg":"RS256","b64":false}`, `"b64"`},
		{`{"alg":"RS256"}{}`, "isn't a JSON object"},
		{`{"alg":"RS256"`, "isn't a JSON object"},
		{`["RS256"]`, "isn't a JSON object"},
		{`null`, "isn't a JSON object"},
		{``, "isn't a JSON object"},
	} {
		_, err := parseJWS(b64([]byte(tt.header)) + ".e30.AAAA")
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error is %v, want %q", tt.header, err, tt.want)
		}
	}
	h := b64([]byte(`{"alg":"RS256"}`))
	for _, text := range []string{"", h, h + ".e30", h + ".e30.AAAA.AAAA", h + ".e30.A", h + ".e3.AAAA", h + ".e31.AAAA", "*.e30.AAAA", h + ".e30.AAAA=", h + "\n.e30.AAAA"} {
		if j, err := parseJWS(text); err == nil {
			t.Errorf("%q: parsed as %+v", text, j)
		}
	}
	if j, err := parseJWS(h + "..AAAA"); err != nil || !j.detached {
		t.Errorf("detached: %+v, %v", j, err)
	}
	for text, want := range map[string]bool{h + ".e30.AAAA": true, h + "..AAAA": true, "a.b": false, "a.b.c.d": false, "a b.c.d": false, "": false} {
		if isJWS(text) != want {
			t.Errorf("isJWS(%q) = %v", text, !want)
		}
	}
}

func TestDecodeBase64(t *testing.T) {
	for text, want := range map[string]string{
		"+/+/":     "\xfb\xff\xbf",
		"-_-_":     "\xfb\xff\xbf",
		"AQ==":     "\x01",
		"AQ":       "\x01",
		"A\nQ=\r=": "\x01",
		"+_+_":     "",
		"AR==":     "", // bits that don't count must be zero
		"A":        "",
		"A*":       "",
	} {
		if got := string(decodeBase64(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzParseJWS demands that what parses is canonical: it encodes to the same text.
func FuzzParseJWS(f *testing.F) {
	h := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"PS384","kid":"a"}`))
	for _, text := range []string{h + ".e30.AAAA", h + "..AAAA", h + ".e30.", "e30.e30.e30", "..", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		j, err := parseJWS(text)
		if err != nil {
			return
		}
		if again := j.header + "." + jwsEncoding.EncodeToString(j.payload) + "." + jwsEncoding.EncodeToString(j.signature); again != text {
			t.Errorf("%q was parsed, and encodes to %q", text, again)
		}
		if j.alg.name() == "" {
			t.Errorf("%q was parsed without an algorithm", text)
		}
	})
}
