// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package arweave

import (
	"crypto/rsa"
	"math/big"
	"sync"
	"testing"
)

// The primes of two standard groups, RFC 5054 (2048 bits) and RFC 7919
// (ffdhe2048), make a key of 4096 bits that everybody knows.
const (
	srp2048 = "" +
		"ac6bdb41324a9a9bf166de5e1389582faf72b6651987ee07fc3192943db56050a37329cbb4a099ed8193e0757767a13d" +
		"d52312ab4b03310dcd7f48a9da04fd50e8083969edb767b0cf6095179a163ab3661a05fbd5faaae82918a9962f0b93b8" +
		"55f97993ec975eeaa80d740adbf4ff747359d041d5c33ea71d281e446b14773bca97b43a23fb801676bd207a436c6481" +
		"f1d2b9078717461a5b9d32e688f87748544523b524b0d57d5ea77a2775d2ecfa032cfbdbf52fb3786160279004e57ae6" +
		"af874e7303ce53299ccc041c7bc308d82a5698f3a8d0c38271ae35f8e9dbfbb694b5c803d89f7ae435de236d525f5475" +
		"9b65e372fcd68ef20fa7111f9e4aff73"

	ffdhe2048 = "" +
		"ffffffffffffffffadf85458a2bb4a9aafdc5620273d3cf1d8b9c583ce2d3695a9e13641146433fbcc939dce249b3ef9" +
		"7d2fe363630c75d8f681b202aec4617ad3df1ed5d5fd65612433f51f5f066ed0856365553ded1af3b557135e7f57c935" +
		"984f0c70e0e68b77e2a689daf3efe8721df158a136ade73530acca4f483a797abc0ab182b324fb61d108a94bb2c8e3fb" +
		"b96adab760d7f4681d4f42a3de394df4ae56ede76372bb190b07a7c8ee0a6d709e02fce1cdf7e2ecc03404cd28342f61" +
		"9172fe9ce98583ff8e4f1232eef28183c3fe3b1b4c6fad733bb5fcbc2ec22005c58ef1837d1683b2c6f34a26c1b2effa" +
		"886b423861285c97ffffffffffffffff"
)

// testKey returns that key.
var testKey = sync.OnceValue(func() *rsa.PrivateKey {
	p, _ := new(big.Int).SetString(srp2048, 16)
	q, _ := new(big.Int).SetString(ffdhe2048, 16)
	one := big.NewInt(1)
	order := new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one))
	key := &rsa.PrivateKey{
		PublicKey: rsa.PublicKey{N: new(big.Int).Mul(p, q), E: exponent},
		D:         new(big.Int).ModInverse(big.NewInt(exponent), order),
		Primes:    []*big.Int{p, q},
	}
	key.Precompute()
	return key
})

func TestTestKey(t *testing.T) {
	if err := testKey().Validate(); err != nil {
		t.Fatal(err)
	}
}
