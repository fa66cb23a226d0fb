// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"runtime"
)

// readLongTermKey reads a member's private key, PKCS #8 in PEM, which may be inside
// an age file.
func (o *opener) readLongTermKey(path string) (ed25519.PrivateKey, error) {
	data, err := o.readSecretInput(path)
	if err != nil {
		return nil, err
	}
	defer clear(data)
	b, _ := pem.Decode(data)
	if b == nil || b.Type != "PRIVATE KEY" {
		return nil, withHint(fileError(path, errors.New("not a private key in PEM")), "make one with openssl genpkey -algorithm ed25519")
	}
	defer clear(b.Bytes)
	if fi, err := os.Stat(path); err == nil && !isAge(data) && fi.Mode().IsRegular() && fi.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		o.e.warnf("%s isn't encrypted, and others may read it (mode %04o)", path, fi.Mode().Perm())
	}
	k, err := x509.ParsePKCS8PrivateKey(b.Bytes)
	if err != nil {
		return nil, fileError(path, err)
	}
	key, ok := k.(ed25519.PrivateKey)
	if !ok {
		return nil, withHint(fileError(path, errors.New("not an Ed25519 key")), "make one with openssl genpkey -algorithm ed25519")
	}
	return key, nil
}

// readMemberKey reads a member's public key, as OpenSSL writes it.
func (e *env) readMemberKey(ctx context.Context, path string) (ed25519.PublicKey, error) {
	data, err := e.readInput(ctx, path, maxObject)
	if err != nil {
		return nil, err
	}
	b, _ := pem.Decode(data)
	if b == nil || b.Type != "PUBLIC KEY" {
		return nil, withHint(fileError(path, errors.New("not a public key in PEM")), "write it with openssl pkey -in KEY -pubout")
	}
	k, err := x509.ParsePKIXPublicKey(b.Bytes)
	if err != nil {
		return nil, fileError(path, err)
	}
	key, ok := k.(ed25519.PublicKey)
	if !ok {
		return nil, fileError(path, errors.New("not an Ed25519 key"))
	}
	return key, nil
}
