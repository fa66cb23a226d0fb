// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

import (
	"fmt"
	"testing"
)

func BenchmarkSetup(b *testing.B) {
	for b.Loop() {
		if _, err := Setup("bench", GenerateIssuerKey(), GenerateOpenerKey()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkJoin is a whole run, of member and issuer, without the opener's check.
func BenchmarkJoin(b *testing.B) {
	f := newFixture("bench")
	i := 0
	for b.Loop() {
		i++
		j := f.newJoin(fmt.Sprint("member ", i))
		c, err := f.issue(j.Request())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := j.Finish(c); err != nil {
			b.Fatal(err)
		}
		f.sessions.Cancel(j.request.reg.Session)
	}
}

func BenchmarkSign(b *testing.B) {
	m := group().members["alice"]
	msg := []byte("hello")
	for b.Loop() {
		m.Sign(msg, nil)
	}
}

func BenchmarkVerify(b *testing.B) {
	f := group()
	msg := []byte("hello")
	sig := f.sign("alice", "hello")
	raw := sig.Bytes()
	b.Run("parsed", func(b *testing.B) {
		for b.Loop() {
			if err := f.g.Verify(msg, sig, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bytes", func(b *testing.B) {
		for b.Loop() {
			s, err := ParseSignature(raw)
			if err != nil || f.g.Verify(msg, s, nil) != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkOpen opens a signature of the last of n members, on one processor with
// -cpu 1.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{1, 10} {
		f := newFixture("bench")
		for i := range n {
			f.join(fmt.Sprint("member ", i))
		}
		sig := f.sign(fmt.Sprint("member ", n-1), "m")
		b.Run(fmt.Sprint("members=", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := f.opener.Open(f.g, f.opening, []byte("m"), sig, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	f := group()
	sig := f.sign("alice", "m")
	o, err := f.opener.Open(f.g, f.opening, []byte("m"), sig, nil)
	if err != nil {
		b.Fatal(err)
	}
	key := longTermPublic("alice")
	b.Run("judge", func(b *testing.B) {
		for b.Loop() {
			if err := f.g.VerifyOpening([]byte("m"), sig, o, key, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
