// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"slices"
	"testing"

	"github.com/undersign/undersign/internal/x509ca"
)

// Whatever a request asks for is shown to the holder who is to sign it.
func TestDescribeRequest(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		DNSNames: []string{"a.example"},
		ExtraExtensions: []pkix.Extension{
			{Id: asn1.ObjectIdentifier{2, 5, 29, 19}, Critical: true, Value: []byte{0x30, 3, 1, 1, 0xff}},
			{Id: asn1.ObjectIdentifier{2, 5, 29, 15}, Value: []byte{3, 2, 2, 4}},
		},
	}, key)
	if err != nil {
		t.Fatal(err)
	}
	csr, err := x509.ParseCertificateRequest(der)
	if err != nil {
		t.Fatal(err)
	}
	u, err := x509ca.Parse(csr.RawTBSCertificateRequest, x509.SHA256WithRSA)
	if err != nil {
		t.Fatal(err)
	}
	r := describeUnsigned(u)
	slices.Sort(r.Others)
	if want := []string{"2.5.29.15", "2.5.29.19"}; !slices.Equal(r.Others, want) || !slices.Equal(r.Names, []string{"DNS:a.example"}) {
		t.Errorf("shown as %q and %q, want %q", r.Names, r.Others, want)
	}
}
