// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/x509ca"
	"github.com/undersign/undersign/thresholdrsa"
)

func newCertShowCmd(e *env) *cobra.Command {
	var request string
	c := &cobra.Command{
		Use:   "show FILE.tbs",
		Short: "Show what a request would sign",
		Long: `Show a certificate or certificate request that is to be signed, and check that
the request to sign is for it. A holder looks at it before it signs, and signs
with "--file FILE.tbs", which checks again that it is the same.

The file is the TBSCertificate (RFC 5280) or CertificationRequestInfo (RFC 2986)
in DER; "openssl asn1parse -inform DER" shows it too.`,
		Example: `  undersign threshold cert show ca.tbs
  undersign threshold cert show ca.tbs --request from-bob.req`,
		Args: nargs(1, 1, "a file with what is to be signed"),
		RunE: func(c *cobra.Command, args []string) error {
			u, r, err := e.readPlan(c.Context(), args[0], request, nil)
			if err != nil {
				return err
			}
			res := describeUnsigned(u)
			return e.print(res, func(w io.Writer) {
				writeFields(w, res.fields())
				id := r.ID()
				fmt.Fprintf(w, "\nthe request %x is for it\n", id[:8])
			})
		},
	}
	addPlanRequestFlag(c, &request)
	describe(c, certJSON, ExitInvalid)
	describeExit(c, ExitInvalid, "the request is for something else")
	return c
}

func addPlanRequestFlag(c *cobra.Command, request *string) {
	c.Flags().StringVar(request, "request", "", "the request `FILE` (default: the same name with .req for .tbs)")
}

func newCertFinishCmd(e *env) *cobra.Command {
	var key, request, out string
	var force bool
	c := &cobra.Command{
		Use:   "finish FILE.tbs SHARE... --key FILE",
		Short: "Make the certificate from signature shares",
		Long: `Make the certificate or certificate request that FILE.tbs describes, from the
signature shares of K holders. Every byte that is signed was fixed with the
request. The signature is checked before the result is written.`,
		Example: `  undersign threshold cert finish ca.tbs ca.req.alice ca.req.bob --key key/threshold.pub
  undersign threshold cert finish www.tbs www.req.* --key key/threshold.pub -o www.pem`,
		Args: nargs(2, -1, "a file with what is to be signed, and signature shares"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			p, err := e.readPublicKey(ctx, key)
			if err != nil {
				return err
			}
			u, r, err := e.readPlan(ctx, args[0], request, p)
			if err != nil {
				return err
			}
			if out == "" {
				out = "-"
				if args[0] != "-" {
					ext := ".pem"
					if u.Request() != nil {
						ext = ".csr"
					}
					out = replaceExt(args[0], ".tbs", ext)
				}
			}
			if err := e.checkStdout(out); err != nil {
				return err
			}
			shares, bad, err := e.readShareFiles(ctx, args[1:])
			if err != nil {
				return err
			}
			return e.finishCert(p, u, r, shares, bad, out, force)
		},
	}
	addKeyFlag(c, &key)
	addPlanRequestFlag(c, &request)
	addOutFlag(c, &out, "FILE.pem, or FILE.csr for a certificate request")
	addForceFlag(c, &force)
	describeCert(c)
	describeExit(c, ExitInvalid, "the request is for something else, or the dealing is at fault")
	return c
}

// readPlan reads what is to be signed and its request, which must be for it and,
// unless p is nil, for p.
func (e *env) readPlan(ctx context.Context, file, request string, p *thresholdrsa.PublicKey) (*x509ca.Unsigned, *thresholdrsa.Request, error) {
	if request == "" {
		if file == "-" {
			return nil, nil, failf(ExitUsage, "name it with --request", "no request")
		}
		request = replaceExt(file, ".tbs", ".req")
	}
	tbs, err := e.readInput(ctx, file, maxObject)
	if err != nil {
		return nil, nil, err
	}
	r, err := e.readRequest(ctx, request, p)
	if errors.Is(err, fs.ErrNotExist) {
		err = withHint(err, "give the file NAME.tbs, and the request that was made with it by --request if that isn't beside it")
	}
	if err != nil {
		return nil, nil, err
	}
	d, err := digest(bytes.NewReader(tbs), r.Hash())
	if err != nil {
		return nil, nil, err
	}
	if !bytes.Equal(d[0], r.Digest()) {
		return nil, nil, failf(ExitInvalid, "give the two files that were made together", "%s isn't for %s: the digests differ", inputName(request), inputName(file))
	}
	pss := r.Padding() == thresholdrsa.PSS
	if pss && len(r.Salt()) != r.Hash().Size() {
		return nil, nil, failf(ExitInvalid, "", "%s has a salt of %d bytes, and certificates take %d", inputName(request), len(r.Salt()), r.Hash().Size())
	}
	alg, err := x509ca.Algorithm(r.Hash(), pss)
	if err != nil {
		return nil, nil, err
	}
	u, err := x509ca.Parse(tbs, alg)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", inputName(file), err)
	}
	return u, r, nil
}
