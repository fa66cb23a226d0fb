// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package klap20

import (
	"bytes"
	"slices"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/tokentest"
	"github.com/undersign/undersign/internal/bls12381"
)

func TestRequests(t *testing.T) {
	edits := tokentest.Edits(map[string]func(r, bobs *Request){
		"unknown session":     func(r, _ *Request) { r.reg.Session[0] ^= 1 },
		"bob's session":       func(r, bobs *Request) { r.reg.Session = bobs.reg.Session },
		"f zero":              func(r, _ *Request) { r.f.SetIdentity() },
		"w zero":              func(r, _ *Request) { r.w.SetIdentity() },
		"S0 zero":             func(r, _ *Request) { r.token.S[0].SetIdentity() },
		"S1 zero":             func(r, _ *Request) { r.token.S[1].SetIdentity() },
		"F0 zero":             func(r, _ *Request) { r.token.F[0].SetIdentity() },
		"F1 zero":             func(r, _ *Request) { r.token.F[1].SetIdentity() },
		"other f":             func(r, _ *Request) { r.f.Double(&r.f) },
		"other w":             func(r, _ *Request) { r.w.Double(&r.w) },
		"other S0":            func(r, _ *Request) { r.token.S[0].Double(&r.token.S[0]) },
		"other S1":            func(r, _ *Request) { r.token.S[1].Double(&r.token.S[1]) },
		"other F0":            func(r, _ *Request) { r.token.F[0].Double(&r.token.F[0]) },
		"other F1":            func(r, _ *Request) { r.token.F[1].Double(&r.token.F[1]) },
		"encryptions swapped": func(r, _ *Request) { slices.Reverse(r.token.S[:]); slices.Reverse(r.token.F[:]) },
		"no proof":            func(r, _ *Request) { r.proof = nil },
		"bad proof": func(r, _ *Request) {
			r.proof = bytes.Clone(r.proof)
			r.proof[len(r.proof)-1] ^= 1
		},
		"key":       func(r, _ *Request) { r.reg.Key = tokentest.LongTermPublic("bob") },
		"signature": func(r, _ *Request) { r.reg.Sig = make([]byte, 64) },
	})
	// Encryptions of another token, or w by another secret: the rest is proved rightly.
	common.Requests(t, edits, map[string]func(j *Join, c *Challenge) *Request{
		"another token": func(j *Join, _ *Challenge) *Request {
			return forgedRequest(j, func(r *Request) {
				r.token.F[1].Add(&r.token.F[1], bls12381.G2Generator())
				bls12381.NormalizeG2(&r.token.F[1])
			})
		},
		"another w": func(j *Join, _ *Challenge) *Request {
			return forgedRequest(j, func(r *Request) {
				r.w.Double(&r.w)
				bls12381.NormalizeG1(&r.w)
			})
		},
	})
}

func TestCredentials(t *testing.T) {
	common.Credentials(t, inSession, map[string]func(c, bobs *Credential){
		"zero":       func(c, _ *Credential) { c.v.SetIdentity() },
		"other v":    func(c, _ *Credential) { c.v.Double(&c.v) },
		"opposite v": func(c, _ *Credential) { c.v.Neg(&c.v) },
	})
}

// forgedRequest returns j's request after a change of its points, with a proof whose
// challenge is right for them, by one who has no secrets for the changed relation.
func forgedRequest(j *Join, change func(*Request)) *Request {
	r := j.Request()
	w := make([]bls12381.Scalar, 3)
	w[0].Set(&j.alpha)
	r.token = j.g.k.Encrypt(&w[0], &w[1], &w[2])
	change(r)
	r.proof = tokentest.Must(r.statement(j.g, j.g.hash(&r.f)).Prove(dstJoin, j.challenge.Context(nil), w)).Append(nil)
	if err := r.reg.Sign(r.record(&j.challenge), tokentest.LongTerm("alice")); err != nil {
		panic(err)
	}
	return r
}

// The opener refuses encryptions that differ, even where issuer and member agree.
func TestDecrypt(t *testing.T) {
	f := group()
	j := f.NewJoin("dan")
	f.Sessions.Cancel(j.challenge.Session)
	r := j.Request()
	token := f.Opener.k.Decrypt(&r.token)
	if token == nil || !token.Equal(new(bls12381.G2).ScalarBaseMult(&j.alpha)) {
		t.Fatal("decryption")
	}
	if other().Opener.k.Decrypt(&r.token) != nil {
		t.Error("another opener decrypts")
	}
	r.token.F[0].Double(&r.token.F[0])
	if f.Opener.k.Decrypt(&r.token) != nil {
		t.Error("encryptions of different tokens")
	}
	if f.Opener.k.AddEncrypted(f.G.k, f.G.NewRegister(), r.record(&j.challenge), &r.token) == nil {
		t.Error("recorded with different tokens")
	}
}
