// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The encodings against crypto/rsa's, by undoing its signatures: every size of
// modulus modulo 8, every hash, salts from one byte to the maximum.
func TestEncodingsAgainstStandardLibrary(t *testing.T) {
	for _, name := range []string{"safe-1024", "plain-2047", "safe-2048-a", "plain-2049", "plain-2050", "plain-2055", "safe-3072"} {
		priv := privateKey(t, name, 65537)
		bits := priv.N.BitLen()
		size := (bits + 7) / 8
		public := func(sig []byte, err error) *big.Int {
			if err != nil {
				t.Fatal(err)
			}
			x := new(big.Int).SetBytes(sig)
			return x.Exp(x, big.NewInt(int64(priv.E)), priv.N)
		}
		for _, h := range testHashes {
			digest := digestOf(h, name)
			em, err := encodePKCS1v15(h, digest, size)
			if err != nil || len(em) != size || public(rsa.SignPKCS1v15(nil, priv, h, digest)).Cmp(new(big.Int).SetBytes(em)) != 0 {
				t.Errorf("%s, %v: PKCS1v15: %v", name, h, err)
			}
			most := maxSalt(h, bits-1)
			if _, err := encodePSS(h, digest, make([]byte, most+1), bits-1); err == nil {
				t.Errorf("%s, %v: PSS: a salt of %d bytes fits", name, h, most+1)
			}
			for _, length := range []int{1, 20, most - 1, most} {
				em := public(rsa.SignPSS(rand.Reader, priv, h, digest, &rsa.PSSOptions{SaltLength: length})).FillBytes(make([]byte, (bits+6)/8))
				if got, err := encodePSS(h, digest, saltOf(t, em, h, bits-1, length), bits-1); err != nil || !bytes.Equal(got, em) {
					t.Errorf("%s, %v: PSS with a salt of %d: %v", name, h, length, err)
				}
			}
			// The maximum is crypto/rsa's.
			sig, err := rsa.SignPSS(rand.Reader, priv, h, digest, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthAuto})
			if err != nil {
				t.Fatal(err)
			}
			if err := rsa.VerifyPSS(&priv.PublicKey, h, digest, sig, &rsa.PSSOptions{SaltLength: most}); err != nil {
				t.Errorf("%s, %v: the maximum isn't %d", name, h, most)
			}
		}
	}
}

// saltOf takes the salt out of an encoded message.
func saltOf(t testing.TB, em []byte, h crypto.Hash, emBits, length int) []byte {
	t.Helper()
	db := bytes.Clone(em[:len(em)-h.Size()-1])
	mgf1XOR(db, h.New(), em[len(em)-h.Size()-1:len(em)-1])
	db[0] &= 0xff >> (8*len(em) - emBits)
	if db[len(db)-length-1] != 1 {
		t.Fatalf("no salt of %d bytes", length)
	}
	return db[len(db)-length:]
}

// Signatures without randomness are those of crypto/rsa to the byte, dealt and
// imported.
func TestSameSignatures(t *testing.T) {
	for _, name := range []string{"safe-2048-a", "plain-2049"} {
		priv := privateKey(t, name, 65537)
		_, shares := sharing(t, name, 2, 2)
		for _, h := range testHashes {
			digest := digestOf(h, "same")
			r, err := NewRequest(shares[0].key, digest, h)
			if err != nil {
				t.Fatal(err)
			}
			want, err := rsa.SignPKCS1v15(nil, priv, h, digest)
			if err != nil {
				t.Fatal(err)
			}
			if got := quorumSign(t, r, shares); !bytes.Equal(got, want) {
				t.Errorf("%s, %v: %x, want %x", name, h, got, want)
			}
		}
		// Another's PSS signature, with its salt given.
		digest := digestOf(crypto.SHA384, "pss")
		want, err := rsa.SignPSS(rand.Reader, priv, crypto.SHA384, digest, &rsa.PSSOptions{SaltLength: 24})
		if err != nil {
			t.Fatal(err)
		}
		x := new(big.Int).SetBytes(want)
		x.Exp(x, big.NewInt(int64(priv.E)), priv.N)
		bits := priv.N.BitLen()
		salt := saltOf(t, x.FillBytes(make([]byte, (bits+6)/8)), crypto.SHA384, bits-1, 24)
		r, err := NewRequest(shares[0].key, digest, &SaltedPSS{crypto.SHA384, salt})
		if err != nil {
			t.Fatal(err)
		}
		if got := quorumSign(t, r, shares); !bytes.Equal(got, want) {
			t.Errorf("%s: PSS: %x, want %x", name, got, want)
		}
	}
}

// The derived salt is a function of key, hash and digest, and of its length only by
// being cut; a request made again is the same request.
func TestDerivedSalt(t *testing.T) {
	small(t)
	d, _ := sharing(t, "safe-1024", 2, 3)
	other, _ := sharing(t, "small-b", 3, 5)
	salt := func(p *PublicKey, h crypto.Hash, message string, length int) []byte {
		r, err := NewRequest(p, digestOf(h, message), &rsa.PSSOptions{SaltLength: length, Hash: h})
		if err != nil {
			t.Fatal(err)
		}
		again, err := NewRequest(p, digestOf(h, message), &rsa.PSSOptions{SaltLength: length, Hash: h})
		if err != nil || !r.Equal(again) || r.ID() != again.ID() {
			t.Errorf("a request made again is another: %v", err)
		}
		return r.Salt()
	}
	base := salt(d.key, crypto.SHA256, "m", 16)
	if len(base) != 16 || !bytes.Equal(base, salt(d.key, crypto.SHA256, "m", 32)[:16]) {
		t.Errorf("salt %x", base)
	}
	for what, s := range map[string][]byte{
		"digest": salt(d.key, crypto.SHA256, "n", 16), "hash": salt(d.key, crypto.SHA384, "m", 16), "key": salt(other.key, crypto.SHA256, "m", 16),
	} {
		if bytes.Equal(s, base) {
			t.Errorf("another %s has the same salt", what)
		}
	}
	if s := salt(d.key, crypto.SHA256, "m", rsa.PSSSaltLengthAuto); len(s) != 128-32-2 {
		t.Errorf("the longest salt has %d bytes", len(s))
	}
	if s := salt(d.key, crypto.SHA512, "m", rsa.PSSSaltLengthAuto); len(s) != 128-64-2 {
		t.Errorf("the longest salt with SHA-512 has %d bytes", len(s))
	}
	// Every holder of the key has it, whatever the epoch: it depends on n and e alone.
	again, _ := freshSharing(t, "safe-1024", 1, 2)
	if !bytes.Equal(base, salt(again.key, crypto.SHA256, "m", 16)) {
		t.Error("another sharing has another salt")
	}
}

// vectors reads a file of the shared vectors, or skips the test without them.
func vectors(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "shared", "vectors", "rsa", filepath.FromSlash(name)))
	if err != nil {
		t.Skip("the shared vectors aren't here")
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	s = strings.TrimPrefix(s, "0x")
	if len(s)%2 == 1 {
		s = "0" + s
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// RFC 9474, appendix A: the final signatures are plain RSASSA-PSS with a known salt.
func TestRFC9474(t *testing.T) {
	var file struct {
		Cases []struct {
			Name, P, Q, E, InputMsg, Salt, Sig string
			Input                              string `json:"input_msg"`
		}
	}
	vectors(t, "rfc9474-pss.json", &file)
	if len(file.Cases) != 4 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	var shares []*KeyShare
	for i, c := range file.Cases {
		if i == 0 {
			priv, err := newPrivateKey(new(big.Int).SetBytes(unhex(t, c.P)), new(big.Int).SetBytes(unhex(t, c.Q)), int(new(big.Int).SetBytes(unhex(t, c.E)).Int64()))
			if err != nil {
				t.Fatal(err)
			}
			if _, shares, err = Import(priv, 2, 3, nil); err != nil {
				t.Fatal(err)
			}
		}
		r, err := NewRequest(shares[0].key, digestOf(crypto.SHA384, string(unhex(t, c.Input))), &SaltedPSS{crypto.SHA384, unhex(t, c.Salt)})
		if err != nil {
			t.Fatal(err)
		}
		if got := quorumSign(t, r, shares[1:]); !bytes.Equal(got, unhex(t, c.Sig)) {
			t.Errorf("%s: %x", c.Name, got)
		}
	}
}

// Request.Verify against Wycheproof's signatures.
func TestWycheproof(t *testing.T) {
	names := []string{
		"rsa_pss_2048_sha256_mgf1_0", "rsa_pss_2048_sha256_mgf1_32", "rsa_pss_2048_sha384_mgf1_48", "rsa_pss_3072_sha256_mgf1_32",
		"rsa_pss_4096_sha512_mgf1_32", "rsa_pss_4096_sha512_mgf1_64", "rsa_pss_misc",
		"rsa_signature_2048_sha256", "rsa_signature_2048_sha384", "rsa_signature_2048_sha512", "rsa_signature_3072_sha256", "rsa_signature_4096_sha512",
	}
	hashes := map[string]crypto.Hash{"SHA-256": crypto.SHA256, "SHA-384": crypto.SHA384, "SHA-512": crypto.SHA512}
	verdicts := map[string]int{}
	for _, name := range names {
		var file struct {
			TestGroups []struct {
				Type, SHA, MGFSha, PublicKeyPem string
				SLen                            int
				Tests                           []struct {
					TcID             int
					Msg, Sig, Result string
				}
			}
		}
		vectors(t, "wycheproof/"+name+"_test.json", &file)
		for _, g := range file.TestGroups {
			h, ok := hashes[g.SHA]
			if !ok || g.MGFSha != "" && g.MGFSha != g.SHA {
				continue
			}
			block, _ := pem.Decode([]byte(g.PublicKeyPem))
			pub, err := x509.ParsePKIXPublicKey(block.Bytes)
			if err != nil {
				continue // of id-RSASSA-PSS, or with an exponent that crypto/rsa refuses
			}
			for _, c := range g.Tests {
				r := &Request{padding: PKCS1v15, hash: h, digest: digestOf(h, string(unhex(t, c.Msg)))}
				if g.Type == "RsassaPssVerify" {
					r.padding, r.salt = PSS, make([]byte, g.SLen)
				}
				err := r.Verify(pub.(*rsa.PublicKey), unhex(t, c.Sig))
				verdicts[c.Result+"/"+strconv.FormatBool(err == nil)]++
				if c.Result == "valid" && err != nil || c.Result == "invalid" && err == nil {
					t.Errorf("%s %d: %v, want %s", name, c.TcID, err, c.Result)
				}
			}
		}
	}
	if verdicts["valid/true"] < 100 || verdicts["invalid/false"] < 500 {
		t.Errorf("too few tests ran: %v", verdicts)
	}
	t.Log(verdicts)
}

// Mutated signatures verify under no request, and good ones under no other.
func TestVerifyRefuses(t *testing.T) {
	small(t)
	t.Setenv("GODEBUG", "rsa1024min=0")
	d, shares := sharing(t, "safe-1024", 2, 3)
	p := d.key
	digest := sha256.Sum256([]byte("m"))
	var rs []*Request
	for i, opts := range append(saltsFor(crypto.SHA256), crypto.SHA256, &rsa.PSSOptions{SaltLength: 31, Hash: crypto.SHA256}, crypto.SHA384) {
		dg := digest[:]
		if opts.HashFunc() == crypto.SHA384 {
			dg = append(dg, digest[:16]...)
		}
		r, err := NewRequest(p, dg, opts)
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		rs = append(rs, r)
	}
	pub := p.RSA()
	for i, r := range rs {
		sig := quorumSign(t, r, shares)
		for j, o := range rs {
			if (o.Verify(pub, sig) == nil) != (i == j) {
				t.Errorf("the signature of request %d for request %d: %v", i, j, o.Verify(pub, sig))
			}
		}
		for b := range sig {
			bad := bytes.Clone(sig)
			bad[b] ^= 4
			if r.Verify(pub, bad) == nil {
				t.Errorf("request %d: byte %d changed", i, b)
			}
		}
		plus := new(big.Int).Add(new(big.Int).SetBytes(sig), pub.N)
		for what, bad := range map[string][]byte{
			"none": nil, "zero": make([]byte, 128), "one": append(make([]byte, 127), 1), "n": pub.N.Bytes(), "s + n": plus.Bytes(),
			"n - s": new(big.Int).Sub(pub.N, new(big.Int).SetBytes(sig)).FillBytes(make([]byte, 128)), "short": sig[1:], "long": append([]byte{0}, sig...),
		} {
			if r.Verify(pub, bad) == nil {
				t.Errorf("request %d: %s verifies", i, what)
			}
		}
		otherKey, _ := sharing(t, "small-b", 3, 5)
		if r.Verify(otherKey.key.RSA(), sig) == nil {
			t.Error("verifies under another key")
		}
	}
}
