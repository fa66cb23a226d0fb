// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

func newThresholdCmd(e *env) *cobra.Command {
	c := newGroupCmd(e, "threshold", "Sign with an RSA key that is shared among holders", `
An RSA key is shared among L holders, any K of whom sign; fewer can do nothing.
What comes out is an ordinary RSA signature.

A dealer makes the shares (keygen, deal, import). To sign, somebody makes a
request, K holders answer with signature shares (sign), and anybody combines
them. Where nodes hold the shares ("undersign serve"), sign-file does all of it.`,
		// One line a command, in the order in which help lists them.
		newThresholdKeygenCmd(e),
		newThresholdDealCmd(e),
		newThresholdImportCmd(e),
		newThresholdVerifyCeremonyCmd(e),
		newThresholdVerifyTranscriptCmd(e),
		newThresholdRequestCmd(e),
		newThresholdSignCmd(e),
		newThresholdVerifyShareCmd(e),
		newThresholdCombineCmd(e),
		newThresholdHoldCmd(e),
		newThresholdSignFileCmd(e),
		newThresholdKeysCmd(e),
		newThresholdPendingCmd(e),
		newThresholdApproveCmd(e),
		newThresholdRejectCmd(e),
		newCeremonyCmd(e),
		newRefreshCmd(e),
		newReshareCmd(e),
		newThresholdCertCmd(e),
		newThresholdArweaveCmd(e),
	)
	c.Example = `  undersign threshold keygen -k 2 --to alice.txt,bob.txt,carol.txt -o key
  undersign threshold request FILE --key key/threshold.pub
  undersign threshold sign FILE.req --share key/alice.share -i alice.key
  undersign threshold sign FILE.req --share key/bob.share -i bob.key
  undersign threshold combine FILE.req FILE.req.alice FILE.req.bob --key key/threshold.pub`
	return c
}

// addKeyFlag gives a command its --key, a file with a threshold public key.
func addKeyFlag(c *cobra.Command, key *string) {
	c.Flags().StringVar(key, "key", "", "threshold public key `FILE`")
	c.MarkFlagRequired("key")
}

// addOutFlag gives a command its -o. def says in words what the default is.
func addOutFlag(c *cobra.Command, out *string, def string) {
	usage := "write to `FILE`"
	if def != "" {
		usage += " (default: " + def + ")"
	}
	c.Flags().StringVarP(out, "out", "o", "", usage)
}

// readObject reads a file with one public object of the type T, such as
// *thresholdrsa.Request.
func readObject[T keyfile.Object](ctx context.Context, e *env, file string) (v T, err error) {
	data, err := e.readInput(ctx, file, maxObject)
	if err != nil {
		return v, err
	}
	v, err = keyfile.ParseAs[T](data)
	if err != nil {
		return v, wantedHint(v, fileError(file, err))
	}
	return v, nil
}

// readPublicKey reads a threshold public key.
func (e *env) readPublicKey(ctx context.Context, file string) (*thresholdrsa.PublicKey, error) {
	p, err := readObject[*thresholdrsa.PublicKey](ctx, e, file)
	var te *keyfile.TypeError
	if errors.As(err, &te) && te.Got == "PUBLIC KEY" {
		err = withHint(err, "this is the plain RSA key; give the file threshold.pub that was written with it")
	}
	return p, err
}

// readRequest reads a request to sign, and checks that it is for p unless p is nil.
func (e *env) readRequest(ctx context.Context, file string, p *thresholdrsa.PublicKey) (*thresholdrsa.Request, error) {
	r, err := readObject[*thresholdrsa.Request](ctx, e, file)
	if err != nil || p == nil {
		return r, err
	}
	return r, checkRequestKey(file, r, p)
}

// checkRequestKey checks that a request, which came from file, is for p.
func checkRequestKey(file string, r *thresholdrsa.Request, p *thresholdrsa.PublicKey) error {
	if r.KeyID() == p.ID() {
		return nil
	}
	return fileError(file, &thresholdrsa.KeyError{
		What: "request", Got: r.KeyID(), Want: p.ID(), GotEpoch: r.Epoch(), WantEpoch: p.Epoch(),
	})
}

// fileError says which file an error is about, and gives it the exit status and
// the hint that its type asks for.
func fileError(file string, err error) error {
	err = thresholdError(err)
	return withCode(&Error{Err: fmt.Errorf("%s: %w", inputName(file), err), Hint: hintOf(err)}, exitCode(err))
}

// thresholdError gives an error of thresholdrsa or keyfile the exit status and
// the hint that its type asks for.
func thresholdError(err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	var (
		key    *thresholdrsa.KeyError
		syntax *keyfile.SyntaxError
		secret *keyfile.SecretError
	)
	switch {
	case errors.Is(err, thresholdrsa.ErrQuorum):
		return &Error{Err: err, Code: ExitQuorum, Hint: "get signature shares of more holders"}
	case errors.Is(err, thresholdrsa.ErrShare), errors.Is(err, thresholdrsa.ErrDealing):
		return &Error{Err: err, Code: ExitInvalid}
	case errors.As(err, &key):
		hint := "\"undersign inspect FILE\" shows which key a file belongs to"
		switch {
		case key.GotEpoch < key.WantEpoch:
			hint = "the key has new shares since then: make it anew with the current public key"
		case key.GotEpoch > key.WantEpoch:
			hint = "if that is the same key, the newer share or public key of its last ceremony is needed"
		}
		return &Error{Err: err, Hint: hint}
	case errors.As(err, &secret):
		return &Error{Err: err, Hint: "a secret isn't given here; see --help for where it belongs"}
	case errors.As(err, &syntax):
		return &Error{Err: err, Hint: syntax.Hint}
	}
	return err
}

// holderLabel names holder i of p for people.
func holderLabel(p *thresholdrsa.PublicKey, i int) string {
	if i < 1 || i > p.NumHolders() {
		return fmt.Sprintf("holder %d", i)
	}
	return fmt.Sprintf("holder %d (%s)", i, p.Holders()[i-1].Name)
}
