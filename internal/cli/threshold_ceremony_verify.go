// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

type verifyChainFlags struct {
	key    string
	quorum int
	out    string
	force  bool
}

func (k *ceremony) verifyCmd() *cobra.Command {
	var f verifyChainFlags
	c := &cobra.Command{
		Use:   "verify CERTIFICATE...",
		Short: "Follow certificates from an old public key to the current one",
		Long: `Check that certificates, in the order of their epochs, lead from a public key
that is trusted to the current one, and write that. Certificates of both refresh
and reshare are taken.

The RSA key is the same in all epochs; what changes is who holds shares of it.`,
		Example: k.example("verify certificate.txt --key threshold.pub",
			"verify 2.cert 3.cert 4.cert --key threshold.pub -o threshold.epoch4.pub"),
		Args: nargs(1, -1, "certificates"),
		RunE: func(c *cobra.Command, args []string) error { return k.verifyChain(c.Context(), f, args) },
	}
	addKeyFlag(c, &f.key)
	addInsecureQuorumFlag(c, &f.quorum)
	addOutFlag(c, &f.out, "no file is written")
	addForceFlag(c, &f.force)
	describe(c, "public_key, epoch, fingerprint, threshold, holders [index, name], certificates", ExitInvalid, ExitQuorum)
	describeExit(c, ExitInvalid, "a certificate is wrong")
	describeExit(c, ExitQuorum, "a certificate has too few acknowledgements")
	return c
}

func (k *ceremony) verifyChain(ctx context.Context, f verifyChainFlags, args []string) error {
	e := k.e
	p, err := e.readPublicKey(ctx, f.key)
	if err != nil {
		return err
	}
	opts, err := e.commitOptions(f.quorum)
	if err != nil {
		return err
	}
	for _, file := range args {
		cert, err := readObject[*thresholdrsa.Certificate](ctx, e, file)
		if err != nil {
			return err
		}
		if p, err = cert.Verify(p, opts); err != nil {
			return certificateError(file, err)
		}
		e.warnInsecureQuorum(cert)
	}
	if f.out != "" {
		data, err := keyfile.Encode(p)
		if err != nil {
			return err
		}
		if err := e.writeFile(f.out, data, publicFile, f.force); err != nil || f.out == "-" {
			return err
		}
	}
	type result struct {
		PublicKey    string  `json:"public_key,omitempty"`
		Epoch        uint64  `json:"epoch"`
		Fingerprint  string  `json:"fingerprint"`
		Threshold    int     `json:"threshold"`
		Holders      []party `json:"holders"`
		Certificates int     `json:"certificates"`
	}
	var all []int
	for i := range p.NumHolders() {
		all = append(all, i+1)
	}
	holders := holdersAt(p, all)
	return e.print(result{f.out, p.Epoch(), keyfile.Fingerprint(p), p.Threshold(), holders, len(args)}, func(w io.Writer) {
		fmt.Fprintf(w, "epoch %d of the key is %s: any %d sign of %s\n", p.Epoch(), keyfile.Fingerprint(p), p.Threshold(), printable(joinParties(holders)))
	})
}
