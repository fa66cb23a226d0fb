// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
)

type signFlags struct {
	secret     secretFlags
	share      string
	file       string
	jwsPayload string
	kid        string
	files      bool
	out        string
	force      bool
}

func newThresholdSignCmd(e *env) *cobra.Command {
	var f signFlags
	c := &cobra.Command{
		Use:   "sign REQUEST... --share FILE -i FILE",
		Short: "Answer requests with signature shares",
		Long: `Sign a request with one share. The result is a signature share with a proof that
it was made with this holder's share; a threshold of them makes a signature.

Many requests are signed together, which is faster: give them all, or a
directory for all files in it that are called NAME.req. One that can't be signed
is named and stops no other.

What is about to be signed is shown first, and on a terminal it has to be
confirmed. A request holds a digest only: give the file that it is said to be
for with --file, and the digest is compared. The key and the padding are never
taken from the request: the share brings its own.`,
		Example: `  undersign threshold sign contract.pdf.req --share alice.share -i alice.key
  undersign threshold sign contract.pdf.req --share alice.share -i alice.key \
      --file contract.pdf --yes
  undersign threshold sign claims.json.req --share alice.share -i alice.key \
      --jws-payload claims.json --kid 2026-1
  undersign threshold sign requests/ --share alice.share -i alice.key --files -o shares`,
		Args: nargs(1, -1, "a request"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 || isDir(args[0]) {
				return e.signRequests(c, f, args)
			}
			return e.signRequest(c, f, args[0])
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.share, "share", "", "the holder's share, `FILE`")
	c.MarkFlagRequired("share")
	addSecretFlags(c, &f.secret)
	fl.StringVar(&f.file, "file", "", "refuse unless the request is for `FILE`")
	fl.StringVar(&f.jwsPayload, "jws-payload", "", "refuse unless the request is for a JWS with the payload `FILE`")
	fl.StringVar(&f.kid, "kid", "", "key ID in the header of that JWS")
	fl.BoolVar(&f.files, "files", false, "refuse each of many requests that isn't for the file\nbeside it, NAME for NAME.req")
	fl.StringVarP(&f.out, "out", "o", "", "write to `FILE` (default: REQUEST.NAME, after the holder);\nof many requests, into the directory FILE")
	addForceFlag(c, &f.force)
	describe(c, "request, fingerprint, epoch, index, name, file; of many requests fingerprint, epoch, index, name, signed [request, from, file], bad [from, reason]", ExitInvalid)
	describeExit(c, ExitInvalid, "the request isn't for the file given, one of many isn't signed, or the share is damaged")
	return c
}

type signResult struct {
	Request     string `json:"request"`
	Fingerprint string `json:"fingerprint"`
	Epoch       uint64 `json:"epoch"`
	Index       int    `json:"index"`
	Name        string `json:"name"`
	File        string `json:"file"`
}

func (e *env) signRequest(c *cobra.Command, f signFlags, file string) error {
	ctx := c.Context()
	switch {
	case f.file != "" && f.jwsPayload != "":
		return usagef(c, "--file and --jws-payload: the request is for one of them")
	case f.kid != "" && f.jwsPayload == "":
		return usagef(c, "--kid goes with --jws-payload")
	case f.files:
		return usagef(c, "--files goes with many requests: for one, give --file")
	}
	r, err := e.readRequest(ctx, file, nil)
	if err != nil {
		return err
	}
	o, err := e.newOpener(ctx, f.secret)
	if err != nil {
		return err
	}
	defer o.wipe()
	share, _, err := o.openShare(f.share)
	if err != nil {
		return err
	}
	defer share.Wipe()
	p := share.PublicKey()
	if err := checkRequestKey(file, r, p); err != nil {
		return err
	}
	if f.file != "" {
		if err := e.sameDigest(ctx, f.file, r.Hash(), r.Digest()); err != nil {
			return err
		}
	}
	if f.jwsPayload != "" {
		if err := e.samePayload(ctx, f.jwsPayload, f.kid, r); err != nil {
			return err
		}
	}
	out := f.out
	if out == "" {
		out = "-"
		if file != "-" {
			if err := checkHolderName(share.Name()); err != nil {
				return withHint(err, "name the output with -o")
			}
			out = file + "." + share.Name()
		}
	}
	if err := e.checkOut(out, f.force); err != nil {
		return err
	}

	fingerprint := keyfile.Fingerprint(p)
	if _, ok := terminal(e.stdin); ok && !e.yes {
		var b bytes.Buffer
		writeFields(&b, requestFields(r, fingerprint))
		e.clearProgress()
		fmt.Fprintf(e.stderr, "%s\n", b.Bytes())
		if err := e.confirm(ctx, fmt.Sprintf("Sign this as %s?", holderLabel(p, share.Index()))); err != nil {
			return err
		}
	} else {
		e.notef("signing as %s of %s, epoch %d: %s %x, %s",
			holderLabel(p, share.Index()), fingerprint, p.Epoch(), hashName(r.Hash()), r.Digest(), paddingText(r))
	}
	s, err := share.Sign(r)
	if err != nil {
		return thresholdError(err)
	}
	// A damaged share makes signature shares for which its holder is blamed.
	if err := p.VerifyShare(r, s); err != nil {
		return &Error{Err: fmt.Errorf("%s is damaged: %w", inputName(f.share), err), Hint: "restore it from a backup", Code: ExitInvalid}
	}
	data, err := keyfile.Encode(s)
	if err != nil {
		return err
	}
	if err := e.writeFile(out, data, publicFile, f.force); err != nil {
		return err
	}
	if out == "-" {
		return nil
	}
	id := r.ID()
	return e.print(signResult{
		Request: hex.EncodeToString(id[:]), Fingerprint: fingerprint, Epoch: p.Epoch(),
		Index: share.Index(), Name: share.Name(), File: out,
	}, func(w io.Writer) { fmt.Fprintf(w, "%s\n", out) })
}
