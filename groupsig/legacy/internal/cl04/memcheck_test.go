// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cl04

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
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

func tainted(c *cttest.Checker, b []byte) {
	c.Leaks("  depends on the secrets", func() {
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

// memcheckCases signs with a secret, blinds and nonces that are undefined.
func memcheckCases(c *cttest.Checker) {
	bls12381.Declassify(func(w []uint64) { cttest.Public(w) })
	w := newWorld(new(testing.T), "memcheck")
	m := w.join("ada")
	secretScalar(&m.k, "k")
	var u, r1, r2 bls12381.Scalar
	secretScalar(&u, "u")
	secretScalar(&r1, "r1")
	secretScalar(&r2, "r2")
	nonces := make([]bls12381.Scalar, secrets)
	for i := range nonces {
		secretScalar(&nonces[i], string(rune('0'+i)))
	}
	var tt *[7]bls12381.G1
	c.Clean("points", func() { tt = m.hide(&u, &r1, &r2) })
	for i := range tt {
		if i == 3 {
			continue
		}
		var b []byte
		c.Clean("encoding", func() { b = tt[i].Bytes() })
		tainted(c, b)
		if err := tt[i].SetBytes(b); err != nil {
			panic(err)
		}
	}
	tt[3].SetGenerator()
	var gt *bls12381.GT
	c.Clean("GT", func() { gt = m.commitGT(&r1, &r2, nonces) })
	tainted(c, gt.Bytes())
	st := w.gk.relations(tt)
	var s []bls12381.Scalar
	c.Clean("responses", func() {
		s = sigma.Respond(new(bls12381.Scalar).SetUint64(3), nonces, []bls12381.Scalar{m.k, u, r1})
	})
	tainted(c, s[0].Bytes())
	c.Check("statement", st.Secrets == secrets)
}

func FuzzDecode(f *testing.F) {
	w := newWorld(f, "fuzz")
	j := w.invite("ada", join.Schnorr)
	cred, err := w.issuer.Issue(w.gk, w.sessions, w.register, j.Request(), 2)
	if err != nil {
		f.Fatal(err)
	}
	m, err := j.Finish(cred)
	if err != nil {
		f.Fatal(err)
	}
	if err := w.opener.Record(w.opening, w.register.Member("ada"), public("ada")); err != nil {
		f.Fatal(err)
	}
	sig := w.sign(m, "m")
	o, err := w.opener.Open(w.opening, []byte("m"), nil, sig, nil)
	if err != nil {
		f.Fatal(err)
	}
	key, _ := m.MarshalBinary()
	req, _ := j.Request().MarshalBinary()
	c, _ := cred.MarshalBinary()
	opening, _ := o.MarshalBinary()
	for _, b := range [][]byte{w.gk.encode(), key, req, c, opening, sig} {
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		same := func(b []byte, err error) {
			t.Helper()
			if err != nil || !bytes.Equal(b, data) {
				t.Errorf("not canonical: %v", err)
			}
		}
		if g, err := ParseGroupKey(data); err == nil {
			same(g.MarshalBinary())
		}
		if m, err := w.gk.ParseMemberKey(data); err == nil {
			same(m.MarshalBinary())
		}
		if w.gk.Verify([]byte("another"), nil, data) == nil {
			t.Error("forged")
		}
		var r Request
		if r.UnmarshalBinary(data) == nil {
			same(r.MarshalBinary())
		}
		var c Credential
		if c.UnmarshalBinary(data) == nil {
			same(c.MarshalBinary())
		}
		var o Opening
		if o.UnmarshalBinary(data) == nil {
			same(o.MarshalBinary())
		}
	})
}
