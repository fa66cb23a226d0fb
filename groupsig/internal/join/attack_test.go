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

// In a register by something else than the point that something is there once, whoever
// has it, whatever became of its record, and after a round of encoding.
func TestRegisterBy(t *testing.T) {
	by := func(r *Record) []byte {
		if len(r.Evidence) < 2 {
			return nil
		}
		return r.Evidence[:2]
	}
	with := func(member string, point byte, evidence string) *Record {
		r := record(t, member, point, newKey(t))
		r.Evidence = []byte(evidence)
		return r
	}
	reg := NewRegisterBy("test", gid, by)
	for i, member := range []string{"ada", "bob", "cem"} {
		if err := reg.Add(with(member, byte(i), string(rune('a'+i))+"-first")); err != nil {
			t.Fatal(err)
		}
	}
	if err := reg.Revoke("bob"); err != nil {
		t.Fatal(err)
	}
	if err := reg.Retire("cem"); err != nil {
		t.Fatal(err)
	}
	b, err := reg.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	back := NewRegisterBy("test", gid, by)
	if err := back.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	for _, reg := range []*Register{reg, back} {
		for name, r := range map[string]*Record{
			"of a live record":    with("dan", 9, "a-second"),
			"of a revoked record": with("dan", 9, "b-second"),
			"of a retired record": with("dan", 9, "c-second"),
			"none":                with("dan", 9, ""),
			"too short":           with("dan", 9, "d"),
		} {
			if reg.Add(r) == nil || reg.Admit(r, 7) == nil {
				t.Errorf("%s: added", name)
			}
		}
		for i, member := range []string{"ada", "bob", "cem"} {
			if r := reg.Find([]byte(string(rune('a'+i)) + "-")); r == nil || r.Member != member {
				t.Errorf("%s isn't found", member)
			}
		}
		if reg.Find(nil) != nil || reg.Find([]byte("a")) != nil {
			t.Error("something is found by nothing")
		}
		if reg.Len() != 3 {
			t.Errorf("%d records", reg.Len())
		}
	}
	// What was encoded by another register, with one of them twice or none.
	for _, evidence := range []string{"a-second", ""} {
		loose := NewRegister("test", gid, 0)
		for i, e := range []string{"a-first", evidence} {
			if err := loose.Add(with(string(rune('x'+i)), byte(i), e)); err != nil {
				t.Fatal(err)
			}
		}
		b, err := loose.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if NewRegisterBy("test", gid, by).UnmarshalBinary(b) == nil {
			t.Errorf("decoded, with the evidence %q", evidence)
		}
	}
}
