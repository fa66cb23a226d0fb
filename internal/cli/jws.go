// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"crypto"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/undersign/undersign/thresholdrsa"
)

// jwsAlgorithm is a signature algorithm of RFC 7518, sections 3.3 and 3.5.
type jwsAlgorithm struct {
	padding thresholdrsa.Padding
	hash    crypto.Hash
}

var jwsAlgorithms = map[string]jwsAlgorithm{
	"RS256": {thresholdrsa.PKCS1v15, crypto.SHA256},
	"RS384": {thresholdrsa.PKCS1v15, crypto.SHA384},
	"RS512": {thresholdrsa.PKCS1v15, crypto.SHA512},
	"PS256": {thresholdrsa.PSS, crypto.SHA256},
	"PS384": {thresholdrsa.PSS, crypto.SHA384},
	"PS512": {thresholdrsa.PSS, crypto.SHA512},
}

func (a jwsAlgorithm) name() string {
	for name, x := range jwsAlgorithms {
		if x == a {
			return name
		}
	}
	return ""
}

// jwsAlgorithmOf returns the algorithm whose signatures answer a request.
func jwsAlgorithmOf(r *thresholdrsa.Request) (jwsAlgorithm, error) {
	a := jwsAlgorithm{r.Padding(), r.Hash()}
	if a.padding == thresholdrsa.PSS && len(r.Salt()) != a.hash.Size() {
		return a, fmt.Errorf("a JWS takes a salt of %d bytes, and the request has one of %d", a.hash.Size(), len(r.Salt()))
	}
	return a, nil
}

var jwsEncoding = base64.RawURLEncoding.Strict()

// jwsSigningInput returns what is signed (RFC 7515, section 5.1), up to the
// second dot of the compact form. The header is made the same way each time: a
// request and the JWS made from it agree.
func jwsSigningInput(a jwsAlgorithm, kid string, payload []byte) (string, error) {
	if !utf8.ValidString(kid) { // encoding/json would make another one of it
		return "", failf(ExitUsage, "", "--kid %q isn't UTF-8", kid)
	}
	header := struct {
		Alg string `json:"alg"`
		Kid string `json:"kid,omitempty"`
	}{a.name(), kid}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(header); err != nil {
		return "", err
	}
	h := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	return jwsEncoding.EncodeToString(h) + "." + jwsEncoding.EncodeToString(payload), nil
}

// A jws is a signature in the compact form of RFC 7515, section 7.1.
type jws struct {
	alg       jwsAlgorithm
	header    string // encoded
	payload   []byte
	detached  bool // RFC 7515, appendix F: the payload is elsewhere
	signature []byte
}

// isJWS reports whether text looks like the compact form.
func isJWS(text string) bool {
	return strings.Count(text, ".") == 2 && !strings.ContainsFunc(text, func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// parseJWS parses the compact form. It accepts no header that changes how the
// signature is to be understood.
func parseJWS(text string) (*jws, error) {
	if !isJWS(text) { // encoding/base64 would pass over line ends
		return nil, errors.New("not a JWS in compact form")
	}
	parts := strings.Split(text, ".")
	j := &jws{header: parts[0], detached: parts[1] == ""}
	raw, err := jwsEncoding.DecodeString(parts[0])
	if err != nil {
		return nil, errors.New("JWS: the header isn't base64url")
	}
	if j.payload, err = jwsEncoding.DecodeString(parts[1]); err != nil {
		return nil, errors.New("JWS: the payload isn't base64url")
	}
	if j.signature, err = jwsEncoding.DecodeString(parts[2]); err != nil {
		return nil, errors.New("JWS: the signature isn't base64url")
	}
	header, err := jwsHeader(raw)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"crit", "b64"} {
		if _, ok := header[name]; ok {
			return nil, fmt.Errorf("JWS: header parameter %q isn't supported", name)
		}
	}
	var alg string
	if err := json.Unmarshal(header["alg"], &alg); err != nil {
		return nil, errors.New("JWS: no alg in the header")
	}
	a, ok := jwsAlgorithms[alg]
	if !ok {
		return nil, fmt.Errorf("JWS: algorithm %.20q isn't one of RSA", alg)
	}
	j.alg = a
	return j, nil
}

// jwsHeader parses the header: an object whose names are different (RFC 7515,
// section 4), and case counts.
func jwsHeader(raw []byte) (map[string]json.RawMessage, error) {
	malformed := errors.New("JWS: the header isn't a JSON object")
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, malformed
	}
	header := map[string]json.RawMessage{}
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, malformed
		}
		if _, ok := header[name]; ok {
			return nil, fmt.Errorf("JWS: header parameter %.20q is there twice", name)
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, malformed
		}
		header[name] = v
	}
	if _, err := dec.Token(); err != nil {
		return nil, malformed
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, malformed
	}
	return header, nil
}
