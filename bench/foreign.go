// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"os"
	"path/filepath"

	"github.com/niclabs/tcrsa"
)

const foreignReadme = `Keys and shares as other libraries write them. Made by "go run . foreign" in bench/.
The secrets are public here: these keys are worthless.

tcrsa-*.json        dealt, signed and marshalled by github.com/niclabs/tcrsa v0.0.5 itself,
                    2048 bits asked for (2047 obtained), 3 of 5, safe primes from OpenSSL
safeheron-*.json    NOT made by Safeheron's tss-rsa-cpp: computed and written by our own code
                    after its published format (proto3 JSON, hexadecimal as BN_bn2hex writes
                    it), 2048 bits asked for (2047 obtained), 2 of 3
*-signature.json    PKCS #1 v1.5 with SHA-256 of the message; there is only one such signature
                    to a message, so every way to sign must give it
`

// signature is a known answer for a key.
type signature struct {
	Message   string
	Signature []byte
}

const foreignMessage = "shares may be old, the signature is the same"

func foreign(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("foreign", flag.ContinueOnError)
	dir := flags.String("o", "", "write to `DIR`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *dir == "" || flags.NArg() > 0 {
		return errors.New("foreign: want -o DIR and nothing else")
	}
	if err := os.MkdirAll(*dir, 0o755); err != nil {
		return err
	}
	files := map[string]any{}
	if err := foreignTCRSA(ctx, files); err != nil {
		return err
	}
	if err := foreignSafeheron(ctx, files); err != nil {
		return err
	}
	for name, v := range files {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(*dir, name), append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(*dir, "README"), []byte(foreignReadme), 0o644)
}

func foreignTCRSA(ctx context.Context, files map[string]any) error {
	p, _, err := opensslSafePrime(ctx, 1024)
	if err != nil {
		return err
	}
	q, _, err := opensslSafePrime(ctx, 1023)
	if err != nil {
		return err
	}
	shares, meta, err := tcrsa.NewKey(2048, 3, 5, &tcrsa.KeyMetaArgs{P: p, Q: q})
	if err != nil {
		return err
	}
	digest := sha256.Sum256([]byte(foreignMessage))
	doc, err := tcrsa.PrepareDocumentHash(meta.PublicKey.Size(), crypto.SHA256, digest[:])
	if err != nil {
		return err
	}
	var list tcrsa.SigShareList
	for _, s := range shares[1:4] {
		sig, err := s.Sign(doc, crypto.SHA256, meta)
		if err != nil {
			return err
		}
		list = append(list, sig)
	}
	sig, err := list.Join(doc, meta)
	if err != nil {
		return err
	}
	if err := rsa.VerifyPKCS1v15(meta.PublicKey, crypto.SHA256, digest[:], sig); err != nil {
		return fmt.Errorf("tcrsa's signature: %w", err)
	}
	files["tcrsa-meta.json"] = meta
	files["tcrsa-shares.json"] = shares
	files["tcrsa-signature.json"] = signature{foreignMessage, sig}
	return nil
}

// foreignSafeheron deals as Shoup 2000, section 3, protocol 2 says, and writes what
// the messages of tss-rsa-cpp look like in proto3 JSON.
func foreignSafeheron(ctx context.Context, files map[string]any) error {
	const k, l, e = 2, 3, 65537
	p, _, err := opensslSafePrime(ctx, 1024)
	if err != nil {
		return err
	}
	q, _, err := opensslSafePrime(ctx, 1023)
	if err != nil {
		return err
	}
	one := big.NewInt(1)
	n := new(big.Int).Mul(p, q)
	m := new(big.Int).Mul(new(big.Int).Rsh(p, 1), new(big.Int).Rsh(q, 1))
	d := new(big.Int).ModInverse(big.NewInt(e), m)
	a1, err := rand.Int(rand.Reader, m)
	if err != nil {
		return err
	}
	deltaInv := new(big.Int).ModInverse(new(big.Int).MulRange(1, l), m)
	f, err := rand.Int(rand.Reader, n)
	if err != nil {
		return err
	}
	v := new(big.Int).Exp(f, big.NewInt(2), n)
	u := new(big.Int)
	for big.Jacobi(u, n) != -1 {
		if u, err = rand.Int(rand.Reader, n); err != nil {
			return err
		}
	}

	type share struct {
		I  int    `json:"i"`
		Si string `json:"si"`
	}
	meta := struct {
		K     int      `json:"k"`
		L     int      `json:"l"`
		V     string   `json:"vkv"`
		U     string   `json:"vku"`
		ViArr []string `json:"vkiArr"`
	}{K: k, L: l, V: bn2hex(v), U: bn2hex(u)}
	for i := int64(1); i <= l; i++ {
		s := new(big.Int).Mul(a1, big.NewInt(i))
		s.Add(s, d).Mul(s, deltaInv).Mod(s, m)
		meta.ViArr = append(meta.ViArr, bn2hex(new(big.Int).Exp(v, s, n)))
		files[fmt.Sprintf("safeheron-share-%d.json", i)] = share{int(i), bn2hex(s)}
	}
	files["safeheron-meta.json"] = meta
	files["safeheron-public.json"] = struct {
		N string `json:"n"`
		E string `json:"e"`
	}{bn2hex(n), bn2hex(big.NewInt(e))}

	phi := new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one))
	priv := &rsa.PrivateKey{
		PublicKey: rsa.PublicKey{N: n, E: e},
		D:         new(big.Int).ModInverse(big.NewInt(e), phi),
		Primes:    []*big.Int{p, q},
	}
	priv.Precompute()
	digest := sha256.Sum256([]byte(foreignMessage))
	sig, err := rsa.SignPKCS1v15(nil, priv, crypto.SHA256, digest[:])
	if err != nil {
		return err
	}
	files["safeheron-signature.json"] = signature{foreignMessage, sig}
	return nil
}

// bn2hex writes as OpenSSL's BN_bn2hex does: upper case, whole bytes.
func bn2hex(x *big.Int) string { return fmt.Sprintf("%X", x.Bytes()) }
