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
	"encoding/pem"
	"os"
	"slices"
	"strings"
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

// Names of a kind that can't be copied aren't passed over in silence.
func TestIssueWarnsOfNames(t *testing.T) {
	newStage(t, "refresh")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	// A registered ID beside a DNS name.
	names, err := asn1.Marshal([]asn1.RawValue{
		{Class: asn1.ClassContextSpecific, Tag: 2, Bytes: []byte("a.example")},
		{Class: asn1.ClassContextSpecific, Tag: 8, Bytes: []byte{0x2a, 3}},
	})
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject:         pkix.Name{CommonName: "a"},
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 17}, Value: names}},
	}, key)
	if err != nil {
		t.Fatal(err)
	}
	csr := pem.EncodeToMemory(&pem.Block{Type: pemRequest, Bytes: der})
	if err := os.WriteFile("a.csr", csr, 0o600); err != nil {
		t.Fatal(err)
	}
	shares := strings.Fields("--key threshold.pub --share alice.share --share bob.share -i alice.key -i bob.key")
	run := func(line string) (int, string) {
		code, _, stderr := runTest(append(strings.Fields("threshold cert "+line), shares...)...)
		return code, stderr
	}
	if code, stderr := run("selfsign --subject CN=Root"); code != 0 {
		t.Fatal(stderr)
	}
	if code, stderr := run("issue --csr a.csr --ca ca.pem --san DNS:a.example"); code != 0 || !strings.Contains(stderr, "warning: a.csr: ") {
		t.Errorf("exit status %d: %s", code, stderr)
	}
	if code, stderr := run("issue --csr a.csr --ca ca.pem --copy-sans --force"); code != 1 || !strings.Contains(stderr, "a.csr: ") {
		t.Errorf("with --copy-sans: exit status %d: %s", code, stderr)
	}
}
