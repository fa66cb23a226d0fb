// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/x509ca"
)

// validityFlags say how long a certificate is valid.
type validityFlags struct {
	days      int
	notBefore string
}

func addValidityFlags(c *cobra.Command, f *validityFlags, days int) {
	c.Flags().IntVar(&f.days, "days", days, "valid for `N` days")
	c.Flags().StringVar(&f.notBefore, "not-before", "", "valid from `TIME`, as in 2026-01-31T12:00:00Z (default: now)")
}

// maxDays is a hundred years.
const maxDays = 36525

func (f *validityFlags) set(p *x509ca.Profile) error {
	if f.days < 1 || f.days > maxDays {
		return failf(ExitUsage, "", "--days %d isn't from 1 to %d", f.days, maxDays)
	}
	p.NotBefore = time.Now().UTC().Truncate(time.Second)
	if f.notBefore != "" {
		t, err := time.Parse(time.RFC3339, f.notBefore)
		if err != nil {
			return failf(ExitUsage, "", "--not-before %q isn't a time as in 2026-01-31T12:00:00Z", f.notBefore)
		}
		p.NotBefore = t.UTC().Truncate(time.Second)
	}
	p.NotAfter = p.NotBefore.AddDate(0, 0, f.days)
	return nil
}

const subjectUsage = "distinguished name of the subject, as in \"CN=Root,O=Example,C=CH\" (`NAME`)"

func newCertSelfsignCmd(e *env) *cobra.Command {
	var f certFlags
	var valid validityFlags
	var subject string
	var pathLen int
	c := &cobra.Command{
		Use:   "selfsign --subject NAME --key FILE",
		Short: "Make a self-signed certificate authority",
		Long: `Make the self-signed certificate of an authority (CA) whose key is the threshold
key. It may sign certificates and revocation lists, and nothing else.`,
		Example: `  undersign threshold cert selfsign --subject "CN=Example Root,O=Example" --key key/threshold.pub \
      --share alice.share --share bob.share -i alice.key -i bob.key -o ca.pem
  undersign threshold cert selfsign --subject "CN=Example Root" --key code/threshold.pub --dir alice
  undersign threshold cert selfsign --subject "CN=Example Root" --path-len 0 --padding pss \
      --key key/threshold.pub --request-out ca.req`,
		Args: noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			prof := x509ca.Profile{MaxPathLen: pathLen}
			var err error
			if prof.Algorithm, err = f.algorithm(); err != nil {
				return err
			}
			if prof.RawSubject, err = x509ca.ParseName(subject); err != nil {
				return withCode(err, ExitUsage)
			}
			if err := valid.set(&prof); err != nil {
				return err
			}
			p, err := e.readPublicKey(c.Context(), f.key)
			if err != nil {
				return err
			}
			u, err := x509ca.SelfSigned(p.RSA(), prof)
			if err != nil {
				return err
			}
			return e.certify(c, f, p, u, "ca.pem")
		},
	}
	c.Flags().StringVar(&subject, "subject", "", subjectUsage)
	c.MarkFlagRequired("subject")
	addValidityFlags(c, &valid, 3650)
	c.Flags().IntVar(&pathLen, "path-len", -1, "at most `N` authorities below this one; -1 is no limit")
	addCertFlags(c, &f, "ca.pem")
	return describeCert(c)
}

// describeCert describes a command that makes something.
func describeCert(c *cobra.Command) *cobra.Command {
	describe(c, certJSON+", sha256, file, request, tbs, "+badJSON, ExitInvalid, ExitQuorum)
	describeExit(c, ExitInvalid, "the dealing is at fault")
	describeExit(c, ExitRefused, "the node's policy or a person refuses")
	return c
}

func newCertCSRCmd(e *env) *cobra.Command {
	var f certFlags
	var subject string
	var sans []string
	c := &cobra.Command{
		Use:   "csr --subject NAME --key FILE",
		Short: "Make a certificate request for the threshold key",
		Long: `Make a PKCS #10 certificate request for the threshold key, to be sent to another
authority. It is signed by a quorum, as proof of possession.`,
		Example: `  undersign threshold cert csr --subject "CN=Release signing,O=Example" --key key/threshold.pub \
      --share alice.share --share bob.share -i alice.key -i bob.key -o release.csr
  undersign threshold cert csr --subject "CN=www.example.org" --san DNS:www.example.org \
      --key key/threshold.pub --request-out www.req`,
		Args: noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			var prof x509ca.Profile
			var err error
			if prof.Algorithm, err = f.algorithm(); err != nil {
				return err
			}
			if prof.RawSubject, err = x509ca.ParseName(subject); err != nil {
				return withCode(err, ExitUsage)
			}
			if err := addNames(&prof.Names, sans); err != nil {
				return err
			}
			p, err := e.readPublicKey(c.Context(), f.key)
			if err != nil {
				return err
			}
			u, err := x509ca.NewRequest(p.RSA(), prof)
			if err != nil {
				return err
			}
			return e.certify(c, f, p, u, "threshold.csr")
		},
	}
	c.Flags().StringVar(&subject, "subject", "", subjectUsage)
	c.MarkFlagRequired("subject")
	addSANFlag(c, &sans)
	addCertFlags(c, &f, "threshold.csr")
	return describeCert(c)
}

func addSANFlag(c *cobra.Command, sans *[]string) {
	c.Flags().StringSliceVar(sans, "san", nil, "alternative `NAME,...`: DNS:HOST, IP:ADDRESS, email:ADDRESS, URI:URI")
}

func addNames(n *x509ca.Names, sans []string) error {
	for _, s := range sans {
		if err := n.Add(s); err != nil {
			return withCode(err, ExitUsage)
		}
	}
	return nil
}
