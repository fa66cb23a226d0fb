// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokentest

import (
	"fmt"
	"testing"
)

// BenchmarkSetup makes the keys of a group.
func (s *Suite[P, G, I, O, J, M, S, R, C]) BenchmarkSetup(b *testing.B) {
	for b.Loop() {
		if _, err := s.Setup("bench", s.NewIssuer(), s.NewOpener()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkJoin is a whole run, of member and issuer, without the opener's check.
func (s *Suite[P, G, I, O, J, M, S, R, C]) BenchmarkJoin(b *testing.B) {
	f := s.New("bench")
	i := 0
	for b.Loop() {
		i++
		j := f.NewJoin(fmt.Sprint("member ", i))
		Must(j.Finish(Must(f.Issue(j.Request()))))
		f.Sessions.Cancel(j.Request().Session())
	}
}

// BenchmarkSign signs.
func (s *Suite[P, G, I, O, J, M, S, R, C]) BenchmarkSign(b *testing.B) {
	m := s.Group().Members["alice"]
	msg := []byte("hello")
	for b.Loop() {
		Must(s.Sign(m, msg, nil))
	}
}

// BenchmarkVerify verifies one signature, which is decoded before, or each time.
func (s *Suite[P, G, I, O, J, M, S, R, C]) BenchmarkVerify(b *testing.B) {
	g := s.Group().G
	msg := []byte("hello")
	sig := s.Group().Sign("alice", "hello")
	raw := sig.Bytes()
	b.Run("parsed", func(b *testing.B) {
		for b.Loop() {
			if err := g.Verify(msg, sig, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bytes", func(b *testing.B) {
		for b.Loop() {
			if err := g.Verify(msg, Must(s.Parse(raw)), nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkOpen opens a signature of the last of n members, on one processor with
// -cpu 1, and does what a judge does.
func (s *Suite[P, G, I, O, J, M, S, R, C]) BenchmarkOpen(b *testing.B) {
	for _, n := range []int{1, 10} {
		f := s.New("bench")
		for i := range n {
			f.Join(fmt.Sprint("member ", i))
		}
		sig := f.Sign(fmt.Sprint("member ", n-1), "m")
		b.Run(fmt.Sprint("members=", n), func(b *testing.B) {
			for b.Loop() {
				Must(f.Open("m", sig))
			}
		})
	}
	f := s.Group()
	sig := f.Sign("alice", "m")
	o := Must(f.Open("m", sig))
	key := LongTermPublic("alice")
	b.Run("judge", func(b *testing.B) {
		for b.Loop() {
			if err := f.G.VerifyOpening([]byte("m"), sig, o, key, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
