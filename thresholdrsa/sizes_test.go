// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

var testHashes = []crypto.Hash{crypto.SHA256, crypto.SHA384, crypto.SHA512}

func digestOf(h crypto.Hash, message string) []byte {
	d := h.New()
	d.Write([]byte(message))
	return d.Sum(nil)
}

// saltsFor returns options for PSS with an empty salt, 32 bytes and the maximum.
func saltsFor(h crypto.Hash) []crypto.SignerOpts {
	return []crypto.SignerOpts{
		&SaltedPSS{Hash: h},
		&rsa.PSSOptions{SaltLength: 32, Hash: h},
		&rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthAuto, Hash: h},
	}
}

// quorumSign signs by the first K holders.
func quorumSign(t testing.TB, r *Request, shares []*KeyShare) []byte {
	t.Helper()
	p := shares[0].key
	sig, bad, err := p.Combine(r, signAll(t, r, shares[:p.k])...)
	if err != nil || len(bad) != 0 {
		t.Fatalf("%v, %v", bad, err)
	}
	return sig
}

// verifyEverywhere checks a signature by the definition, by Request.Verify and by
// crypto/rsa itself, and that none of them takes another signature.
func verifyEverywhere(t testing.TB, p *PublicKey, r *Request, sig []byte) {
	t.Helper()
	checkRaw(t, p, r, sig)
	pub := p.RSA()
	direct := func(sig []byte) error {
		if r.padding == PKCS1v15 {
			return rsa.VerifyPKCS1v15(pub, r.hash, r.digest, sig)
		}
		// Whatever the salt, which an empty one needs.
		return rsa.VerifyPSS(pub, r.hash, r.digest, sig, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthAuto})
	}
	for what, err := range map[string]error{"Verify": r.Verify(pub, sig), "crypto/rsa": direct(sig)} {
		if err != nil {
			t.Errorf("%d bits, %v, %v, salt of %d: %s: %v", p.n.BitLen(), r.padding, r.hash, len(r.salt), what, err)
		}
	}
	for _, bad := range [][]byte{nil, sig[1:], append([]byte{0}, sig...), append(bytes.Clone(sig[:len(sig)-1]), sig[len(sig)-1]^1)} {
		if r.Verify(pub, bad) == nil {
			t.Errorf("%d bits, %v, salt of %d: a changed signature of %d bytes verifies", p.n.BitLen(), r.padding, len(r.salt), len(bad))
		}
	}
}

// Every padding, hash and length of salt, at every kind of size. 2049 bits make an
// encoded message of PSS one byte shorter than the modulus, 2050 and 2055 put its
// first bits elsewhere in the byte.
func TestSizes(t *testing.T) {
	for _, name := range []string{"safe-2048-a", "plain-2048", "plain-2049", "plain-2050", "plain-2055", "safe-3072", "safe-4096", "safe-8192"} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "safe-8192" {
				t.Skip("slow")
			}
			t.Parallel()
			d, shares := sharing(t, name, 2, 2)
			p := d.key
			if err := d.Verify(); err != nil {
				t.Fatal(err)
			}
			hashes := testHashes
			if p.n.BitLen() > 4096 {
				hashes = hashes[:1]
			}
			for _, h := range hashes {
				for _, opts := range append(saltsFor(h), h) {
					r, err := NewRequest(p, digestOf(h, name), opts)
					if err != nil {
						t.Fatal(err)
					}
					verifyEverywhere(t, p, r, quorumSign(t, r, shares))
				}
			}
		})
	}
}

// 300 PSS signatures by small quorums: with a modulus a bit short of what its
// primes were meant for, half of them would fail if the size weren't exact.
func TestManyPSS(t *testing.T) {
	small(t)
	t.Setenv("GODEBUG", "rsa1024min=0")
	n := 0
	for _, name := range []string{"safe-1024", "plain-1024", "plain-1023", "plain-2047"} {
		d, shares := sharing(t, name, 2, 2)
		rounds := 30
		if name == "plain-2047" {
			rounds = 10
		}
		for i := range rounds {
			for _, opts := range saltsFor(crypto.SHA256) {
				r, err := NewRequest(d.key, digestOf(crypto.SHA256, fmt.Sprint(name, i)), opts)
				if err != nil {
					t.Fatal(err)
				}
				verifyEverywhere(t, d.key, r, quorumSign(t, r, shares))
				n++
			}
		}
	}
	if n != 300 {
		t.Errorf("%d signatures", n)
	}
}

// An opensslVerifier asks the openssl program.
type opensslVerifier struct {
	t   *testing.T
	dir string
	bin string
}

func newOpenSSL(t *testing.T) *opensslVerifier {
	t.Helper()
	bin, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("openssl is not installed")
	}
	return &opensslVerifier{t, t.TempDir(), bin}
}

func (o *opensslVerifier) write(name string, b []byte) string {
	o.t.Helper()
	path := filepath.Join(o.dir, name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		o.t.Fatal(err)
	}
	return path
}

// verify returns nil if openssl verifies sig with exactly the request's salt length.
func (o *opensslVerifier) verify(p *PublicKey, r *Request, sig []byte) error {
	o.t.Helper()
	der, err := x509.MarshalPKIXPublicKey(p.RSA())
	if err != nil {
		o.t.Fatal(err)
	}
	key := o.write("key.pem", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	hash := map[crypto.Hash]string{crypto.SHA256: "sha256", crypto.SHA384: "sha384", crypto.SHA512: "sha512"}[r.hash]
	args := []string{"pkeyutl", "-verify", "-pubin", "-inkey", key, "-in", o.write("digest", r.digest), "-sigfile", o.write("sig", sig),
		"-pkeyopt", "digest:" + hash}
	if r.padding == PSS {
		args = append(args, "-pkeyopt", "rsa_padding_mode:pss", "-pkeyopt", "rsa_mgf1_md:"+hash,
			"-pkeyopt", "rsa_pss_saltlen:"+strconv.Itoa(len(r.salt)))
	}
	out, err := exec.Command(o.bin, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%v: %s", err, out)
	}
	return nil
}

func TestOpenSSL(t *testing.T) {
	names, rounds := []string{"safe-2048-a", "plain-2049", "plain-2050"}, 1
	if long() {
		names = []string{"safe-2048-a", "safe-2048-b", "plain-2049", "plain-2050", "plain-2055", "safe-3072", "safe-4096"}
		rounds = 15 // 7 keys, 3 lengths of salt: 315
	}
	t.Parallel()
	o := newOpenSSL(t)
	n := 0
	for _, name := range names {
		d, shares := sharing(t, name, 2, 2)
		for i := range rounds {
			h := testHashes[i%len(testHashes)]
			for _, opts := range append(saltsFor(h), h) {
				r, err := NewRequest(d.key, digestOf(h, fmt.Sprint(name, i)), opts)
				if err != nil {
					t.Fatal(err)
				}
				sig := quorumSign(t, r, shares)
				if err := o.verify(d.key, r, sig); err != nil {
					t.Errorf("%s, %v, %v, salt of %d: %v", name, r.padding, h, len(r.salt), err)
				}
				if r.padding == PSS {
					n++
				}
				if i == 0 {
					sig[len(sig)-1] ^= 1
					if o.verify(d.key, r, sig) == nil {
						t.Errorf("%s: a changed signature verifies", name)
					}
				}
			}
		}
	}
	t.Logf("%d PSS signatures verified by openssl", n)
	if long() && n < 300 {
		t.Errorf("only %d PSS signatures", n)
	}
}

// All kinds of thresholds, dealt and imported.
func TestThresholds(t *testing.T) {
	small(t)
	for _, c := range []struct{ k, l int }{{1, 1}, {1, 2}, {2, 2}, {1, 5}, {5, 5}, {2, 5}, {4, 6}, {7, 9}, {1, 20}, {2, 20}} {
		for _, name := range []string{"small-a", "plain-1024"} {
			d, shares := freshSharing(t, name, c.k, c.l)
			if err := d.Verify(); err != nil {
				t.Errorf("%s (%d,%d): %v", name, c.k, c.l, err)
			}
			if c.l <= 9 {
				signSubsets(t, shares, "thresholds")
			} else {
				r := request(t, d.key, "thresholds")
				checkRaw(t, d.key, r, quorumSign(t, r, shares))
				checkRaw(t, d.key, r, quorumSign(t, r, shares[c.l-c.k:]))
			}
			for _, s := range shares {
				if natBig(s.s).Cmp(d.key.smax) >= 0 || len(s.s) != (d.key.ShareBits()+63)/64 {
					t.Errorf("%s (%d,%d): share %d is out of range", name, c.k, c.l, s.index)
				}
			}
		}
	}
	for _, c := range []struct{ e, k, l int }{{257, 3, 5}, {257, 2, 255}, {3, 2, 2}, {7, 3, 5}, {17, 4, 6}, {1<<31 - 1, 2, 3}} {
		for _, deal := range []func(*rsa.PrivateKey, int, int, *DealOptions) (*Dealing, []*KeyShare, error){Deal, Import} {
			d, shares, err := deal(privateKey(t, "small-a", c.e), c.k, c.l, nil)
			if err != nil {
				t.Errorf("e = %d, (%d,%d): %v", c.e, c.k, c.l, err)
				continue
			}
			r := request(t, d.key, "exponents")
			checkRaw(t, d.key, r, quorumSign(t, r, shares))
			if c.l < 10 {
				signSubsets(t, shares, "exponents")
			}
		}
	}
}

// The largest sharing, at the smallest size for use.
func TestLargestSharing(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	t.Parallel()
	start := time.Now()
	d, shares := freshSharing(t, "safe-2048-b", 128, 255)
	t.Logf("dealing: %v", time.Since(start))
	r := request(t, d.key, "largest")
	sigs := make([]*SignatureShare, 0, 128)
	for i := range 128 {
		sigs = append(sigs, sign(t, r, shares[2*i%255]))
	}
	start = time.Now()
	sig, bad, err := d.key.Combine(r, sigs...)
	if err != nil || len(bad) != 0 {
		t.Fatalf("%v, %v", bad, err)
	}
	t.Logf("combining: %v", time.Since(start))
	verifyEverywhere(t, d.key, r, sig)
	if _, _, err := d.key.Combine(r, sigs[1:]...); err == nil {
		t.Error("127 of 128 sign")
	}
	b, _ := d.MarshalBinary()
	if err := new(Dealing).UnmarshalBinary(b); err != nil {
		t.Error(err)
	}
}

// A key of crypto/rsa's own, whose primes aren't safe: every quorum signs.
func TestImportGenerated(t *testing.T) {
	t.Parallel()
	priv, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	d, shares, err := Import(priv, 3, 5, &DealOptions{Names: []string{"a", "b", "c", "d", "e"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range shares {
		if err := s.CheckDealing(d); err != nil {
			t.Error(err)
		}
	}
	signSubsets(t, shares, "imported")
	r := request(t, d.key, "imported")
	verifyEverywhere(t, d.key, r, quorumSign(t, r, shares))
	// The file's d isn't used, only p, q and e: one that is larger by lambda does as well.
	other := *priv
	other.D = new(big.Int).Add(priv.D, lambda(priv.Primes[0], priv.Primes[1]))
	other.Precomputed = rsa.PrecomputedValues{}
	_, shares, err = Import(&other, 2, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	r = request(t, shares[0].key, "d")
	checkRaw(t, shares[0].key, r, quorumSign(t, r, shares))
}
