// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa_test

import (
	"bufio"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"log"
	"math/big"
	"os"
	"strings"
	"time"

	"github.com/undersign/undersign/thresholdrsa"
)

// exampleKey stands for GenerateKey, which takes seconds: it reads a committed test
// key.
func exampleKey() *rsa.PrivateKey {
	f, err := os.Open("testdata/keys.txt")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		name, primes, _ := strings.Cut(sc.Text(), " ")
		if name != "safe-2048-b" {
			continue
		}
		p, q := new(big.Int), new(big.Int)
		if _, err := fmt.Sscanf(primes, "%x %x", p, q); err != nil {
			log.Fatal(err)
		}
		one := big.NewInt(1)
		phi := new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one))
		priv := &rsa.PrivateKey{PublicKey: rsa.PublicKey{N: new(big.Int).Mul(p, q), E: 65537}, Primes: []*big.Int{p, q}}
		priv.D = new(big.Int).ModInverse(big.NewInt(65537), phi)
		priv.Precompute()
		return priv
	}
	log.Fatal("no key")
	return nil
}

func ExampleDeal() {
	priv := exampleKey() // thresholdrsa.GenerateKey(ctx, 4096, nil)
	dealing, shares, err := thresholdrsa.Deal(priv, 2, 3, &thresholdrsa.DealOptions{Names: []string{"alice", "bob", "carol"}})
	if err != nil {
		log.Fatal(err)
	}
	thresholdrsa.Erase(priv)

	// Every holder checks what it got.
	for _, s := range shares {
		if err := s.CheckDealing(dealing); err != nil {
			log.Fatal(err)
		}
	}

	// Anybody makes a request, two of the three answer it, anybody combines.
	public := dealing.PublicKey()
	digest := sha256.Sum256([]byte("hello"))
	request, err := thresholdrsa.NewRequest(public, digest[:], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: crypto.SHA256})
	if err != nil {
		log.Fatal(err)
	}
	alice, err := shares[0].Sign(request)
	if err != nil {
		log.Fatal(err)
	}
	carol, err := shares[2].Sign(request)
	if err != nil {
		log.Fatal(err)
	}
	sig, bad, err := public.Combine(request, alice, carol)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("bad shares:", len(bad))
	fmt.Println("verified by crypto/rsa:", rsa.VerifyPSS(public.RSA(), crypto.SHA256, digest[:], sig, nil) == nil)

	_, _, err = public.Combine(request, alice)
	fmt.Println(err)
	fmt.Println(shares[1].Name())
	// Output:
	// bad shares: 0
	// verified by crypto/rsa: true
	// thresholdrsa: quorum not reached: there are 1 of the 2 needed
	// bob
}

func ExampleImport() {
	priv := exampleKey() // thresholdrsa.ParsePrivateKey(file)
	dealing, _, err := thresholdrsa.Import(priv, 2, 3, nil)
	if err != nil {
		log.Fatal(err)
	}
	p := dealing.PublicKey()
	fmt.Println(p.Form(), p.Threshold(), p.NumHolders(), p.Epoch())
	// Output: integer 2 3 1
}

func ExamplePublicKey_Combine() {
	dealing, shares, err := thresholdrsa.Deal(exampleKey(), 2, 3, nil)
	if err != nil {
		log.Fatal(err)
	}
	public := dealing.PublicKey()
	digest := sha256.Sum256([]byte("hello"))
	request, err := thresholdrsa.NewRequest(public, digest[:], crypto.SHA256) // PKCS #1 v1.5
	if err != nil {
		log.Fatal(err)
	}
	var answers []*thresholdrsa.SignatureShare
	for _, s := range shares {
		a, err := s.Sign(request)
		if err != nil {
			log.Fatal(err)
		}
		answers = append(answers, a)
	}
	// Holder 1's answer was changed on its way.
	b, _ := answers[0].MarshalBinary()
	b[100] ^= 1
	if err := answers[0].UnmarshalBinary(b); err != nil {
		log.Fatal(err)
	}
	sig, bad, err := public.Combine(request, answers...)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(request.Verify(public.RSA(), sig))
	for _, e := range bad {
		fmt.Println(e.Index, e.Holder, errors.Is(e, thresholdrsa.ErrShare))
	}
	// Output:
	// <nil>
	// 1 holder-1 true
}

func ExampleKeyShare_SignBatch() {
	dealing, shares, err := thresholdrsa.Deal(exampleKey(), 2, 3, nil)
	if err != nil {
		log.Fatal(err)
	}
	public := dealing.PublicKey()
	var requests []*thresholdrsa.Request
	for i := range 8 {
		digest := sha256.Sum256(fmt.Appendf(nil, "document %d", i))
		r, err := thresholdrsa.NewRequest(public, digest[:], crypto.SHA256)
		if err != nil {
			log.Fatal(err)
		}
		requests = append(requests, r)
	}
	first, err1 := shares[0].SignBatch(requests)
	second, err2 := shares[1].SignBatch(requests)
	if err := errors.Join(err1, err2); err != nil {
		log.Fatal(err)
	}
	for i, r := range requests {
		if _, _, err := public.Combine(r, first[i], second[i]); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(len(requests), "signatures")
	// Output: 8 signatures
}

func ExampleNewSigner() {
	dealing, shares, err := thresholdrsa.Deal(exampleKey(), 2, 3, nil)
	if err != nil {
		log.Fatal(err)
	}
	// collect asks the holders; here all of them are in this process.
	collect := func(r *thresholdrsa.Request) (answers []*thresholdrsa.SignatureShare, err error) {
		for _, s := range shares[:2] {
			a, err := s.Sign(r)
			if err != nil {
				return nil, err
			}
			answers = append(answers, a)
		}
		return answers, nil
	}
	ca := thresholdrsa.NewSigner(dealing.PublicKey(), collect)

	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "Quorum CA"},
		NotBefore:             time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:              time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
		SignatureAlgorithm:    x509.SHA256WithRSAPSS,
	}
	der, err := x509.CreateCertificate(nil, template, template, ca.Public(), ca)
	if err != nil {
		log.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(cert.Subject, cert.SignatureAlgorithm, cert.CheckSignatureFrom(cert))
	// Output: CN=Quorum CA SHA256-RSAPSS <nil>
}

func ExampleProposeReshare() {
	dealing, shares, err := thresholdrsa.Deal(exampleKey(), 2, 3, nil)
	if err != nil {
		log.Fatal(err)
	}
	old := dealing.PublicKey()

	// Those who are to hold the key next publish a card each.
	var keys []*thresholdrsa.ReceiverKey
	var cards []*thresholdrsa.Receiver
	for _, name := range []string{"dora", "emil", "fred"} {
		k, err := thresholdrsa.NewReceiver(name)
		if err != nil {
			log.Fatal(err)
		}
		card, err := k.Receiver()
		if err != nil {
			log.Fatal(err)
		}
		keys, cards = append(keys, k), append(cards, card)
	}

	// Two of the old holders contribute to a run that everybody has read.
	proposal, err := thresholdrsa.ProposeReshare(old, []int{1, 3}, 2, cards)
	if err != nil {
		log.Fatal(err)
	}
	var contributions []*thresholdrsa.Contribution
	for _, i := range proposal.Contributors() {
		c, err := shares[i-1].Contribute(proposal)
		if err != nil {
			log.Fatal(err)
		}
		contributions = append(contributions, c)
	}

	// The receivers check all of it, store their shares, and acknowledge.
	var next []*thresholdrsa.KeyShare
	var acks []*thresholdrsa.Ack
	for _, k := range keys {
		s, ack, err := k.Receive(old, proposal, contributions, nil)
		if err != nil {
			log.Fatal(err)
		}
		next, acks = append(next, s), append(acks, ack)
	}

	// A certificate of enough acknowledgements ends the old epoch.
	certificate, err := thresholdrsa.Commit(old, proposal, contributions, acks, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range shares {
		if _, err := s.Finish(certificate, old, nil); err != nil { // wipes the share
			log.Fatal(err)
		}
	}
	for i, s := range next {
		if next[i], err = s.Finish(certificate, old, nil); err != nil {
			log.Fatal(err)
		}
	}
	public := next[0].PublicKey()
	fmt.Println(public.Epoch(), public.RSA().Equal(old.RSA()))

	digest := sha256.Sum256([]byte("hello"))
	request, err := thresholdrsa.NewRequest(public, digest[:], crypto.SHA256)
	if err != nil {
		log.Fatal(err)
	}
	_, err = shares[0].Sign(request)
	fmt.Println(err)
	a, err := next[1].Sign(request)
	if err != nil {
		log.Fatal(err)
	}
	b, err := next[2].Sign(request)
	if err != nil {
		log.Fatal(err)
	}
	sig, _, err := public.Combine(request, a, b)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(request.Verify(old.RSA(), sig))
	// Output:
	// 2 true
	// thresholdrsa: the share has been wiped
	// <nil>
}
