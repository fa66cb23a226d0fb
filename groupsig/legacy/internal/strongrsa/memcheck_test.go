// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package strongrsa

import (
	"crypto/sha256"
	"os"
	"testing"

	"github.com/undersign/undersign/groupsig/legacy/internal/qrn"
	"github.com/undersign/undersign/internal/cttest"
	"github.com/undersign/undersign/internal/modexp"
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

// chosen returns a number below 2^bits by name.
func chosen(name string, bits int) modexp.Nat {
	i := byte(0)
	return qrn.Random(func(b []byte) {
		for at := 0; at < len(b); i++ {
			h := sha256.Sum256(append([]byte(name), i))
			at += copy(b[at:], h[:])
		}
	}, bits)
}

// secretNat returns a number below 2^bits that is undefined to memcheck.
func secretNat(name string, bits int) modexp.Nat {
	z := chosen(name, bits)
	cttest.Secret(z)
	return z
}

// publish marks an element that goes out. It checks that the secrets got there.
func publish(c *cttest.Checker, g *qrn.Group, x *modexp.Element) *modexp.Element {
	b := g.M.Bytes(x)
	c.Leaks("  depends on the secrets", func() {
		if b[len(b)-1]&1 == 1 {
			branches++
		}
	})
	cttest.Public(b)
	y, err := g.M.SetBytes(b)
	if err != nil {
		panic(err)
	}
	return y
}

// memcheckCases signs with secrets, blinds and nonces that are undefined.
func memcheckCases(c *cttest.Checker) {
	tiny := qrn.Params{Modulus: 512, Challenge: 16, Statistical: 8, Secret: 64}
	for i := range makers {
		s := schemeOf(new(testing.T), i, tiny)
		if s.name == "acjt00" && os.Getenv("UNDERSIGN_LONG") == "" {
			continue // the same code with longer numbers
		}
		w := newWorld(new(testing.T), s, "memcheck")
		m := &MemberKey{g: w.gk, e: secretNat("e", s.e.Bits)}
		m.a = w.gk.n.M.SetNat(secretNat("A", tiny.Modulus))
		for _, x := range s.slots {
			m.w = append(m.w, secretNat("w"+x.base, x.r.Bits))
		}
		blinds := make([]modexp.Nat, len(s.blinds))
		for j, r := range s.blinds {
			blinds[j] = secretNat("blind"+string(rune('0'+j)), r.Bits)
		}
		var ts []*modexp.Element
		var v []modexp.Nat
		c.Clean(s.name+": elements", func() { ts, v = s.hide(m, blinds) })
		t := make([]*qrn.Base, len(ts))
		for j := range ts {
			t[j] = w.gk.group(j).NewBase(publish(c, w.gk.group(j), ts[j]))
		}
		st, _ := w.gk.signed(nil, nil, t)
		nonces := make([]modexp.Nat, len(v))
		for j, r := range s.secrets {
			nonces[j] = secretNat("nonce"+string(rune('0'+j)), r.Response(tiny))
		}
		var commitments []*modexp.Element
		c.Clean(s.name+": commitments", func() { commitments = st.Commit(nonces) })
		for j, x := range commitments {
			publish(c, st.Rel[j].G, x)
		}
		var z []modexp.Nat
		c.Clean(s.name+": responses", func() { z, _ = st.Respond([]byte("ab"), nonces, v) })
		c.Leaks("  responses depend on the secrets", func() {
			if z[0][0]&1 == 1 {
				branches++
			}
		})
		c.Clean(s.name+": issued", func() { w.gk.issued(m.w) })
	}
}
