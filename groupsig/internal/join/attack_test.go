// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package join

import (
	"bytes"
	"strings"
	"testing"
)

// Names of schemes that no domain separation tag can be made of come in records,
// challenges and registers from anywhere. They are refused, and nothing panics.
func TestHostileScheme(t *testing.T) {
	key := newKey(t)
	good := record(t, "ada", 1, key)
	enc, err := good.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	c := &Challenge{Scheme: "test", GroupID: gid, Member: "ada"}
	cenc, err := c.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []string{"a/bc", "////", "reg/", ""} {
		r := *good
		r.Scheme = scheme
		if r.Verify(public(key)) == nil || r.Sign(key) == nil {
			t.Errorf("%q: a record of it", scheme)
		}
		if _, err := r.MarshalBinary(); err == nil {
			t.Errorf("%q: encoded", scheme)
		}
		if NewRegister(scheme, gid, 0).Add(&r) == nil {
			t.Errorf("%q: registered", scheme)
		}
		if len(scheme) != len("test") {
			continue
		}
		b := bytes.Replace(enc, []byte("test"), []byte(scheme), 1)
		var q Record
		if q.UnmarshalBinary(b) == nil {
			t.Errorf("%q: a decoded record", scheme)
			q.Verify(public(key))
		}
		if new(Challenge).UnmarshalBinary(bytes.Replace(cenc, []byte("test"), []byte(scheme), 1)) == nil {
			t.Errorf("%q: a decoded challenge", scheme)
		}
	}
	r := *good
	if r.Scheme = strings.Repeat("x", 300); r.Verify(public(key)) == nil || r.Sign(key) == nil {
		t.Error("a long name")
	}
}
