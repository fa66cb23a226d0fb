// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto"
	"hash"
	"io"
	"slices"
	"strings"

	"github.com/undersign/undersign/thresholdrsa"
)

// hashNames are the hash functions as flags name them.
var hashNames = map[string]crypto.Hash{
	"sha256": crypto.SHA256,
	"sha384": crypto.SHA384,
	"sha512": crypto.SHA512,
}

// parseHash returns the hash function that a flag names.
func parseHash(name string) (crypto.Hash, error) {
	h, ok := hashNames[name]
	if !ok {
		return 0, failf(ExitUsage, "", "hash %q isn't sha256, sha384 or sha512", name)
	}
	return h, nil
}

// hashName is the reverse of parseHash.
func hashName(h crypto.Hash) string {
	for name, x := range hashNames {
		if x == h {
			return name
		}
	}
	return h.String()
}

// digestInput hashes a file of any size, with several functions at once.
func (e *env) digestInput(ctx context.Context, file string, hs ...crypto.Hash) ([][]byte, error) {
	r, err := e.openInput(ctx, file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return digest(r, hs...)
}

func digest(r io.Reader, hs ...crypto.Hash) ([][]byte, error) {
	var sums []hash.Hash
	var ws []io.Writer
	for _, h := range hs {
		s := h.New()
		sums, ws = append(sums, s), append(ws, s)
	}
	if _, err := io.CopyBuffer(io.MultiWriter(ws...), r, make([]byte, 256<<10)); err != nil {
		return nil, err
	}
	var out [][]byte
	for _, s := range sums {
		out = append(out, s.Sum(nil))
	}
	return out, nil
}

// sameDigest reports whether a file has the digest that a request is for.
func (e *env) sameDigest(ctx context.Context, file string, h crypto.Hash, want []byte) error {
	got, err := e.digestInput(ctx, file, h)
	if err != nil {
		return err
	}
	if !slices.Equal(got[0], want) {
		return failf(ExitInvalid, "", "the request isn't for %s: its digest is %x, and the file's is %x", inputName(file), want, got[0])
	}
	return nil
}

// readPayload reads what is to be inside a JWS.
func (e *env) readPayload(ctx context.Context, file string) ([]byte, error) {
	return e.readInput(ctx, file, maxObject)
}

// samePayload reports whether a request is for a JWS with this payload.
func (e *env) samePayload(ctx context.Context, file, kid string, r *thresholdrsa.Request) error {
	payload, err := e.readPayload(ctx, file)
	if err != nil {
		return err
	}
	_, err = jwsInputFor(file, kid, payload, r)
	return err
}

// jwsInputFor returns the signing input of the JWS that a request is for.
func jwsInputFor(file, kid string, payload []byte, r *thresholdrsa.Request) (string, error) {
	a, err := jwsAlgorithmOf(r)
	if err != nil {
		return "", err
	}
	input, err := jwsSigningInput(a, kid, payload)
	if err != nil {
		return "", err
	}
	d, err := digest(strings.NewReader(input), a.hash)
	if err != nil {
		return "", err
	}
	if !slices.Equal(d[0], r.Digest()) {
		return "", failf(ExitInvalid, "give the --kid of the request, and the same file",
			"the request isn't for a JWS of %s with the header {\"alg\":%q,\"kid\":%q}", inputName(file), a.name(), kid)
	}
	return input, nil
}
