// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Command sign-certificate signs a certificate for a web server, by a CA whose key is shared
// among nodes: no machine has it, and K of them have to agree.
//
//	sign-certificate DIR undersign://HOST:PORT/FINGERPRINT threshold.pub ca.pem NAME
//
// DIR is the folder that undersign init made for this program.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/undersign/undersign/client"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

func main() {
	if len(os.Args) != 6 {
		log.Fatal("usage: sign-certificate DIR NODE threshold.pub ca.pem NAME")
	}
	if err := run(os.Stdout, os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer, dir, url, keyPath, caPath, name string) error {
	signer, err := dial(dir, url, keyPath)
	if err != nil {
		return err
	}
	ca, err := readCertificate(caPath)
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{DNSNames: []string{name}, NotBefore: time.Now(), NotAfter: time.Now().AddDate(0, 0, 90)}
	der, err := x509.CreateCertificate(rand.Reader, template, ca, key.Public(), signer)
	if err != nil {
		return err
	}
	return pem.Encode(w, &pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// dial returns a crypto.Signer whose signatures the nodes make.
func dial(dir, url, keyPath string) (*client.Signer, error) {
	identity, err := client.ReadIdentity(dir)
	if err != nil {
		return nil, err
	}
	node, err := client.DialURL(identity, url)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(keyPath)
	if err != nil {
		return nil, err
	}
	record, err := keyfile.ParseAs[*thresholdrsa.PublicKey](data)
	if err != nil {
		return nil, err
	}
	return node.Signer(record, nil), nil
}

func readCertificate(path string) (*x509.Certificate, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s is no certificate", path)
	}
	return x509.ParseCertificate(block.Bytes)
}
