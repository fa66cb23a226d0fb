// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	gmsm "github.com/emmansun/gmsm/sm2"
	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/sm2stream"
	"github.com/undersign/undersign/sm2"
)

type sm2SignFlags struct {
	secret            secretFlags
	key, id, encoding string
	base64, hinted    bool
	out               string
	force             bool
}

func newSM2SignCmd(e *env) *cobra.Command {
	var f sm2SignFlags
	c := &cobra.Command{
		Use:   "sign FILE --key FILE -i FILE",
		Short: "Sign a file with an SM2 key",
		Long: `Sign a file with an SM2 key: SM3 of the signer's ID, the key and the file.
Whoever verifies needs the same ID. The file has at most 256 MiB.

With --hinted the signature is chosen so that verifiers who know of it need no
hint; for all others it is a signature like any other.

` + sm2KeyHelp,
		Example: `  undersign sm2 sign contract.pdf --key alice.key -i alice-age.key
  undersign sm2 sign contract.pdf --key alice.key -i alice-age.key --id alice@example.com --encoding raw --base64
  openssl pkeyutl -verify -pubin -inkey alice.key.pub -rawin -digest sm3 \
      -pkeyopt distid:1234567812345678 -in contract.pdf -sigfile contract.pdf.sig`,
		Args: nargs(1, 1, "a file"),
		RunE: func(c *cobra.Command, args []string) error { return e.sm2Sign(c, f, args[0]) },
	}
	c.Flags().StringVar(&f.key, "key", "", "the private key, `FILE`")
	c.MarkFlagRequired("key")
	addSecretFlags(c, &f.secret)
	addSM2IDFlag(c, &f.id, "the signer")
	addSM2EncodingFlag(c, &f.encoding, "of the signature")
	c.Flags().BoolVar(&f.base64, "base64", false, "write that in base64")
	c.Flags().BoolVar(&f.hinted, "hinted", false, "make the y of R even, which hastens verification in batches")
	addOutFlag(c, &f.out, "FILE.sig; standard output if there is no FILE")
	addForceFlag(c, &f.force)
	return describe(c, "file, signature, encoding, hint")
}

func (e *env) sm2Sign(c *cobra.Command, f sm2SignFlags, file string) error {
	ctx := c.Context()
	opts := &sm2.Options{}
	var err error
	if opts.UID, err = sm2stream.ParseID(f.id); err != nil {
		return usageError(c, err)
	}
	if opts.Encoding, err = sm2stream.ParseEncoding(f.encoding); err != nil {
		return usageError(c, err)
	}
	out := f.out
	if out == "" {
		if out = file + ".sig"; file == "-" {
			out = "-"
		}
	}
	if err := e.checkOut(out, f.force); err != nil {
		return err
	}
	o, err := e.newOpener(ctx, f.secret)
	if err != nil {
		return err
	}
	defer o.wipe()
	priv, err := o.readSM2Key(f.key)
	if err != nil {
		return err
	}
	defer wipeSM2Key(priv)
	msg, err := e.readInput(ctx, file, maxMessage)
	if err != nil {
		return err
	}
	var sig []byte
	if f.hinted {
		sig, err = sm2.SignHinted(priv, msg, opts)
	} else {
		sig, err = signSM2(priv, msg, opts)
	}
	if err != nil {
		return err
	}
	data := sig
	if f.base64 {
		data = append([]byte(base64.StdEncoding.EncodeToString(sig)), '\n')
	}
	if err := e.writeFile(out, data, publicFile, f.force); err != nil {
		return err
	}
	if out == "-" {
		return nil
	}
	type result struct {
		File      string `json:"file"`
		Signature string `json:"signature"`
		Encoding  string `json:"encoding"`
		Hint      string `json:"hint,omitempty"`
	}
	r := result{File: inputName(file), Signature: out, Encoding: f.encoding}
	if f.hinted {
		r.Hint = sm2.HintEven.String()
	}
	return e.print(r, func(w io.Writer) { fmt.Fprintf(w, "%s\n", out) })
}

// signSM2 signs by gmsm, and checks the result by the public key.
func signSM2(priv *gmsm.PrivateKey, msg []byte, opts *sm2.Options) ([]byte, error) {
	digest, err := sm2.Digest(&priv.PublicKey, opts.UID, msg)
	if err != nil {
		return nil, err
	}
	sig, err := priv.Sign(rand.Reader, digest, nil)
	if err != nil {
		return nil, err
	}
	if !gmsm.VerifyASN1(&priv.PublicKey, digest, sig) {
		return nil, errors.New("the private key isn't that of the public key beside it")
	}
	if opts.Encoding != sm2.Raw128WithKey {
		return sm2.Convert(sig, sm2.DER, opts.Encoding)
	}
	raw, err := sm2.Convert(sig, sm2.DER, sm2.Raw64)
	if err != nil {
		return nil, err
	}
	point, err := sm2Point(&priv.PublicKey)
	if err != nil {
		return nil, err
	}
	return append(raw, point[1:]...), nil
}

type sm2VerifyFlags struct {
	sig, key, id, encoding string
}

func newSM2VerifyCmd(e *env) *cobra.Command {
	var f sm2VerifyFlags
	c := &cobra.Command{
		Use:   "verify FILE --sig FILE --key FILE",
		Short: "Check the SM2 signature of a file",
		Long: `Check the SM2 signature of a file, which has at most 256 MiB.

The signature is in any of the encodings, binary or in base64; which one is
found out unless it is given. The key is a public key in PEM, or a certificate,
of which only the key counts. The ID is the signer's: a signature for another
ID is invalid.`,
		Example: `  undersign sm2 verify contract.pdf --sig contract.pdf.sig --key alice.key.pub
  undersign sm2 verify contract.pdf --sig contract.pdf.sig --key alice.crt --id alice@example.com`,
		Args: nargs(1, 1, "a file"),
		RunE: func(c *cobra.Command, args []string) error { return e.sm2Verify(c, f, args[0]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.sig, "sig", "", "the signature, `FILE`")
	fl.StringVar(&f.key, "key", "", "the public key, `FILE`")
	addSM2IDFlag(c, &f.id, "the signer")
	fl.StringVar(&f.encoding, "encoding", "auto", "accept this encoding only, `NAME`: auto, der, raw, skf or raw-key")
	c.MarkFlagRequired("sig")
	c.MarkFlagRequired("key")
	describe(c, "valid, encoding, base64, hint (of a valid signature), reason (of an invalid one)", ExitInvalid)
	describeExit(c, ExitInvalid, "the signature is invalid")
	return c
}

type sm2VerifyResult struct {
	Valid    bool   `json:"valid"`
	Encoding string `json:"encoding,omitempty"`
	Base64   bool   `json:"base64,omitempty"`
	Hint     string `json:"hint,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

func (e *env) sm2Verify(c *cobra.Command, f sm2VerifyFlags, file string) error {
	ctx := c.Context()
	uid, err := sm2stream.ParseID(f.id)
	if err != nil {
		return usageError(c, err)
	}
	var only sm2.Encoding
	if f.encoding != "auto" {
		if only, err = sm2stream.ParseEncoding(f.encoding); err != nil {
			return usageError(c, err)
		}
	}
	pub, err := e.readSM2PublicKey(ctx, f.key)
	if err != nil {
		return err
	}
	data, err := e.readInput(ctx, f.sig, maxObject)
	if err != nil {
		return err
	}
	msg, err := e.readSM2Message(ctx, file)
	if err != nil {
		return err
	}
	var r sm2VerifyResult
	for _, try := range sm2Candidates(data, only) {
		reason := checkSM2(pub, msg, uid, try.sig, try.enc)
		if reason == 0 {
			r = sm2VerifyResult{Valid: true, Encoding: sm2stream.EncodingName(try.enc), Base64: try.base64}
			if r.Hint, err = sm2HintOf(pub, msg, uid, try); err != nil {
				return err
			}
			return e.print(r, func(w io.Writer) {
				fmt.Fprintf(w, "valid signature: SM2, %s, y of R %s\n", try.enc, r.Hint)
			})
		}
		// The reason that is nearest to being valid says most.
		if r.Reason == "" || reason > sm2.ReasonEncoding {
			r = sm2VerifyResult{Encoding: sm2stream.EncodingName(try.enc), Base64: try.base64, Reason: reason.String()}
		}
	}
	if r.Reason == "" {
		r.Reason = sm2.ReasonEncoding.String()
	}
	return e.failWith(r, failf(ExitInvalid, "a signature is for one ID only: see --id", "invalid signature: %s isn't a signature of %s by this key (%s)", inputName(f.sig), inputName(file), r.Reason))
}

func (e *env) readSM2Message(ctx context.Context, file string) ([]byte, error) {
	msg, err := e.readInput(ctx, file, maxMessage)
	if msg == nil && err == nil {
		msg = []byte{}
	}
	return msg, err
}

// An sm2Candidate is a way to read the file of a signature.
type sm2Candidate struct {
	sig    []byte
	enc    sm2.Encoding
	base64 bool
}

// sm2Candidates returns the ways to read a signature, of which a forger gains
// nothing: a file is valid if one of them is.
func sm2Candidates(data []byte, only sm2.Encoding) (out []sm2Candidate) {
	add := func(sig []byte, base64 bool) {
		for _, enc := range []sm2.Encoding{sm2.DER, sm2.Raw64, sm2.SKF128, sm2.Raw128WithKey} {
			if only != 0 && enc != only {
				continue
			}
			if _, err := sm2.Convert(sig, enc, enc); err == nil {
				out = append(out, sm2Candidate{sig, enc, base64})
			}
		}
	}
	add(data, false)
	if sig := decodeBase64(string(bytes.TrimSpace(data))); len(sig) > 0 {
		add(sig, true)
	}
	return out
}

// checkSM2 returns why a signature is bad, or zero.
func checkSM2(pub *ecdsa.PublicKey, msg []byte, uid sm2.UID, sig []byte, enc sm2.Encoding) sm2.Reason {
	b := sm2.NewBatch(&sm2.Options{UID: uid, Encoding: enc})
	b.Add(pub, msg, sig)
	var bad *sm2.BatchError
	if errors.As(b.Verify(), &bad) {
		return bad.Reasons[0]
	}
	return 0
}

func sm2HintOf(pub *ecdsa.PublicKey, msg []byte, uid sm2.UID, s sm2Candidate) (string, error) {
	digest, err := sm2.Digest(pub, uid, msg)
	if err != nil {
		return "", err
	}
	der, err := sm2.Convert(s.sig, s.enc, sm2.DER)
	if err != nil {
		return "", err
	}
	hint, err := sm2.FindHint(pub, digest, der)
	if err != nil {
		return "", err
	}
	return hint.String(), nil
}
