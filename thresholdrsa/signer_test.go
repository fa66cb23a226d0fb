// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"
)

func TestSigner(t *testing.T) {
	d, shares := sharing(t, "safe-2048-a", 2, 2)
	p := d.key
	collect := func(r *Request) ([]*SignatureShare, error) {
		good := signAll(t, r, shares)
		return append([]*SignatureShare{nil, spoil(good[0]), good[1]}, good...), nil // a liar among them
	}
	s := NewSigner(p, collect)
	if pub, ok := s.Public().(*rsa.PublicKey); !ok || !pub.Equal(p.RSA()) {
		t.Errorf("public key %v", s.Public())
	}
	digest := digestOf(crypto.SHA256, "m")
	sig, err := s.Sign(nil, digest, crypto.SHA256)
	if err != nil || rsa.VerifyPKCS1v15(p.RSA(), crypto.SHA256, digest, sig) != nil {
		t.Errorf("PKCS1v15: %v", err)
	}
	pss := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: crypto.SHA256}
	sig, err = s.Sign(rand.Reader, digest, pss)
	if err != nil || rsa.VerifyPSS(p.RSA(), crypto.SHA256, digest, sig, pss) != nil {
		t.Errorf("PSS: %v", err)
	}
	again, err := s.Sign(rand.Reader, digest, pss)
	if err != nil || !bytes.Equal(sig, again) {
		t.Errorf("the same once more: %v", err)
	}

	broken := errors.New("nobody answers")
	for name, c := range map[string]struct {
		collect func(*Request) ([]*SignatureShare, error)
		digest  []byte
		opts    crypto.SignerOpts
		want    error
	}{
		"collect fails":      {func(*Request) ([]*SignatureShare, error) { return nil, broken }, digest, crypto.SHA256, broken},
		"nothing collected":  {func(*Request) ([]*SignatureShare, error) { return nil, nil }, digest, crypto.SHA256, ErrQuorum},
		"one share":          {func(r *Request) ([]*SignatureShare, error) { return signAll(t, r, shares[:1]), nil }, digest, crypto.SHA256, ErrQuorum},
		"answer to another":  {func(r *Request) ([]*SignatureShare, error) { return signAll(t, request(t, p, "x"), shares), nil }, digest, pss, ErrQuorum},
		"a message":          {collect, []byte("not a digest"), crypto.SHA256, nil},
		"no hash":            {collect, digest, crypto.Hash(0), nil},
		"SHA-1":              {collect, digest[:20], crypto.SHA1, nil},
		"salt of a kilobyte": {collect, digest, &rsa.PSSOptions{SaltLength: 1024, Hash: crypto.SHA256}, nil},
	} {
		sig, err := NewSigner(p, c.collect).Sign(rand.Reader, c.digest, c.opts)
		if err == nil || sig != nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %x, %v", name, sig, err)
		}
	}
}

// Certificates, a request for one, and a TLS 1.3 handshake, by quorum.
func TestSignerInX509AndTLS(t *testing.T) {
	d, shares := sharing(t, "plain-2049", 2, 2)
	signer := NewSigner(d.key, func(r *Request) ([]*SignatureShare, error) { return signAll(t, r, shares), nil })
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	var cert []byte
	for _, alg := range []x509.SignatureAlgorithm{
		x509.SHA256WithRSA, x509.SHA384WithRSA, x509.SHA512WithRSA, x509.SHA256WithRSAPSS, x509.SHA384WithRSAPSS, x509.SHA512WithRSAPSS,
	} {
		template := &x509.Certificate{
			SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "quorum"}, NotBefore: now.AddDate(-1, 0, 0), NotAfter: now.AddDate(1, 0, 0),
			IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, SignatureAlgorithm: alg,
			DNSNames: []string{"quorum.example"},
		}
		der, err := x509.CreateCertificate(nil, template, template, signer.Public(), signer)
		if err != nil {
			t.Fatal(err)
		}
		c, err := x509.ParseCertificate(der)
		if err != nil || c.CheckSignatureFrom(c) != nil {
			t.Errorf("%v: %v", alg, err)
		}
		cert = der
		csr, err := x509.CreateCertificateRequest(nil, &x509.CertificateRequest{Subject: template.Subject, SignatureAlgorithm: alg}, signer)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := x509.ParseCertificateRequest(csr); err != nil || r.CheckSignature() != nil {
			t.Errorf("%v: request: %v", alg, err)
		}
	}

	roots := x509.NewCertPool()
	c, err := x509.ParseCertificate(cert)
	if err != nil {
		t.Fatal(err)
	}
	roots.AddCert(c)
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	served := make(chan error, 1)
	go func() {
		served <- tls.Server(a, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: signer}}}).Handshake()
	}()
	client := tls.Client(b, &tls.Config{RootCAs: roots, ServerName: "quorum.example", Time: func() time.Time { return now }})
	if err := client.Handshake(); err != nil {
		t.Errorf("client: %v", err)
	}
	a.Close() // in case the client gave up
	if err := <-served; err != nil {
		t.Errorf("server: %v", err)
	}
}

// A record and a share are used by many at a time, from the first use on.
func TestConcurrentUse(t *testing.T) {
	small(t)
	d, shares := sharing(t, "small-a", 2, 3)
	p := new(PublicKey)
	b, _ := d.key.MarshalBinary()
	if err := p.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	own := *shares[0]
	own.key = p
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			r, err := NewRequest(p, digestOf(crypto.SHA256, string(rune('a'+i%2))), crypto.SHA256)
			if err != nil {
				t.Error(err)
				return
			}
			x, err1 := own.Sign(r)
			y, err2 := shares[1].Sign(r)
			if err := errors.Join(err1, err2); err != nil {
				t.Error(err)
				return
			}
			if err := p.VerifyShare(r, x); err != nil {
				t.Error(err)
			}
			sig, _, err := p.Combine(r, x, y)
			if err != nil {
				t.Error(err)
				return
			}
			checkRaw(t, p, r, sig)
		})
	}
	wg.Wait()
}
