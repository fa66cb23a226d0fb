// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package x509ca

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// placeholder is a key for what isn't signed in the end.
var placeholder = &rsa.PublicKey{N: big.NewInt(3), E: 3}

// A Profile says what a certificate or a request holds.
type Profile struct {
	Algorithm  x509.SignatureAlgorithm // see Algorithm
	RawSubject []byte                  // see ParseName; Issue takes the request's if it is empty
	Names      Names                   // subject alternative names

	// Not for requests.
	NotBefore, NotAfter time.Time
	Usages              []x509.ExtKeyUsage // extended key usages; none leaves the certificate good for all

	CA         bool // a certificate authority; SelfSigned makes nothing else
	MaxPathLen int  // how many CAs may follow; below 0 is no limit
}

// SelfSigned prepares the certificate of a root CA.
func SelfSigned(pub *rsa.PublicKey, p Profile) (*Unsigned, error) {
	if isEmptyName(p.RawSubject) {
		return nil, errors.New("x509ca: a CA needs a name")
	}
	p.CA = true
	t, err := p.template(pub)
	if err != nil {
		return nil, err
	}
	t.AuthorityKeyId = t.SubjectKeyId
	return create(t, t, pub, pub, p.Algorithm)
}

// Issue prepares the certificate that a CA's key, which must be pub, issues for a
// request. The names in the request aren't copied: see RequestNames.
func Issue(ca *x509.Certificate, pub *rsa.PublicKey, csr *x509.CertificateRequest, p Profile) (*Unsigned, error) {
	if err := checkIssuer(ca, pub, p); err != nil {
		return nil, err
	}
	if err := csr.CheckSignature(); err != nil {
		return nil, fmt.Errorf("x509ca: the request's own signature is wrong: %w", err)
	}
	if err := checkSubjectKey(csr.PublicKey); err != nil {
		return nil, err
	}
	if pub.Equal(csr.PublicKey) {
		return nil, errors.New("x509ca: the request is for the CA's own key")
	}
	if len(p.RawSubject) == 0 {
		p.RawSubject = csr.RawSubject
	}
	if isEmptyName(p.RawSubject) && (p.CA || p.Names.empty()) {
		return nil, errors.New("x509ca: neither a subject nor an alternative name")
	}
	// The chain would seem to end here.
	if bytes.Equal(p.RawSubject, ca.RawSubject) {
		return nil, errors.New("x509ca: the subject has the CA's own name")
	}
	if p.CA && ca.MaxPathLen > 0 && p.MaxPathLen < 0 {
		p.MaxPathLen = ca.MaxPathLen - 1
	}
	t, err := p.template(csr.PublicKey)
	if err != nil {
		return nil, err
	}
	t.AuthorityKeyId = ca.SubjectKeyId
	return create(t, ca, csr.PublicKey, pub, p.Algorithm)
}

// NewRequest prepares a request for a certificate.
func NewRequest(pub *rsa.PublicKey, p Profile) (*Unsigned, error) {
	if isEmptyName(p.RawSubject) && p.Names.empty() {
		return nil, errors.New("x509ca: neither a subject nor an alternative name")
	}
	if err := p.Names.check(); err != nil {
		return nil, err
	}
	c := &capture{pub: pub}
	_, err := x509.CreateCertificateRequest(nil, &x509.CertificateRequest{
		SignatureAlgorithm: p.Algorithm,
		RawSubject:         orEmptyName(p.RawSubject),
		DNSNames:           p.Names.DNS,
		EmailAddresses:     p.Names.Email,
		IPAddresses:        p.Names.IP,
		URIs:               p.Names.URI,
	}, c)
	tbs, err := c.taken(err)
	if err != nil {
		return nil, err
	}
	return Parse(tbs, p.Algorithm)
}

func create(t, parent *x509.Certificate, pub any, signer *rsa.PublicKey, alg x509.SignatureAlgorithm) (*Unsigned, error) {
	c := &capture{pub: signer}
	_, err := x509.CreateCertificate(nil, t, parent, pub, c)
	tbs, err := c.taken(err)
	if err != nil {
		return nil, err
	}
	return Parse(tbs, alg)
}

// template returns the certificate of a subject's key.
func (p *Profile) template(pub any) (*x509.Certificate, error) {
	if !p.NotAfter.After(p.NotBefore) {
		return nil, errors.New("x509ca: the validity ends before it begins")
	}
	if p.NotAfter.UTC().Year() > 9999 {
		return nil, errors.New("x509ca: the validity ends after the year 9999")
	}
	if err := p.Names.check(); err != nil {
		return nil, err
	}
	id, err := keyID(pub)
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{
		SignatureAlgorithm:    p.Algorithm,
		SerialNumber:          newSerial(),
		RawSubject:            orEmptyName(p.RawSubject),
		NotBefore:             p.NotBefore.UTC(),
		NotAfter:              p.NotAfter.UTC(),
		SubjectKeyId:          id,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           p.Usages,
		DNSNames:              p.Names.DNS,
		EmailAddresses:        p.Names.Email,
		IPAddresses:           p.Names.IP,
		URIs:                  p.Names.URI,
	}
	if p.CA {
		t.IsCA = true
		t.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
		t.MaxPathLen = max(p.MaxPathLen, -1)
		t.MaxPathLenZero = p.MaxPathLen == 0
	}
	return t, nil
}

// newSerial returns 158 random bits in 20 octets, the most that RFC 5280,
// section 4.1.2.2 allows; two leading bits keep it positive and of that size.
func newSerial() *big.Int {
	b := make([]byte, 20)
	rand.Read(b)
	b[0] = b[0]&0x3f | 0x40
	return new(big.Int).SetBytes(b)
}

// keyID returns the key identifier of RFC 7093, section 2, method 1: 160 bits of
// the SHA-256 of the key.
func keyID(pub any) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		return nil, err
	}
	in := cryptobyte.String(der)
	var spki cryptobyte.String
	var key []byte
	if !in.ReadASN1(&spki, cbasn1.SEQUENCE) || !spki.SkipASN1(cbasn1.SEQUENCE) || !spki.ReadASN1BitStringAsBytes(&key) {
		return nil, errors.New("x509ca: malformed public key")
	}
	h := sha256.Sum256(key)
	return h[:20], nil
}

// checkIssuer checks that ca may issue what p describes, with the key pub.
func checkIssuer(ca *x509.Certificate, pub *rsa.PublicKey, p Profile) error {
	switch {
	case !pub.Equal(ca.PublicKey):
		return errors.New("x509ca: the CA certificate is for another key")
	case !ca.BasicConstraintsValid || !ca.IsCA:
		return errors.New("x509ca: the issuer's certificate isn't one of a CA")
	case ca.KeyUsage != 0 && ca.KeyUsage&x509.KeyUsageCertSign == 0:
		return errors.New("x509ca: the CA's certificate doesn't allow to sign certificates")
	case p.CA && (ca.MaxPathLenZero || ca.MaxPathLen > 0 && p.MaxPathLen >= ca.MaxPathLen):
		return errors.New("x509ca: the CA's path length doesn't allow this CA below it")
	case p.NotBefore.Before(ca.NotBefore):
		return fmt.Errorf("x509ca: the CA certificate isn't valid before %s", ca.NotBefore.UTC().Format(time.RFC3339))
	case p.NotAfter.After(ca.NotAfter):
		return fmt.Errorf("x509ca: the CA certificate expires before that, on %s", ca.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

func checkSubjectKey(pub any) error {
	switch pub := pub.(type) {
	case *rsa.PublicKey:
		if n := pub.N.BitLen(); n < 2048 || n > 16384 {
			return fmt.Errorf("x509ca: the request's RSA key has %d bits", n)
		}
		if pub.E < 3 || pub.E%2 == 0 {
			return fmt.Errorf("x509ca: the request's RSA exponent is %d", pub.E)
		}
		return nil
	case *ecdsa.PublicKey:
		if n := pub.Curve.Params().BitSize; n < 256 {
			return fmt.Errorf("x509ca: the request's curve has %d bits", n)
		}
		return nil
	case ed25519.PublicKey:
		return nil
	}
	return fmt.Errorf("x509ca: the request has a key of an unsupported kind (%T)", pub)
}
