// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/undersign/undersign/internal/x509ca"
)

// certResult says what was made, or is to be signed.
type certResult struct {
	Type      string     `json:"type"`
	Subject   string     `json:"subject"`
	Issuer    string     `json:"issuer,omitempty"`
	Serial    string     `json:"serial,omitempty"`
	NotBefore string     `json:"not_before,omitempty"`
	NotAfter  string     `json:"not_after,omitempty"`
	CA        bool       `json:"ca"`
	Usages    []string   `json:"usages"`
	Names     []string   `json:"names"`
	Key       string     `json:"key_sha256"`
	Algorithm string     `json:"algorithm"`
	Others    []string   `json:"other_extensions"`
	SHA256    string     `json:"sha256,omitempty"`
	Request   string     `json:"request,omitempty"`
	Plan      string     `json:"tbs,omitempty"`
	File      string     `json:"file,omitempty"`
	Bad       []badShare `json:"bad"`

	pathLen string
}

const certJSON = "type, subject, issuer, serial, not_before, not_after, ca, usages, names, key_sha256, algorithm, other_extensions"

// describeUnsigned says what is in a certificate or request that is to be signed.
func describeUnsigned(u *x509ca.Unsigned) certResult {
	names, others := u.Names()
	r := certResult{Usages: []string{}, Names: names.Strings(), Bad: []badShare{}}
	if others > 0 { // a holder mustn't be led to sign what it can't see
		r.Others = append(r.Others, fmt.Sprintf("%d alternative names of unknown kinds", others))
	}
	if csr := u.Request(); csr != nil {
		r.Type, r.Subject, r.Algorithm = "request", x509ca.NameString(csr.RawSubject), csr.SignatureAlgorithm.String()
		r.Key = hexSHA256(csr.RawSubjectPublicKeyInfo)
		for _, ext := range csr.Extensions {
			r.addExtension(ext.Id.String(), "2.5.29.17")
		}
		for _, oid := range u.OtherAttributes() {
			r.Others = append(r.Others, "attribute "+oid)
		}
		r.Others = notNil(r.Others)
		return r
	}
	cert := u.Certificate()
	r.Type, r.Subject, r.Issuer = "certificate", x509ca.NameString(cert.RawSubject), x509ca.NameString(cert.RawIssuer)
	r.Serial, r.Algorithm = hex.EncodeToString(cert.SerialNumber.Bytes()), cert.SignatureAlgorithm.String()
	r.NotBefore, r.NotAfter = cert.NotBefore.UTC().Format(time.RFC3339), cert.NotAfter.UTC().Format(time.RFC3339)
	r.Key = hexSHA256(cert.RawSubjectPublicKeyInfo)
	r.CA = cert.IsCA
	if cert.IsCA && (cert.MaxPathLen > 0 || cert.MaxPathLenZero) {
		r.pathLen = fmt.Sprintf(", at most %d more below it", cert.MaxPathLen)
	}
	r.Usages = append(r.Usages, keyUsages(cert.KeyUsage)...)
	for _, u := range cert.ExtKeyUsage {
		r.Usages = append(r.Usages, usageName(u))
	}
	for _, oid := range cert.UnknownExtKeyUsage {
		r.Usages = append(r.Usages, oid.String())
	}
	for _, ext := range cert.Extensions {
		r.addExtension(ext.Id.String(), "2.5.29.14", "2.5.29.15", "2.5.29.17", "2.5.29.19", "2.5.29.35", "2.5.29.37")
	}
	r.Others = notNil(r.Others)
	return r
}

// addExtension lists an extension, unless it is one of those that other fields show.
func (r *certResult) addExtension(oid string, shown ...string) {
	if !slices.Contains(shown, oid) {
		r.Others = append(r.Others, oid)
	}
}

func hexSHA256(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// fields shows what is signed.
func (r *certResult) fields() []field {
	fs := []field{{"subject", r.Subject}}
	if r.Type == "certificate" {
		what := "no"
		if r.CA {
			what = "yes" + r.pathLen
		}
		fs = append(fs,
			field{"issuer", r.Issuer}, field{"serial", r.Serial},
			field{"not before", r.NotBefore}, field{"not after", r.NotAfter},
			field{"authority", what}, field{"usages", orNone(r.Usages)})
	}
	fs = append(fs, field{"names", orNone(r.Names)}, field{"key", "SHA-256 " + r.Key}, field{"algorithm", r.Algorithm})
	if len(r.Others) > 0 {
		fs = append(fs, field{"extensions", "also " + strings.Join(r.Others, ", ")})
	}
	return fs
}

func orNone(s []string) string {
	if len(s) == 0 {
		return "none"
	}
	return strings.Join(s, ", ")
}

type usage struct {
	name string
	id   x509.ExtKeyUsage
}

// usages are the extended key usages by the names that RFC 5280 has for them.
var usages = []usage{
	{"serverAuth", x509.ExtKeyUsageServerAuth},
	{"clientAuth", x509.ExtKeyUsageClientAuth},
	{"codeSigning", x509.ExtKeyUsageCodeSigning},
	{"emailProtection", x509.ExtKeyUsageEmailProtection},
	{"timeStamping", x509.ExtKeyUsageTimeStamping},
	{"OCSPSigning", x509.ExtKeyUsageOCSPSigning},
}

func parseUsages(names []string) (out []x509.ExtKeyUsage, err error) {
	for _, name := range names {
		i := slices.IndexFunc(usages, func(u usage) bool { return strings.EqualFold(u.name, name) })
		if i < 0 {
			var all []string
			for _, u := range usages {
				all = append(all, u.name)
			}
			return nil, failf(ExitUsage, "", "usage %q isn't one of %s", name, strings.Join(all, ", "))
		}
		out = append(out, usages[i].id)
	}
	return out, nil
}

func usageName(x x509.ExtKeyUsage) string {
	for _, u := range usages {
		if u.id == x {
			return u.name
		}
	}
	return fmt.Sprintf("usage %d", x)
}

func keyUsages(k x509.KeyUsage) (out []string) {
	// In the order of the bits.
	for i, name := range []string{
		"digitalSignature", "contentCommitment", "keyEncipherment", "dataEncipherment",
		"keyAgreement", "keyCertSign", "cRLSign", "encipherOnly", "decipherOnly",
	} {
		if k&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}
