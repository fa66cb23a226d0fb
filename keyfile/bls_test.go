// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/undersign/undersign/bls"
)

var blsSchemes = []bls.Scheme{
	bls.Basic, bls.Augmented, bls.ProofOfPossession, bls.MinSigBasic, bls.MinSigAugmented, bls.MinSigProofOfPossession,
}

func TestBLSRoundTrip(t *testing.T) {
	sk := bls.GenerateKey()
	for _, s := range blsSchemes {
		secret := &BLSSecretKey{s, sk}
		b, err := secret.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var gotSecret BLSSecretKey
		if err := gotSecret.UnmarshalBinary(b); err != nil || gotSecret.Scheme != s || !gotSecret.Key.Equal(sk) {
			t.Errorf("%s: %v, %v", s, gotSecret, err)
		}
		b, err = (&BLSPublicKey{s, secret.PublicKey()}).MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var gotPublic BLSPublicKey
		if err := gotPublic.UnmarshalBinary(b); err != nil || gotPublic.Scheme != s || !gotPublic.Key.Equal(secret.PublicKey()) {
			t.Errorf("%s: %v, %v", s, gotPublic, err)
		}
		proof, err := s.PopProve(sk)
		if !hasProofs(s) {
			if err == nil {
				t.Errorf("%s has proofs", s)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err = (&BLSProof{s, secret.PublicKey(), proof}).MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var gotProof BLSProof
		if err := gotProof.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
		if _, err := gotProof.Scheme.PopVerify(gotProof.Key, gotProof.Proof); err != nil {
			t.Error(err)
		}
	}
}

// Objects that have no encoding.
func TestBLSIncomplete(t *testing.T) {
	sk := bls.GenerateKey()
	wiped := bls.GenerateKey()
	wiped.Wipe()
	proof, err := bls.ProofOfPossession.PopProve(sk)
	if err != nil {
		t.Fatal(err)
	}
	minProof, err := bls.MinSigProofOfPossession.PopProve(sk)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]Object{
		"no secret":         &BLSSecretKey{},
		"wiped":             &BLSSecretKey{bls.Basic, wiped},
		"scheme of secret":  &BLSSecretKey{6, sk},
		"no key":            &BLSPublicKey{},
		"empty key":         &BLSPublicKey{bls.Basic, new(bls.PublicKey)},
		"key in G2":         &BLSPublicKey{bls.Basic, sk.MinSigPublicKey()},
		"key in G1":         &BLSPublicKey{bls.MinSigBasic, sk.PublicKey()},
		"scheme of key":     &BLSPublicKey{6, sk.MinSigPublicKey()},
		"scheme of proof":   &BLSProof{bls.Basic, sk.PublicKey(), proof},
		"no proof":          &BLSProof{bls.ProofOfPossession, sk.PublicKey(), nil},
		"proof in G1":       &BLSProof{bls.ProofOfPossession, sk.PublicKey(), minProof},
		"no key for proof":  &BLSProof{bls.ProofOfPossession, nil, proof},
		"another key in G2": &BLSProof{bls.ProofOfPossession, sk.MinSigPublicKey(), proof},
	} {
		if b, err := v.MarshalBinary(); err == nil {
			t.Errorf("%s: encoded as %x", name, b)
		}
	}
}

func TestBLSRefuses(t *testing.T) {
	sk := bls.GenerateKey()
	proof, err := bls.ProofOfPossession.PopProve(sk)
	if err != nil {
		t.Fatal(err)
	}
	key := sk.PublicKey().Bytes()
	identity := append([]byte{0xc0}, make([]byte, 47)...)
	outside := bytes.Clone(key) // most x have no point, or one outside the subgroup
	for outside[47]++; ; outside[47]++ {
		if _, err := bls.ParsePublicKey(outside); err != nil {
			break
		}
	}
	order := []byte("\x73\xed\xa7\x53\x29\x9d\x7d\x48\x33\x39\xd8\x08\x09\xa1\xd8\x05\x53\xbd\xa4\x02\xff\xfe\x5b\xfe\xff\xff\xff\xff\x00\x00\x00\x01")
	for name, c := range map[string]struct {
		into interface{ UnmarshalBinary([]byte) error }
		data []byte
		want string
	}{
		"empty":              {new(BLSSecretKey), nil, "version"},
		"version":            {new(BLSSecretKey), slices.Concat([]byte{2, 1, 1}, make([]byte, 32)), "version"},
		"suite":              {new(BLSSecretKey), slices.Concat([]byte{1, 2, 1}, make([]byte, 32)), "suite"},
		"scheme 0":           {new(BLSSecretKey), slices.Concat([]byte{1, 1, 0}, make([]byte, 32)), "scheme"},
		"scheme 7":           {new(BLSPublicKey), slices.Concat([]byte{1, 1, 7}, key), "scheme"},
		"zero":               {new(BLSSecretKey), slices.Concat([]byte{1, 1, 1}, make([]byte, 32)), "scalar"},
		"r":                  {new(BLSSecretKey), slices.Concat([]byte{1, 1, 1}, order), "scalar"},
		"short secret":       {new(BLSSecretKey), slices.Concat([]byte{1, 1, 1}, make([]byte, 31)), "truncated"},
		"long secret":        {new(BLSSecretKey), slices.Concat([]byte{1, 1, 1}, make([]byte, 33)), "after the last field"},
		"identity":           {new(BLSPublicKey), slices.Concat([]byte{1, 1, 1}, identity), "invalid key"},
		"outside":            {new(BLSPublicKey), slices.Concat([]byte{1, 1, 1}, outside), "invalid key"},
		"G1 for G2":          {new(BLSPublicKey), slices.Concat([]byte{1, 1, 4}, key), "truncated"},
		"G2 for G1":          {new(BLSPublicKey), slices.Concat([]byte{1, 1, 1}, sk.MinSigPublicKey().Bytes()), "after the last field"},
		"no proofs":          {new(BLSProof), slices.Concat([]byte{1, 1, 1}, key, proof.Bytes()), "scheme"},
		"short proof":        {new(BLSProof), slices.Concat([]byte{1, 1, 3}, key, proof.Bytes()[1:]), "truncated"},
		"long proof":         {new(BLSProof), slices.Concat([]byte{1, 1, 3}, key, proof.Bytes(), []byte{0}), "after the last field"},
		"malformed proof":    {new(BLSProof), slices.Concat([]byte{1, 1, 3}, key, make([]byte, 96)), "invalid signature"},
		"malformed its key":  {new(BLSProof), slices.Concat([]byte{1, 1, 3}, outside, proof.Bytes()), "invalid key"},
		"secret as a public": {new(BLSPublicKey), slices.Concat([]byte{1, 1, 1}, make([]byte, 32)), "truncated"},
	} {
		if err := c.into.UnmarshalBinary(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
