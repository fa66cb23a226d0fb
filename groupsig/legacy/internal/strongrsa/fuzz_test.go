// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package strongrsa

import (
	"bytes"
	"testing"
)

// FuzzDecode gives every decoder bytes: what decodes is canonical, and no signature of
// a message that nobody signed.
func FuzzDecode(f *testing.F) {
	var ws []*world
	for i := range makers {
		w := newWorld(f, schemeOf(f, i, small), "fuzz")
		j := w.invite("ada")
		cred, err := w.issuer.Issue(w.gk, w.sessions, w.register, j.Request(), 2)
		if err != nil {
			f.Fatal(err)
		}
		m, err := j.Finish(cred)
		if err != nil {
			f.Fatal(err)
		}
		if err := w.opener.Record(w.opening, w.register.Member("ada"), public("ada")); err != nil {
			f.Fatal(err)
		}
		sig := w.sign(m, "m")
		o, err := w.opener.Open(w.opening, []byte("m"), nil, sig, nil)
		if err != nil {
			f.Fatal(err)
		}
		key, _ := m.MarshalBinary()
		req, _ := j.Request().MarshalBinary()
		c, _ := cred.MarshalBinary()
		opening, _ := o.MarshalBinary()
		for _, b := range [][]byte{w.gk.encode(), key, req, c, opening, sig} {
			f.Add(b)
			f.Add(b[:len(b)/2])
		}
		ws = append(ws, w)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		same := func(b []byte, err error) {
			t.Helper()
			if err != nil || !bytes.Equal(b, data) {
				t.Errorf("not canonical: %v", err)
			}
		}
		for _, w := range ws {
			if g, err := w.s.ParseGroupKey(data); err == nil {
				same(g.MarshalBinary())
			}
			if m, err := w.gk.ParseMemberKey(data); err == nil {
				same(m.MarshalBinary())
			}
			if w.gk.Verify([]byte("another"), nil, data) == nil {
				t.Error("forged")
			}
		}
		var r Request
		if r.UnmarshalBinary(data) == nil {
			same(r.MarshalBinary())
		}
		var c Credential
		if c.UnmarshalBinary(data) == nil {
			same(c.MarshalBinary())
		}
		var o Opening
		if o.UnmarshalBinary(data) == nil {
			same(o.MarshalBinary())
		}
	})
}
