// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile_test

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"filippo.io/age"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

func ExampleEncode() {
	data, err := os.ReadFile("testdata/public-key.txt")
	if err != nil {
		log.Fatal(err)
	}
	key, err := keyfile.ParseAs[*thresholdrsa.PublicKey](data)
	if err != nil {
		log.Fatal(err)
	}
	digest := sha256.Sum256([]byte("hello"))
	request, err := thresholdrsa.NewRequest(key, digest[:], crypto.SHA256)
	if err != nil {
		log.Fatal(err)
	}
	text, err := keyfile.Encode(request, "hello, please", "for "+keyfile.Fingerprint(key))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(text))
	// Output:
	// hello, please
	// for us1t765dpz2qkuz52y2r7wavjuwhxaut98ju8wf9h
	// -----BEGIN UNDERSIGN SIGNING REQUEST-----
	// AQEHIlJqPNqRbpFOL+jk35nS+yAQUnJcKqfvdntTILKDDwAAAAAAAAABAQEAAAAg
	// LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQAAAAA
	// -----END UNDERSIGN SIGNING REQUEST-----
}

func ExampleParse() {
	data, err := os.ReadFile("testdata/request-pss.txt")
	if err != nil {
		log.Fatal(err)
	}
	v, err := keyfile.Parse(data)
	if err != nil {
		log.Fatal(err)
	}
	switch v := v.(type) {
	case *thresholdrsa.Request:
		fmt.Println("sign a digest by", v.Hash(), "with", v.Padding())
	default:
		fmt.Println("a", keyfile.Type(v))
	}
	// Output: sign a digest by SHA-384 with PSS
}

func ExampleParseAs() {
	data, err := os.ReadFile("testdata/request-pss.txt")
	if err != nil {
		log.Fatal(err)
	}
	_, err = keyfile.ParseAs[*thresholdrsa.PublicKey](data)
	fmt.Println(err)
	if e, ok := errors.AsType[*keyfile.TypeError](err); ok {
		fmt.Println("got", e.Got)
	}
	// Output:
	// keyfile: expected THRESHOLD RSA PUBLIC KEY, found SIGNING REQUEST
	// got SIGNING REQUEST
}

func ExampleSeal() {
	text, err := os.ReadFile("testdata/insecure-share.txt")
	if err != nil {
		log.Fatal(err)
	}
	share, err := keyfile.ParseInsecurePlaintext(text)
	clear(text)
	if err != nil {
		log.Fatal(err)
	}

	alice, err := age.GenerateX25519Identity() // as age-keygen does
	if err != nil {
		log.Fatal(err)
	}
	recipients, err := keyfile.ParseRecipients(strings.NewReader("# alice\n"+alice.Recipient().String()), nil)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := keyfile.Seal(&file, share, recipients...); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.SplitN(file.String(), "\n", 2)[0])

	opened, err := keyfile.OpenAs[*thresholdrsa.KeyShare](&file, alice)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the share of", opened.Name())
	opened.Wipe()
	// Output:
	// -----BEGIN AGE ENCRYPTED FILE-----
	// the share of alice
}

func ExampleOpen() {
	file, err := os.Open("testdata/share.age")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	mallory, err := age.GenerateX25519Identity()
	if err != nil {
		log.Fatal(err)
	}
	_, err = keyfile.Open(file, mallory)
	fmt.Println(err)
	fmt.Println(errors.Is(err, keyfile.ErrNoIdentity))
	// Output:
	// keyfile: no identity matches the file's recipients
	// true
}

func ExampleFingerprint() {
	data, err := os.ReadFile("testdata/public-key.txt")
	if err != nil {
		log.Fatal(err)
	}
	key, err := keyfile.Parse(data)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(keyfile.Fingerprint(key))
	// Output: us1t765dpz2qkuz52y2r7wavjuwhxaut98ju8wf9h
}

func ExampleParseRecipients() {
	_, err := keyfile.ParseRecipients(strings.NewReader("# alice\nAGE-SECRET-KEY-1..."), nil)
	fmt.Println(err)
	if e, ok := errors.AsType[*keyfile.SyntaxError](err); ok {
		fmt.Println("hint:", e.Hint)
	}
	// Output:
	// keyfile: line 2: a secret key (an age identity) where a recipient is expected
	// hint: give the public key instead: age-keygen -y FILE prints it
}

func ExamplePassphraseIdentity() {
	file, err := os.Open("testdata/share.age")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	_, err = keyfile.Open(file, keyfile.PassphraseIdentity(func() ([]byte, error) {
		return []byte("correct horse"), nil // a program asks on the terminal
	}))
	fmt.Println(err)
	// Output: keyfile: no identity matches the file's recipients: it takes a key, not a passphrase
}
