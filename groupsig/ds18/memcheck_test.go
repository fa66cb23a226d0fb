// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ds18

import (
	"crypto/sha256"
	"testing"

	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/cttest"
)

func TestMain(m *testing.M) { cttest.Main(m, memcheckCases) }

func TestConstantTime(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	t.Parallel()
	cttest.Memcheck(t)
}

var branches int

// tainted checks that b is undefined: that the secret got there, so that the case
// before has tested something. b is published then.
func tainted(c *cttest.Checker, b []byte) {
	c.Leaks("  depends on the secret", func() {
		if b[len(b)-1]&1 == 1 {
			branches++
		}
	})
	cttest.Public(b)
}

func secretScalar(k *bls12381.Scalar, name string) {
	b := sha256.Sum256([]byte(name))
	cttest.Secret(b[:])
	k.SetWide(b[:])
}

// memcheckCases signs and issues with secrets that are undefined.
func memcheckCases(c *cttest.Checker) {
	bls12381.Declassify(func(w []uint64) { cttest.Public(w) })
	f := common.New("memcheck", "alice")
	m := f.Members["alice"]
	request := f.NewJoin("bob").Request()
	var rho, psi, k bls12381.Scalar
	for s, name := range map[*bls12381.Scalar]string{&m.r: "r", &m.inverse: "1/q", &rho: "rho", &psi: "psi", &k: "k"} {
		secretScalar(s, name)
	}
	var sig *Signature
	c.Clean("points", func() {
		sig = m.points(&rho, &psi, &k)
		bls12381.NormalizeG1(&sig.m1, &sig.m2, &sig.z, &sig.w, sig.r)
		bls12381.NormalizeG2(&sig.ww)
	})
	for _, p := range []*bls12381.G1{&sig.m1, &sig.m2, &sig.z, &sig.w, sig.r} {
		b := p.Bytes()
		tainted(c, b)
		if err := p.SetBytes(b); err != nil {
			panic(err)
		}
	}
	b := sig.ww.Bytes()
	tainted(c, b)
	if err := sig.ww.SetBytes(b); err != nil {
		panic(err)
	}
	c.Clean("response", func() { m.respond(sig, []byte("m"), nil, &rho, &k) })
	tainted(c, sig.s.Bytes())

	x, y := f.Issuer.k.Secrets()
	secretScalar(x, "x")
	secretScalar(y, "y")
	var cred *Credential
	c.Clean("credential", func() { cred = f.Issuer.credential(request) })
	tainted(c, cred.z.Bytes())
	tainted(c, cred.ww.Bytes())
}
