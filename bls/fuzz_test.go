// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"bytes"
	"testing"
)

// FuzzParse demands that what is accepted is written back as it was.
func FuzzParse(f *testing.F) {
	sk := numbered(f, 1)[0]
	f.Add(sk.PublicKey().Bytes())
	f.Add(sk.MinSigPublicKey().Bytes())
	f.Add(sk.PublicKey().UncompressedBytes())
	sig := must[*Signature](f)(Basic.Sign(sk, nil))
	f.Add(sig.Bytes())
	f.Add(sig.UncompressedBytes())
	f.Add(append([]byte{0xc0}, make([]byte, 95)...))
	f.Add(must[[]byte](f)(sk.MarshalBinary()))
	f.Fuzz(func(t *testing.T, b []byte) {
		var k PublicKey
		if k.UnmarshalBinary(b) == nil && (!bytes.Equal(k.Bytes(), b) || k.p.isIdentity()) {
			t.Errorf("key %x became %v", b, k)
		}
		var s Signature
		if s.UnmarshalBinary(b) == nil && !bytes.Equal(s.Bytes(), b) {
			t.Errorf("signature %x became %v", b, s)
		}
		if k, err := ParseUncompressedPublicKey(b); err == nil && !bytes.Equal(k.UncompressedBytes(), b) {
			t.Errorf("key %x became %v", b, k)
		}
		if s, err := ParseUncompressedSignature(b); err == nil && !bytes.Equal(s.UncompressedBytes(), b) {
			t.Errorf("signature %x became %v", b, s)
		}
		if _, err := ParseUncompressedSignature(b); err == nil {
			if _, err := ParseUncheckedSignature(b); err != nil {
				t.Error("a signature isn't on the curve")
			}
		}
		raw, err := ParseUncheckedCompressed(b)
		if err == nil && !bytes.Equal(raw.a.Point().Bytes(), b) {
			t.Errorf("a point of the curve %x became another", b)
		}
		sig, want := ParseSignature(b)
		if err == nil {
			var got *Signature
			if got, err = raw.Check(); err == nil && !got.Equal(sig) {
				t.Error("checked, it is another signature")
			}
		}
		if (err == nil) != (want == nil) {
			t.Errorf("checked at once: %v, and later: %v", want, err)
		}
		if k, err := ParseSecretKey(b); err == nil {
			if out, err := k.MarshalBinary(); err != nil || !bytes.Equal(out, b) {
				t.Error("a secret key became another")
			}
		}
	})
}

// FuzzAggregate makes aggregates of a few keys and messages, one of which differs from
// what was signed if bytes differ, and compares single and batch verification.
func FuzzAggregate(f *testing.F) {
	f.Add([]byte{0, 1, 2}, []byte{0, 1, 2}, uint8(1))
	f.Add([]byte{0, 0, 0}, []byte{0, 1, 1}, uint8(2))
	f.Add([]byte{0, 9, 18}, []byte{0, 9, 18}, uint8(5))
	sks := numbered(f, 4)
	msgs := messages(4)
	f.Fuzz(func(t *testing.T, signed, claimed []byte, scheme uint8) {
		s := Scheme(scheme % 6)
		n := min(len(signed), len(claimed), 4)
		if n == 0 {
			return
		}
		same := true
		var keys []*PublicKey
		var list [][]byte
		var sigs []*Signature
		for i := range n {
			a, b := signed[i]&15, claimed[i]&15
			same = same && a == b
			sigs = append(sigs, must[*Signature](t)(s.Sign(sks[a&3], msgs[a>>2])))
			keys, list = append(keys, s.public(sks[b&3])), append(list, msgs[b>>2])
		}
		sum := must[*Signature](t)(Aggregate(sigs...))
		err := s.AggregateVerify(keys, list, sum)
		if same && suites[s].kind == Augmented && err != nil {
			t.Error(err)
		}
		b := NewBatch(s)
		b.AddAggregate(keys, list, sum)
		if (b.Verify() == nil) != (err == nil) {
			t.Errorf("alone: %v; in a batch: %v", err, b.Verify())
		}
		if suites[s].kind == ProofOfPossession {
			err := s.AggregateVerifyProven(provenOf(keys), list, sum)
			if same && err != nil {
				t.Error(err)
			}
		}
	})
}
