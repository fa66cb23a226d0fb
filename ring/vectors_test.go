// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// Signatures that were made once are valid for ever, and link to those made now: labels,
// orders and encodings don't change.
func TestKnownAnswers(t *testing.T) {
	data, err := os.ReadFile("testdata/signatures.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for block := range strings.SplitSeq(string(data), "\n\n") {
		fields := make(map[string]string)
		raw := make(map[string][]byte)
		for line := range strings.Lines(block) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && name[0] != '#' {
				fields[name] = value
				raw[name], _ = hex.DecodeString(value)
			}
		}
		if len(fields) == 0 {
			continue
		}
		n++
		var k PrivateKey
		var r Ring
		var sig, wide Signature
		for _, err := range []error{
			k.UnmarshalBinary(raw["key"]), r.UnmarshalBinary(raw["ring"]),
			sig.UnmarshalBinary(raw["signature"]), wide.UnmarshalBinary(raw["batch"]),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if r.Group().String() != fields["group"] {
			t.Errorf("the group is %s, not %s", r.Group(), fields["group"])
		}
		o := &Options{Scope: []byte("scope"), AcrossRings: fields["across"] == "true"}
		for _, sig := range []*Signature{&sig, &wide} {
			if err := r.Verify([]byte("message"), sig, o); err != nil {
				t.Errorf("%s: %v", fields["group"], err)
			}
			if !Linked(sig, sign(t, &k, &r, "other", o)) {
				t.Errorf("%s: another key image", fields["group"])
			}
		}
		if b := encode(t, expand(t, &r, "message", &sig, o)); !bytes.Equal(b, raw["batch"]) {
			t.Errorf("%s: another layout for batches", fields["group"])
		}
	}
	if n != 4 {
		t.Errorf("%d blocks", n)
	}
}
