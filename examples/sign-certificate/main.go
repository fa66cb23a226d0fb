// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Command sign-certificate issues a certificate for a web server, by a CA whose key is shared
// among nodes: no machine has it, and K of them have to agree.
//
//	sign-certificate DIR undersign://HOST:PORT/FINGERPRINT threshold.pub ca.pem www.csr >www.pem
//
// DIR is the folder that undersign init made for this program, and which has joined the node
// that is asked. "undersign status" prints that node's URL. With the nodes of
// docs/threshold-service.md:
//
//	undersign threshold cert selfsign --subject "CN=Example Root" --key code/threshold.pub --dir alice -o ca.pem
//	undersign init --dir ci
//	undersign invite --dir alice --name ci --allow threshold.sign > invitation
//	undersign join --dir ci --address none - < invitation
//	openssl req -new -newkey rsa:2048 -nodes -keyout www.key -out www.csr -subj "/CN=www.example.org" -addext "subjectAltName=DNS:www.example.org"
//	go run ./examples/sign-certificate ci undersign://127.0.0.1:7071/us1... code/threshold.pub ca.pem www.csr > www.pem
//	openssl verify -CAfile ca.pem -verify_hostname www.example.org www.pem
package main

import (
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
	log.SetFlags(0)
	if len(os.Args) != 6 {
		log.Fatal("usage: sign-certificate DIR NODE threshold.pub ca.pem www.csr")
	}
	if err := run(os.Stdout, os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer, dir, url, keyPath, caPath, csrPath string) error {
	signer, err := dial(dir, url, keyPath)
	if err != nil {
		return err
	}
	ca, err := readPEM(caPath, x509.ParseCertificate)
	if err != nil {
		return err
	}
	csr, err := readPEM(csrPath, x509.ParseCertificateRequest)
	if err != nil {
		return err
	}
	if err := csr.CheckSignature(); err != nil {
		return err
	}
	template := &x509.Certificate{
		DNSNames: csr.DNSNames, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		NotBefore: time.Now(), NotAfter: time.Now().AddDate(0, 0, 90),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca, csr.PublicKey, signer)
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

func readPEM[T any](path string, parse func([]byte) (T, error)) (x T, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return x, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return x, fmt.Errorf("%s is no PEM file", path)
	}
	return parse(block.Bytes)
}
