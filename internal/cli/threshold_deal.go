// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/rsa"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/thresholdrsa"
)

func newThresholdDealCmd(e *env) *cobra.Command {
	var f dealerFlags
	var sf secretFlags
	c := &cobra.Command{
		Use:   "deal KEYFILE -k K --to FILE,... -o DIR",
		Short: "Deal shares of an existing key of safe primes",
		Long: `Deal shares of an existing RSA key whose primes are safe primes, as keygen makes
them. For any other key use import.

` + keyFileHelp + `

` + dealerFiles,
		Example: `  undersign threshold deal key.pem -k 2 --to alice.txt,bob.txt,carol.txt -o key
  undersign threshold deal key.pem.age -i me.key -k 2 --to alice.txt,bob.txt -o key`,
		Args: nargs(1, 1, "a key file"),
		RunE: func(c *cobra.Command, args []string) error {
			return e.dealKeyFile(c, thresholdrsa.Deal, args[0], f, sf)
		},
	}
	addDealerFlags(c, &f)
	addSecretFlags(c, &sf)
	c.Flags().Lookup("insecure-plaintext").Usage = "don't encrypt the shares"
	return describe(c, dealerJSON)
}

const keyFileHelp = `KEYFILE is PEM (PKCS #1, PKCS #8) or a JWK, in plain text or inside an age file.
It still holds the whole key afterwards, and so does every copy of it: whoever
has one signs alone. Destroy them once the shares have been tried.`

// A dealFunc is thresholdrsa.Deal or thresholdrsa.Import.
type dealFunc func(priv *rsa.PrivateKey, k, l int, o *thresholdrsa.DealOptions) (*thresholdrsa.Dealing, []*thresholdrsa.KeyShare, error)

// dealKeyFile deals the shares of a key from a file.
func (e *env) dealKeyFile(c *cobra.Command, deal dealFunc, file string, f dealerFlags, sf secretFlags) error {
	f.plaintext = sf.plaintext
	d, err := e.newDealer(c, f)
	if err != nil {
		return err
	}
	defer d.cleanup()
	o, err := e.newOpener(c.Context(), sf)
	if err != nil {
		return err
	}
	defer o.wipe()
	priv, err := o.readPrivateKey(file)
	if err != nil {
		return err
	}
	defer thresholdrsa.Erase(priv)
	dealing, shares, err := deal(priv, f.k, len(d.holders), d.options())
	if err != nil {
		return fileError(file, err)
	}
	if err := d.finish(c.Context(), dealing, shares); err != nil {
		return err
	}
	if !e.dryRun {
		e.warnf("%s still holds the whole key: destroy it, and every copy, once the shares have been tried", inputName(file))
	}
	return nil
}

// readPrivateKey reads an RSA private key that may be inside an age file.
func (o *opener) readPrivateKey(path string) (*rsa.PrivateKey, error) {
	data, err := o.readSecretInput(path)
	if err != nil {
		return nil, err
	}
	defer clear(data)
	priv, err := thresholdrsa.ParsePrivateKey(data)
	if err != nil {
		return nil, fileError(path, err)
	}
	return priv, nil
}
