// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
)

// Keys that mustn't be shared, with and without the door to toy keys: some checks
// are crypto/rsa's, and the door goes around those.
func TestDealRefuses(t *testing.T) {
	key := func(p, q *big.Int, e int) *rsa.PrivateKey {
		lam := lambda(p, q)
		d := new(big.Int).ModInverse(big.NewInt(int64(e)), lam)
		if d == nil {
			d = big.NewInt(3)
		}
		return &rsa.PrivateKey{PublicKey: rsa.PublicKey{N: new(big.Int).Mul(p, q), E: e}, D: d, Primes: []*big.Int{p, q}}
	}
	p, q := primesOf(t, "safe-2048-a")
	p2, q2 := primesOf(t, "safe-2048-b")
	plainP, plainQ := primesOf(t, "plain-2048")
	shortP, shortQ := primesOf(t, "plain-2047")
	wide, narrow := primesOf(t, "safe-4096")
	// p' prime, and 2p'+1 not.
	half, err := rand.Prime(rand.Reader, 1023)
	if err != nil {
		t.Fatal(err)
	}
	composite := new(big.Int).Lsh(half, 1)
	if composite.Add(composite, one).ProbablyPrime(20) {
		t.Skip("a safe prime by accident")
	}
	mismatched := key(p, q, 65537)
	mismatched.N = new(big.Int).Mul(p, q2)
	three := key(p, q, 65537)
	three.Primes = append(three.Primes, p2)
	three.N.Mul(three.N, p2)
	one := key(p, q, 65537)
	one.Primes = one.Primes[:1]
	for _, c := range []struct {
		name    string
		priv    *rsa.PrivateKey
		k, l    int
		imports bool // Import refuses it too
	}{
		{"composite p'", key(plainP, q, 65537), 2, 3, false},
		{"composite p' and q'", key(plainP, plainQ, 65537), 2, 3, false},
		{"composite p", key(composite, q, 65537), 2, 3, true},
		{"composite q", key(p, composite, 65537), 2, 3, true},
		{"p = q", key(p, p, 65537), 2, 3, true},
		{"modulus of other primes", mismatched, 2, 3, true},
		{"three primes", three, 2, 3, true},
		{"one prime", one, 2, 3, true},
		{"e = 1", key(p, q, 1), 2, 3, true},
		{"e = 2", key(p, q, 2), 2, 3, true},
		{"e = 4", key(p, q, 4), 2, 3, true},
		{"e = 65536", key(p, q, 65536), 2, 3, true},
		{"e = 3 with L = 3", key(p, q, 3), 2, 3, true},
		{"e = 3 with L = 5", key(p, q, 3), 3, 5, true},
		{"e = 5 with L = 5", key(p, q, 5), 3, 5, true},
		{"e = 9", key(p, q, 9), 2, 3, true},
		{"e = 65535", key(p, q, 65535), 2, 3, true},
		{"e = -65537", key(p, q, -65537), 2, 3, true},
		{"e = 13 with L = 17", key(p, q, 13), 2, 17, true},
		{"K = 0", key(p, q, 65537), 0, 3, true},
		{"K = -1", key(p, q, 65537), -1, 3, true},
		{"K = L+1", key(p, q, 65537), 4, 3, true},
		{"L = 0", key(p, q, 65537), 0, 0, true},
		{"L = -1", key(p, q, 65537), 1, -1, true},
		{"L = 256", key(p, q, 65537), 3, 256, true},
	} {
		for _, toy := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/toy=%v", c.name, toy), func(t *testing.T) {
				if toy {
					small(t)
				}
				if d, shares, err := Deal(c.priv, c.k, c.l, nil); err == nil || d != nil || shares != nil {
					t.Errorf("Deal: %v", err)
				}
				if !c.imports {
					return
				}
				if toy && strings.HasPrefix(c.name, "modulus of") || toy && c.name == "p = q" {
					return // the door's own
				}
				if d, shares, err := Import(c.priv, c.k, c.l, nil); err == nil || d != nil || shares != nil {
					t.Errorf("Import: %v", err)
				}
			})
		}
	}
	// The size: exactly as it is, no bit less.
	for _, priv := range []*rsa.PrivateKey{key(shortP, shortQ, 65537), privateKey(t, "safe-1024", 65537), key(new(big.Int).Mul(wide, narrow), new(big.Int).Mul(wide, p), 65537)} {
		if _, _, err := Deal(priv, 2, 3, nil); err == nil {
			t.Errorf("Deal takes %d bits", priv.N.BitLen())
		}
		if _, _, err := Import(priv, 2, 3, nil); err == nil {
			t.Errorf("Import takes %d bits", priv.N.BitLen())
		}
	}
	names := func(names ...string) *DealOptions { return &DealOptions{Names: names} }
	for name, opts := range map[string]*DealOptions{
		"too few names":   names("a", "b"),
		"too many names":  names("a", "b", "c", "d"),
		"a name twice":    names("a", "b", "a"),
		"an empty name":   names("a", "", "c"),
		"a long name":     names("a", "b", strings.Repeat("c", 65)),
		"a control":       names("a", "b", "c\n"),
		"not UTF-8":       names("a", "b", "c\xff"),
		"terminal escape": names("a", "b", "\x1b[2J"),
		"bidi override":   names("a", "b", "\u202ec"),
	} {
		if _, _, err := Deal(privateKey(t, "safe-2048-a", 65537), 2, 3, opts); err == nil {
			t.Errorf("%s: dealt", name)
		}
	}
}

func TestGenerateKeyRefuses(t *testing.T) {
	for _, bits := range []int{-1, 0, 512, 1024, 2047, 2049, 2050, 8196, 1 << 20} {
		if _, err := GenerateKey(context.Background(), bits, nil); err == nil {
			t.Errorf("a key of %d bits", bits)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := GenerateKey(ctx, 8192, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Every key has exactly the bits asked for, by definition of which the encoding of
// messages goes right; its primes are safe and differ.
func TestGenerateKeyBits(t *testing.T) {
	check := func(bits int) {
		t.Helper()
		priv, err := GenerateKey(context.Background(), bits, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, q := priv.Primes[0], priv.Primes[1]
		if n := new(big.Int).Mul(p, q); n.Cmp(priv.N) != 0 || n.BitLen() != bits || p.BitLen() != bits/2 || q.BitLen() != bits/2 {
			t.Errorf("%d bits: N of %d, primes of %d and %d", bits, priv.N.BitLen(), p.BitLen(), q.BitLen())
		}
		for _, x := range priv.Primes {
			if !x.ProbablyPrime(5) || !new(big.Int).Rsh(x, 1).ProbablyPrime(5) {
				t.Errorf("%v isn't a safe prime", x)
			}
		}
		if p.Cmp(q) == 0 || priv.E != 65537 {
			t.Errorf("p = q or e = %d", priv.E)
		}
		if bits >= MinBits {
			if err := priv.Validate(); err != nil {
				t.Error(err)
			}
		}
	}
	draws := 1
	if long() {
		draws = 10
	}
	for range draws {
		check(2048)
	}
	small(t)
	for bits := 160; bits <= 320; bits += 4 {
		check(bits)
	}
}

// A signer answers requests for its own record only. There is no field for an
// encoded message or a modulus, so that nobody can hand it one.
func TestRequestNamesAnotherKey(t *testing.T) {
	small(t)
	d, shares := sharing(t, "small-a", 3, 5)
	other, otherShares := sharing(t, "small-b", 3, 5)
	again, _ := freshSharing(t, "small-a", 3, 5)
	mine := request(t, d.key, "a")
	for name, r := range map[string]*Request{
		"another key":                request(t, other.key, "a"),
		"another sharing of the key": request(t, again.key, "a"),
		"another epoch":              {d.key.id, 2, mine.padding, mine.hash, mine.digest, mine.salt},
		"no key":                     {[32]byte{}, 1, mine.padding, mine.hash, mine.digest, mine.salt},
	} {
		var e *KeyError
		if s, err := shares[0].Sign(r); s != nil || !errors.As(err, &e) || e.Got != r.KeyID() || e.Want != d.key.ID() {
			t.Errorf("%s: Sign: %v", name, err)
		}
		if err := d.key.VerifyShare(r, sign(t, mine, shares[0])); !errors.As(err, &e) {
			t.Errorf("%s: VerifyShare: %v", name, err)
		}
		if sig, _, err := d.key.Combine(r, signAll(t, mine, shares)...); sig != nil || !errors.As(err, &e) {
			t.Errorf("%s: Combine: %v", name, err)
		}
	}
	if _, err := otherShares[0].Sign(mine); err == nil {
		t.Error("a share signs a request for another key")
	}
}

// Requests that can't be made, and encodings of such.
func TestRequestRefuses(t *testing.T) {
	small(t)
	d, shares := sharing(t, "small-a", 3, 5)
	p := d.key
	digest := sha256.Sum256([]byte("m"))
	longDigest := make([]byte, 64)
	for name, c := range map[string]struct {
		digest []byte
		opts   crypto.SignerOpts
	}{
		"no options":              {digest[:], nil},
		"no hash":                 {digest[:], crypto.Hash(0)},
		"SHA-1":                   {digest[:20], crypto.SHA1},
		"SHA-224":                 {digest[:28], crypto.SHA224},
		"SHA-512/256":             {digest[:], crypto.SHA512_256},
		"SHA3-256":                {digest[:], crypto.SHA3_256},
		"unknown hash":            {digest[:], crypto.Hash(99)},
		"PSS without hash":        {digest[:], &rsa.PSSOptions{SaltLength: 8}},
		"PSS with SHA-1":          {digest[:20], &rsa.PSSOptions{Hash: crypto.SHA1}},
		"given salt, no hash":     {digest[:], &SaltedPSS{}},
		"short digest":            {digest[:31], crypto.SHA256},
		"long digest":             {append(digest[:], 0), crypto.SHA256},
		"no digest":               {nil, crypto.SHA256},
		"digest of another hash":  {digest[:], crypto.SHA384},
		"short digest for PSS":    {digest[:31], &rsa.PSSOptions{Hash: crypto.SHA256}},
		"salt too long":           {digest[:], &rsa.PSSOptions{SaltLength: 63, Hash: crypto.SHA256}},
		"negative salt":           {digest[:], &rsa.PSSOptions{SaltLength: -2, Hash: crypto.SHA256}},
		"given salt too long":     {digest[:], &SaltedPSS{crypto.SHA256, make([]byte, 63)}},
		"hash and salt too long":  {longDigest, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: crypto.SHA512}},
		"salt of half the memory": {digest[:], &rsa.PSSOptions{SaltLength: 1 << 30, Hash: crypto.SHA256}},
	} {
		if r, err := NewRequest(p, c.digest, c.opts); err == nil || r != nil {
			t.Errorf("%s: made", name)
		}
	}
	// What doesn't show before the key is known is refused by everybody who knows it.
	for name, r := range map[string]*Request{
		"salt too long": {p.id, p.epoch, PSS, crypto.SHA256, digest[:], make([]byte, 63)},
		"far too long":  {p.id, p.epoch, PSS, crypto.SHA256, digest[:], make([]byte, MaxBits/8)},
	} {
		q := new(Request)
		b, _ := r.MarshalBinary()
		if err := q.UnmarshalBinary(b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := shares[0].Sign(q); err == nil {
			t.Errorf("%s: signed", name)
		}
		if _, _, err := p.Combine(q); err == nil || errors.Is(err, ErrQuorum) {
			t.Errorf("%s: Combine: %v", name, err)
		}
	}
	// The modulus too short for PKCS #1 v1.5 with SHA-512: 64 + 19 + 11 bytes.
	minBits = 8
	priv, err := GenerateKey(context.Background(), 320, nil)
	if err != nil {
		t.Fatal(err)
	}
	tiny, _, err := deal(priv, 1, 2, nil, FormModular, nats())
	if err != nil {
		t.Fatal(err)
	}
	for _, opts := range []crypto.SignerOpts{crypto.SHA256, crypto.SHA384, crypto.SHA512} {
		if _, err := NewRequest(tiny.key, make([]byte, opts.HashFunc().Size()), opts); err == nil {
			t.Errorf("%v fits 320 bits", opts)
		}
	}
}

// representative refuses what isn't a unit.
func TestUnit(t *testing.T) {
	n := big.NewInt(1187 * 1283)
	for x, want := range map[int64]bool{
		0: false, 1: true, 1187: false, 1283: false, 2 * 1187: false, 1187*1283 - 1: true,
		1187 * 1283: false, 1187*1283 + 1: false, -1: false, 31337: true,
	} {
		if got := unit(big.NewInt(x), n); got != want {
			t.Errorf("unit(%d) = %v", x, got)
		}
	}
}

// A PSS verifier that compares hashes as C strings takes any hash that agrees up to
// the first zero byte.
func TestVerifyComparesWholeHash(t *testing.T) {
	small(t)
	t.Setenv("GODEBUG", "rsa1024min=0")
	d, _ := sharing(t, "safe-1024", 2, 3)
	p := d.key
	priv := privateKey(t, "safe-1024", 65537)
	for _, salt := range [][]byte{nil, []byte("0123456789abcdef")} {
		var r *Request
		var em []byte
		at := -1 // of the zero byte
		for i := 0; at < 0; i++ {
			digest := sha256.Sum256(fmt.Appendf(nil, "message %d", i))
			var err error
			if r, err = NewRequest(p, digest[:], &SaltedPSS{crypto.SHA256, salt}); err != nil {
				t.Fatal(err)
			}
			if em, err = encodePSS(r.hash, r.digest, r.salt, p.n.BitLen()-1); err != nil {
				t.Fatal(err)
			}
			at = strings.IndexByte(string(em[len(em)-33:len(em)-20]), 0)
		}
		sign := func(em []byte) []byte {
			x := new(big.Int).SetBytes(em)
			return x.Exp(x, priv.D, p.n).FillBytes(make([]byte, p.size()))
		}
		if err := r.Verify(p.RSA(), sign(em)); err != nil {
			t.Fatal(err)
		}
		h := em[len(em)-33 : len(em)-1]
		for i := at + 1; i < len(h); i++ {
			// The mask follows the changed hash, so that all else is right.
			forged := append([]byte(nil), em...)
			fh := forged[len(em)-33 : len(em)-1]
			mgf1XOR(forged[:len(em)-33], sha256.New(), h)
			fh[i] ^= 1
			mgf1XOR(forged[:len(em)-33], sha256.New(), fh)
			forged[0] &= 0x7f
			if r.Verify(p.RSA(), sign(forged)) == nil {
				t.Errorf("salt %d: byte %d of the hash isn't compared", len(salt), i)
			}
		}
	}
}
