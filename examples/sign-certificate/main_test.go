// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/node"
	"github.com/undersign/undersign/thresholdrsa"
)

// One node with a key that is shared 1 of 1 would do for the program; it doesn't see the
// difference. The key is imported: its primes needn't be safe.
func TestRun(t *testing.T) {
	priv, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	dealing, shares, err := thresholdrsa.Import(priv, 1, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "node")
	if _, err := nodedir.Create(dir, []byte("listen = \"127.0.0.1:0\"\n")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, nodedir.Recipient))
	if err != nil {
		t.Fatal(err)
	}
	to, err := age.ParseRecipients(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var share bytes.Buffer
	if err := keyfile.Seal(&share, shares[0], to...); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "shares", "ca.share"), share.Bytes())
	record, err := keyfile.Encode(dealing.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	keyPath := filepath.Join(dir, "threshold.pub")
	write(t, keyPath, record)

	cfg, err := node.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	n, err := node.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	<-n.Ready()
	url := fmt.Sprintf("undersign://%s/%s", n.Addr(), n.Fingerprint())

	// The CA's own certificate, by the same signer. The node's own identity may ask.
	signer, err := dial(dir, url, keyPath)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "CA"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, signer.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	caPath := filepath.Join(dir, "ca.pem")
	write(t, caPath, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	csr, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{DNSNames: []string{"www.example.org"}}, key)
	if err != nil {
		t.Fatal(err)
	}
	csrPath := filepath.Join(dir, "www.csr")
	write(t, csrPath, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: csr}))

	var out bytes.Buffer
	if err := run(&out, dir, url, keyPath, caPath, csrPath); err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(out.Bytes())
	if block == nil {
		t.Fatalf("%s", &out)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	ca, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	if _, err := cert.Verify(x509.VerifyOptions{Roots: roots, DNSName: "www.example.org"}); err != nil {
		t.Error(err)
	}
	if !key.PublicKey.Equal(cert.PublicKey) {
		t.Error("the certificate is of another key")
	}
	// What somebody else asked for isn't signed in the place of this.
	csr[len(csr)-1] ^= 1
	write(t, csrPath, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: csr}))
	if err := run(&out, dir, url, keyPath, caPath, csrPath); err == nil {
		t.Error("a request with a bad signature is taken")
	}
	if err := run(&out, dir, url, keyPath, caPath, keyPath); err == nil {
		t.Error("a file that is no request is taken")
	}
	// Another node than the one that is meant isn't asked.
	if err := run(&out, dir, "undersign://"+n.Addr().String()+"/us1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq", keyPath, caPath, csrPath); err == nil {
		t.Error("a fingerprint that isn't one is taken")
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
