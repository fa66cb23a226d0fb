// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bufio"
	"bytes"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"math/big"
	"os"
	"strings"
	"sync"
	"testing"
)

//go:embed testdata/keys.txt
var testPrimes []byte

// long reports whether the long campaigns are asked for.
func long() bool { return os.Getenv("UNDERSIGN_LONG") == "1" }

// needLong skips a test that takes minutes.
func needLong(t *testing.T) {
	t.Helper()
	if !long() {
		t.Skip("UNDERSIGN_LONG=1 runs it")
	}
}

// primesOf returns the primes of a committed key.
func primesOf(t testing.TB, name string) (p, q *big.Int) {
	t.Helper()
	sc := bufio.NewScanner(bytes.NewReader(testPrimes))
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		if len(f) == 3 && f[0] == name {
			p, ok1 := new(big.Int).SetString(f[1], 16)
			q, ok2 := new(big.Int).SetString(f[2], 16)
			if !ok1 || !ok2 {
				t.Fatalf("testdata/keys.txt: %s isn't hexadecimal", name)
			}
			return p, q
		}
	}
	t.Fatalf("testdata/keys.txt: no key %q", name)
	return nil, nil
}

// privateKey returns a committed key with the public exponent e.
func privateKey(t testing.TB, name string, e int) *rsa.PrivateKey {
	t.Helper()
	p, q := primesOf(t, name)
	priv, err := newPrivateKey(p, q, e)
	if err != nil {
		t.Fatal(err)
	}
	return priv
}

// small opens the door to toy keys. The small keys are large enough for the
// proofs' soundness (p', q' > 2^256) and for every padding but PSS with SHA-512
// and a long salt.
func small(t testing.TB) {
	t.Helper()
	minBits = 8
	t.Cleanup(func() { minBits = MinBits })
}

// A dealt sharing is made by the first test that asks for it.
type dealt struct {
	once   sync.Once
	d      *Dealing
	shares []*KeyShare
}

var dealtKeys sync.Map // *dealt by name, K and L

// sharing returns a sharing of a committed key, the same one for every test that
// asks for it: nobody changes it. Plain keys are imported, others dealt.
func sharing(t testing.TB, name string, k, l int) (*Dealing, []*KeyShare) {
	t.Helper()
	v, _ := dealtKeys.LoadOrStore(fmt.Sprint(name, k, l), new(dealt))
	s := v.(*dealt)
	s.once.Do(func() { s.d, s.shares = freshSharing(t, name, k, l) })
	if s.d == nil {
		t.Fatalf("%s (%d,%d) couldn't be dealt", name, k, l)
	}
	return s.d, s.shares
}

// freshSharing is sharing for a test that changes what it gets.
func freshSharing(t testing.TB, name string, k, l int) (*Dealing, []*KeyShare) {
	t.Helper()
	make := Deal
	if strings.HasPrefix(name, "plain") || name == "safe-8192" && !long() { // testing its primes takes seconds
		make = Import
	}
	d, shares, err := make(privateKey(t, name, 65537), k, l, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d, shares
}

// request returns a PSS request for a message under p, with a salt of 16 bytes.
func request(t testing.TB, p *PublicKey, message string) *Request {
	t.Helper()
	digest := sha256.Sum256([]byte(message))
	r, err := NewRequest(p, digest[:], &rsa.PSSOptions{SaltLength: 16, Hash: crypto.SHA256})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// signAll returns every holder's answer to a request.
func signAll(t testing.TB, r *Request, shares []*KeyShare) []*SignatureShare {
	t.Helper()
	out := make([]*SignatureShare, len(shares))
	for i, s := range shares {
		out[i] = sign(t, r, s)
	}
	return out
}

func sign(t testing.TB, r *Request, s *KeyShare) *SignatureShare {
	t.Helper()
	sig, err := s.Sign(r)
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

// pick returns the shares of the holders of set.
func pick[T any](all []T, set []int) (out []T) {
	for _, i := range set {
		out = append(out, all[i-1])
	}
	return out
}

// checkRaw checks a signature by its definition: y < n, as wide as n, y^e = EM.
func checkRaw(t testing.TB, p *PublicKey, r *Request, sig []byte) {
	t.Helper()
	x, err := r.representative(p)
	if err != nil {
		t.Fatal(err)
	}
	y := new(big.Int).SetBytes(sig)
	if len(sig) != p.size() || y.Cmp(p.n) >= 0 || y.Exp(y, big.NewInt(int64(p.e)), p.n).Cmp(x) != 0 {
		t.Errorf("wrong signature: %x", sig)
	}
}

// wrap encodes x, applies f to the encoding, and decodes it again.
func wrap(t testing.TB, x *SignatureShare, f func(*SignatureShare)) *SignatureShare {
	t.Helper()
	y := clone(x)
	f(y)
	b, err := y.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	z := new(SignatureShare)
	if err := z.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	return z
}

func clone(x *SignatureShare) *SignatureShare {
	y := *x
	y.x, y.z = bytes.Clone(x.x), bytes.Clone(x.z)
	return &y
}
