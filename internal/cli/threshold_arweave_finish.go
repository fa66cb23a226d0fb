// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/arweave"
)

func newArweaveFinishCmd(e *env) *cobra.Command {
	var key, request, out string
	var force bool
	c := &cobra.Command{
		Use:   "finish TX.json SHARE... --key FILE",
		Short: "Make the signed transaction from signature shares",
		Long: `Make the signed transaction from the signature shares of K holders: owner,
signature and id are added. It is verified before it is written.`,
		Example: `  undersign threshold arweave finish tx.json tx.json.req.* --key key/threshold.pub
  undersign threshold arweave finish tx.json alice.sig bob.sig --request tx.req \
      --key key/threshold.pub -o signed.json`,
		Args: nargs(2, -1, "a transaction and signature shares"),
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				out = "-"
				if args[0] != "-" {
					out = replaceExt(args[0], ".json", ".signed.json")
				}
			}
			if err := e.checkStdout(out); err != nil {
				return err
			}
			return e.finishTx(c.Context(), key, request, args, out, force)
		},
	}
	addKeyFlag(c, &key)
	addTxRequestFlag(c, &request)
	addOutFlag(c, &out, "TX.signed.json")
	addForceFlag(c, &force)
	describe(c, txJSON+", file, "+badJSON, ExitInvalid, ExitQuorum)
	describeExit(c, ExitInvalid, "the request is for something else, or the dealing is at fault")
	return c
}

func (e *env) finishTx(ctx context.Context, key, request string, args []string, out string, force bool) error {
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
	shares, bad, err := e.readShareFiles(ctx, args[1:])
	if err != nil {
		return err
	}
	sig, more, err := combine(p, r, shares)
	bad = append(bad, more...)
	for _, b := range bad {
		e.warnf("bad share: %s", b)
	}
	res := describeTx(t)
	res.Bad = notNil(bad)
	if err != nil {
		return e.failWith(res, err)
	}
	if err := t.SetSignature(sig); err != nil {
		return err
	}
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if err := e.writeFile(out, append(data, '\n'), publicFile, force); err != nil || out == "-" {
		return err
	}
	res = describeTx(t)
	res.Bad, res.File = notNil(bad), out
	return e.print(res, func(w io.Writer) { fmt.Fprintf(w, "%s: transaction %s\n", printable(out), res.ID) })
}

func newArweaveVerifyCmd(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "verify TX.json",
		Short: "Verify a signed transaction",
		Long: `Verify a signed transaction of an RSA wallet, of format 1 or 2: its signature by
its owner, whoever that is, its id, and the data if it is in the file.`,
		Example: `  undersign threshold arweave verify tx.signed.json
  curl -s https://arweave.net/tx/ID | undersign threshold arweave verify -`,
		Args: nargs(1, 1, "a transaction"),
		RunE: func(c *cobra.Command, args []string) error {
			t, err := e.readTransaction(c.Context(), args[0])
			if err != nil {
				return err
			}
			if err := t.Verify(); err != nil {
				if errors.Is(err, arweave.ErrSignature) {
					err = fmt.Errorf("not signed by %s: %w", t.OwnerAddress(), err)
				}
				return failf(ExitInvalid, "", "%s: %w", inputName(args[0]), err)
			}
			res := describeTx(t)
			return e.print(res, func(w io.Writer) {
				writeFields(w, res.fields())
				fmt.Fprintln(w, "\nthe signature is valid")
			})
		},
	}
	describe(c, txJSON, ExitInvalid)
	describeExit(c, ExitInvalid, "the transaction isn't signed by its owner, or is inconsistent")
	return c
}
