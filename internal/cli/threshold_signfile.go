// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto"
	"encoding/base64"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/thresholdrsa"
)

type signFileFlags struct {
	requestFlags
	dir, at string
}

func newThresholdSignFileCmd(e *env) *cobra.Command {
	var f signFileFlags
	c := &cobra.Command{
		Use:   "sign-file FILE --at URL --key FILE",
		Short: "Sign a file by the nodes that hold the shares",
		Long: `Sign a file with a key whose shares are held by nodes. The node that is asked
collects signature shares until a threshold of good ones is there; the signature
is checked before it is written, against the key that is given here.

Nodes that sent a wrong share, didn't answer or refused are named on standard
error, also when the others were enough. Nodes where a person has to approve are
waited for until --timeout (30s).

The file itself isn't sent, only its digest. The key's file may be of an older
epoch: certificates are followed from there.`,
		Example: `  undersign threshold sign-file release.tar.gz --key threshold.pub --dir alice
  undersign threshold sign-file release.tar.gz --key threshold.pub --dir ci \
      --at undersign://signer.example:7070/us1q... --padding pkcs1v15`,
		Args: nargs(1, 1, "a file"),
		RunE: func(c *cobra.Command, args []string) error { return e.signFile(c, f, args[0]) },
	}
	addKeyFlag(c, &f.key)
	addNodeFlags(c, &f.dir, &f.at)
	fl := c.Flags()
	fl.StringVar(&f.padding, "padding", "pss", "`NAME` of the padding: pss or pkcs1v15")
	fl.StringVar(&f.hash, "hash", "sha256", "`NAME` of the hash: sha256, sha384 or sha512")
	fl.StringVar(&f.salt, "salt", "hash", "`SALT` of PSS: hash, max, empty, a number of bytes, or hex:HEX")
	addOutFlag(c, &f.out, "FILE.sig")
	addForceFlag(c, &f.force)
	describe(c, "signature in base64, epoch, file, faults [name, party, index, holder, kind, reason]", ExitQuorum, ExitRefused)
	describeExit(c, ExitQuorum, "too few nodes gave a good share")
	describeExit(c, ExitRefused, "the node's policy or a person refuses")
	return c
}

type faultResult struct {
	Name   string `json:"name"`
	Party  string `json:"party"`
	Index  int    `json:"index,omitempty"`
	Holder string `json:"holder,omitempty"`
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
}

type signFileResult struct {
	Signature string        `json:"signature"`
	Epoch     uint64        `json:"epoch"`
	File      string        `json:"file"`
	Faults    []faultResult `json:"faults"`
}

func (e *env) signFile(c *cobra.Command, f signFileFlags, file string) error {
	ctx := c.Context()
	h, err := parseHash(f.hash)
	if err != nil {
		return err
	}
	opts, err := requestOptions(c, f.requestFlags, h)
	if err != nil {
		return err
	}
	p, err := e.readPublicKey(ctx, f.key)
	if err != nil {
		return err
	}
	out := f.out
	if out == "" {
		out = "-"
		if file != "-" {
			out = file + ".sig"
		}
	}
	if err := e.checkStdout(out); err != nil {
		return err
	}
	if err := e.checkOut(out, f.force); err != nil {
		return err
	}
	digest, err := e.digestInput(ctx, file, h)
	if err != nil {
		return err
	}
	sig, signer, faults, err := e.signByNodes(ctx, f.dir, f.at, p, digest[0], opts)
	if err != nil {
		return err
	}
	if err := e.writeFile(out, sig, publicFile, f.force); err != nil {
		return err
	}
	if out == "-" {
		return nil
	}
	result := signFileResult{base64.StdEncoding.EncodeToString(sig), signer.Record().Epoch(), out, faults}
	return e.print(result, func(w io.Writer) { fmt.Fprintf(w, "%s\n", out) })
}

// signByNodes has nodes sign a digest, and names those that gave no good share.
func (e *env) signByNodes(ctx context.Context, dir, at string, p *thresholdrsa.PublicKey, digest []byte, opts crypto.SignerOpts) (sig []byte, s *client.Signer, faults []faultResult, err error) {
	n, id, err := e.dialNode(ctx, dir, at)
	if err != nil {
		return nil, nil, nil, err
	}
	defer n.Close()
	faults = []faultResult{}
	s = n.Signer(p, &client.SignerOptions{Faults: func(list []client.Fault) {
		for _, x := range list {
			e.warnf("%s", x.String())
			faults = append(faults, faultResult{x.Name, x.Party, x.Index, x.Holder, x.Kind.String(), x.Reason})
		}
	}})
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, signFileTime)
		defer cancel()
	}
	if sig, err = s.SignContext(ctx, digest, opts); err != nil {
		return nil, nil, nil, serviceError(id, err)
	}
	return sig, s, faults, nil
}
