// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

import (
	"bytes"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/tokentest"
	"github.com/undersign/undersign/internal/bls12381"
)

func TestRequests(t *testing.T) {
	edits := tokentest.Edits(map[string]func(r, bobs *Request){
		"unknown session": func(r, _ *Request) { r.reg.Session[0] ^= 1 },
		"bob's session":   func(r, bobs *Request) { r.reg.Session = bobs.reg.Session },
		"tau zero":        func(r, _ *Request) { r.tau.SetIdentity() },
		"token zero":      func(r, _ *Request) { r.ttau.SetIdentity() },
		"both zero":       func(r, _ *Request) { r.tau.SetIdentity(); r.ttau.SetIdentity() },
		"other tau":       func(r, _ *Request) { r.tau.Double(&r.tau) },
		"other token":     func(r, _ *Request) { r.ttau.Double(&r.ttau) },
		"no proof":        func(r, _ *Request) { r.proof = nil },
		"bad proof": func(r, _ *Request) {
			r.proof = bytes.Clone(r.proof)
			r.proof[len(r.proof)-1] ^= 1
		},
		"key":       func(r, _ *Request) { r.reg.Key = tokentest.LongTermPublic("bob") },
		"signature": func(r, _ *Request) { r.reg.Sig = make([]byte, 64) },
	})
	common.Requests(t, edits, map[string]func(j *Join, c *Challenge) *Request{
		"another kind": func(j *Join, c *Challenge) *Request {
			other := *c
			other.Kind = Schnorr
			return tokentest.Must(common.Answer(j, &other, tokentest.LongTerm("alice")))
		},
		// With a proof and a signature that are right for it.
		"a token of another secret": func(j *Join, c *Challenge) *Request {
			r := j.Request()
			r.ttau.Double(&r.ttau)
			bls12381.NormalizeG2(&r.ttau)
			r.proof = tokentest.Must(join.Prove(Fischlin, dstJoin, r.context(c), r.statement(), []bls12381.Scalar{j.sk}))
			if err := r.reg.Sign(r.record(c), tokentest.LongTerm("alice")); err != nil {
				t.Fatal(err)
			}
			return r
		},
	})
}

func TestCredentials(t *testing.T) {
	common.Credentials(t, inSession, map[string]func(c, bobs *Credential){
		"sigma1 zero":  func(c, _ *Credential) { c.s1.SetIdentity() },
		"sigma2 zero":  func(c, _ *Credential) { c.s2.SetIdentity() },
		"zero":         func(c, _ *Credential) { c.s1.SetIdentity(); c.s2.SetIdentity() },
		"other sigma1": func(c, _ *Credential) { c.s1.Double(&c.s1) },
		"other sigma2": func(c, _ *Credential) { c.s2.Neg(&c.s2) },
		"swapped":      func(c, _ *Credential) { c.s1, c.s2 = c.s2, c.s1 },
	})
}
