// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto"
	"crypto/rsa"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

func newArweaveRequestCmd(e *env) *cobra.Command {
	var key, salt, out string
	var force bool
	c := &cobra.Command{
		Use:   "request TX.json --key FILE",
		Short: "Ask the holders to sign a transaction",
		Long: `Make the request to sign a transaction of format 2 with a threshold key, which
becomes its owner. If the data is in the file it must be what data_root says.

Any salt verifies on the network; it is derived from the key and the
transaction, and has 32 bytes (hash), or the 478 (max) of most wallets.`,
		Example: `  undersign threshold arweave request tx.json --key key/threshold.pub
  undersign threshold arweave request tx.json --key key/threshold.pub --salt max -o tx.req`,
		Args: nargs(1, 1, "a transaction"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			opts := &rsa.PSSOptions{Hash: crypto.SHA256}
			switch salt {
			case "hash":
				opts.SaltLength = rsa.PSSSaltLengthEqualsHash
			case "max":
				opts.SaltLength = rsa.PSSSaltLengthAuto
			default:
				return usagef(c, "--salt %q isn't hash or max", salt)
			}
			if out == "" {
				if args[0] == "-" {
					return usagef(c, "name the request with -o")
				}
				out = args[0] + ".req"
			}
			if err := e.checkStdout(out); err != nil {
				return err
			}
			p, err := e.walletKey(ctx, key)
			if err != nil {
				return err
			}
			t, digest, err := e.preparedTx(ctx, args[0], p)
			if err != nil {
				return err
			}
			r, err := thresholdrsa.NewRequest(p, digest, opts)
			if err != nil {
				return thresholdError(err)
			}
			data, err := keyfile.Encode(r, "to sign: an Arweave transaction of "+t.OwnerAddress())
			if err != nil {
				return err
			}
			if err := e.writeFile(out, data, publicFile, force); err != nil || out == "-" {
				return err
			}
			res := describeTx(t)
			res.Digest, res.Request = hex.EncodeToString(digest), out
			return e.print(res, func(w io.Writer) {
				writeFields(w, res.fields())
				fmt.Fprintf(w, "\n%s is for %d holders of %d to sign\n", printable(out), p.Threshold(), p.NumHolders())
			})
		},
	}
	addKeyFlag(c, &key)
	c.Flags().StringVar(&salt, "salt", "hash", "`LENGTH` of the salt: hash or max")
	addOutFlag(c, &out, "TX.json.req")
	addForceFlag(c, &force)
	return describe(c, txJSON+", digest, request")
}

func newArweaveShowCmd(e *env) *cobra.Command {
	var key, request string
	c := &cobra.Command{
		Use:   "show TX.json --key FILE",
		Short: "Show what a request would sign",
		Long: `Show what a transaction does, and check that the request to sign is for it and
for the holder's key. A holder looks at it before it signs the request.`,
		Example: `  undersign threshold arweave show tx.json --key key/threshold.pub
  undersign threshold arweave show tx.json --key key/threshold.pub --request from-bob.req`,
		Args: nargs(1, 1, "a transaction"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			p, err := e.walletKey(ctx, key)
			if err != nil {
				return err
			}
			t, digest, err := e.preparedTx(ctx, args[0], p)
			if err != nil {
				return err
			}
			r, err := e.txRequest(ctx, args[0], request, p, digest)
			if err != nil {
				return err
			}
			res := describeTx(t)
			res.Digest = hex.EncodeToString(digest)
			return e.print(res, func(w io.Writer) {
				writeFields(w, res.fields())
				id := r.ID()
				fmt.Fprintf(w, "\nthe request %x is for it\n", id[:8])
			})
		},
	}
	addKeyFlag(c, &key)
	addTxRequestFlag(c, &request)
	describe(c, txJSON+", digest", ExitInvalid)
	describeExit(c, ExitInvalid, "the request is for something else")
	return c
}
