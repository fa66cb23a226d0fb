// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/x509ca"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

func newThresholdCertCmd(e *env) *cobra.Command {
	c := newGroupCmd(e, "cert", "Make X.509 certificates by quorum", `
Make a certificate authority whose key nobody holds, certificates under it, and
certificate requests for the key. What comes out is ordinary X.509.

Where the shares are at hand, name a quorum of them with --share, and where
nodes hold them, one that is asked with --dir or --at: one command does it all.
Otherwise --request-out FILE.req writes a request, and beside it FILE.tbs, the
exact bytes to be signed; the holders look at them (show), sign the request
(threshold sign), and anybody makes the certificate (finish).`,
		newCertSelfsignCmd(e),
		newCertCSRCmd(e),
		newCertIssueCmd(e),
		newCertShowCmd(e),
		newCertFinishCmd(e),
	)
	c.Example = `  undersign threshold cert selfsign --subject "CN=Example Root" --key key/threshold.pub \
      --request-out ca.req
  undersign threshold cert show ca.tbs
  undersign threshold sign ca.req --share alice.share -i alice.key
  undersign threshold sign ca.req --share bob.share -i bob.key
  undersign threshold cert finish ca.tbs ca.req.alice ca.req.bob --key key/threshold.pub`
	return c
}

// Types of PEM blocks.
const (
	pemCertificate = "CERTIFICATE"
	pemRequest     = "CERTIFICATE REQUEST"
)

// certFlags are those of every command that makes something to sign.
type certFlags struct {
	key, padding, hash string
	shares             []string
	secret             secretFlags
	dir, at            string // of nodes that sign
	requestOut, out    string
	force              bool
}

func addCertFlags(c *cobra.Command, f *certFlags, out string) {
	addKeyFlag(c, &f.key)
	fl := c.Flags()
	fl.StringVar(&f.padding, "padding", "pkcs1v15", "`NAME` of the signature's padding: pkcs1v15 or pss")
	fl.StringVar(&f.hash, "hash", "sha256", "`NAME` of the hash: sha256, sha384 or sha512")
	fl.StringArrayVar(&f.shares, "share", nil, "sign with the share in `FILE` (repeatable)")
	addSecretFlags(c, &f.secret)
	fl.StringVar(&f.requestOut, "request-out", "", "don't sign: write a request `FILE`, and the bytes to sign to the same name with .tbs")
	addOutFlag(c, &f.out, out)
	addForceFlag(c, &f.force)
	addNodeFlags(c, &f.dir, &f.at)
	c.MarkFlagsOneRequired("share", "request-out", "dir", "at")
	for _, node := range []string{"dir", "at"} {
		c.MarkFlagsMutuallyExclusive("share", "request-out", node)
	}
	c.MarkFlagsMutuallyExclusive("out", "request-out")
}

// algorithm returns the signature algorithm that the flags ask for.
func (f *certFlags) algorithm() (x509.SignatureAlgorithm, error) {
	padding, err := parsePadding(f.padding)
	if err != nil {
		return 0, err
	}
	h, err := parseHash(f.hash)
	if err != nil {
		return 0, err
	}
	return x509ca.Algorithm(h, padding == thresholdrsa.PSS)
}

// replaceExt gives name another extension, in the place of the old one if it has it.
func replaceExt(name, old, ext string) string { return strings.TrimSuffix(name, old) + ext }

// certify signs u with the shares at hand, or writes a request for the holders.
// out is where the result goes unless a flag says otherwise.
func (e *env) certify(c *cobra.Command, f certFlags, p *thresholdrsa.PublicKey, u *x509ca.Unsigned, out string) error {
	ctx := c.Context()
	r, err := thresholdrsa.NewRequest(p, u.Digest(), u.SignerOpts())
	if err != nil {
		return thresholdError(err)
	}
	if f.requestOut != "" {
		return e.planCert(c, f, p, u, r)
	}
	if f.out != "" {
		out = f.out
	}
	if err := e.checkOut(out, f.force); err != nil {
		return err
	}
	res := describeUnsigned(u)
	if _, ok := terminal(e.stdin); ok && !e.yes {
		var b bytes.Buffer
		writeFields(&b, res.fields())
		e.clearProgress()
		fmt.Fprintf(e.stderr, "%s\n", b.Bytes())
		question := fmt.Sprintf("Sign this with %d shares?", len(f.shares))
		if len(f.shares) == 0 {
			question = "Have the nodes sign this?"
		}
		if err := e.confirm(ctx, question); err != nil {
			return err
		}
	}
	if len(f.shares) == 0 {
		sig, _, _, err := e.signByNodes(ctx, f.dir, f.at, p, u.Digest(), u.SignerOpts())
		if err != nil {
			return err
		}
		res.Bad = []badShare{}
		return e.writeCert(p, u, res, sig, out, f.force)
	}
	shares, err := e.signWithAll(ctx, f.shares, f.secret, p, r)
	if err != nil {
		return err
	}
	return e.finishCert(p, u, r, shares, nil, out, f.force)
}

// planCert writes the request for u, and what it is for.
func (e *env) planCert(c *cobra.Command, f certFlags, p *thresholdrsa.PublicKey, u *x509ca.Unsigned, r *thresholdrsa.Request) error {
	if f.requestOut == "-" {
		return usagef(c, "--request-out makes two files: name one")
	}
	res := describeUnsigned(u)
	res.Request, res.Plan = f.requestOut, replaceExt(f.requestOut, ".req", ".tbs")
	data, err := keyfile.Encode(r, "to sign: "+res.Type+" of "+commentText(res.Subject))
	if err != nil {
		return err
	}
	s := e.newFileSet(f.force)
	defer s.abort()
	if err := s.add(res.Request, data, publicFile); err != nil {
		return err
	}
	if err := s.add(res.Plan, u.TBS(), publicFile); err != nil {
		return err
	}
	if err := s.commit(); err != nil {
		return err
	}
	return e.print(res, func(w io.Writer) {
		writeFields(w, res.fields())
		fmt.Fprintf(w, "\n%s is for %d holders of %d to sign, who look at %s\n", res.Request, p.Threshold(), p.NumHolders(), res.Plan)
	})
}

// commentText makes one line of ASCII of s.
func commentText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e {
			return '?'
		}
		return r
	}, s)
}

// signWithAll answers r with every share named.
func (e *env) signWithAll(ctx context.Context, files []string, f secretFlags, p *thresholdrsa.PublicKey, r *thresholdrsa.Request) ([]shareFile, error) {
	o, err := e.newOpener(ctx, f)
	if err != nil {
		return nil, err
	}
	defer o.wipe()
	var out []shareFile
	holder := map[int]string{}
	for _, file := range files {
		share, _, err := o.openShare(file)
		if err != nil {
			return nil, err
		}
		if sp := share.PublicKey(); sp.ID() != p.ID() {
			share.Wipe()
			return nil, fileError(file, &thresholdrsa.KeyError{
				What: "share", Got: sp.ID(), Want: p.ID(), GotEpoch: sp.Epoch(), WantEpoch: p.Epoch(),
			})
		}
		i := share.Index()
		if first, ok := holder[i]; ok {
			share.Wipe()
			return nil, failf(ExitError, "", "%s and %s are both the share of %s", first, inputName(file), holderLabel(p, i))
		}
		holder[i] = inputName(file)
		s, err := share.Sign(r)
		share.Wipe()
		if err != nil {
			return nil, fileError(file, err)
		}
		out = append(out, shareFile{inputName(file), s})
	}
	return out, nil
}

// finishCert combines shares and writes the certificate or request. bad are
// share files that were refused before.
func (e *env) finishCert(p *thresholdrsa.PublicKey, u *x509ca.Unsigned, r *thresholdrsa.Request, shares []shareFile, bad []badShare, out string, force bool) error {
	sig, more, err := combine(p, r, shares)
	bad = append(bad, more...)
	for _, b := range bad {
		e.warnf("bad share: %s", b)
	}
	res := describeUnsigned(u)
	res.Bad = notNil(bad)
	if err != nil {
		return e.failWith(res, err)
	}
	return e.writeCert(p, u, res, sig, out, force)
}

// writeCert writes a certificate or request with its signature.
func (e *env) writeCert(p *thresholdrsa.PublicKey, u *x509ca.Unsigned, res certResult, sig []byte, out string, force bool) error {
	der, err := u.Assemble(p.RSA(), sig)
	if err != nil {
		return err
	}
	block := &pem.Block{Type: pemCertificate, Bytes: der}
	if res.Type == "request" {
		block.Type = pemRequest
	} else if time.Now().After(u.Certificate().NotAfter) {
		e.warnf("the certificate has expired already, on %s", res.NotAfter)
	}
	if err := e.writeFile(out, pem.EncodeToMemory(block), publicFile, force); err != nil {
		return err
	}
	if out == "-" {
		return nil
	}
	res.File, res.SHA256 = out, hexSHA256(der)
	return e.print(res, func(w io.Writer) {
		writeFields(w, res.fields())
		fmt.Fprintf(w, "\n%s: SHA-256 %s\n", printable(out), res.SHA256)
	})
}

// readPEM reads a file with one PEM block of a type; text may stand above it.
func (e *env) readPEM(ctx context.Context, file, typ string) ([]byte, error) {
	data, err := e.readInput(ctx, file, maxObject)
	if err != nil {
		return nil, err
	}
	block, rest := pem.Decode(data)
	switch {
	case block == nil:
		return nil, fmt.Errorf("%s: no PEM block", inputName(file))
	case block.Type != typ && block.Type != "NEW "+typ: // as older programs call a request
		return nil, fmt.Errorf("%s: a %s, where a %s is needed", inputName(file), block.Type, typ)
	case bytes.Contains(rest, []byte("-----BEGIN ")):
		return nil, failf(ExitError, "leave only the first one in the file", "%s: more than one PEM block", inputName(file))
	}
	return block.Bytes, nil
}
