// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

type verifyFlags struct {
	sig, key, padding, hash, salt string
}

func newVerifyCmd(e *env) *cobra.Command {
	var f verifyFlags
	var chain chainFlags
	c := &cobra.Command{
		Use:   "verify FILE --sig FILE --key FILE",
		Short: "Check the signature of a file, or of certificates",
		Long: `Check the RSA signature of a file, however it was made, or its BLS signature; or
the signatures of SM2 certificates.

The signature is raw, in base64, or a JWS in compact form whose payload is FILE
(it may be detached). The key is a threshold public key, an RSA public key in
PEM, or an X.509 certificate, of which only the key counts.

Padding, hash and salt are found out unless they are given. A BLS signature, raw
or in hexadecimal, has none of them; its key is a file of "aggregate keygen".

` + chainHelp,
		Example: `  undersign verify contract.pdf --sig contract.pdf.sig --key key/threshold.pub
  undersign verify contract.pdf --sig contract.pdf.sig --key rsa.pub.pem --padding pss --salt hash
  undersign verify claims.json --sig claims.json.jws --key certificate.pem
  undersign verify --chain certificates/ --time now`,
		Args: nargs(0, 1, "a file"),
		RunE: func(c *cobra.Command, args []string) error {
			for _, name := range []string{"id", "time", "partial"} {
				if len(chain.paths) == 0 && c.Flags().Changed(name) {
					return usagef(c, "--%s goes with --chain", name)
				}
			}
			switch {
			case len(chain.paths) == 0 && len(args) == 0:
				return usagef(c, "%q needs a file", c.CommandPath())
			case len(chain.paths) == 0:
				return e.verify(c, f, args[0])
			case len(args) > 0:
				return usagef(c, "a FILE has a signature beside it, and --chain is about certificates")
			}
			return e.verifyChain(c, chain)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.sig, "sig", "", "the signature, `FILE`")
	fl.StringVar(&f.key, "key", "", "the public key, `FILE`")
	fl.StringVar(&f.padding, "padding", "auto", "accept this padding only, `NAME`: auto, pss or pkcs1v15")
	fl.StringVar(&f.hash, "hash", "auto", "accept this hash only, `NAME`: auto, sha256, sha384 or sha512")
	fl.StringVar(&f.salt, "salt", "any", "accept this length of the PSS salt only: any, hash, max, empty or a number of `BYTES`")
	addChainFlags(c, &chain)
	c.MarkFlagsOneRequired("sig", "chain")
	c.MarkFlagsRequiredTogether("sig", "key")
	for _, name := range []string{"sig", "padding", "hash", "salt"} {
		c.MarkFlagsMutuallyExclusive(name, "chain")
	}
	describe(c, "valid, format, padding, hash, salt in bytes, bits, key (fingerprint, or SHA-256 of the public key); of BLS: valid, scheme, min_sig, key, reason; with --chain: certificates, duplicates, valid, invalid, no_issuer, not_sm2, malformed, out_of_date, issuer_keys, list [status, file, subject, issuer, id, reason] (of what isn't valid by the default ID)", ExitInvalid)
	describeExit(c, ExitInvalid, "the signature is invalid; with --chain: some are bad or can't be verified")
	return c
}

type verifyResult struct {
	Valid   bool   `json:"valid"`
	Format  string `json:"format,omitempty"`
	Padding string `json:"padding,omitempty"`
	Hash    string `json:"hash,omitempty"`
	Salt    *int   `json:"salt,omitempty"`
	Bits    int    `json:"bits"`
	Key     string `json:"key"`
}

func (e *env) verify(c *cobra.Command, f verifyFlags, file string) error {
	ctx := c.Context()
	accept, err := acceptOf(c, f)
	if err != nil {
		return err
	}
	keyData, err := e.readInput(ctx, f.key, maxObject)
	if err != nil {
		return err
	}
	if isBLSFile(keyData) {
		return e.verifyBLSFile(c, f, file, keyData)
	}
	pub, name, err := parseRSAKey(f.key, keyData)
	if err != nil {
		return err
	}
	sigData, err := e.readInput(ctx, f.sig, 2*maxObject)
	if err != nil {
		return err
	}
	r := verifyResult{Bits: pub.N.BitLen(), Key: name}
	invalid := func(format string, args ...any) error {
		return e.failWith(r, failf(ExitInvalid, "", "invalid signature: "+format, args...))
	}

	var digests [][]byte
	var sig []byte
	text := string(bytes.TrimSpace(sigData))
	switch {
	case len(sigData) == pub.Size():
		r.Format, sig = "raw", sigData
	case isJWS(text):
		r.Format = "jws"
		j, err := parseJWS(text)
		if err != nil {
			return invalid("%s: %v", inputName(f.sig), err)
		}
		payload, err := e.readPayload(ctx, file)
		if err != nil {
			return err
		}
		if !j.detached && !bytes.Equal(payload, j.payload) {
			return invalid("the payload of the JWS isn't %s", inputName(file))
		}
		if sig = j.signature; len(sig) != pub.Size() {
			return invalid("it has %d bytes, and one of this key has %d", len(sig), pub.Size())
		}
		if !accept.restrict(j.alg) {
			return invalid("the algorithm of the JWS is %s", j.alg.name())
		}
		input := j.header + "." + jwsEncoding.EncodeToString(payload)
		if digests, err = digest(strings.NewReader(input), accept.hashes...); err != nil {
			return err
		}
	default:
		r.Format, sig = "base64", decodeBase64(text)
		if len(sig) != pub.Size() {
			return invalid("it has %d bytes, and one of this key has %d", len(sigData), pub.Size())
		}
	}
	if digests == nil {
		if digests, err = e.digestInput(ctx, file, accept.hashes...); err != nil {
			return err
		}
	}
	for i, h := range accept.hashes {
		for _, p := range accept.paddings {
			salt, err := verifyRSA(pub, p, h, digests[i], sig, accept.salt)
			switch {
			case err == nil:
				r.Valid, r.Padding, r.Hash = true, paddingName(p), hashName(h)
				how := "PKCS #1 v1.5"
				if p == thresholdrsa.PSS {
					r.Salt = &salt
					how = fmt.Sprintf("PSS, salt of %d bytes", salt)
				}
				return e.print(r, func(w io.Writer) {
					fmt.Fprintf(w, "valid signature: %s, %s, %d bits\nkey %s\n", how, hashName(h), r.Bits, r.Key)
				})
			case !errors.Is(err, rsa.ErrVerification):
				return fileError(f.key, err)
			}
		}
	}
	return invalid("%s isn't a signature of %s by this key", inputName(f.sig), inputName(file))
}

// acceptance is what kind of signature will do.
type acceptance struct {
	paddings []thresholdrsa.Padding
	hashes   []crypto.Hash
	salt     string
}

func acceptOf(c *cobra.Command, f verifyFlags) (*acceptance, error) {
	a := &acceptance{
		paddings: []thresholdrsa.Padding{thresholdrsa.PSS, thresholdrsa.PKCS1v15},
		hashes:   []crypto.Hash{crypto.SHA256, crypto.SHA384, crypto.SHA512},
		salt:     f.salt,
	}
	if f.padding != "auto" {
		p, err := parsePadding(f.padding)
		if err != nil {
			return nil, err
		}
		a.paddings = []thresholdrsa.Padding{p}
	}
	if f.hash != "auto" {
		h, err := parseHash(f.hash)
		if err != nil {
			return nil, err
		}
		a.hashes = []crypto.Hash{h}
	}
	switch f.salt {
	case "any":
		return a, nil
	case "hash", "max", "empty":
	default:
		if _, err := strconv.ParseUint(f.salt, 10, 12); err != nil {
			return nil, usagef(c, "--salt %q isn't any, hash, max, empty or a number of bytes", f.salt)
		}
	}
	if f.padding == "pkcs1v15" {
		return nil, usagef(c, "--salt goes with --padding pss")
	}
	a.paddings = []thresholdrsa.Padding{thresholdrsa.PSS}
	return a, nil
}

// restrict narrows a down to a JWS's algorithm, and reports whether that will do.
func (a *acceptance) restrict(alg jwsAlgorithm) bool {
	ok := false
	for _, p := range a.paddings {
		for _, h := range a.hashes {
			ok = ok || (jwsAlgorithm{p, h}) == alg
		}
	}
	a.paddings, a.hashes = []thresholdrsa.Padding{alg.padding}, []crypto.Hash{alg.hash}
	if alg.padding == thresholdrsa.PSS && a.salt == "any" {
		a.salt = "hash" // RFC 7518, section 3.5
	}
	return ok
}

// verifyRSA checks a signature by crypto/rsa, and returns the length of the salt
// of PSS. want is any, hash, max, empty or a number.
func verifyRSA(pub *rsa.PublicKey, p thresholdrsa.Padding, h crypto.Hash, digest, sig []byte, want string) (salt int, err error) {
	if p == thresholdrsa.PKCS1v15 {
		return 0, rsa.VerifyPKCS1v15(pub, h, digest, sig)
	}
	if err := rsa.VerifyPSS(pub, h, digest, sig, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthAuto}); err != nil {
		return 0, err
	}
	// crypto/rsa tells neither the length it found, nor does it take 0 for one:
	// the salt is empty if it has no other length.
	longest := max((pub.N.BitLen()-1+7)/8-h.Size()-2, 0)
	is := func(n int) bool {
		return n > 0 && n <= longest && rsa.VerifyPSS(pub, h, digest, sig, &rsa.PSSOptions{SaltLength: n}) == nil
	}
	salt = h.Size()
	if !is(salt) {
		for salt = longest; salt > 0 && !is(salt); {
			salt--
		}
	}
	expected := salt
	switch want {
	case "any":
	case "hash":
		expected = h.Size()
	case "max":
		expected = longest
	case "empty":
		expected = 0
	default:
		if expected, err = strconv.Atoi(want); err != nil {
			return 0, err
		}
	}
	if salt != expected {
		return 0, rsa.ErrVerification
	}
	return salt, nil
}

// decodeBase64 decodes either alphabet, with or without padding and line breaks.
// It returns nil for anything else.
func decodeBase64(text string) []byte {
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\n", r) {
			return -1
		}
		return r
	}, text)
	text = strings.TrimRight(text, "=")
	enc := base64.RawStdEncoding
	if strings.ContainsAny(text, "-_") {
		enc = base64.RawURLEncoding
	}
	b, err := enc.Strict().DecodeString(text)
	if err != nil {
		return nil
	}
	return b
}

// maxRSABits bounds the work that a stranger's key can cause.
const maxRSABits = 16384

// readRSAKey reads an RSA public key from a threshold public key, from PEM or
// from a certificate. name identifies it.
func (e *env) readRSAKey(ctx context.Context, file string) (pub *rsa.PublicKey, name string, err error) {
	data, err := e.readInput(ctx, file, maxObject)
	if err != nil {
		return nil, "", err
	}
	return parseRSAKey(file, data)
}

// verifyHint names the command that takes what was given for an RSA key.
func verifyHint(err error) string {
	te, ok := errors.AsType[*keyfile.TypeError](err)
	switch {
	case ok && strings.HasPrefix(te.Got, "GROUP "):
		return "signatures of groups are checked with \"undersign group verify\""
	case ok && strings.HasPrefix(te.Got, "RING"):
		return "signatures of rings are checked with \"undersign ring verify\""
	}
	return ""
}

// encryptedKeyError is about a secret where a public key is wanted.
func encryptedKeyError(file string) error {
	return failf(ExitError, "give the public key that was written with it", "%s is encrypted, and not a public key", inputName(file))
}

// parseRSAKey does that with the content of the file.
func parseRSAKey(file string, data []byte) (pub *rsa.PublicKey, name string, err error) {
	var key any
	block, _ := pem.Decode(data)
	switch {
	case isAge(data):
		return nil, "", encryptedKeyError(file)
	case block == nil, strings.HasPrefix(block.Type, "UNDERSIGN "):
		p, err := keyfile.ParseAs[*thresholdrsa.PublicKey](data)
		if err != nil {
			err = fileError(file, err)
			if hint := verifyHint(err); hint != "" {
				err = withHint(err, "%s", hint)
			} else if block == nil && hintOf(err) == "" {
				err = withHint(err, "the key is a threshold public key, an RSA public key or a certificate, in PEM")
			}
			return nil, "", err
		}
		return p.RSA(), keyfile.Fingerprint(p), nil
	case strings.HasSuffix(block.Type, "PRIVATE KEY"):
		clear(data)
		clear(block.Bytes)
		return nil, "", failf(ExitError, "make the public key of it: openssl pkey -pubout -in KEY", "%s is a private key: it isn't needed here", inputName(file))
	case block.Type == "PUBLIC KEY":
		key, err = x509.ParsePKIXPublicKey(block.Bytes)
	case block.Type == "RSA PUBLIC KEY":
		key, err = x509.ParsePKCS1PublicKey(block.Bytes)
	case block.Type == "CERTIFICATE":
		var cert *x509.Certificate
		if cert, err = x509.ParseCertificate(block.Bytes); err == nil {
			key = cert.PublicKey
		}
	default:
		err = errors.New("neither a public key nor a certificate")
	}
	if err != nil {
		err = fileError(file, err)
		if strings.Contains(err.Error(), "unsupported elliptic curve") {
			err = withHint(err, "\"undersign sm2 verify\" takes keys of SM2")
		}
		return nil, "", err
	}
	pub, ok := key.(*rsa.PublicKey)
	if !ok {
		return nil, "", failf(ExitError, "RSA and BLS keys are taken here; for others see openssl pkeyutl", "%s: the key isn't RSA", inputName(file))
	}
	if bits := pub.N.BitLen(); bits > maxRSABits {
		return nil, "", fmt.Errorf("%s: a key of %d bits: more than %d aren't supported", inputName(file), bits, maxRSABits)
	}
	spki, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		return nil, "", fileError(file, err)
	}
	return pub, fmt.Sprintf("SHA256:%x", sha256.Sum256(spki)), nil
}
