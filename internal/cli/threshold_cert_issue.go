// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto/x509"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/x509ca"
)

type certIssueFlags struct {
	certFlags
	validityFlags
	csr, ca, subject string
	sans, usages     []string
	copySANs, subCA  bool
	pathLen          int
}

func newCertIssueCmd(e *env) *cobra.Command {
	var f certIssueFlags
	c := &cobra.Command{
		Use:   "issue --csr FILE --ca FILE --key FILE",
		Short: "Issue a certificate for somebody's request",
		Long: `Issue a certificate for the key in a certificate request, under an authority
(CA) whose key is the threshold key. The request's own signature is checked.

Only the key and the subject are taken from the request, the subject unless
--subject gives another. Alternative names are those given with --san, and the
request's with --copy-sans. Usages limit what the certificate is good for.`,
		Example: `  undersign threshold cert issue --csr www.csr --ca ca.pem --san DNS:www.example.org \
      --usage serverAuth --days 90 --key key/threshold.pub --request-out www.req
  undersign threshold cert issue --csr sub.csr --ca ca.pem --sub-ca --path-len 0 \
      --key key/threshold.pub --share alice.share --share bob.share -i alice.key -i bob.key`,
		Args: noArgs,
		RunE: func(c *cobra.Command, args []string) error { return e.issueCert(c, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.csr, "csr", "", "certificate request `FILE` (PEM)")
	fl.StringVar(&f.ca, "ca", "", "certificate of the authority, `FILE` (PEM)")
	c.MarkFlagRequired("csr")
	c.MarkFlagRequired("ca")
	fl.StringVar(&f.subject, "subject", "", "another subject than the request's, as in \"CN=www,O=Example\" (`NAME`)")
	addSANFlag(c, &f.sans)
	fl.BoolVar(&f.copySANs, "copy-sans", false, "copy the request's alternative names")
	fl.StringSliceVar(&f.usages, "usage", nil, "limit to these extended key usages: `NAME,...` of serverAuth, clientAuth, codeSigning, emailProtection, timeStamping, OCSPSigning")
	fl.BoolVar(&f.subCA, "sub-ca", false, "issue for another authority")
	fl.IntVar(&f.pathLen, "path-len", -1, "at most `N` authorities below that one; -1 is what the CA allows")
	addValidityFlags(c, &f.validityFlags, 365)
	addCertFlags(c, &f.certFlags, "the request's name with .pem for .csr")
	describeCert(c)
	describeExit(c, ExitInvalid, "the certificate request's signature is wrong, or the dealing is at fault")
	return c
}

func (e *env) issueCert(c *cobra.Command, f certIssueFlags) error {
	ctx := c.Context()
	if c.Flags().Changed("path-len") && !f.subCA {
		return usagef(c, "--path-len goes with --sub-ca")
	}
	prof := x509ca.Profile{CA: f.subCA, MaxPathLen: f.pathLen}
	var err error
	if prof.Algorithm, err = f.algorithm(); err != nil {
		return err
	}
	if f.subject != "" {
		if prof.RawSubject, err = x509ca.ParseName(f.subject); err != nil {
			return withCode(err, ExitUsage)
		}
	}
	if prof.Usages, err = parseUsages(f.usages); err != nil {
		return err
	}
	if err := addNames(&prof.Names, f.sans); err != nil {
		return err
	}
	if err := f.validityFlags.set(&prof); err != nil {
		return err
	}
	p, err := e.readPublicKey(ctx, f.key)
	if err != nil {
		return err
	}
	ca, err := e.readCertificate(ctx, f.ca)
	if err != nil {
		return err
	}
	csr, err := e.readCSR(ctx, f.csr)
	if err != nil {
		return err
	}
	if err := csr.CheckSignature(); err != nil {
		return failf(ExitInvalid, "", "%s: the request's own signature is wrong: %w", inputName(f.csr), err)
	}
	asked, err := x509ca.RequestNames(csr)
	switch {
	case !f.copySANs:
		if missing := without(asked.Strings(), prof.Names.Strings()); len(missing) > 0 {
			e.warnf("names in %s that are not copied: %s (see --copy-sans)", inputName(f.csr), strings.Join(missing, ", "))
		}
		if err != nil {
			e.warnf("%s: %v; none is copied", inputName(f.csr), err)
		}
	case err != nil:
		return fileError(f.csr, err)
	default:
		prof.Names.Merge(asked)
	}
	u, err := x509ca.Issue(ca, p.RSA(), csr, prof)
	if err != nil {
		return err
	}
	out := "-"
	if f.csr != "-" {
		out = replaceExt(f.csr, ".csr", ".pem")
	}
	return e.certify(c, f.certFlags, p, u, out)
}

// without returns what is in a and not in b.
func without(a, b []string) (out []string) {
	in := map[string]bool{}
	for _, s := range b {
		in[s] = true
	}
	for _, s := range a {
		if !in[s] {
			out = append(out, s)
		}
	}
	return out
}

func (e *env) readCertificate(ctx context.Context, file string) (*x509.Certificate, error) {
	der, err := e.readPEM(ctx, file, pemCertificate)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", inputName(file), err)
	}
	return cert, nil
}

func (e *env) readCSR(ctx context.Context, file string) (*x509.CertificateRequest, error) {
	der, err := e.readPEM(ctx, file, pemRequest)
	if err != nil {
		return nil, err
	}
	csr, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", inputName(file), err)
	}
	return csr, nil
}
