// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package strongrsa

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/legacy/internal/qrn"
)

// small are parameters for tests: a challenge of 40 bits can be found, which takes
// longer than a test.
var small = qrn.Params{Modulus: 1024, Challenge: 40, Statistical: 20, Secret: 112}

var makers = []func(qrn.Params) (*Scheme, error){KTY04, CG05, ACJT00}

func schemeOf(t testing.TB, i int, p qrn.Params) *Scheme {
	t.Helper()
	s, err := makers[i](p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// testPrimes returns two safe primes of a size, found once.
func testPrimes(t testing.TB, bits int) (p, q *big.Int) {
	t.Helper()
	data, err := os.ReadFile("testdata/primes.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []*big.Int
	for _, line := range strings.Fields(string(data)) {
		if x, ok := new(big.Int).SetString(line, 16); ok && x.BitLen() == bits {
			out = append(out, x)
		}
	}
	if len(out) != 2 {
		t.Fatal("no primes of that size")
	}
	return out[0], out[1]
}

type world struct {
	t        testing.TB
	s        *Scheme
	issuer   *IssuerKey
	opener   *OpenerKey
	gk       *GroupKey
	sessions *join.Sessions
	register *join.Register // the issuer's
	opening  *join.Register // the opener's
}

func longTerm(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func public(name string) ed25519.PublicKey { return longTerm(name).Public().(ed25519.PublicKey) }

func newWorld(t testing.TB, s *Scheme, label string) *world {
	t.Helper()
	issuer, err := s.IssuerOf(testPrimes(t, s.p.Modulus/2))
	if err != nil {
		t.Fatal(err)
	}
	gk, opener, err := s.Setup(label, issuer.f.N())
	if err != nil {
		t.Fatal(err)
	}
	return &world{t, s, issuer, opener, gk, gk.NewSessions(), gk.NewRegister(), gk.NewRegister()}
}

func (w *world) invite(name string) *Join {
	w.t.Helper()
	c, err := w.issuer.Invite(w.sessions, name, public(name), 1, 10)
	if err != nil {
		w.t.Fatal(err)
	}
	j, err := NewJoin(w.gk, w.gk.ID(), c, name, longTerm(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

func (w *world) join(name string) *MemberKey {
	w.t.Helper()
	j := w.invite(name)
	cred, err := w.issuer.Issue(w.gk, w.sessions, w.register, j.Request(), 2)
	if err != nil {
		w.t.Fatal(err)
	}
	m, err := j.Finish(cred)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.opener.Record(w.opening, w.register.Member(name), public(name)); err != nil {
		w.t.Fatal(err)
	}
	return m
}

func (w *world) sign(m *MemberKey, msg string) []byte {
	w.t.Helper()
	sig, err := m.Sign([]byte(msg), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return sig
}

func forAll(t *testing.T, f func(t *testing.T, i int)) {
	for i := range makers {
		t.Run(schemeOf(t, i, small).Name(), func(t *testing.T) {
			t.Parallel()
			f(t, i)
		})
	}
}

func life(t *testing.T, s *Scheme) {
	w := newWorld(t, s, "life")
	ada, bob := w.join("ada"), w.join("bob")
	for _, m := range []*MemberKey{ada, bob} {
		sig := w.sign(m, "m")
		if err := w.gk.Verify([]byte("m"), nil, sig); err != nil {
			t.Fatal(err)
		}
		o, err := w.opener.Open(w.opening, []byte("m"), nil, sig, []byte("why"))
		if err != nil {
			t.Fatal(err)
		}
		if o.Member() != m.member {
			t.Errorf("opened to %q, want %q", o.Member(), m.member)
		}
		b, _ := o.MarshalBinary()
		var q Opening
		if err := q.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
		if err := w.gk.VerifyOpening([]byte("m"), nil, sig, []byte("why"), &q, public(m.member)); err != nil {
			t.Error(err)
		}
		if w.gk.VerifyOpening([]byte("m"), nil, sig, []byte("else"), &q, public(m.member)) == nil ||
			w.gk.VerifyOpening([]byte("m"), nil, w.sign(m, "m"), []byte("why"), &q, public(m.member)) == nil ||
			w.gk.VerifyOpening([]byte("m"), nil, sig, []byte("why"), &q, public("eve")) == nil {
			t.Error("an opening passes for another context, signature or key")
		}
	}
	// Encodings.
	gk, err := s.ParseGroupKey(w.gk.encode())
	if err != nil {
		t.Fatal(err)
	}
	if !gk.Equal(w.gk) || gk.ID() != w.gk.ID() {
		t.Error("the group key changed")
	}
	b, _ := ada.MarshalBinary()
	again, err := gk.ParseMemberKey(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := gk.Verify([]byte("x"), nil, w.sign(again, "x")); err != nil {
		t.Error(err)
	}
	t.Logf("signature %d bytes, group key %d, member key %d", s.SignatureSize(), len(w.gk.encode()), len(b))
}

func TestLife(t *testing.T) {
	forAll(t, func(t *testing.T, i int) { life(t, schemeOf(t, i, small)) })
}

// TestStandard runs the schemes at full size. An e of ACJT00 has 6,500 bits and takes
// seconds to find. TestVectors signs at full size in any case.
func TestStandard(t *testing.T) {
	if os.Getenv("UNDERSIGN_LONG") == "" {
		t.Skip("slow")
	}
	for i := range makers {
		s := schemeOf(t, i, qrn.Standard)
		t.Run(s.Name(), func(t *testing.T) { life(t, s) })
	}
}

func BenchmarkSign(b *testing.B)   { bench(b, true) }
func BenchmarkVerify(b *testing.B) { bench(b, false) }

func bench(b *testing.B, sign bool) {
	for i := range makers {
		s := schemeOf(b, i, qrn.Standard)
		b.Run(s.Name(), func(b *testing.B) {
			w := newWorld(b, s, "bench")
			m := w.join("ada")
			sig := w.sign(m, "m")
			for b.Loop() {
				if sign {
					w.sign(m, "m")
				} else if err := w.gk.Verify([]byte("m"), nil, sig); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestSubgroup checks the constants P and Q of CG05.
func TestSubgroup(t *testing.T) {
	for i := uint64(0); i <= counterQ; i++ {
		if expand("Q", i, 256).ProbablyPrime(5) != (i == counterQ) {
			t.Fatal("Q isn't the first prime")
		}
	}
	q := expand("Q", counterQ, 256)
	if p := primeP(counterP, q); p.BitLen() != 3072 || !p.ProbablyPrime(5) {
		t.Error("P isn't prime")
	}
	if !bytes.Equal(subgroup().order.Bytes(), q.Bytes()) {
		t.Error("Q differs")
	}
}
