// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package x509ca makes X.509 certificates (RFC 5280) and certificate requests
// (RFC 2986) for RSA keys that don't sign at once, because a quorum of holders
// has to. It goes in two steps: SelfSigned, Issue and NewRequest fix every byte
// that is to be signed, and Unsigned.Assemble adds the signature.
//
// What lies between the steps is the standard's own object, a TBSCertificate or
// a CertificationRequestInfo in DER: Parse reads it again, and whoever is asked
// to sign can look into it with other tools too.
package x509ca

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"io"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// An Unsigned is a certificate or a request without its signature.
type Unsigned struct {
	tbs       []byte
	algorithm x509.SignatureAlgorithm

	// One of them, with an empty signature.
	cert *x509.Certificate
	csr  *x509.CertificateRequest
}

// algorithm describes one that this package signs with.
type algorithm struct {
	id   x509.SignatureAlgorithm
	hash crypto.Hash
	pss  bool
}

var algorithms = []algorithm{
	{x509.SHA256WithRSA, crypto.SHA256, false},
	{x509.SHA384WithRSA, crypto.SHA384, false},
	{x509.SHA512WithRSA, crypto.SHA512, false},
	{x509.SHA256WithRSAPSS, crypto.SHA256, true},
	{x509.SHA384WithRSAPSS, crypto.SHA384, true},
	{x509.SHA512WithRSAPSS, crypto.SHA512, true},
}

// Algorithm returns the signature algorithm with the given hash and padding.
func Algorithm(hash crypto.Hash, pss bool) (x509.SignatureAlgorithm, error) {
	for _, a := range algorithms {
		if a.hash == hash && a.pss == pss {
			return a.id, nil
		}
	}
	return 0, fmt.Errorf("x509ca: no signature algorithm with %v", hash)
}

func findAlgorithm(id x509.SignatureAlgorithm) (algorithm, error) {
	for _, a := range algorithms {
		if a.id == id {
			return a, nil
		}
	}
	return algorithm{}, fmt.Errorf("x509ca: signature algorithm %v isn't supported", id)
}

// errCaptured stops crypto/x509 when it has made what is to be signed.
var errCaptured = errors.New("x509ca: captured")

// capture is a crypto.MessageSigner that keeps the message and doesn't sign.
type capture struct {
	pub *rsa.PublicKey
	msg []byte
}

func (c *capture) Public() crypto.PublicKey { return c.pub }

func (c *capture) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) {
	return nil, errors.New("x509ca: signs messages only")
}

func (c *capture) SignMessage(_ io.Reader, msg []byte, _ crypto.SignerOpts) ([]byte, error) {
	c.msg = bytes.Clone(msg)
	return nil, errCaptured
}

// taken returns what was captured by a call that ended with err.
func (c *capture) taken(err error) ([]byte, error) {
	if !errors.Is(err, errCaptured) {
		if err == nil {
			err = errors.New("x509ca: nothing was signed")
		}
		return nil, err
	}
	return c.msg, nil
}

// Parse reads what is to be signed. A request doesn't hold its algorithm, which
// is given with requests; a certificate does, and it must be the same.
func Parse(tbs []byte, alg x509.SignatureAlgorithm) (*Unsigned, error) {
	a, err := findAlgorithm(alg)
	if err != nil {
		return nil, err
	}
	u := &Unsigned{tbs: bytes.Clone(tbs), algorithm: a.id}
	in := cryptobyte.String(tbs)
	var body cryptobyte.String
	if !in.ReadASN1(&body, cbasn1.SEQUENCE) || !in.Empty() {
		return nil, errors.New("x509ca: not the DER of a certificate or request to sign")
	}
	der, err := u.join(nil)
	if err != nil {
		return nil, err
	}
	if body.PeekASN1Tag(cbasn1.INTEGER) { // a request starts with its version, a certificate with it in [0]
		if u.csr, err = x509.ParseCertificateRequest(der); err != nil {
			return nil, fmt.Errorf("x509ca: the request to sign is malformed: %w", err)
		}
		return u, nil
	}
	if u.cert, err = x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("x509ca: the certificate to sign is malformed, or for another algorithm than %v: %w", alg, err)
	}
	if u.cert.SignatureAlgorithm != alg {
		return nil, fmt.Errorf("x509ca: the certificate is to be signed with %v, not %v", u.cert.SignatureAlgorithm, alg)
	}
	return u, nil
}

// Certificate returns the certificate, without a signature; nil for a request.
func (u *Unsigned) Certificate() *x509.Certificate { return u.cert }

// Request returns the request, without a signature; nil for a certificate.
func (u *Unsigned) Request() *x509.CertificateRequest { return u.csr }

// OtherAttributes returns the types of a request's attributes beyond what
// Request has taken its extensions from: one set of extensions (RFC 2986,
// section 4.1). It is empty for a certificate.
func (u *Unsigned) OtherAttributes() (oids []string) {
	if u.csr == nil {
		return nil
	}
	in := cryptobyte.String(u.tbs)
	var body, attributes cryptobyte.String
	if !in.ReadASN1(&body, cbasn1.SEQUENCE) ||
		!body.SkipASN1(cbasn1.INTEGER) || !body.SkipASN1(cbasn1.SEQUENCE) || !body.SkipASN1(cbasn1.SEQUENCE) ||
		!body.ReadOptionalASN1(&attributes, nil, cbasn1.Tag(0).ContextSpecific().Constructed()) {
		return []string{"(malformed)"}
	}
	for extensions := false; !attributes.Empty(); {
		var attribute, values, first cryptobyte.String
		var oid asn1.ObjectIdentifier
		if !attributes.ReadASN1(&attribute, cbasn1.SEQUENCE) ||
			!attribute.ReadASN1ObjectIdentifier(&oid) || !attribute.ReadASN1(&values, cbasn1.SET) {
			return append(oids, "(malformed)")
		}
		if !extensions && oid.Equal(oidExtensionRequest) && attribute.Empty() &&
			values.ReadASN1(&first, cbasn1.SEQUENCE) && values.Empty() {
			extensions = true
			continue
		}
		oids = append(oids, oid.String())
	}
	return oids
}

// oidExtensionRequest is the attribute of RFC 2985, section 5.4.2.
var oidExtensionRequest = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 14}

// TBS returns the DER that the signature covers.
func (u *Unsigned) TBS() []byte { return bytes.Clone(u.tbs) }

// Digest returns the hash of TBS that is to be signed.
func (u *Unsigned) Digest() []byte {
	h := u.SignerOpts().HashFunc().New()
	h.Write(u.tbs)
	return h.Sum(nil)
}

// SignerOpts says how it is to be signed: a crypto.Hash, or *rsa.PSSOptions with
// a salt of the hash's length.
func (u *Unsigned) SignerOpts() crypto.SignerOpts {
	a, _ := findAlgorithm(u.algorithm) // Parse has looked
	if a.pss {
		return &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: a.hash}
	}
	return a.hash
}

// Assemble returns the DER of the signed certificate or request. It checks the
// signature with the signer's key, and that the result reads as what was planned.
func (u *Unsigned) Assemble(signer *rsa.PublicKey, sig []byte) ([]byte, error) {
	der, err := u.join(sig)
	if err != nil {
		return nil, err
	}
	issuer := &x509.Certificate{PublicKey: signer, PublicKeyAlgorithm: x509.RSA}
	if err := issuer.CheckSignature(u.algorithm, u.tbs, sig); err != nil {
		return nil, fmt.Errorf("x509ca: the signature isn't of this key and content: %w", err)
	}
	if u.csr != nil {
		csr, err := x509.ParseCertificateRequest(der)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(csr.RawTBSCertificateRequest, u.tbs) {
			return nil, errors.New("x509ca: the request isn't the one that was signed")
		}
		// Its own key, which proves possession.
		if err := csr.CheckSignature(); err != nil {
			return nil, fmt.Errorf("x509ca: the request is for another key than the one that signed it: %w", err)
		}
		return der, nil
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(cert.RawTBSCertificate, u.tbs) || cert.SignatureAlgorithm != u.algorithm {
		return nil, errors.New("x509ca: the certificate isn't the one that was signed")
	}
	return der, nil
}

// join puts the three parts together that certificates and requests consist of.
func (u *Unsigned) join(sig []byte) ([]byte, error) {
	id, err := algorithmIdentifier(u.algorithm)
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(struct {
		TBS       asn1.RawValue
		Algorithm asn1.RawValue
		Signature asn1.BitString
	}{
		asn1.RawValue{FullBytes: u.tbs},
		asn1.RawValue{FullBytes: id},
		asn1.BitString{Bytes: sig, BitLength: 8 * len(sig)},
	})
}

// algorithmIdentifier returns the DER of an AlgorithmIdentifier. crypto/x509
// writes them into certificates only, so one is made to be read.
func algorithmIdentifier(alg x509.SignatureAlgorithm) ([]byte, error) {
	c := &capture{pub: placeholder}
	_, err := x509.CreateCertificate(nil, &x509.Certificate{SerialNumber: placeholder.N, SignatureAlgorithm: alg},
		&x509.Certificate{}, c.pub, c)
	tbs, err := c.taken(err)
	if err != nil {
		return nil, err
	}
	in := cryptobyte.String(tbs)
	var body, id cryptobyte.String
	if !in.ReadASN1(&body, cbasn1.SEQUENCE) ||
		!body.SkipASN1(cbasn1.Tag(0).ContextSpecific().Constructed()) ||
		!body.SkipASN1(cbasn1.INTEGER) ||
		!body.ReadASN1Element(&id, cbasn1.SEQUENCE) {
		return nil, errors.New("x509ca: no algorithm in a certificate")
	}
	return id, nil
}
