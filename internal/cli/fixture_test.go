// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"filippo.io/age"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// fixtureDir returns the directory that many tests start from. Making keys takes a
// while: they are made once, when first asked for.
var fixtureDir = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "undersign-fixture-")
	if err != nil {
		return "", err
	}
	madeFixture = dir
	return dir, makeFixture(dir)
})

var madeFixture string // what is to be removed at the end

// fixtureM runs tests and then removes the fixture.
type fixtureM struct{ *testing.M }

func (m fixtureM) Run() int {
	defer func() { os.RemoveAll(madeFixture) }() // nothing if it is empty
	return m.M.Run()
}

var fixtureHolders = []string{"alice", "bob", "carol", "dave", "erin"}

func makeFixture(dir string) error {
	var to []string
	for _, name := range fixtureHolders {
		if err := writeAgeKey(filepath.Join(dir, name)); err != nil {
			return err
		}
		to = append(to, filepath.Join(dir, name+".txt"))
	}
	safe, err := thresholdrsa.GenerateKey(context.Background(), 2048, nil)
	if err != nil {
		return err
	}
	plain, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	for name, priv := range map[string]*rsa.PrivateKey{"safe.pem": safe, "plain.pem": plain} {
		der, err := x509.MarshalPKCS8PrivateKey(priv)
		if err != nil {
			return err
		}
		text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "plain.jwk"), jwkOf(plain), 0o600); err != nil {
		return err
	}
	code, _, stderr := runTest("threshold", "deal", filepath.Join(dir, "safe.pem"), "-q", "-k", "3",
		"--to", strings.Join(to, ","), "-o", filepath.Join(dir, "key"))
	if code != 0 {
		return fmt.Errorf("deal: %s", stderr)
	}
	return nil
}

// jwkOf writes a private key as RFC 7518, section 6.3 has it.
func jwkOf(priv *rsa.PrivateKey) []byte {
	b64 := func(x *big.Int) string { return base64.RawURLEncoding.EncodeToString(x.Bytes()) }
	text, err := json.Marshal(map[string]string{
		"kty": "RSA", "n": b64(priv.N), "e": "AQAB", "d": b64(priv.D),
		"p": b64(priv.Primes[0]), "q": b64(priv.Primes[1]),
		"dp": b64(priv.Precomputed.Dp), "dq": b64(priv.Precomputed.Dq), "qi": b64(priv.Precomputed.Qinv),
	})
	if err != nil {
		panic(err)
	}
	return text
}

// writeAgeKey writes NAME.key, an age identity, and NAME.txt, its recipient.
func writeAgeKey(name string) error {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return err
	}
	if err := os.WriteFile(name+".key", []byte("# a test key\n"+id.String()+"\n"), 0o600); err != nil {
		return err
	}
	return os.WriteFile(name+".txt", []byte(id.Recipient().String()+"\n"), 0o644)
}

// cmdDealt is the command
//
//	dealt    copy here: the age keys NAME.key and NAME.txt of alice, bob, carol,
//	         dave and erin; safe.pem, an RSA key of 2048 bits with safe primes;
//	         key/, which is that key dealt to them, 3 of 5; plain.pem and plain.jwk,
//	         another RSA key, with ordinary primes
func cmdDealt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: dealt")
	}
	dir, err := fixtureDir()
	ts.Check(err)
	ts.Check(os.CopyFS(ts.MkAbs("."), os.DirFS(dir)))
	// CopyFS keeps no mode of its own; secrets are for their owner.
	for _, pattern := range []string{"*.key", "*.pem", "*.jwk", "key/*.share"} {
		files, err := filepath.Glob(ts.MkAbs(pattern))
		ts.Check(err)
		for _, file := range files {
			ts.Check(os.Chmod(file, 0o600))
		}
	}
}

// cmdAgeKey is the command
//
//	agekey NAME...    make the age keys NAME.key and NAME.txt
func cmdAgeKey(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: agekey NAME...")
	}
	for _, name := range args {
		ts.Check(writeAgeKey(ts.MkAbs(name)))
	}
}

// cmdForeign is the command
//
//	foreign    copy here what other libraries have dealt, from thresholdrsa's own
//	           tests, with the shares of tcrsa as tcrsa-share-N.json
func cmdForeign(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: foreign")
	}
	ts.Check(os.CopyFS(ts.MkAbs("."), os.DirFS(foreignDir)))
	var shares []json.RawMessage
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("tcrsa-shares.json")), &shares))
	for i, s := range shares {
		ts.Check(os.WriteFile(ts.MkAbs(fmt.Sprintf("tcrsa-share-%d.json", i+1)), s, 0o600))
	}
}

var foreignDir, _ = filepath.Abs("../../thresholdrsa/testdata/foreign")

// cmdTamper is the command
//
//	tamper IN OUT EDIT...    copy a PEM file and change its body. EDIT is
//
//	    OFFSET=HEX     overwrite bytes
//	    OFFSET=0xN     overwrite N bytes with zeros
//	    cut=N          drop the last N bytes
//	    append=HEX     add bytes
//	    negate=KEY     of a signature share: x by n-x
//
// The fields of a signature share of a 2048-bit key lie at: 2 key, 34 epoch, 42
// request, 74 index, 75 length of x, 79 x, 335 c, 367 length of z, 371 z.
func cmdTamper(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: tamper IN OUT EDIT...")
	}
	block, _ := pem.Decode([]byte(ts.ReadFile(args[0])))
	if block == nil {
		ts.Fatalf("%s isn't PEM", args[0])
	}
	b := block.Bytes
	for _, edit := range args[2:] {
		at, value, ok := strings.Cut(edit, "=")
		if !ok {
			ts.Fatalf("tamper: %q isn't an edit", edit)
		}
		switch at {
		case "cut":
			n, err := strconv.Atoi(value)
			ts.Check(err)
			b = b[:len(b)-n]
		case "append":
			more, err := hex.DecodeString(value)
			ts.Check(err)
			b = append(b, more...)
		case "negate":
			p, err := keyfile.ParseAs[*thresholdrsa.PublicKey]([]byte(ts.ReadFile(value)))
			ts.Check(err)
			x := new(big.Int).SetBytes(b[79:335])
			x.Sub(p.RSA().N, x).FillBytes(b[79:335])
		default:
			offset, err := strconv.Atoi(at)
			ts.Check(err)
			var with []byte
			if n, ok := strings.CutPrefix(value, "0x"); ok {
				n, err := strconv.Atoi(n)
				ts.Check(err)
				with = make([]byte, n)
			} else if with, err = hex.DecodeString(value); err != nil {
				ts.Check(err)
			}
			if copy(b[offset:], with); offset+len(with) > len(b) {
				ts.Fatalf("tamper: %s is beyond the end of %d bytes", edit, len(b))
			}
		}
	}
	block.Bytes = b
	var out bytes.Buffer
	ts.Check(pem.Encode(&out, block))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o644))
}
