// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/undersign/undersign/internal/bls12381"
)

const order = "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001"

func TestSecretKeyEncoding(t *testing.T) {
	for _, s := range []string{
		"",
		strings.Repeat("00", 32),
		order,
		strings.Repeat("ff", 32),
		"01",
		strings.Repeat("00", 32) + "01",
		"01" + strings.Repeat("00", 32),
	} {
		_, err := ParseSecretKey(unhex(t, s))
		wantErr(t, s, err, ErrKey)
	}
	sk := must[*SecretKey](t)(ParseSecretKey(unhex(t, order[:63]+"0")))
	b := must[[]byte](t)(sk.MarshalBinary())
	if hex.EncodeToString(b) != order[:63]+"0" {
		t.Errorf("r-1 became %x", b)
	}
}

// TestEncodings has every kind of bad encoding of keys and signatures, in both groups.
func TestEncodings(t *testing.T) {
	sk := numbered(t, 1)[0]
	type codec struct {
		parse func([]byte) error
		want  error
		good  []byte
		key   bool
	}
	key := func(f func([]byte) (*PublicKey, error), good []byte) codec {
		return codec{func(b []byte) error { _, err := f(b); return err }, ErrKey, good, true}
	}
	sig := func(f func([]byte) (*Signature, error), good []byte) codec {
		return codec{func(b []byte) error { _, err := f(b); return err }, ErrSignature, good, false}
	}
	g1, g2 := sk.PublicKey().Bytes(), sk.MinSigPublicKey().Bytes()
	s1 := must[*Signature](t)(MinSigBasic.Sign(sk, nil)).Bytes()
	s2 := must[*Signature](t)(Basic.Sign(sk, nil)).Bytes()
	for name, c := range map[string]codec{
		"key in G1":       key(ParsePublicKey, g1),
		"key in G2":       key(ParseMinSigPublicKey, g2),
		"signature in G2": sig(ParseSignature, s2),
		"signature in G1": sig(ParseMinSigSignature, s1),
	} {
		if err := c.parse(c.good); err != nil {
			t.Fatal(name, err)
		}
		n := len(c.good)
		at := func(i int, f func(byte) byte) []byte {
			b := bytes.Clone(c.good)
			b[i] = f(b[i])
			return b
		}
		// The field's modulus, as the first coordinate of the encoding.
		notBelow := make([]byte, n)
		copy(notBelow, unhex(t, modulus))
		notBelow[0] |= 0x80
		identity := append([]byte{0xc0}, make([]byte, n-1)...)
		bad := map[string][]byte{
			"empty":               nil,
			"short":               c.good[1:],
			"cut":                 c.good[:n-1],
			"long":                append(bytes.Clone(c.good), 0),
			"twice":               append(bytes.Clone(c.good), c.good...),
			"zero":                make([]byte, n),
			"no compression flag": at(0, func(b byte) byte { return b &^ 0x80 }),
			"identity flag":       at(0, func(b byte) byte { return b | 0x40 }),
			"not below p":         notBelow,
			"all bits":            bytes.Repeat([]byte{0xff}, n),
			"signed identity":     append([]byte{0xe0}, identity[1:]...),
			"dirty identity":      append(bytes.Clone(identity[:n-1]), 1),
			"plain identity":      append([]byte{0x40}, identity[1:]...),
		}
		for what, b := range bad {
			wantErr(t, name+", "+what, c.parse(b), c.want)
		}
		if c.key {
			wantErr(t, name+", identity", c.parse(identity), ErrKey)
		} else {
			wantErr(t, name+", identity", c.parse(identity), nil)
		}
		// Of all small x, most aren't on the curve and the others not in the subgroup.
		for x := byte(0); x < 50; x++ {
			b := make([]byte, n)
			b[0], b[n-1] = 0x80, x
			wantErr(t, fmt.Sprintf("%s, x = %d", name, x), c.parse(b), c.want)
		}
	}
	for _, b := range [][]byte{nil, make([]byte, 47), make([]byte, 95), make([]byte, 97), make([]byte, 192)} {
		wantErr(t, "key", new(PublicKey).UnmarshalBinary(b), ErrKey)
		wantErr(t, "signature", new(Signature).UnmarshalBinary(b), ErrSignature)
	}
}

func TestUncompressed(t *testing.T) {
	sk := numbered(t, 1)[0]
	sig := must[*Signature](t)(Basic.Sign(sk, []byte("m")))
	if got := must[*Signature](t)(ParseUncompressedSignature(sig.UncompressedBytes())); !got.Equal(sig) {
		t.Error("another signature")
	}
	if got := must[*PublicKey](t)(ParseUncompressedPublicKey(sk.PublicKey().UncompressedBytes())); !got.Equal(sk.PublicKey()) {
		t.Error("another key")
	}
	for i := range 3 {
		b := sig.UncompressedBytes()
		b[[]int{0, 95, 191}[i]] ^= 1
		_, err := ParseUncompressedSignature(b)
		wantErr(t, "signature", err, ErrSignature)
		_, err = ParseUncheckedSignature(b)
		wantErr(t, "unchecked signature", err, ErrSignature)
	}
	b := sk.PublicKey().UncompressedBytes()
	b[95] ^= 1
	_, err := ParseUncompressedPublicKey(b)
	wantErr(t, "key", err, ErrKey)
	_, err = ParseUncompressedPublicKey(sk.PublicKey().Bytes())
	wantErr(t, "compressed key", err, ErrKey)
	_, err = ParseUncompressedSignature(sig.Bytes())
	wantErr(t, "compressed signature", err, ErrSignature)
	_, err = ParseUncompressedSignature(append([]byte{0x40}, make([]byte, 191)...))
	wantErr(t, "identity", err, ErrSignature)
	_, err = ParseUncheckedSignature(append([]byte{0x40}, make([]byte, 191)...))
	wantErr(t, "identity", err, ErrSignature)
}

// TestRedaction prints a secret key in every way.
func TestRedaction(t *testing.T) {
	sk := numbered(t, 1)[0]
	secret := must[[]byte](t)(sk.MarshalBinary())
	type holder struct {
		Key   *SecretKey
		Value SecretKey
		value SecretKey
	}
	h := holder{sk, *sk, *sk}
	var out []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%t", "%08b", "%T%[1]v", "%p%[1]v"} {
		for _, v := range []any{sk, *sk, h, &h, []SecretKey{*sk}, []*SecretKey{sk}, map[string]SecretKey{"k": *sk}} {
			out = append(out, fmt.Sprintf(verb, v))
		}
	}
	j := must[[]byte](t)(json.Marshal(h))
	out = append(out, string(j), sk.String(), sk.GoString())
	words := []string{hex.EncodeToString(secret[:8]), hex.EncodeToString(secret[24:]), fmt.Sprint(secret[:8])[1:20]}
	for i := range 4 {
		words = append(words, fmt.Sprint(limb(sk, i)), fmt.Sprintf("%x", limb(sk, i)))
	}
	// The limbs as they are stored: fmt shows them in a field that isn't exported.
	for _, verb := range []string{"%d", "%x", "%o"} {
		shown := fmt.Sprintf(verb, struct{ k bls12381.Scalar }{sk.k})
		words = append(words, strings.FieldsFunc(shown, func(r rune) bool { return strings.ContainsRune("{}[] ", r) })...)
	}
	if len(words) < 23 {
		t.Fatal("fmt shows less than it did")
	}
	for _, s := range out {
		for _, w := range words {
			if strings.Contains(strings.ToLower(s), w) {
				t.Errorf("%q shows %s", s, w)
			}
		}
	}
	if s := sk.String(); !strings.Contains(s, hex.EncodeToString(sk.PublicKey().Bytes()[:8])) {
		t.Errorf("%s doesn't name the key", s)
	}
}

// limb returns 64 bits of the secret, as an integer.
func limb(sk *SecretKey, i int) uint64 {
	var v uint64
	for _, b := range sk.k.Bytes()[8*i : 8*i+8] {
		v = v<<8 | uint64(b)
	}
	return v
}

// TestEmpty has empty, wiped and nil values, of which nothing may panic.
func TestEmpty(t *testing.T) {
	wiped := GenerateKey()
	wiped.PublicKey()
	copied := *wiped
	wiped.Wipe()
	new(SecretKey).Wipe()
	if !wiped.k.IsZero() {
		t.Error("the secret is still there")
	}
	good := numbered(t, 1)[0]
	for _, sk := range []*SecretKey{nil, {}, wiped, &copied} {
		_, err := sk.MarshalBinary()
		wantErr(t, "MarshalBinary", err, errNoKey)
		_, err = Augmented.Sign(sk, nil)
		wantErr(t, "Sign", err, errNoKey)
		_, err = ProofOfPossession.PopProve(sk)
		wantErr(t, "PopProve", err, errNoKey)
		_, err = EIP2333.Child(sk, 0)
		wantErr(t, "Child", err, errNoKey)
		_, err = EIP2333.Path(sk)
		wantErr(t, "Path", err, errNoKey)
		_, err = sk.UnhardenedChild(0)
		wantErr(t, "UnhardenedChild", err, errNoKey)
		if sk.PublicKey() != nil || sk.MinSigPublicKey() != nil || sk.Equal(sk) || sk.Equal(good) || good.Equal(sk) {
			t.Error("an empty key is something")
		}
		if sk != nil && sk.String() != "bls.SecretKey(empty)" {
			t.Error(sk)
		}
	}
	sig := must[*Signature](t)(Basic.Sign(good, nil))
	for _, k := range []*PublicKey{nil, {}} {
		wantErr(t, "Verify", Basic.Verify(k, nil, sig), errNoKey)
		wantErr(t, "AggregateVerify", Basic.AggregateVerify([]*PublicKey{k}, [][]byte{nil}, sig), errNoKey)
		_, err := SumKeys([]*ProvenKey{AssumeProvenUnsafe(good.PublicKey()), AssumeProvenUnsafe(k)})
		wantErr(t, "SumKeys", err, errNoKey)
		wantErr(t, "Keys", new(Keys).Add(AssumeProvenUnsafe(k)), errNoKey)
		_, err = k.UnhardenedChild(0)
		wantErr(t, "UnhardenedChild", err, errNoKey)
		_, err = k.MarshalBinary()
		wantErr(t, "MarshalBinary", err, errNoKey)
		if k.Bytes() != nil || k.UncompressedBytes() != nil || k.Equal(k) || k.Equal(good.PublicKey()) || good.PublicKey().Equal(k) {
			t.Error("an empty key is something")
		}
	}
	for _, s := range []*Signature{nil, {}} {
		wantErr(t, "Verify", Basic.Verify(good.PublicKey(), nil, s), errNoSig)
		_, err := Aggregate(sig, s)
		wantErr(t, "Aggregate", err, errNoSig)
		_, err = ProofOfPossession.PopVerify(good.PublicKey(), s)
		wantErr(t, "PopVerify", err, errNoSig)
		_, err = s.MarshalBinary()
		wantErr(t, "MarshalBinary", err, errNoSig)
		if s.Bytes() != nil || s.UncompressedBytes() != nil || s.Equal(s) || s.IsIdentity() || sig.Equal(s) {
			t.Error("an empty signature is something")
		}
	}
	_, err := AggregateUnchecked([]*UncheckedSignature{nil})
	wantErr(t, "AggregateUnchecked", err, errNoSig)
	var pk *ProvenKey
	if pk.Bytes() != nil || pk.PublicKey() != nil || pk.Equal(pk) || (&ProvenKey{}).Bytes() != nil {
		t.Error("an empty proven key is something")
	}
}

func TestUnknown(t *testing.T) {
	const s = Scheme(6)
	sk := numbered(t, 1)[0]
	sig := must[*Signature](t)(Basic.Sign(sk, nil))
	keys := []*PublicKey{sk.PublicKey()}
	_, err := s.Sign(sk, nil)
	wantErr(t, "Sign", err, errScheme)
	wantErr(t, "Verify", s.Verify(keys[0], nil, sig), errScheme)
	wantErr(t, "AggregateVerify", s.AggregateVerify(keys, [][]byte{nil}, sig), errScheme)
	wantErr(t, "AggregateVerifyProven", s.AggregateVerifyProven(provenOf(keys), [][]byte{nil}, sig), errScheme)
	wantErr(t, "FastAggregateVerify", s.FastAggregateVerify(provenOf(keys), nil, sig), errScheme)
	wantErr(t, "BDNVerify", s.BDNVerify(keys, [32]byte{}, sig), errScheme)
	_, err = s.BDNAggregate(keys, [32]byte{}, []*Signature{sig})
	wantErr(t, "BDNAggregate", err, errScheme)
	_, err = s.PopVerifyBatch(keys, []*Signature{sig})
	wantErr(t, "PopVerifyBatch", err, errScheme)
	b := NewBatch(s)
	b.Add(keys[0], nil, sig)
	b.AddAggregate(keys, [][]byte{nil}, sig)
	b.AddAggregateProven(provenOf(keys), [][]byte{nil}, sig)
	b.AddBDN(keys, [32]byte{}, sig)
	wantErr(t, "Batch", b.Verify(), errScheme)
	if s.String() != "Scheme(6)" || s.Ciphersuite() != "" || Derivation(2).String() != "Derivation(2)" {
		t.Error("names")
	}
	if Chia.String() != "Chia" || EIP2333.String() != "EIP2333" || MinSigBasic.String() != "MinSigBasic" {
		t.Error("names")
	}
	if _, err := Derivation(2).Master(make([]byte, 32)); err == nil {
		t.Error("an unknown derivation")
	}
	if _, err := Derivation(2).Child(sk, 0); err == nil {
		t.Error("an unknown derivation")
	}
	_, err = EIP2333.Master(make([]byte, 31))
	wantErr(t, "short seed", err, ErrKey)
	_, err = KeyGen(nil, nil)
	wantErr(t, "no seed", err, ErrKey)
	a, b2 := must[*SecretKey](t)(KeyGen(make([]byte, 32), nil)), must[*SecretKey](t)(KeyGen(make([]byte, 32), []byte("x")))
	if a.Equal(b2) {
		t.Error("the info makes no difference")
	}
	_, err = sk.MinSigPublicKey().UnhardenedChild(1)
	wantErr(t, "a child in G2", err, errVariant)
}

// TestConcurrent asks one key for its public keys from several goroutines.
func TestConcurrent(t *testing.T) {
	sk := GenerateKey()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, s := range []Scheme{Augmented, MinSigAugmented} {
				sig, err := s.Sign(sk, nil)
				if err != nil || s.Verify(s.public(sk), nil, sig) != nil {
					t.Error("not signed")
				}
			}
		})
	}
	wg.Wait()
}
