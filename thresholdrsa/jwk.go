// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/big"
)

// parseJWK reads an RSA private key after RFC 7518, section 6.3. Members it doesn't
// know are ignored, as RFC 7517, section 4 demands.
func parseJWK(data []byte) (*rsa.PrivateKey, error) {
	o, err := parseObject("JWK", data)
	if err != nil {
		return nil, err
	}
	if o.has("keys") && !o.has("kty") {
		return nil, o.errorf("", "a set of keys, want one key")
	}
	kty, err := o.text("kty")
	if err != nil {
		return nil, err
	}
	if kty != "RSA" {
		return nil, o.errorf("kty", "%.40q isn't RSA", kty)
	}
	if o.has("oth") {
		return nil, o.errorf("oth", "a key of more than two primes")
	}
	if !o.has("d") {
		return nil, o.errorf("", "a public key, want a private one")
	}

	var n, e, d, p, q *big.Int
	for _, m := range []struct {
		name string
		x    **big.Int
	}{{"n", &n}, {"e", &e}, {"d", &d}, {"p", &p}, {"q", &q}} {
		if *m.x, err = o.number(m.name, base64urlNumber); err != nil {
			return nil, err
		}
		if (*m.x).Sign() == 0 {
			return nil, o.errorf(m.name, "zero")
		}
	}
	if e.BitLen() > 31 {
		return nil, o.errorf("e", "longer than 31 bits")
	}
	if n.BitLen() > MaxBits {
		return nil, o.errorf("n", "longer than %d bits", MaxBits)
	}
	// Before anything else is computed with them. It also keeps p and q odd and
	// below n, without which Validate isn't worth asking.
	if new(big.Int).Mul(p, q).Cmp(n) != 0 || n.Bit(0) == 0 || p.Cmp(n) == 0 || q.Cmp(n) == 0 {
		return nil, o.errorf("", "n isn't the product of p and q")
	}
	priv := &rsa.PrivateKey{
		PublicKey: rsa.PublicKey{N: n, E: int(e.Int64())},
		D:         d,
		Primes:    []*big.Int{p, q},
	}
	return priv, checkCRT(o, priv)
}

// checkCRT checks dp, dq and qi, of which a file has all or none. They aren't used;
// but a file in which they are wrong is damaged, and its d no better.
func checkCRT(o *object, priv *rsa.PrivateKey) error {
	if !o.has("dp") && !o.has("dq") && !o.has("qi") {
		return nil
	}
	p, q := priv.Primes[0], priv.Primes[1]
	one := big.NewInt(1)
	mod := func(x, m *big.Int) *big.Int { return new(big.Int).Mod(x, m) }
	for _, m := range []struct {
		name string
		want *big.Int
	}{
		{"dp", mod(priv.D, new(big.Int).Sub(p, one))},
		{"dq", mod(priv.D, new(big.Int).Sub(q, one))},
		{"qi", new(big.Int).ModInverse(q, p)},
	} {
		got, err := o.number(m.name, base64urlNumber)
		if err != nil {
			return err
		}
		if m.want == nil || got.Cmp(m.want) != 0 {
			return o.errorf(m.name, "doesn't belong to the key")
		}
	}
	return nil
}

// WriteJWK writes a public key as RFC 7518, section 6.3.1 has it.
func WriteJWK(w io.Writer, pub *rsa.PublicKey) error {
	if pub == nil || pub.N == nil || pub.N.Sign() <= 0 || pub.N.Bit(0) == 0 || pub.E < 3 || pub.E%2 == 0 {
		return errors.New("thresholdrsa: invalid public key")
	}
	enc := base64.RawURLEncoding
	_, err := fmt.Fprintf(w, "{\"kty\":\"RSA\",\"n\":\"%s\",\"e\":\"%s\"}\n",
		enc.EncodeToString(pub.N.Bytes()), enc.EncodeToString(big.NewInt(int64(pub.E)).Bytes()))
	return err
}
