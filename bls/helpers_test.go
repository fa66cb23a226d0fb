// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// vector reads a file of published vectors, which lie beside the repository.
func vector(t testing.TB, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../shared/vectors", name))
	if err != nil {
		t.Skip("no vectors here")
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// must fails the test if there is an error.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// numbered returns n secret keys, which are different and the same in each run.
func numbered(t testing.TB, n int) []*SecretKey {
	t.Helper()
	keys := make([]*SecretKey, n)
	for i := range keys {
		seed := make([]byte, MinSeedSize)
		binary.BigEndian.PutUint64(seed, uint64(i))
		keys[i] = must[*SecretKey](t)(KeyGen(seed, []byte("test")))
	}
	return keys
}

func (s Scheme) public(sk *SecretKey) *PublicKey { return sk.public(&suites[s]) }

func publics(s Scheme, sks []*SecretKey) []*PublicKey {
	keys := make([]*PublicKey, len(sks))
	for i, sk := range sks {
		keys[i] = s.public(sk)
	}
	return keys
}

func provens(s Scheme, sks []*SecretKey) []*ProvenKey {
	keys := make([]*ProvenKey, len(sks))
	for i, sk := range sks {
		keys[i] = AssumeProvenUnsafe(s.public(sk))
	}
	return keys
}

// signAll returns the signatures of msgs[i] by sks[i], or of one message by all.
func signAll(t testing.TB, s Scheme, sks []*SecretKey, msgs ...[]byte) []*Signature {
	t.Helper()
	sigs := make([]*Signature, len(sks))
	for i, sk := range sks {
		sigs[i] = must[*Signature](t)(s.Sign(sk, msgs[i%len(msgs)]))
	}
	return sigs
}

func messages(n int) [][]byte {
	msgs := make([][]byte, n)
	for i := range msgs {
		msgs[i] = binary.BigEndian.AppendUint32([]byte("message "), uint32(i))
	}
	return msgs
}

var allSchemes = []Scheme{Basic, Augmented, ProofOfPossession, MinSigBasic, MinSigAugmented, MinSigProofOfPossession}

// wantErr demands an error that unwraps to want, or none if want is nil.
func wantErr(t testing.TB, what string, err, want error) {
	t.Helper()
	if want == nil && err != nil || want != nil && !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// outside returns a point of the curve of G2 outside the subgroup, and its negative.
func outside(t testing.TB) (p, q *UncheckedSignature) {
	t.Helper()
	m, _ := new(big.Int).SetString(modulus, 16)
	mod := func(x *big.Int) *big.Int { return x.Mod(x, m) }
	mul := func(x, y *big.Int) *big.Int { return mod(new(big.Int).Mul(x, y)) }
	half := new(big.Int).ModInverse(big.NewInt(2), m)
	for x := int64(1); x < 50; x++ {
		// y² = x³ + 4 + 4u. If y = a + bu then a² = (c ± |y²|)/2 and b = 4/2a, with
		// c = x³ + 4.
		c := big.NewInt(x*x*x + 4)
		n := new(big.Int).ModSqrt(mod(new(big.Int).Add(mul(c, c), big.NewInt(16))), m)
		if n == nil {
			continue
		}
		a := new(big.Int).ModSqrt(mul(new(big.Int).Add(c, n), half), m)
		if a == nil {
			a = new(big.Int).ModSqrt(mul(mod(new(big.Int).Sub(c, n)), half), m)
		}
		if a == nil {
			continue
		}
		b := mul(big.NewInt(2), new(big.Int).ModInverse(a, m))
		encode := func(a, b *big.Int) *UncheckedSignature {
			e := make([]byte, 2*SignatureSize)
			big.NewInt(x).FillBytes(e[48:96])
			b.FillBytes(e[96:144])
			a.FillBytes(e[144:])
			if _, err := ParseUncompressedSignature(e); err == nil {
				return nil
			}
			return must[*UncheckedSignature](t)(ParseUncheckedSignature(e))
		}
		p, q := encode(a, b), encode(new(big.Int).Sub(m, a), new(big.Int).Sub(m, b))
		if p != nil && q != nil {
			return p, q
		}
	}
	t.Fatal("none found")
	return nil, nil
}

// modulus is that of the field.
const modulus = "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab"
