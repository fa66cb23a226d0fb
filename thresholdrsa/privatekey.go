// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/undersign/undersign/internal/safeprime"
)

// maxPrivateKeyFile is several times what an 8192-bit key takes. It also bounds
// the work that parsing a hostile file can cause.
const maxPrivateKeyFile = 32 << 10

// ParsePrivateKey reads an existing two-prime RSA private key, to be shared out
// with [Import]: PEM with PKCS #1 (RSA PRIVATE KEY) or PKCS #8 (PRIVATE KEY), or a
// JWK as RFC 7517 and RFC 7518, section 6.3 have it, which is what Arweave wallets
// are. The key is validated, its primes included. It isn't done in constant time:
// use it where the file may be read at all.
//
// Encrypted files, keys of more than two primes, and files with more than one
// object are refused.
func ParsePrivateKey(data []byte) (*rsa.PrivateKey, error) {
	if len(data) > maxPrivateKeyFile {
		return nil, fmt.Errorf("thresholdrsa: private key file longer than %d bytes", maxPrivateKeyFile)
	}
	var priv *rsa.PrivateKey
	var err error
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '{' {
		priv, err = parseJWK(trimmed)
	} else {
		priv, err = parsePEM(data)
	}
	if err != nil {
		return nil, err
	}
	return priv, checkPrivateKey(priv)
}

func parsePEM(data []byte) (*rsa.PrivateKey, error) {
	block, rest := pem.Decode(data)
	if block == nil {
		return nil, errors.New("thresholdrsa: private key is neither PEM nor JWK")
	}
	defer clear(block.Bytes)
	if more, _ := pem.Decode(rest); more != nil {
		clear(more.Bytes)
		return nil, errors.New("thresholdrsa: more than one PEM block, want one private key")
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("thresholdrsa: data after the private key")
	}
	if block.Headers["DEK-Info"] != "" || block.Headers["Proc-Type"] != "" || block.Type == "ENCRYPTED PRIVATE KEY" {
		return nil, errors.New("thresholdrsa: private key is encrypted, decrypt it first: openssl pkey -in KEY.pem -out PLAIN.pem")
	}

	var key any
	var err error
	switch block.Type {
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "OPENSSH PRIVATE KEY":
		return nil, errors.New("thresholdrsa: OpenSSH private key, convert it first: ssh-keygen -p -m PKCS8 -f KEY")
	default:
		return nil, fmt.Errorf("thresholdrsa: PEM block %.40q isn't a private key", block.Type)
	}
	if err != nil {
		return nil, fmt.Errorf("thresholdrsa: malformed private key: %v", err)
	}
	priv, ok := key.(*rsa.PrivateKey)
	if !ok {
		return nil, errors.New("thresholdrsa: private key isn't RSA")
	}
	return priv, nil
}

// checkPrivateKey goes beyond rsa.PrivateKey.Validate, which takes a composite q
// as long as d inverts e modulo q-1.
func checkPrivateKey(priv *rsa.PrivateKey) error {
	if len(priv.Primes) != 2 {
		return fmt.Errorf("thresholdrsa: private key has %d primes, want two", len(priv.Primes))
	}
	if bits := priv.N.BitLen(); bits > MaxBits {
		return fmt.Errorf("thresholdrsa: private key of %d bits, want at most %d", bits, MaxBits)
	}
	if err := priv.Validate(); err != nil {
		return fmt.Errorf("thresholdrsa: invalid private key: %v", err)
	}
	for _, p := range priv.Primes {
		if !safeprime.IsPrime(p) {
			return errors.New("thresholdrsa: invalid private key: a factor isn't prime")
		}
	}
	return nil
}
