// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"filippo.io/age"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// The demo's key: any three of five people sign.
const (
	thresholdBits = 3072
	thresholdK    = 3
)

var people = []string{"alice", "bob", "carol", "dave", "erin"}

const sampleText = "This file was signed by three of five people with a key that nobody holds.\n"

// threshold is the demo of threshold RSA, as its steps fill it.
type threshold struct {
	stage
	file   string // to sign, absolute
	key    *thresholdrsa.PublicKey
	shares map[string]*thresholdrsa.KeyShare
	req    *thresholdrsa.Request
	sigs   map[string]*thresholdrsa.SignatureShare
}

// Threshold shows a key that nobody holds sign a file and a certificate.
func Threshold(ctx context.Context, opts Options) (*Result, error) {
	dir, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, err
	}
	opts.Dir = dir
	d := &threshold{
		stage:  stage{opts, &Result{Dir: dir}},
		shares: map[string]*thresholdrsa.KeyShare{}, sigs: map[string]*thresholdrsa.SignatureShare{},
	}
	if opts.File == "" {
		opts.File = d.path("message.txt")
		if err := d.write("message.txt", []byte(sampleText), 0o644); err != nil {
			return nil, err
		}
	}
	if d.file, err = filepath.Abs(opts.File); err != nil {
		return nil, err
	}
	for _, step := range []struct {
		title string
		f     func(context.Context) ([]string, error)
	}{
		{"Make a key and share it among five people, any three of whom sign", d.deal},
		{"Let every holder check its share and the ceremony's transcript", d.check},
		{"Sign the file with alice, carol and erin", d.sign},
		{"Try with alice and carol alone", d.tooFew},
		{"Let dave forge a signature share", d.forge},
		{"Make a certificate authority and a certificate, by quorum", d.certify},
		{"Check the results with a tool that knows nothing of undersign", d.verify},
	} {
		if err := d.do(ctx, step.title, func() ([]string, error) { return step.f(ctx) }); err != nil {
			return nil, err
		}
	}
	return d.res, nil
}

// deal makes the people's age keys, the key and its shares.
func (d *threshold) deal(ctx context.Context) ([]string, error) {
	priv, err := thresholdrsa.GenerateKey(ctx, thresholdBits, nil)
	if err != nil {
		return nil, err
	}
	defer thresholdrsa.Erase(priv)
	dealing, shares, err := thresholdrsa.Deal(priv, thresholdK, len(people), &thresholdrsa.DealOptions{Names: people})
	if err != nil {
		return nil, err
	}
	d.key = dealing.PublicKey()
	for i, name := range people {
		id, err := age.GenerateX25519Identity()
		if err != nil {
			return nil, err
		}
		var sealed bytes.Buffer
		if err := keyfile.Seal(&sealed, shares[i], id.Recipient()); err != nil {
			return nil, err
		}
		err = errors.Join(
			d.write(name+".txt", []byte(id.Recipient().String()+"\n"), 0o644),
			d.write(name+".key", []byte(id.String()+"\n"), 0o600),
			d.write(name+".share", sealed.Bytes(), 0o600))
		if err != nil {
			return nil, err
		}
		shares[i].Wipe()
	}
	spki, err := x509.MarshalPKIXPublicKey(d.key.RSA())
	if err != nil {
		return nil, err
	}
	if err := d.writePEM("rsa.pub.pem", "PUBLIC KEY", spki); err != nil {
		return nil, err
	}
	if err := errors.Join(d.writeObject("threshold.pub", d.key), d.writeObject("ceremony.txt", dealing)); err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("RSA-%d, %d of %d: %s", thresholdBits, thresholdK, len(people), keyfile.Fingerprint(d.key)),
		"threshold.pub and rsa.pub.pem are public, NAME.share opens with NAME.key only;",
		"the private key was never written and has been erased",
	}, nil
}

// check opens every share from its file, as its holder would.
func (d *threshold) check(context.Context) ([]string, error) {
	data, err := os.ReadFile(d.path("ceremony.txt"))
	if err != nil {
		return nil, err
	}
	dealing, err := keyfile.ParseAs[*thresholdrsa.Dealing](data)
	if err != nil {
		return nil, err
	}
	for _, name := range people {
		key, err := os.ReadFile(d.path(name + ".key"))
		if err != nil {
			return nil, err
		}
		ids, err := keyfile.ParseIdentities(bytes.NewReader(key), nil)
		if err != nil {
			return nil, err
		}
		sealed, err := os.Open(d.path(name + ".share"))
		if err != nil {
			return nil, err
		}
		share, err := keyfile.OpenAs[*thresholdrsa.KeyShare](sealed, ids...)
		sealed.Close()
		if err != nil {
			return nil, err
		}
		if err := share.CheckDealing(dealing); err != nil {
			return nil, err
		}
		d.shares[name] = share
	}
	return []string{"each share belongs to the one key, and trial signatures of all five hold"}, nil
}

// sign makes the request and the detached signature of the file.
func (d *threshold) sign(context.Context) ([]string, error) {
	f, err := os.Open(d.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	if d.req, err = thresholdrsa.NewRequest(d.key, h.Sum(nil), crypto.SHA256); err != nil {
		return nil, err
	}
	if err := d.writeObject("file.req", d.req); err != nil {
		return nil, err
	}
	for _, name := range people {
		s, err := d.shares[name].Sign(d.req)
		if err != nil {
			return nil, err
		}
		d.sigs[name] = s
		if err := d.writeObject("file.req."+name, s); err != nil {
			return nil, err
		}
	}
	sig, _, err := d.key.Combine(d.req, d.sigs["alice"], d.sigs["carol"], d.sigs["erin"])
	if err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("file.sig is an ordinary RSA signature of %s, %d bytes", filepath.Base(d.file), len(sig))},
		d.write("file.sig", sig, 0o644)
}

func (d *threshold) tooFew(context.Context) ([]string, error) {
	sig, _, err := d.key.Combine(d.req, d.sigs["alice"], d.sigs["carol"])
	var q *thresholdrsa.QuorumError
	if !errors.As(err, &q) || sig != nil {
		return nil, fmt.Errorf("two shares gave %x, %v", sig, err)
	}
	return []string{"refused: " + err.Error()}, nil
}

// forge changes the value in dave's share, and puts it before three good ones.
func (d *threshold) forge(context.Context) ([]string, error) {
	b, err := d.sigs["dave"].MarshalBinary()
	if err != nil {
		return nil, err
	}
	// Version, suite, key, epoch, request, index and a length stand before the value.
	const value = 1 + 1 + 32 + 8 + 32 + 1 + 4
	b[value+thresholdBits/8-1] ^= 1
	forged := new(thresholdrsa.SignatureShare)
	if err := forged.UnmarshalBinary(b); err != nil {
		return nil, err
	}
	if err := d.writeObject("file.req.dave.forged", forged); err != nil {
		return nil, err
	}
	err = d.key.VerifyShare(d.req, forged)
	if !errors.Is(err, thresholdrsa.ErrShare) {
		return nil, fmt.Errorf("a forged share: %v", err)
	}
	out := []string{"refused: " + err.Error()}
	sig, bad, err := d.key.Combine(d.req, forged, d.sigs["alice"], d.sigs["carol"], d.sigs["erin"])
	if err != nil {
		return out, err
	}
	if len(bad) != 1 || bad[0].Holder != "dave" {
		return out, fmt.Errorf("blamed: %v", bad)
	}
	if err := d.req.Verify(d.key.RSA(), sig); err != nil {
		return out, err
	}
	return append(out, bad[0].Holder+" is named, and the other three sign all the same"), nil
}

// certify makes a self-signed CA and a server certificate under it.
func (d *threshold) certify(context.Context) ([]string, error) {
	asked := 0
	signer := thresholdrsa.NewSigner(d.key, func(r *thresholdrsa.Request) (out []*thresholdrsa.SignatureShare, err error) {
		for _, name := range []string{"bob", "carol", "dave"} {
			s, err := d.shares[name].Sign(r)
			if err != nil {
				return nil, err
			}
			asked++
			out = append(out, s)
		}
		return out, nil
	})
	now := time.Now().Add(-time.Minute)
	ca := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "undersign demo CA, 3 of 5"},
		NotBefore: now, NotAfter: now.AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, signer.Public(), signer)
	if err != nil {
		return nil, err
	}
	if ca, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	if err := d.writePEM("ca.pem", "CERTIFICATE", der); err != nil {
		return nil, err
	}
	subject, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leaf := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "demo.example"}, DNSNames: []string{"demo.example"},
		NotBefore: now, NotAfter: now.AddDate(0, 3, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if der, err = x509.CreateCertificate(rand.Reader, leaf, ca, subject.Public(), signer); err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("ca.pem and server.pem, with %d signature shares of bob, carol and dave", asked)},
		d.writePEM("server.pem", "CERTIFICATE", der)
}

func serial() *big.Int {
	b := make([]byte, 16)
	rand.Read(b)
	b[0] = b[0]&0x7f | 0x40
	return new(big.Int).SetBytes(b)
}

// verify checks both results with OpenSSL, or Go's standard library without it.
func (d *threshold) verify(ctx context.Context) ([]string, error) {
	if _, err := exec.LookPath("openssl"); err != nil {
		return d.verifyGo()
	}
	version, err := d.run(ctx, "openssl", "version")
	if err != nil {
		return nil, err
	}
	out := []string{"$ openssl dgst -sha256 -verify rsa.pub.pem -signature file.sig " + d.file}
	text, err := d.run(ctx, "openssl", "dgst", "-sha256", "-verify", "rsa.pub.pem", "-signature", "file.sig", d.file)
	if err != nil {
		return out, err
	}
	out = append(out, text, "$ openssl verify -CAfile ca.pem server.pem")
	if text, err = d.run(ctx, "openssl", "verify", "-CAfile", "ca.pem", "server.pem"); err != nil {
		return out, err
	}
	d.res.Verified = []string{version}
	return append(out, text), nil
}

func (d *threshold) verifyGo() ([]string, error) {
	sig, err := os.ReadFile(d.path("file.sig"))
	if err != nil {
		return nil, err
	}
	if err := d.req.Verify(d.key.RSA(), sig); err != nil {
		return nil, err
	}
	out := []string{"openssl isn't here, so Go's crypto/rsa and crypto/x509 check", "file.sig: Verified OK"}
	ca, err1 := d.readCertificate("ca.pem")
	leaf, err2 := d.readCertificate("server.pem")
	if err := errors.Join(err1, err2); err != nil {
		return out, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "demo.example"}); err != nil {
		return out, err
	}
	d.res.Verified = []string{"crypto/rsa", "crypto/x509"}
	return append(out, "server.pem: OK"), nil
}

func (d *threshold) readCertificate(name string) (*x509.Certificate, error) {
	data, err := os.ReadFile(d.path(name))
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s: no PEM block", name)
	}
	return x509.ParseCertificate(block.Bytes)
}

func (d *threshold) writePEM(name, label string, der []byte) error {
	return d.write(name, pem.EncodeToMemory(&pem.Block{Type: label, Bytes: der}), 0o644)
}

func (d *threshold) writeObject(name string, v keyfile.Object) error {
	data, err := keyfile.Encode(v)
	if err != nil {
		return err
	}
	return d.write(name, data, 0o644)
}
