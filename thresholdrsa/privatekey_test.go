// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"sync"
	"testing"
)

var ordinaryKey = sync.OnceValue(func() *rsa.PrivateKey {
	priv, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return priv
})

func b64url(x *big.Int) string { return base64.RawURLEncoding.EncodeToString(x.Bytes()) }

// jwkOf is what an Arweave wallet holds.
func jwkOf(priv *rsa.PrivateKey) map[string]any {
	return map[string]any{
		"kty": "RSA",
		"n":   b64url(priv.N), "e": b64url(big.NewInt(int64(priv.E))), "d": b64url(priv.D),
		"p": b64url(priv.Primes[0]), "q": b64url(priv.Primes[1]),
		"dp": b64url(priv.Precomputed.Dp), "dq": b64url(priv.Precomputed.Dq), "qi": b64url(priv.Precomputed.Qinv),
	}
}

func marshalJWK(t testing.TB, m map[string]any) []byte {
	t.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func pkcs8PEM(t testing.TB, key any) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func pkcs1PEM(priv *rsa.PrivateKey) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(priv)})
}

func TestParsePrivateKey(t *testing.T) {
	priv := ordinaryKey()
	with := func(add map[string]any, drop ...string) []byte {
		m := jwkOf(priv)
		for k, v := range add {
			m[k] = v
		}
		for _, k := range drop {
			delete(m, k)
		}
		return marshalJWK(t, m)
	}
	zeros := base64.RawURLEncoding.EncodeToString(priv.D.FillBytes(make([]byte, 300)))
	p1, q1 := new(big.Int).Sub(priv.Primes[0], one), new(big.Int).Sub(priv.Primes[1], one)
	phi := new(big.Int).Mul(p1, q1)
	lcm := new(big.Int).Quo(phi, new(big.Int).GCD(nil, nil, p1, q1))
	inverse := func(m *big.Int) string { return b64url(new(big.Int).ModInverse(big.NewInt(65537), m)) }
	for name, data := range map[string][]byte{
		"PKCS #1":           pkcs1PEM(priv),
		"PKCS #8":           pkcs8PEM(t, priv),
		"text before":       append([]byte("Bag Attributes\n  friendlyName: ca\n"), pkcs8PEM(t, priv)...),
		"white space after": append(pkcs8PEM(t, priv), " \r\n\n"...),
		"JWK":               with(nil),
		"JWK, space":        append([]byte("\n  "), append(with(nil), '\n')...),
		"JWK, more members": with(map[string]any{"ext": true, "alg": "PS256", "key_ops": []string{"sign"}, "kid": "x"}),
		"JWK without CRT":   with(nil, "dp", "dq", "qi"),
		"JWK, long d":       with(map[string]any{"d": zeros}),
		"JWK, d mod lcm":    with(map[string]any{"d": inverse(lcm)}),
		"JWK, d mod phi":    with(map[string]any{"d": inverse(phi)}),
	} {
		got, err := ParsePrivateKey(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got.N.Cmp(priv.N) != 0 || got.E != priv.E || got.Primes[0].Cmp(priv.Primes[0]) != 0 {
			t.Errorf("%s: another key", name)
		}
	}
}

func TestParsePrivateKeyRejects(t *testing.T) {
	priv := ordinaryKey()
	block, _ := pem.Decode(pkcs1PEM(priv))
	block.Headers = map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-256-CBC,00"}
	spki, err := x509.MarshalPKIXPublicKey(&priv.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	plain := pkcs8PEM(t, priv)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":       {nil, "neither PEM nor JWK"},
		"junk":          {[]byte("ssh-rsa AAAA"), "neither PEM nor JWK"},
		"cut off":       {plain[:len(plain)/2], "neither PEM nor JWK"},
		"too long":      {append(bytes.Repeat([]byte("x"), maxPrivateKeyFile), plain...), "longer than"},
		"two keys":      {append(bytes.Clone(plain), plain...), "more than one PEM block"},
		"trailing":      {append(bytes.Clone(plain), "more"...), "data after"},
		"encrypted":     {pem.EncodeToMemory(block), "openssl pkey"},
		"encrypted 8":   {pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte{1}}), "openssl pkey"},
		"OpenSSH":       {pem.EncodeToMemory(&pem.Block{Type: "OPENSSH PRIVATE KEY", Bytes: []byte{1}}), "ssh-keygen"},
		"public":        {pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: spki}), `"PUBLIC KEY" isn't a private key`},
		"elliptic":      {pkcs8PEM(t, ec), "isn't RSA"},
		"mislabelled":   {pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: spki}), "malformed"},
		"empty":         {pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY"}), "malformed"},
		"trailing DER":  {pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: append(x509.MarshalPKCS1PrivateKey(priv), 0)}), "malformed"},
		"three primes":  {pkcs1PEM(threePrimeKey(t)), "3 primes"},
		"composite":     {compositeKey(t), "isn't prime"},
		"a small prime": {smallFactorKey(t), "invalid private key"},
	} {
		got, err := ParsePrivateKey(c.data)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, %v, want %q", name, got != nil, err, c.want)
		}
	}
}

func TestParseJWKRejects(t *testing.T) {
	priv := ordinaryKey()
	add := func(x *big.Int, d int64) string { return b64url(new(big.Int).Add(x, big.NewInt(d))) }
	for name, c := range map[string]struct {
		change func(m map[string]any)
		want   string
	}{
		"kty missing":     {func(m map[string]any) { delete(m, "kty") }, "missing"},
		"kty EC":          {func(m map[string]any) { m["kty"] = "EC" }, "isn't RSA"},
		"kty number":      {func(m map[string]any) { m["kty"] = 1 }, "not a string"},
		"kty folded":      {func(m map[string]any) { m["KTY"] = m["kty"]; delete(m, "kty") }, "missing"},
		"key set":         {func(m map[string]any) { clear(m); m["keys"] = []int{} }, "set of keys"},
		"public":          {func(m map[string]any) { delete(m, "d") }, "public key"},
		"oth":             {func(m map[string]any) { m["oth"] = []int{} }, "more than two primes"},
		"n missing":       {func(m map[string]any) { delete(m, "n") }, "missing"},
		"p missing":       {func(m map[string]any) { delete(m, "p") }, "missing"},
		"qi missing":      {func(m map[string]any) { delete(m, "qi") }, "missing"},
		"n padded":        {func(m map[string]any) { m["n"] = m["n"].(string) + "==" }, "malformed base64"},
		"n standard":      {func(m map[string]any) { m["n"] = "++//" + m["n"].(string)[4:] }, "malformed base64"},
		"n broken":        {func(m map[string]any) { m["n"] = m["n"].(string)[:8] + "\r\n" + m["n"].(string)[8:] }, "malformed base64"},
		"n empty":         {func(m map[string]any) { m["n"] = "" }, "empty"},
		"n zero":          {func(m map[string]any) { m["n"] = "AA" }, "zero"},
		"n endless":       {func(m map[string]any) { m["n"] = strings.Repeat("AAAA", 2000) }, "longer than"},
		"n not pq":        {func(m map[string]any) { m["n"] = add(priv.N, 2) }, "product of p and q"},
		"p one":           {func(m map[string]any) { m["p"], m["q"] = "AQ", m["n"] }, "product of p and q"},
		"p = q":           {func(m map[string]any) { m["q"] = m["p"] }, "product of p and q"},
		"e even":          {func(m map[string]any) { m["e"] = "AQAA" }, ""},
		"e one":           {func(m map[string]any) { m["e"] = "AQ" }, ""},
		"e long":          {func(m map[string]any) { m["e"] = "AQAAAAAB" }, "longer than 31 bits"},
		"e other":         {func(m map[string]any) { m["e"] = "EQ" }, "invalid private key"},
		"d zero":          {func(m map[string]any) { m["d"] = "AA" }, "zero"},
		"d other":         {func(m map[string]any) { m["d"] = add(priv.D, 2) }, "dp"},
		"d other, no CRT": {func(m map[string]any) { m["d"] = add(priv.D, 2); delete(m, "dp"); delete(m, "dq"); delete(m, "qi") }, "invalid private key"},
		"dp other":        {func(m map[string]any) { m["dp"] = add(priv.Precomputed.Dp, 1) }, `"dp": doesn't belong`},
		"dq other":        {func(m map[string]any) { m["dq"] = add(priv.Precomputed.Dq, 1) }, `"dq": doesn't belong`},
		"qi other":        {func(m map[string]any) { m["qi"] = add(priv.Precomputed.Qinv, 1) }, `"qi": doesn't belong`},
	} {
		m := jwkOf(priv)
		c.change(m)
		_, err := ParsePrivateKey(marshalJWK(t, m))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), b64url(priv.D)) {
			t.Errorf("%s: the error shows d", name)
		}
	}
	good := string(marshalJWK(t, jwkOf(priv)))
	for name, data := range map[string]string{
		"twice":    strings.Replace(good, `"kty":"RSA"`, `"kty":"RSA","kty":"RSA"`, 1),
		"trailing": good + "{}",
		"cut off":  good[:len(good)-1],
	} {
		if _, err := ParsePrivateKey([]byte(data)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func threePrimeKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	return keyOfPrimes(t, 3, 700, nil)
}

// compositeKey has a q that is a product of two primes, with a d that inverts e
// modulo p-1 and q-1, which is all that rsa.PrivateKey.Validate asks.
func compositeKey(t *testing.T) []byte {
	t.Helper()
	priv := keyOfPrimes(t, 3, 512, func(ps []*big.Int) []*big.Int {
		return []*big.Int{ps[2], new(big.Int).Mul(ps[0], ps[1])}
	})
	if err := priv.Validate(); err != nil {
		t.Fatalf("meant to be valid for crypto/rsa: %v", err)
	}
	return pkcs1PEM(priv)
}

// smallFactorKey has the factor 3.
func smallFactorKey(t *testing.T) []byte {
	t.Helper()
	priv := ordinaryKey()
	m := jwkOf(priv)
	for _, name := range []string{"dp", "dq", "qi"} {
		delete(m, name)
	}
	m["p"] = b64url(big.NewInt(3))
	m["n"] = b64url(new(big.Int).Mul(big.NewInt(3), priv.Primes[1]))
	return marshalJWK(t, m)
}

func keyOfPrimes(t *testing.T, count, bits int, merge func([]*big.Int) []*big.Int) *rsa.PrivateKey {
	t.Helper()
	for {
		var ps []*big.Int
		for range count {
			p, err := rand.Prime(rand.Reader, bits)
			if err != nil {
				t.Fatal(err)
			}
			ps = append(ps, p)
		}
		if merge != nil {
			ps = merge(ps)
		}
		n, phi := big.NewInt(1), big.NewInt(1)
		for _, p := range ps {
			n.Mul(n, p)
			phi.Mul(phi, new(big.Int).Sub(p, one))
		}
		d := new(big.Int).ModInverse(big.NewInt(65537), phi)
		if d == nil {
			continue
		}
		priv := &rsa.PrivateKey{PublicKey: rsa.PublicKey{N: n, E: 65537}, D: d, Primes: ps}
		priv.Precompute()
		return priv
	}
}

func TestWriteJWK(t *testing.T) {
	pub := &ordinaryKey().PublicKey
	var out bytes.Buffer
	if err := WriteJWK(&out, pub); err != nil {
		t.Fatal(err)
	}
	var m map[string]string
	if err := json.Unmarshal(out.Bytes(), &m); err != nil {
		t.Fatal(err)
	}
	if len(m) != 3 || m["kty"] != "RSA" || m["e"] != "AQAB" || m["n"] != b64url(pub.N) {
		t.Errorf("got %s", out.Bytes())
	}
	if _, err := ParsePrivateKey(out.Bytes()); err == nil {
		t.Error("a public key was read as a private one")
	}

	for name, pub := range map[string]*rsa.PublicKey{
		"nil":    nil,
		"no N":   {E: 3},
		"even N": {N: big.NewInt(36), E: 3},
		"N < 0":  {N: big.NewInt(-35), E: 3},
		"e even": {N: big.NewInt(35), E: 2},
		"e one":  {N: big.NewInt(35), E: 1},
	} {
		out.Reset()
		if err := WriteJWK(&out, pub); err == nil || out.Len() > 0 {
			t.Errorf("%s: got %v, wrote %d bytes", name, err, out.Len())
		}
	}
	if err := WriteJWK(fullDisk{}, pub); !errors.Is(err, errFull) {
		t.Errorf("a failing writer: %v", err)
	}
}

var errFull = errors.New("full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func FuzzParsePrivateKey(f *testing.F) {
	priv := ordinaryKey()
	f.Add(pkcs1PEM(priv))
	f.Add(pkcs8PEM(f, priv))
	f.Add(marshalJWK(f, jwkOf(priv)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, err := ParsePrivateKey(data); err == nil && (len(got.Primes) != 2 || got.Validate() != nil) {
			t.Fatal("accepted an invalid key")
		}
	})
}
