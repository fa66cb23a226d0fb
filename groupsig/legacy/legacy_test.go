// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package legacy

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"math/big"
	"os"
	"strings"
	"sync"
	"testing"
)

func longTerm(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func public(name string) ed25519.PublicKey { return longTerm(name).Public().(ed25519.PublicKey) }

// setup makes a group, on a modulus that was found once but for long runs.
func setup(t testing.TB, s Scheme, label string) Group {
	t.Helper()
	r, ok := s.(*rsaScheme)
	if !ok || os.Getenv("UNDERSIGN_LONG") != "" {
		g, err := s.Setup(t.Context(), label)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	data, err := os.ReadFile("internal/strongrsa/testdata/primes.txt")
	if err != nil {
		t.Fatal(err)
	}
	var primes []*big.Int
	for _, line := range strings.Fields(string(data)) {
		if p, ok := new(big.Int).SetString(line, 16); ok && p.BitLen() == 1536 {
			primes = append(primes, p)
		}
	}
	issuer, err := r.s.IssuerOf(primes[0], primes[1])
	if err != nil {
		t.Fatal(err)
	}
	g, err := r.group(issuer, label)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestConformance is what every scheme must do, through the interface.
func TestConformance(t *testing.T) {
	for _, s := range Schemes() {
		if s.Name() == "acjt00" && os.Getenv("UNDERSIGN_LONG") == "" {
			continue // a join searches for a prime of 6,500 bits
		}
		t.Run(s.Name(), func(t *testing.T) { conform(t, s) })
	}
}

func conform(t *testing.T, s Scheme) {
	g := setup(t, s, "conformance")
	members := make(map[string]Member)
	for _, name := range []string{"ada", "bob"} {
		m, err := g.Join(name, longTerm(name))
		if err != nil {
			t.Fatal(err)
		}
		members[name] = m
	}
	if _, err := g.Join("ada", longTerm("ada")); err == nil {
		t.Error("one identity has joined twice")
	}
	if _, err := g.Join("", longTerm("ada")); err == nil {
		t.Error("nobody has joined")
	}
	if _, err := g.Join("cyd", nil); err == nil {
		t.Error("joined without a key")
	}
	v, err := s.ParsePublicKey(g.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	if v.ID() != g.ID() || !bytes.Equal(v.PublicKey(), g.PublicKey()) {
		t.Error("the public key changed")
	}
	for _, x := range Schemes() {
		if x.Name() != s.Name() {
			if _, err := x.ParsePublicKey(g.PublicKey()); err == nil {
				t.Errorf("%s takes the public key", x.Name())
			}
		}
	}
	msg := []byte("message")
	sigs := make(map[string][]byte)
	for name, m := range members {
		sig, err := m.Sign(msg, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(sig) != v.SignatureSize() {
			t.Errorf("a signature has %d bytes, want %d", len(sig), v.SignatureSize())
		}
		if err := v.Verify(msg, nil, sig); err != nil {
			t.Error(err)
		}
		for what, err := range map[string]error{
			"another message": v.Verify([]byte("massage"), nil, sig),
			"another context": v.Verify(msg, []byte("c"), sig),
			"a longer one":    v.Verify(msg, nil, append(bytes.Clone(sig), 0)),
			"a shorter one":   v.Verify(msg, nil, sig[1:]),
			"nothing":         v.Verify(msg, nil, nil),
			"zeros":           v.Verify(msg, nil, make([]byte, len(sig))),
		} {
			if err == nil {
				t.Errorf("accepted: %s", what)
			}
		}
		sigs[name] = sig
	}
	for name, sig := range sigs {
		who, opening, err := g.Open(msg, nil, sig)
		if err != nil || who != name {
			t.Fatalf("opened to %q, %v", who, err)
		}
		if who, err := v.VerifyOpening(msg, nil, sig, opening, public(name)); err != nil || who != name {
			t.Errorf("judged to be %q, %v", who, err)
		}
		for other, sig2 := range sigs {
			if other == name {
				continue
			}
			if _, err := v.VerifyOpening(msg, nil, sig2, opening, public(name)); err == nil {
				t.Error("an opening of another signature")
			}
			if _, err := v.VerifyOpening(msg, nil, sig, opening, public(other)); err == nil {
				t.Error("an opening under another key")
			}
		}
		for at := 0; at < len(opening); at += 101 {
			x := bytes.Clone(opening)
			x[at] ^= 1
			if _, err := v.VerifyOpening(msg, nil, sig, x, public(name)); err == nil {
				t.Errorf("an opening with byte %d changed", at)
			}
		}
		if _, _, err := g.Open([]byte("massage"), nil, sig); err == nil {
			t.Error("an invalid signature is opened")
		}
	}
	other := setup(t, s, "another group")
	if other.Verify(msg, nil, sigs["ada"]) == nil {
		t.Error("another group accepts")
	}
	if _, _, err := other.Open(msg, nil, sigs["ada"]); err == nil {
		t.Error("another group opens")
	}
	again, err := members["ada"].Sign(msg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(again[:64], sigs["ada"][:64]) {
		t.Error("two signatures begin alike")
	}

	tracer, traces := g.(Tracer)
	claimer, claims := members["ada"].(Claimer)
	verifier, verifies := v.(ClaimVerifier)
	if want := s.Name() == "kty04"; traces != want || claims != want || verifies != want {
		t.Errorf("traces %v, claims %v, verifies claims %v", traces, claims, verifies)
	}
	if traces {
		for name, sig := range sigs {
			if is, err := tracer.Trace("ada", msg, nil, sig); err != nil || is != (name == "ada") {
				t.Errorf("traced: %v, %v", is, err)
			}
		}
		if _, err := tracer.Trace("eve", msg, nil, sigs["ada"]); err == nil {
			t.Error("eve is traced")
		}
		claim, err := claimer.Claim(sigs["ada"], nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.VerifyClaim(msg, nil, sigs["ada"], nil, claim); err != nil {
			t.Error(err)
		}
		if verifier.VerifyClaim(msg, nil, sigs["bob"], nil, claim) == nil || verifier.VerifyClaim(msg, nil, again, nil, claim) == nil ||
			verifier.VerifyClaim([]byte("massage"), nil, sigs["ada"], nil, claim) == nil {
			t.Error("a claim of another signature")
		}
		// T4 to T7 of ada's in bob's: what traces and what claims look at.
		mixed, size := bytes.Clone(sigs["bob"]), 3072/8
		copy(mixed[3*size:7*size], sigs["ada"][3*size:])
		if claim, err = claimer.Claim(mixed, nil); err != nil {
			t.Fatal(err)
		}
		if verifier.VerifyClaim(msg, nil, mixed, nil, claim) == nil {
			t.Error("a claim of what nobody signed")
		}
		if _, err := tracer.Trace("ada", msg, nil, mixed); err == nil {
			t.Error("traced what nobody signed")
		}
	}

	// Many goroutines, with hostile input among them.
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			sig := bytes.Clone(sigs["ada"])
			if i%2 == 1 {
				sig[len(sig)-1] ^= 1
			}
			if err := v.Verify(msg, nil, sig); (err != nil) != (i%2 == 1) {
				t.Errorf("goroutine %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	members["ada"].Wipe()
	if _, err := members["ada"].Sign(msg, nil); err == nil {
		t.Error("a wiped member signs")
	}
	key, _ := members["bob"].MarshalBinary()
	t.Logf("signature %d bytes, public key %d, member key %d", v.SignatureSize(), len(g.PublicKey()), len(key))
}

func TestSchemes(t *testing.T) {
	var names []string
	for _, s := range Schemes() {
		names = append(names, s.Name())
		for _, b := range [][]byte{nil, {1}, {1, 1}, make([]byte, 4096)} {
			if _, err := s.ParsePublicKey(b); err == nil {
				t.Errorf("%s: accepted", s.Name())
			}
		}
	}
	if got := fmt.Sprint(names); got != "[acjt00 kty04 cl04 cg05]" {
		t.Error(got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Schemes()[0].Setup(ctx, "cancelled"); err == nil {
		t.Error("set up though cancelled")
	}
}

func Example() {
	for _, s := range Schemes() {
		if s.Name() != "cl04" { // the others search for a modulus
			continue
		}
		group, err := s.Setup(context.Background(), "example")
		if err != nil {
			panic(err)
		}
		_, key, _ := ed25519.GenerateKey(nil)
		member, err := group.Join("ada", key)
		if err != nil {
			panic(err)
		}
		sig, err := member.Sign([]byte("hello"), nil)
		if err != nil {
			panic(err)
		}
		fmt.Println(group.Verify([]byte("hello"), nil, sig))
		who, _, err := group.Open([]byte("hello"), nil, sig)
		fmt.Println(who, err)
	}
	// Output:
	// <nil>
	// ada <nil>
}
