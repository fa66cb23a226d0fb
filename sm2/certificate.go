// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2

import (
	"crypto/ecdsa"

	"github.com/emmansun/gmsm/smx509"
)

// AddCertificate adds the signature of a certificate by its issuer. Certificates
// of one issuer, or chains that share theirs, are verified by tables of its key.
//
// This is about signatures only, as in the method CheckSignature of gmsm's
// certificates: names, dates, and whether the issuer may issue, are for the caller.
// The ID is the default one, as in gmsm and RFC 8998, if uid is nil. Certificates
// with an empty ID or without any occur.
func (b *Batch) AddCertificate(cert, issuer *smx509.Certificate, uid *UID) {
	it := Item{UID: uid, Encoding: DER}
	if uid == nil {
		it.UID = &UID{}
	}
	// A certificate with a signature by another algorithm stays without one.
	if cert != nil && cert.SignatureAlgorithm == smx509.SM2WithSM3 {
		it.Message, it.Signature = cert.RawTBSCertificate, cert.Signature
	}
	if issuer != nil {
		it.PublicKey, _ = issuer.PublicKey.(*ecdsa.PublicKey)
	}
	b.AddItem(it)
}
