// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package klap20

import (
	"bytes"
	"testing"
)

func fuzzCodec(f *testing.F, name string) {
	v := objects()[name]
	b, err := v[0]().MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Fuzz(func(t *testing.T, data []byte) {
		q := v[1]()
		if q.UnmarshalBinary(data) != nil {
			return
		}
		if b, err := q.MarshalBinary(); err != nil || !bytes.Equal(b, data) {
			t.Errorf("not canonical: %v", err)
		}
	})
}

func FuzzGroupKey(f *testing.F)   { fuzzCodec(f, "group key") }
func FuzzMemberKey(f *testing.F)  { fuzzCodec(f, "member key") }
func FuzzIssuerKey(f *testing.F)  { fuzzCodec(f, "issuer key") }
func FuzzJoin(f *testing.F)       { fuzzCodec(f, "join") }
func FuzzRequest(f *testing.F)    { fuzzCodec(f, "request") }
func FuzzCredential(f *testing.F) { fuzzCodec(f, "credential") }
func FuzzOpening(f *testing.F)    { fuzzCodec(f, "opening") }

// FuzzSignature demands that what decodes is canonical, and isn't a signature of a
// message that nobody signed.
func FuzzSignature(f *testing.F) {
	g := group().g
	f.Add(group().sign("alice", "m").Bytes())
	f.Add(make([]byte, SignatureSize))
	f.Fuzz(func(t *testing.T, raw []byte) {
		sig, err := ParseSignature(raw)
		if err != nil {
			return
		}
		if !bytes.Equal(sig.Bytes(), raw) {
			t.Error("not canonical")
		}
		if g.Verify([]byte("not signed"), sig, nil) == nil {
			t.Error("forged")
		}
	})
}

func FuzzBatchSignature(f *testing.F) {
	g := group().g
	msg := []byte("not signed")
	f.Add(group().sign("alice", "m").BatchBytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		sig, err := g.ParseBatchSignature(raw, msg, nil)
		if err != nil {
			return
		}
		if !bytes.Equal(sig.BatchBytes(), raw) {
			t.Error("not canonical")
		}
		b := g.Batch(nil)
		b.Add(msg, sig)
		if b.Verify() == nil {
			t.Error("forged")
		}
	})
}

func FuzzRevocationList(f *testing.F) {
	x := group()
	b, err := mustList(x, 1).MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := x.g.ParseRevocationList(data)
		if err != nil {
			return
		}
		if b, err := l.MarshalBinary(); err != nil || !bytes.Equal(b, data) {
			t.Errorf("not canonical: %v", err)
		}
	})
}
