// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
)

// Keys and shares that niclabs/tcrsa (with its forks) and Safeheron's
// tss-rsa-cpp have dealt.
//
// Both follow Shoup 2000, section 3, protocol 2: s_i = f(i) Delta^-1 mod m, f of
// degree K-1 with f(0) = d, v a square, v_i = v^(s_i), and they sign x^(2 s_i).
// That is this package's modular form with Gamma = 1. Two things differ. Where x
// has Jacobi symbol -1 they sign x u^e and divide by u after combining; this
// package squares instead, so that u isn't needed and signature shares of the two
// kinds don't mix. And a request for b bits gives them a modulus of b-1 bits,
// because q is made one bit shorter than p: what they signed with an encoding for
// b bits often verifies nowhere, but the key is sound, and signs when the encoding
// is made for N.BitLen()-1 bits as RFC 8017, section 9.1 has it.
//
// What they write:
//
//	tcrsa, encoding/json of its structs; N a decimal number, []byte in base64
//	    {"PublicKey": {"N": 123, "E": 65537}, "K": 3, "L": 5,
//	     "VerificationKey": {"V": "..", "U": "..", "I": ["..", ..]}}
//	    {"Si": "..", "Id": 1}
//	tss-rsa-cpp, proto3 JSON; numbers in hexadecimal
//	    {"n": "..", "e": "010001"}
//	    {"k": 3, "l": 5, "vkv": "..", "vku": "..", "vkiArr": ["..", ..]}
//	    {"i": 1, "si": ".."}

// The smallest modulus is that of a 2048-bit key of theirs whose primes, given by
// the caller, had only their top bit set.
const minForeignBits = 2046

// foreignKey is the public half of a dealing by another library.
type foreignKey struct {
	n    *big.Int
	e    int
	k, l int
	v    *big.Int
	vi   []*big.Int // of holders 1 to l
}

// foreignShare is one holder's secret.
type foreignShare struct {
	index int
	s     *big.Int
}

// String keeps the secret out of logs.
func (s *foreignShare) String() string { return fmt.Sprintf("foreign share %d", s.index) }

// GoString is String, for %#v.
func (s *foreignShare) GoString() string { return s.String() }

// parseForeignKey reads the public documents of one key: one of tcrsa, or the two
// of tss-rsa-cpp in either order.
func parseForeignKey(docs ...[]byte) (*foreignKey, error) {
	var k *foreignKey
	var err error
	switch len(docs) {
	case 1:
		k, err = parseTCRSAKey(docs[0])
	case 2:
		public, meta := docs[0], docs[1]
		if o, err := parseObject("document", public); err == nil && !o.has("n") {
			public, meta = meta, public
		}
		k, err = parseSafeheronKey(public, meta)
	default:
		err = errors.New("thresholdrsa: a key is one document of tcrsa or two of tss-rsa-cpp")
	}
	if err != nil {
		return nil, err
	}
	if err := k.check(); err != nil {
		return nil, err
	}
	return k, nil
}

func parseTCRSAKey(data []byte) (*foreignKey, error) {
	if o, err := parseObject("document", data); err == nil && (o.has("n") || o.has("vkv")) {
		return nil, errors.New("thresholdrsa: a key of tss-rsa-cpp is two documents, the public key and the key meta")
	}
	o, err := parseObject("tcrsa key meta", data, "PublicKey", "K", "L", "VerificationKey")
	if err != nil {
		return nil, err
	}
	k := new(foreignKey)
	if err := k.parseSize(o, "K", "L"); err != nil {
		return nil, err
	}

	raw, err := o.raw("PublicKey")
	if err != nil {
		return nil, err
	}
	public, err := parseObject("tcrsa public key", raw, "N", "E")
	if err != nil {
		return nil, err
	}
	if k.n, err = public.decimal("N"); err != nil {
		return nil, err
	}
	if k.e, err = public.integer("E", 3, math.MaxInt32); err != nil {
		return nil, err
	}

	if raw, err = o.raw("VerificationKey"); err != nil {
		return nil, err
	}
	verification, err := parseObject("tcrsa verification key", raw, "V", "U", "I")
	if err != nil {
		return nil, err
	}
	return k, k.parseVerification(verification, "V", "U", "I", base64Number)
}

func parseSafeheronKey(public, meta []byte) (*foreignKey, error) {
	o, err := parseObject("tss-rsa-cpp public key", public, "n", "e")
	if err != nil {
		return nil, err
	}
	k := new(foreignKey)
	if k.n, err = o.number("n", hexNumber); err != nil {
		return nil, err
	}
	e, err := o.number("e", hexNumber)
	if err != nil {
		return nil, err
	}
	if e.BitLen() > 31 {
		return nil, o.errorf("e", "longer than 31 bits")
	}
	k.e = int(e.Int64())

	o, err = parseObject("tss-rsa-cpp key meta", meta, "k", "l", "vkv", "vku", "vkiArr", "vki_arr")
	if err != nil {
		return nil, err
	}
	if err := k.parseSize(o, "k", "l"); err != nil {
		return nil, err
	}
	// proto3 JSON allows a field's own name beside the camel-case one.
	array := "vkiArr"
	if o.has("vki_arr") {
		if o.has("vkiArr") {
			return nil, o.errorf("vkiArr", "given twice")
		}
		array = "vki_arr"
	}
	return k, k.parseVerification(o, "vkv", "vku", array, hexNumber)
}

func (k *foreignKey) parseSize(o *object, threshold, holders string) (err error) {
	if k.l, err = o.integer(holders, 2, MaxHolders); err != nil {
		return err
	}
	k.k, err = o.integer(threshold, 1, k.l)
	return err
}

func (k *foreignKey) parseVerification(o *object, v, u, vi string, parse number) (err error) {
	if k.v, err = o.number(v, parse); err != nil {
		return err
	}
	// u serves their signature shares only, but a file without it isn't theirs.
	if _, err = o.number(u, parse); err != nil {
		return err
	}
	k.vi, err = o.numbers(vi, k.l, parse)
	return err
}

// check reports whether k is what an honest dealing of the modular form makes, as
// far as the public values show it. It leaves to the record that k becomes what
// holds for every record.
func (k *foreignKey) check() error {
	if bits := k.n.BitLen(); bits < minForeignBits || bits > MaxBits {
		return fmt.Errorf("thresholdrsa: foreign key: modulus of %d bits, not of %d to %d", bits, minForeignBits, MaxBits)
	}
	// A safe prime above 7 is 11 modulo 12.
	if new(big.Int).Mod(k.n, big.NewInt(12)).Int64() != 1 {
		return errors.New("thresholdrsa: foreign key: the modulus isn't the product of two safe primes")
	}
	if k.e <= k.l || !big.NewInt(int64(k.e)).ProbablyPrime(0) { // exact below 2^64
		return fmt.Errorf("thresholdrsa: foreign key: public exponent %d isn't a prime above the number of holders", k.e)
	}

	// v^2 must generate the squares, which it does unless it is 1 modulo p or q.
	if !unit(k.v, k.n) {
		return &DealingError{0, "v isn't a unit modulo n"}
	}
	v2 := mulMod(k.v, k.v, k.n)
	if !unit(new(big.Int).Sub(v2, one), k.n) {
		return &DealingError{0, "v doesn't generate the squares modulo n"}
	}
	seen := make(map[string]bool)
	squares := make([]*big.Int, k.l)
	for i, vi := range k.vi {
		if !unit(vi, k.n) {
			return &DealingError{i + 1, "verification key isn't a unit modulo n"}
		}
		if k.k > 1 && seen[string(vi.Bytes())] {
			return &DealingError{i + 1, "verification key is another holder's"}
		}
		seen[string(vi.Bytes())] = true
		squares[i] = mulMod(vi, vi, k.n)
	}
	if !k.checkSecret(v2, squares) {
		return &DealingError{0, fmt.Sprintf("the shares of holders 1 to %d don't make the private key", k.k)}
	}
	if i := k.checkDegree(squares); i != 0 {
		return &DealingError{0, fmt.Sprintf("the shares of holders %d to %d aren't of one polynomial", i, i+k.k)}
	}
	return nil
}

// checkSecret checks the first K shares in the exponent: with lambda_j = Delta
// (-1)^(j-1) binom(K,j), the Lagrange numbers at 0 for 1..K, the sum of lambda_j
// s_j is d, and v^(d e) = v. It takes and compares squares, so that elements of
// order two don't matter; a product of those with negative exponents stands on the
// other side.
func (k *foreignKey) checkSecret(v2 *big.Int, squares []*big.Int) bool {
	left, right := big.NewInt(1), big.NewInt(1)
	for j := 1; j <= k.k; j++ {
		side := left
		if j%2 == 0 {
			side = right
		}
		x := new(big.Int).Binomial(int64(k.k), int64(j))
		x.Exp(squares[j-1], x, k.n)
		side.Set(mulMod(side, x, k.n))
	}
	deltaE := factorial(k.l)
	deltaE.Mul(deltaE, big.NewInt(int64(k.e)))
	left.Exp(left, deltaE, k.n)
	right.Exp(right, deltaE, k.n)
	return left.Cmp(mulMod(right, v2, k.n)) == 0
}

// checkDegree checks that all shares are of one polynomial of degree below K: its
// K-th differences vanish. It returns 0, or the first i for which that of i..i+K
// doesn't. A difference in the exponent is a quotient, kept as a pair.
func (k *foreignKey) checkDegree(squares []*big.Int) int {
	num := append([]*big.Int(nil), squares...)
	den := make([]*big.Int, len(squares))
	for i := range den {
		den[i] = big.NewInt(1)
	}
	for round := 0; round < k.k; round++ {
		last := len(num) - 1
		for i := 0; i < last; i++ {
			num[i], den[i] = mulMod(num[i+1], den[i], k.n), mulMod(den[i+1], num[i], k.n)
		}
		num, den = num[:last], den[:last]
	}
	for i := range num {
		if num[i].Cmp(den[i]) != 0 {
			return i + 1
		}
	}
	return 0
}

// parseForeignShares reads shares of k, each document a share or an array of
// shares. That s belongs to its v_i remains to be checked, in constant time, by
// whoever uses the share.
func parseForeignShares(k *foreignKey, docs ...[]byte) ([]*foreignShare, error) {
	var shares []*foreignShare
	seen := make(map[int]bool)
	for _, doc := range docs {
		if len(doc) > maxForeignDocument {
			return nil, fmt.Errorf("thresholdrsa: foreign share: longer than %d bytes", maxForeignDocument)
		}
		raws := []json.RawMessage{doc}
		if list, err := splitArray(doc, k.l); err == nil {
			raws = list
		}
		for _, raw := range raws {
			s, err := parseForeignShare(k, raw)
			if err != nil {
				return nil, err
			}
			if seen[s.index] {
				return nil, fmt.Errorf("thresholdrsa: foreign share: holder %d twice", s.index)
			}
			seen[s.index] = true
			shares = append(shares, s)
		}
	}
	if len(shares) == 0 {
		return nil, errors.New("thresholdrsa: foreign share: none given")
	}
	return shares, nil
}

func parseForeignShare(k *foreignKey, data []byte) (*foreignShare, error) {
	o, err := parseObject("foreign share", data, "Si", "Id", "N", "si", "i")
	if err != nil {
		return nil, err
	}
	s := new(foreignShare)
	if o.has("si") || o.has("i") {
		o, err = parseObject("tss-rsa-cpp private key share", data, "si", "i")
		if err != nil {
			return nil, err
		}
		if s.index, err = o.integer("i", 1, k.l); err != nil {
			return nil, err
		}
		if s.s, err = o.number("si", hexNumber); err != nil {
			return nil, err
		}
	} else {
		o.what = "tcrsa key share"
		if s.index, err = o.integer("Id", 1, k.l); err != nil {
			return nil, err
		}
		if s.s, err = o.number("Si", base64Number); err != nil {
			return nil, err
		}
		// The first versions wrote the modulus too.
		if o.has("N") {
			n, err := o.number("N", base64Number)
			if err != nil {
				return nil, err
			}
			if n.Cmp(k.n) != 0 {
				return nil, o.errorf("N", "the share is of another key")
			}
		}
	}
	// s = 0 is possible once in m dealings, and otherwise a damaged file.
	if s.s.Sign() <= 0 || s.s.Cmp(k.n) >= 0 {
		return nil, o.errorf("", "the share of holder %d isn't between 0 and the modulus", s.index)
	}
	return s, nil
}

func mulMod(x, y, n *big.Int) *big.Int {
	z := new(big.Int).Mul(x, y)
	return z.Mod(z, n)
}
