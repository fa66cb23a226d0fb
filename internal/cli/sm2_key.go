// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"
	gmsm "github.com/emmansun/gmsm/sm2"
	"github.com/emmansun/gmsm/smx509"
	"github.com/spf13/cobra"
)

const sm2KeyHelp = `The private key is PKCS #8 in PEM inside an age file: "age -d" gives what
OpenSSL and others read. With --insecure-plaintext it isn't encrypted.`

func newSM2KeygenCmd(e *env) *cobra.Command {
	var sf secretFlags
	var to, out string
	var force bool
	c := &cobra.Command{
		Use:   "keygen -o FILE --to FILE",
		Short: "Make an SM2 key",
		Long: `Make an SM2 key. FILE gets the private key, and FILE.pub the public key as
SubjectPublicKeyInfo in PEM.

` + sm2KeyHelp,
		Example: `  undersign sm2 keygen -o alice.key --to alice.txt
  undersign sm2 keygen -o test.key --insecure-plaintext`,
		Args: noArgs,
	}
	addSecretFlags(c, &sf)
	c.Flags().Lookup("insecure-plaintext").Usage = "don't encrypt the private key"
	c.Flags().StringVar(&to, "to", "", "encrypt the private key to the age recipients `FILE`\n(default: to the identities given with -i, or the passphrase)")
	addOutFlag(c, &out, "")
	addForceFlag(c, &force)
	c.MarkFlagRequired("out")
	c.RunE = func(c *cobra.Command, args []string) error {
		if to != "" && sf.plaintext {
			return usagef(c, "--to encrypts the key and --insecure-plaintext doesn't: give one of them")
		}
		if out == "-" {
			return usagef(c, "a key is two files, and can't go to standard output")
		}
		return e.sm2Keygen(c.Context(), sf, to, out, force)
	}
	return describe(c, "key, public_key, x, y, encrypted")
}

func (e *env) sm2Keygen(ctx context.Context, sf secretFlags, to, out string, force bool) error {
	o, err := e.newOpener(ctx, sf)
	if err != nil {
		return err
	}
	defer o.wipe()
	recipients, err := e.readWriteBack(ctx, to)
	if err != nil {
		return err
	}
	file, err := o.newSecretFile(out, recipients, nil)
	if err != nil {
		return err
	}
	priv, err := gmsm.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	defer wipeSM2Key(priv)
	der, err := smx509.MarshalPKCS8PrivateKey(priv)
	if err != nil {
		return err
	}
	defer clear(der)
	secret := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	defer clear(secret)
	data := secret
	if !file.plaintext {
		if data, err = sealText(secret, file.recipients); err != nil {
			return err
		}
	}
	spki, err := smx509.MarshalPKIXPublicKey(&priv.PublicKey)
	if err != nil {
		return err
	}
	s := e.newFileSet(force)
	defer s.abort()
	if err := s.add(out, data, secretFile); err != nil {
		return err
	}
	pub := out + ".pub"
	if err := s.add(pub, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: spki}), publicFile); err != nil {
		return err
	}
	if err := s.commit(); err != nil {
		return err
	}
	if file.plaintext {
		e.warnf("the key isn't encrypted: whoever reads %s has it", out)
	}
	point, err := sm2Point(&priv.PublicKey)
	if err != nil {
		return err
	}
	type result struct {
		Key       string `json:"key"`
		PublicKey string `json:"public_key"`
		X         string `json:"x"`
		Y         string `json:"y"`
		Encrypted bool   `json:"encrypted"`
	}
	r := result{out, pub, fmt.Sprintf("%x", point[1:33]), fmt.Sprintf("%x", point[33:]), !file.plaintext}
	return e.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "%s: the private key, to be kept secret\n%s: the public key 04%s%s\n", r.Key, r.PublicKey, r.X, r.Y)
	})
}

// sealText returns an armoured age file of a secret that has a standard encoding.
func sealText(secret []byte, to []age.Recipient) ([]byte, error) {
	var buf bytes.Buffer
	a := armor.NewWriter(&buf)
	w, err := age.Encrypt(a, to...)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(secret); err != nil {
		return nil, err
	}
	if err := errors.Join(w.Close(), a.Close()); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

func wipeSM2Key(priv *gmsm.PrivateKey) { clear(priv.D.Bits()) }

// readSM2Key reads an SM2 private key: PEM, in an age file or, if the user said
// so, in the open.
func (o *opener) readSM2Key(path string) (*gmsm.PrivateKey, error) {
	data, err := o.e.readInput(o.ctx, path, maxObject)
	if err != nil {
		return nil, err
	}
	defer clear(data)
	text := data
	if isAge(data) {
		if text, err = o.decrypt(path, data); err != nil {
			return nil, err
		}
		defer clear(text)
	}
	block, rest := pem.Decode(text)
	if block != nil && strings.HasSuffix(block.Type, " PARAMETERS") { // which "openssl ecparam -genkey" writes first
		block, _ = pem.Decode(rest)
	}
	if block == nil {
		return nil, fmt.Errorf("%s: not a private key in PEM", inputName(path))
	}
	defer clear(block.Bytes)
	var key any
	switch block.Type {
	case "PRIVATE KEY":
		key, err = smx509.ParsePKCS8PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = smx509.ParseTypedECPrivateKey(block.Bytes)
	case "ENCRYPTED PRIVATE KEY":
		return nil, failf(ExitError, "openssl pkey -in KEY | age -a -R RECIPIENTS makes an age file of it", "%s is encrypted by a password", inputName(path))
	case "PUBLIC KEY", "CERTIFICATE":
		return nil, fmt.Errorf("%s is public: the private key is needed", inputName(path))
	default:
		return nil, fmt.Errorf("%s: %q isn't a private key in PEM", inputName(path), block.Type)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: not a private key", inputName(path))
	}
	priv, ok := key.(*gmsm.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s: the key isn't SM2", inputName(path))
	}
	if !isAge(data) {
		if err := o.allowPlaintext(path); err != nil {
			wipeSM2Key(priv)
			return nil, err
		}
	}
	return priv, nil
}

// readSM2PublicKey reads an SM2 public key from PEM or from a certificate.
func (e *env) readSM2PublicKey(ctx context.Context, path string) (*ecdsa.PublicKey, error) {
	data, err := e.readInput(ctx, path, maxObject)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	var key any
	switch {
	case isAge(data):
		return nil, encryptedKeyError(path)
	case block == nil:
		return nil, fmt.Errorf("%s: not a public key in PEM", inputName(path))
	case strings.HasSuffix(block.Type, "PRIVATE KEY"):
		clear(data)
		clear(block.Bytes)
		return nil, failf(ExitError, "make the public key of it: openssl pkey -pubout -in KEY", "%s is a private key: it isn't needed here", inputName(path))
	case block.Type == "PUBLIC KEY":
		key, err = smx509.ParsePKIXPublicKey(block.Bytes)
	case block.Type == "CERTIFICATE":
		var cert *smx509.Certificate
		if cert, err = smx509.ParseCertificate(block.Bytes); err == nil {
			key = cert.PublicKey
		}
	default:
		err = errors.New("neither a public key nor a certificate")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", inputName(path), err)
	}
	pub, ok := key.(*ecdsa.PublicKey)
	if !ok || !gmsm.IsSM2PublicKey(pub) {
		return nil, fmt.Errorf("%s: the key isn't SM2", inputName(path))
	}
	return pub, nil
}

// sm2Point returns 04 || x || y.
func sm2Point(pub *ecdsa.PublicKey) ([]byte, error) {
	k, err := gmsm.PublicKeyToECDH(pub)
	if err != nil {
		return nil, err
	}
	return k.Bytes(), nil
}
