// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

import (
	"testing"
	"testing/cryptotest"

	"github.com/undersign/undersign/groupsig/internal/tokentest"
	"github.com/undersign/undersign/internal/bls12381"
)

// Two members whose credentials have one u make those of all secrets between theirs,
// which open to nobody. The issuer gives no two of them, not even when its generator is
// set back, as by a snapshot of its machine.
func TestClonedGenerator(t *testing.T) {
	f := common.New("test")
	a, b := f.NewJoin("ada"), f.NewJoin("bob")
	issue := func(j *Join) *Credential {
		cryptotest.SetGlobalRandom(t, 1)
		return f.Issuer.credential(j.Request())
	}
	ca, cb := issue(a), issue(b)
	if ca.s1.Equal(&cb.s1) {
		t.Error("two credentials with one u")
	}

	// The trap: sigma2 = u·(x + y·sk)·P1 is linear in sk.
	x, y := f.Issuer.k.Secrets()
	var u, v bls12381.Scalar
	u.Random()
	careless := func(j *Join) (s1, s2 bls12381.G1) {
		v.Mul(&j.sk, y)
		v.Add(&v, x)
		s1.ScalarBaseMult(&u)
		s2.ScalarBaseMult(v.Mul(&v, &u))
		return
	}
	s1, s2 := careless(a)
	_, other := careless(b)
	eve := f.NewJoin("eve")
	eve.sk.Add(&a.sk, &a.sk)
	eve.sk.Sub(&eve.sk, &b.sk)
	if err := eve.prepare(tokentest.LongTerm("eve")); err != nil {
		t.Fatal(err)
	}
	made := &Credential{session: eve.challenge.Session, s1: s1}
	made.s2.Add(&s2, &s2)
	made.s2.Sub(&made.s2, &other)
	bls12381.NormalizeG1(&made.s1, &made.s2)
	if _, err := eve.Finish(made); err != nil {
		t.Error("the trap is none:", err)
	}
}
