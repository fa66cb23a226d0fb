// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto"
	"crypto/rsa"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// requestFlags say what is to be signed, and how.
type requestFlags struct {
	key, digest, padding, hash, salt string
	jws                              bool
	kid, out                         string
	force                            bool
}

func newThresholdRequestCmd(e *env) *cobra.Command {
	var f requestFlags
	c := &cobra.Command{
		Use:   "request FILE --key FILE",
		Short: "Say what is to be signed",
		Long: `Make a request: the digest of a file, the padding and, for PSS, the salt. All
holders sign the same request, and it is for one key and one epoch only.

The salt of PSS is derived from the key and the digest, with the length of the
hash (the default) or the largest possible one (max), unless it is to be empty,
of N bytes, or given as hex:HEX. So the same file gives the same request.

With --jws FILE is the payload of a JSON Web Signature (RS256 to PS512).`,
		Example: `  undersign threshold request contract.pdf --key key/threshold.pub
  undersign threshold request contract.pdf --key key/threshold.pub --padding pkcs1v15 --hash sha512
  undersign threshold request --digest 9f86d081...b0f00a08 --key key/threshold.pub -o d.req
  undersign threshold request claims.json --jws --kid 2026-1 --key key/threshold.pub`,
		Args: nargs(0, 1, "a file"),
		RunE: func(c *cobra.Command, args []string) error { return e.makeRequest(c, f, args) },
	}
	addKeyFlag(c, &f.key)
	fl := c.Flags()
	fl.StringVar(&f.padding, "padding", "pss", "`NAME` of the padding: pss or pkcs1v15")
	fl.StringVar(&f.hash, "hash", "sha256", "`NAME` of the hash: sha256, sha384 or sha512")
	fl.StringVar(&f.salt, "salt", "hash", "`SALT` of PSS: hash, max, empty, a number of bytes, or hex:HEX")
	fl.StringVar(&f.digest, "digest", "", "the digest in `HEX`, instead of a file")
	fl.BoolVar(&f.jws, "jws", false, "FILE is the payload of a JWS")
	fl.StringVar(&f.kid, "kid", "", "key ID in the header of the JWS")
	addOutFlag(c, &f.out, "FILE.req; standard output if there is no FILE")
	addForceFlag(c, &f.force)
	return describe(c, "id, fingerprint, epoch, padding, hash, digest, salt, file")
}

type requestResult struct {
	ID          string `json:"id"`
	Fingerprint string `json:"fingerprint"`
	Epoch       uint64 `json:"epoch"`
	Padding     string `json:"padding"`
	Hash        string `json:"hash"`
	Digest      string `json:"digest"`
	Salt        string `json:"salt"`
	File        string `json:"file"`
}

func (e *env) makeRequest(c *cobra.Command, f requestFlags, args []string) error {
	ctx := c.Context()
	switch {
	case len(args) == 0 && f.digest == "":
		return usagef(c, "%q needs a file, or a --digest", c.CommandPath())
	case len(args) > 0 && f.digest != "":
		return usagef(c, "a file and a --digest: give one of them")
	case f.jws && f.digest != "":
		return usagef(c, "--jws needs the payload, not a --digest")
	case f.kid != "" && !f.jws:
		return usagef(c, "--kid goes with --jws")
	}
	h, err := parseHash(f.hash)
	if err != nil {
		return err
	}
	if f.jws && f.padding == "pss" && f.salt != "hash" {
		return usagef(c, "a JWS takes --salt hash")
	}
	opts, err := requestOptions(c, f, h)
	if err != nil {
		return err
	}
	p, err := e.readPublicKey(ctx, f.key)
	if err != nil {
		return err
	}
	digest, err := e.requestDigest(ctx, f, args, h)
	if err != nil {
		return err
	}
	r, err := thresholdrsa.NewRequest(p, digest, opts)
	if err != nil {
		return thresholdError(err)
	}

	out := f.out
	if out == "" {
		out = "-"
		if len(args) > 0 && args[0] != "-" {
			out = args[0] + ".req"
		}
	}
	data, err := keyfile.Encode(r)
	if err != nil {
		return err
	}
	if err := e.checkStdout(out); err != nil {
		return err
	}
	if err := e.writeFile(out, data, publicFile, f.force); err != nil {
		return err
	}
	if out == "-" {
		return nil
	}
	id := r.ID()
	res := requestResult{
		ID: hex.EncodeToString(id[:]), Fingerprint: keyfile.Fingerprint(p), Epoch: r.Epoch(), Padding: paddingName(r.Padding()),
		Hash: hashName(h), Digest: hex.EncodeToString(digest), Salt: hex.EncodeToString(r.Salt()), File: out,
	}
	return e.print(res, func(w io.Writer) {
		writeFields(w, requestFields(r, res.Fingerprint))
		fmt.Fprintf(w, "\n%s is for %d holders of %d to sign\n", out, p.Threshold(), p.NumHolders())
	})
}

// requestDigest returns the digest to sign.
func (e *env) requestDigest(ctx context.Context, f requestFlags, args []string, h crypto.Hash) ([]byte, error) {
	if f.digest != "" {
		d, err := hex.DecodeString(f.digest)
		if err != nil || len(d) != h.Size() {
			return nil, failf(ExitUsage, "", "--digest isn't %d hexadecimal digits, as %s has", 2*h.Size(), hashName(h))
		}
		return d, nil
	}
	if f.jws {
		payload, err := e.readPayload(ctx, args[0])
		if err != nil {
			return nil, err
		}
		padding, err := parsePadding(f.padding)
		if err != nil {
			return nil, err
		}
		return jwsDigest(jwsAlgorithm{padding, h}, f.kid, payload)
	}
	d, err := e.digestInput(ctx, args[0], h)
	if err != nil {
		return nil, err
	}
	return d[0], nil
}

// jwsDigest returns the digest of a JWS's signing input.
func jwsDigest(a jwsAlgorithm, kid string, payload []byte) ([]byte, error) {
	input, err := jwsSigningInput(a, kid, payload)
	if err != nil {
		return nil, err
	}
	d, err := digest(strings.NewReader(input), a.hash)
	if err != nil {
		return nil, err
	}
	return d[0], nil
}

func parsePadding(name string) (thresholdrsa.Padding, error) {
	switch name {
	case "pss":
		return thresholdrsa.PSS, nil
	case "pkcs1v15":
		return thresholdrsa.PKCS1v15, nil
	}
	return 0, failf(ExitUsage, "", "padding %q isn't pss or pkcs1v15", name)
}

func paddingName(p thresholdrsa.Padding) string {
	if p == thresholdrsa.PSS {
		return "pss"
	}
	return "pkcs1v15"
}

// requestOptions returns what NewRequest takes for the padding and salt.
func requestOptions(c *cobra.Command, f requestFlags, h crypto.Hash) (crypto.SignerOpts, error) {
	padding, err := parsePadding(f.padding)
	if err != nil {
		return nil, err
	}
	if padding == thresholdrsa.PKCS1v15 {
		if c.Flags().Changed("salt") {
			return nil, usagef(c, "--salt goes with --padding pss")
		}
		return h, nil
	}
	switch text, given := strings.CutPrefix(f.salt, "hex:"); {
	case given:
		salt, err := hex.DecodeString(text)
		if err != nil {
			return nil, usagef(c, "--salt hex: isn't followed by hexadecimal digits")
		}
		return &thresholdrsa.SaltedPSS{Hash: h, Salt: salt}, nil
	case text == "hash":
		return &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: h}, nil
	case text == "max":
		return &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthAuto, Hash: h}, nil
	case text == "empty":
		return &thresholdrsa.SaltedPSS{Hash: h}, nil
	}
	n, err := strconv.ParseUint(f.salt, 10, 12)
	if err != nil {
		return nil, usagef(c, "--salt %q isn't hash, max, empty, a number of bytes, or hex:HEX", f.salt)
	}
	if n == 0 { // which crypto/rsa takes for the maximum
		return &thresholdrsa.SaltedPSS{Hash: h}, nil
	}
	return &rsa.PSSOptions{SaltLength: int(n), Hash: h}, nil
}

// A field is one line of what is shown of an object.
type field struct{ name, value string }

// requestFields shows a request; fingerprint is that of the key, if it is known.
func requestFields(r *thresholdrsa.Request, fingerprint string) []field {
	var fs []field
	if fingerprint != "" {
		fs = append(fs, field{"key", fingerprint})
	}
	keyID, id := r.KeyID(), r.ID()
	fs = append(fs,
		field{"record", hex.EncodeToString(keyID[:])},
		field{"epoch", strconv.FormatUint(r.Epoch(), 10)},
		field{"padding", paddingText(r)},
		field{hashName(r.Hash()), hex.EncodeToString(r.Digest())},
	)
	if len(r.Salt()) > 0 {
		fs = append(fs, field{"salt", hex.EncodeToString(r.Salt())})
	}
	return append(fs, field{"request", hex.EncodeToString(id[:])})
}

func paddingText(r *thresholdrsa.Request) string {
	switch {
	case r.Padding() == thresholdrsa.PKCS1v15:
		return "PKCS #1 v1.5"
	case len(r.Salt()) == 0:
		return "PSS, empty salt"
	}
	return fmt.Sprintf("PSS, salt of %d bytes", len(r.Salt()))
}

func writeFields(w io.Writer, fs []field) {
	width := 0
	for _, f := range fs {
		width = max(width, len(f.name))
	}
	for _, f := range fs {
		fmt.Fprintf(w, "%-*s  %s\n", width, oneLine(f.name), oneLine(f.value))
	}
}
