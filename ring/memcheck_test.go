// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"bytes"
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

var (
	branches int
	kept     *scalar // on the heap, which valgrind follows
	place    []byte
	made     *Signature
	image    []byte
)

// memcheckCases runs signing with the secret and the signer's place undefined.
func memcheckCases(c *cttest.Checker) {
	bls12381.Declassify(func(w []uint64) { cttest.Public(w) })
	for _, g := range Groups() {
		e := groups[g]
		var list []*PublicKey
		for range 3 {
			k, _ := GenerateKey(g)
			list = append(list, k.Public())
		}
		signer, _ := GenerateKey(g)
		r, err := NewRing(append(list, signer.Public())...)
		if err != nil {
			panic(err)
		}
		kept = new(scalar)
		*kept = signer.secret
		place = bytes.Clone(signer.pub.point)
		cttest.Secret(kept[:])
		cttest.Secret(place)
		st := r.statement(nil)
		st.message = transcript.MessageOf([]byte("message"))
		c.Clean(g.String()+": public key", func() { image = e.publicKey(kept) })
		tainted(c, image)
		c.Clean(g.String()+": image", func() { image = r.keys.image(kept, st) })
		tainted(c, image)
		c.Clean(g.String()+": sign", func() { made = r.keys.sign(kept, place, st) })
		tainted(c, made.image.encoded)
		tainted(c, made.c[:])
		for i := range made.s {
			tainted(c, made.s[i][:])
		}
		if err := r.Verify([]byte("message"), made, nil); err != nil {
			panic(err)
		}
	}
}

// tainted checks that b is undefined, so that the case before has tested something. b is
// published then.
func tainted(c *cttest.Checker, b []byte) {
	c.Leaks("  depends on the secret", func() {
		if b[len(b)-1]&1 == 1 {
			branches++
		}
	})
	cttest.Public(b)
}
