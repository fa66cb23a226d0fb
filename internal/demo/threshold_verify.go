// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package demo

import (
	"cmp"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/undersign/undersign/client"
)

// certify makes a self-signed CA and a server certificate under it, as a program does that
// knows crypto.Signer.
func (d *threshold) certify(context.Context) ([]string, error) {
	id, err := client.ReadIdentity(d.path(customer))
	if err != nil {
		return nil, err
	}
	first := d.nodes[people[0]]
	node, err := client.Dial(id, first.address, first.fingerprint)
	if err != nil {
		return nil, err
	}
	defer node.Close()
	var signer crypto.Signer = node.Signer(d.key, nil)
	now := time.Now().Add(-time.Minute)
	ca := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "undersign demo CA, 3 of 5"},
		NotBefore: now, NotAfter: now.AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, signer.Public(), signer)
	if err != nil {
		return nil, err
	}
	if ca, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	if err := d.writePEM("ca.pem", "CERTIFICATE", der); err != nil {
		return nil, err
	}
	subject, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leaf := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "demo.example"}, DNSNames: []string{"demo.example"},
		NotBefore: now, NotAfter: now.AddDate(0, 3, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if der, err = x509.CreateCertificate(rand.Reader, leaf, ca, subject.Public(), signer); err != nil {
		return nil, err
	}
	return []string{"ca.pem and server.pem, by x509.CreateCertificate with a crypto.Signer that asks " + people[0]},
		d.writePEM("server.pem", "CERTIFICATE", der)
}

func serial() *big.Int {
	b := make([]byte, 16)
	rand.Read(b)
	b[0] = b[0]&0x7f | 0x40
	return new(big.Int).SetBytes(b)
}

// verify checks the results with Go's standard library, and with OpenSSL where it is.
func (d *threshold) verify(ctx context.Context) ([]string, error) {
	if err := d.verifyGo(); err != nil {
		return nil, err
	}
	d.res.Verified = []string{"crypto/rsa", "crypto/x509"}
	out := []string{"crypto/rsa and crypto/x509 accept file.sig, file.pss.sig and server.pem"}
	tool := cmp.Or(d.tool, "openssl")
	if _, err := exec.LookPath(tool); err != nil {
		return append(out, tool+" isn't here, which would say so too"), nil
	}
	version, err := d.run(ctx, tool, "version")
	if err != nil {
		return out, err
	}
	for _, args := range [][]string{
		{"dgst", "-sha256", "-verify", "key/rsa.pub.pem", "-signature", "file.sig", d.file},
		{"verify", "-CAfile", "ca.pem", "server.pem"},
	} {
		out = append(out, "$ "+tool+" "+strings.Join(args, " "))
		text, err := d.run(ctx, tool, args...)
		if err != nil {
			return out, err
		}
		out = append(out, text)
	}
	d.res.Verified = append(d.res.Verified, version)
	return out, nil
}

func (d *threshold) verifyGo() error {
	f, err := os.Open(d.file)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	digest := h.Sum(nil)
	for name, check := range map[string]func(sig []byte) error{
		"file.sig":     func(sig []byte) error { return rsa.VerifyPKCS1v15(d.key.RSA(), crypto.SHA256, digest, sig) },
		"file.pss.sig": func(sig []byte) error { return rsa.VerifyPSS(d.key.RSA(), crypto.SHA256, digest, sig, nil) },
	} {
		sig, err := os.ReadFile(d.path(name))
		if err == nil {
			err = check(sig)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	ca, err1 := d.readCertificate("ca.pem")
	leaf, err2 := d.readCertificate("server.pem")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "demo.example"})
	return err
}

func (d *threshold) readCertificate(name string) (*x509.Certificate, error) {
	data, err := os.ReadFile(d.path(name))
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s: no PEM block", name)
	}
	return x509.ParseCertificate(block.Bytes)
}

func (d *threshold) writePEM(name, label string, der []byte) error {
	return d.write(name, pem.EncodeToMemory(&pem.Block{Type: label, Bytes: der}), 0o644)
}
