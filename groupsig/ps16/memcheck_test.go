// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

import (
	"crypto/sha256"
	"testing"

	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/cttest"
	"github.com/undersign/undersign/internal/transcript"
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

// publish normalises points that were computed from secrets: what is inverted there is a
// random multiple. It returns the defined points.
func publish(c *cttest.Checker, points ...*bls12381.G1) {
	c.Clean("  points", func() { bls12381.NormalizeG1(points...) })
	for _, p := range points {
		b := p.Bytes()
		tainted(c, b)
		if err := p.SetBytes(b); err != nil {
			panic(err)
		}
	}
}

// memcheckCases signs with a secret and nonces that are undefined.
func memcheckCases(c *cttest.Checker) {
	bls12381.Declassify(func(w []uint64) { cttest.Public(w) })
	f := common.New("memcheck", "alice")
	m := f.Members["alice"]
	msg := []byte("m")
	var t, k bls12381.Scalar
	secretScalar(&m.sk, "secret")
	c.Clean("nonces", func() {
		secret := new(transcript.Items).Grow(128).Scalar("w", &m.sk)
		n := transcript.NewNonces(dstSign, secret, new(transcript.Items))
		n.Next(&t, &k)
		n.Wipe()
		secret.Wipe()
	})
	b := k.Bytes()
	tainted(c, b)

	secretScalar(&t, "t")
	secretScalar(&k, "k")
	var sig *Signature
	c.Clean("points", func() { sig = m.points(&t) })
	publish(c, &sig.s1, &sig.s2)
	c.Clean("proof", func() { m.respond(sig, msg, nil, &t, &k) })
	b = sig.s.Bytes()
	tainted(c, b)
}
