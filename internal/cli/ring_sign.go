// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/hex"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/ring"
)

type ringSignFlags struct {
	outFlags
	secret    secretFlags
	ring, key string
	scope     ringScopeFlags
	batch     bool
}

func newRingSignCmd(e *env) *cobra.Command {
	var f ringSignFlags
	c := &cobra.Command{
		Use:   "sign FILE --ring FILE --key FILE -i FILE",
		Short: "Sign a file as one of a ring",
		Long: `Sign a file as a holder of one of the ring's keys. Nobody can tell which holder
signed; but two signatures of one holder in one scope can be seen to be of one.

The scope says what the signature is for, such as one vote. Verifiers demand the
same. Signatures in different rings aren't linked, unless --across-rings is
given. The file has at most 256 MiB.`,
		Example: `  undersign ring sign motion.txt --ring board.ring --key alice.key -i alice-age.key --scope 2026-11
  undersign ring sign ballot.txt --ring voters.ring --key bob.key -i bob-age.key --scope mayor --batch`,
		Args: nargs(1, 1, "a file"),
		RunE: func(c *cobra.Command, args []string) error { return e.ringSign(c, f, args[0]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.ring, "ring", "", "the ring's `FILE`")
	c.MarkFlagRequired("ring")
	fl.StringVar(&f.key, "key", "", "the private key, `FILE`")
	c.MarkFlagRequired("key")
	addSecretFlags(c, &f.secret)
	f.scope.add(c, "sign within the scope `TEXT`")
	fl.BoolVar(&f.batch, "batch", false, "write three times as much, which is verified faster in bulk")
	addOutFlags(c, &f.outFlags, "FILE"+ringSigSuffix)
	return describe(c, "signature, ring (digest), keys, image")
}

type ringSignResult struct {
	Signature string `json:"signature"`
	Ring      string `json:"ring"`
	Keys      int    `json:"keys"`
	Image     string `json:"image"`
}

func (e *env) ringSign(c *cobra.Command, f ringSignFlags, file string) error {
	ctx := c.Context()
	msg, err := e.readInput(ctx, file, maxMessage)
	if err != nil {
		return err
	}
	if err := f.name(e, beside(file, ringSigSuffix)); err != nil {
		return err
	}
	r, err := readObject[*ring.Ring](ctx, e, f.ring)
	if err != nil {
		return err
	}
	o, err := e.newOpener(ctx, f.secret)
	if err != nil {
		return err
	}
	defer o.wipe()
	k, _, err := openSecret[*ring.PrivateKey](o, f.key)
	if err != nil {
		return err
	}
	defer k.Wipe()
	if !r.Contains(k.Public()) {
		return failf(ExitError, "make a ring that has it: \"undersign ring make\"", "%s: the key isn't in the ring %s", inputName(f.key), inputName(f.ring))
	}
	sig, err := k.Sign(r, msg, f.scope.options())
	if err != nil {
		return err
	}
	// Expand verifies, and so finds a fault of the machine.
	wide, err := r.Expand(msg, sig, f.scope.options())
	if err != nil {
		return err
	}
	if f.batch {
		sig = wide
	}
	data, err := keyfile.Encode(sig)
	if err != nil {
		return err
	}
	d := sig.Ring()
	return f.finish(e, data, publicFile, ringSignResult{f.out, hex.EncodeToString(d[:]), sig.Len(), hex.EncodeToString(sig.Image())}, nil)
}
