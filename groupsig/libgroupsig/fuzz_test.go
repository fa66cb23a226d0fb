// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
)

func FuzzParseGroupKey(f *testing.F) {
	for _, s := range Schemes() {
		f.Add(newTestGroup(s).key)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := ParseGroupKey(data)
		if err != nil {
			return
		}
		b, _ := k.MarshalBinary()
		if raw, err := decodeText(data); err != nil || !bytes.Equal(b, raw) {
			t.Error("the key changes when it is written again")
		}
	})
}

func FuzzVerify(f *testing.F) {
	var keys []*GroupKey
	for i, s := range Schemes() {
		g := newTestGroup(s)
		k, err := ParseGroupKey(g.key)
		if err != nil {
			f.Fatal(err)
		}
		keys = append(keys, k)
		f.Add(uint8(i), message("s", "m"), g.join().sign([]byte("s"), []byte("m")))
	}
	f.Fuzz(func(t *testing.T, i uint8, msg, sig []byte) {
		if _, err := keys[int(i)%len(keys)].Verify(msg, sig); err != nil && !errors.Is(err, ErrSignature) {
			t.Error(err)
		}
	})
}

func FuzzParseMemberList(f *testing.F) {
	var keys []*GroupKey
	for i, s := range []Scheme{BBS04, PS16, KLAP20} {
		g := newTestGroup(s)
		k, err := ParseGroupKey(g.key)
		if err != nil {
			f.Fatal(err)
		}
		keys = append(keys, k)
		m := g.join()
		f.Add(uint8(i), list(Fork, m, m))
		f.Add(uint8(i), list(IBM, m))
	}
	f.Fuzz(func(t *testing.T, i uint8, data []byte) {
		l, err := keys[int(i)%len(keys)].ParseMemberList(data)
		if err != nil {
			return
		}
		raw, _ := decodeListText(data)
		if b, _ := l.MarshalBinary(); !bytes.Equal(b, raw) {
			t.Error("the list changes when it is written again")
		}
	})
}

// What is taken for a message is JSON, and means the same to others.
func FuzzSplitMessage(f *testing.F) {
	f.Add(message("scope", "message"))
	f.Add([]byte(`{"message":"a\t\\\"","scope":"é"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		scope, text, err := splitMessage(data)
		if err != nil {
			return
		}
		var v struct{ Scope, Message string }
		if err := json.Unmarshal(data, &v); err != nil || v.Scope != string(scope) || v.Message != string(text) {
			t.Errorf("%q: %q and %q, or %q and %q, %v", data, scope, text, v.Scope, v.Message, err)
		}
	})
}
