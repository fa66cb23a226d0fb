// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// A badShare is a share file that was refused, and whose it is as far as it says.
type badShare struct {
	File   string `json:"file"`
	Index  int    `json:"index,omitempty"`
	Name   string `json:"name,omitempty"`
	Reason string `json:"reason"`
}

func (b badShare) String() string {
	switch {
	case b.Index == 0:
		return fmt.Sprintf("%s: %s", b.File, b.Reason)
	case b.Name == "":
		return fmt.Sprintf("%s: holder %d: %s", b.File, b.Index, b.Reason)
	}
	return fmt.Sprintf("%s: holder %d (%s): %s", b.File, b.Index, b.Name, b.Reason)
}

const badJSON = "bad [file, index, name, reason]"

// A shareFile is a signature share and where it came from.
type shareFile struct {
	file  string
	share *thresholdrsa.SignatureShare
}

// readShareFiles reads signature shares. A file that isn't one is bad, like a
// share that is wrong: it mustn't stop the others. A file that can't be read is an
// error.
func (e *env) readShareFiles(ctx context.Context, files []string) (shares []shareFile, bad []badShare, err error) {
	for _, file := range files {
		data, err := e.readInput(ctx, file, maxObject)
		if large := (*tooLargeError)(nil); errors.As(err, &large) {
			bad = append(bad, badShare{File: inputName(file), Reason: "too large for a signature share"})
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		s, err := keyfile.ParseAs[*thresholdrsa.SignatureShare](data)
		if err != nil {
			bad = append(bad, badShare{File: inputName(file), Reason: err.Error()})
			continue
		}
		shares = append(shares, shareFile{inputName(file), s})
	}
	return shares, bad, nil
}

// combine makes the signature of r and says which files were bad, be there a
// signature or not.
func combine(p *thresholdrsa.PublicKey, r *thresholdrsa.Request, files []shareFile) ([]byte, []badShare, error) {
	var shares []*thresholdrsa.SignatureShare
	for _, f := range files {
		shares = append(shares, f.share)
	}
	sig, errs, err := p.Combine(r, shares...)
	var bad []badShare
	named := map[int]bool{}
	var verdicts []error
	if len(errs) > 0 {
		answers := make([]thresholdrsa.Answer, len(shares))
		for i, s := range shares {
			answers[i] = thresholdrsa.Answer{Request: r, Share: s}
		}
		verdicts = p.VerifyShares(answers)
	}
	for _, e := range errs {
		// Which of the files with that index it was: the one that doesn't verify,
		// or where all do, a later one.
		at := -1
		for i, f := range files {
			if f.share.Index() == e.Index && !named[i] {
				if at < 0 || verdicts[at] == nil {
					at = i
				}
			}
		}
		b := badShare{Index: e.Index, Name: e.Holder, Reason: e.Reason}
		if at >= 0 {
			named[at] = true
			b.File = files[at].file
		}
		bad = append(bad, b)
	}
	return sig, bad, thresholdError(err)
}

type combineFlags struct {
	key, format, payload, kid, out string
	force                          bool
}

func newThresholdCombineCmd(e *env) *cobra.Command {
	var f combineFlags
	c := &cobra.Command{
		Use:   "combine REQUEST SHARE... --key FILE",
		Short: "Make the signature from signature shares",
		Long: `Make the signature of a request from the signature shares of K holders or more.
It is an ordinary RSA signature, and is checked before it is written.

Shares that are wrong are named on standard error, also when the others are
enough. Which one it was is found out only if the signature doesn't come out.

The format is raw, base64, or jws (the compact form), which takes the --payload
and the --kid that the request was made with.`,
		Example: `  undersign threshold combine contract.pdf.req contract.pdf.req.alice contract.pdf.req.bob \
      --key key/threshold.pub
  undersign threshold combine claims.json.req claims.json.req.* --key key/threshold.pub \
      --format jws --payload claims.json --kid 2026-1 -o token`,
		Args: nargs(2, -1, "a request and signature shares"),
		RunE: func(c *cobra.Command, args []string) error { return e.combineShares(c, f, args[0], args[1:]) },
	}
	addKeyFlag(c, &f.key)
	fl := c.Flags()
	fl.StringVar(&f.format, "format", "raw", "`FORMAT` of the signature: raw, base64 or jws")
	fl.StringVar(&f.payload, "payload", "", "payload `FILE` of the JWS")
	fl.StringVar(&f.kid, "kid", "", "key ID in the header of the JWS")
	addOutFlag(c, &f.out, "REQUEST with .sig for .req, or with .jws")
	addForceFlag(c, &f.force)
	describe(c, "request, signature in base64, format, file, "+badJSON, ExitInvalid, ExitQuorum)
	describeExit(c, ExitOK, "a signature was written, be there bad shares or not")
	describeExit(c, ExitInvalid, "the payload isn't the request's, or the dealing is at fault")
	return c
}

type combineResult struct {
	Request   string     `json:"request"`
	Signature string     `json:"signature,omitempty"`
	Format    string     `json:"format,omitempty"`
	File      string     `json:"file,omitempty"`
	Bad       []badShare `json:"bad"`
}

func (e *env) combineShares(c *cobra.Command, f combineFlags, file string, files []string) error {
	ctx := c.Context()
	switch f.format {
	case "raw", "base64":
		if f.payload != "" || f.kid != "" {
			return usagef(c, "--payload and --kid go with --format jws")
		}
	case "jws":
		if f.payload == "" {
			return usagef(c, "--format jws needs the --payload")
		}
	default:
		return usagef(c, "format %q isn't raw, base64 or jws", f.format)
	}
	out := f.out
	if out == "" {
		out = "-"
		if file != "-" {
			ext := ".sig"
			if f.format == "jws" {
				ext = ".jws"
			}
			out = strings.TrimSuffix(file, ".req") + ext
		}
	}
	if err := e.checkStdout(out); err != nil {
		return err
	}
	p, err := e.readPublicKey(ctx, f.key)
	if err != nil {
		return err
	}
	r, err := e.readRequest(ctx, file, p)
	if err != nil {
		return err
	}
	var signingInput string
	if f.format == "jws" {
		payload, err := e.readPayload(ctx, f.payload)
		if err != nil {
			return err
		}
		if signingInput, err = jwsInputFor(f.payload, f.kid, payload, r); err != nil {
			return err
		}
	}
	shares, bad, err := e.readShareFiles(ctx, files)
	if err != nil {
		return err
	}
	sig, more, err := combine(p, r, shares)
	bad = append(bad, more...)
	for _, b := range bad {
		e.warnf("bad share: %s", b)
	}
	id := r.ID()
	res := combineResult{Request: hex.EncodeToString(id[:]), Bad: notNil(bad)}
	if err != nil {
		return e.failWith(res, err)
	}
	data := sig
	switch f.format {
	case "base64":
		data = []byte(base64.StdEncoding.EncodeToString(sig) + "\n")
	case "jws":
		data = []byte(signingInput + "." + jwsEncoding.EncodeToString(sig) + "\n")
	}
	if err := e.writeFile(out, data, publicFile, f.force); err != nil {
		return err
	}
	if out == "-" {
		return nil
	}
	res.Signature, res.Format, res.File = base64.StdEncoding.EncodeToString(sig), f.format, out
	return e.print(res, func(w io.Writer) { fmt.Fprintf(w, "%s\n", out) })
}

// failWith ends a command with err. With --json its result, which says more than
// the error does, is printed all the same.
func (e *env) failWith(result any, err error) error {
	if e.json {
		if perr := e.print(result, nil); perr != nil {
			return errors.Join(err, perr)
		}
	}
	return err
}

// notNil makes an empty list of nil, as JSON should have it.
func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// verifyAnswers is VerifyShares, in pieces that can be interrupted.
func verifyAnswers(ctx context.Context, p *thresholdrsa.PublicKey, answers []thresholdrsa.Answer) (errs []error, err error) {
	const piece = 64
	for len(answers) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := min(piece, len(answers))
		errs = append(errs, p.VerifyShares(answers[:n])...)
		answers = answers[n:]
	}
	return errs, nil
}

func newThresholdVerifyShareCmd(e *env) *cobra.Command {
	var key string
	c := &cobra.Command{
		Use:   "verify-share REQUEST SHARE... --key FILE",
		Short: "Check signature shares",
		Long: `Check signature shares against a request and their holders' verification keys.
It isn't needed before combine, which finds out bad shares by itself.`,
		Example: `  undersign threshold verify-share contract.pdf.req contract.pdf.req.* --key key/threshold.pub`,
		Args:    nargs(2, -1, "a request and signature shares"),
		RunE: func(c *cobra.Command, args []string) error {
			return e.verifyShares(c.Context(), key, args[0], args[1:])
		},
	}
	addKeyFlag(c, &key)
	describe(c, "request, good [file, index, name], "+badJSON, ExitInvalid)
	describeExit(c, ExitInvalid, "at least one share is wrong")
	return c
}

type goodShare struct {
	File  string `json:"file"`
	Index int    `json:"index"`
	Name  string `json:"name"`
}

type verifyShareResult struct {
	Request string      `json:"request"`
	Good    []goodShare `json:"good"`
	Bad     []badShare  `json:"bad"`
}

func (e *env) verifyShares(ctx context.Context, key, file string, files []string) error {
	p, err := e.readPublicKey(ctx, key)
	if err != nil {
		return err
	}
	r, err := e.readRequest(ctx, file, p)
	if err != nil {
		return err
	}
	shares, bad, err := e.readShareFiles(ctx, files)
	if err != nil {
		return err
	}
	good := []goodShare{}
	answers := make([]thresholdrsa.Answer, len(shares))
	for i, f := range shares {
		answers[i] = thresholdrsa.Answer{Request: r, Share: f.share}
	}
	errs, err := verifyAnswers(ctx, p, answers)
	if err != nil {
		return err
	}
	for i, f := range shares {
		err := errs[i]
		var se *thresholdrsa.ShareError
		switch {
		case err == nil:
			good = append(good, goodShare{f.file, f.share.Index(), p.Holders()[f.share.Index()-1].Name})
		case errors.As(err, &se):
			bad = append(bad, badShare{f.file, se.Index, se.Holder, se.Reason})
		default:
			return fileError(file, err)
		}
	}
	id := r.ID()
	res := verifyShareResult{hex.EncodeToString(id[:]), good, notNil(bad)}
	if err := e.print(res, func(w io.Writer) {
		for _, g := range good {
			fmt.Fprintf(w, "%s: good, holder %d (%s)\n", printable(g.File), g.Index, printable(g.Name))
		}
	}); err != nil {
		return err
	}
	if len(bad) == 0 {
		return nil
	}
	for _, b := range bad {
		e.warnf("bad share: %s", b)
	}
	return failf(ExitInvalid, "", "%d of %d signature shares are bad", len(bad), len(files))
}
