// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/ring"
)

// A file that is too long for the ring isn't decoded: what a hostile signature costs is
// bounded by the ring.
func TestRingSignatureOfLargerRing(t *testing.T) {
	r, k := testRing(t)
	sig, err := k[0].Sign(r, []byte("message"), nil)
	if err != nil {
		t.Fatal(err)
	}
	good, err := keyfile.Encode(sig)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.ringsig")
	for _, c := range []struct {
		data string
		want error
	}{
		{string(good), nil},
		{string(good) + strings.Repeat("x", 80<<10), ring.ErrSignature},
	} {
		if err := os.WriteFile(file, []byte(c.data), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := new(env).readRingSignature(t.Context(), r, file); !errors.Is(err, c.want) {
			t.Errorf("%d bytes: %v", len(c.data), err)
		}
	}
}

// testRing returns a ring of two keys.
func testRing(t *testing.T) (*ring.Ring, [2]*ring.PrivateKey) {
	t.Helper()
	var keys [2]*ring.PrivateKey
	for i := range keys {
		var err error
		if keys[i], err = ring.GenerateKey(ring.Ristretto255); err != nil {
			t.Fatal(err)
		}
	}
	r, err := ring.NewRing(keys[0].Public(), keys[1].Public())
	if err != nil {
		t.Fatal(err)
	}
	return r, keys
}

// Files that are more than one batch get the verdicts that one batch gives, in their
// places.
func TestRingVerifyInParts(t *testing.T) {
	r, k := testRing(t)
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	encoded := func(v keyfile.Object) []byte {
		b, err := keyfile.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	args := []string{"ring", "verify", "--ring", write("ring", encoded(r)), "--once", "--json"}
	want := []string{"invalid", "valid", "invalid", "invalid", "valid", "repeated", "repeated"}
	for i, status := range want {
		name := string(rune('a' + i))
		sig, err := k[min(i/4, 1)].Sign(r, []byte(name), nil)
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			if sig, err = r.Expand([]byte(name), sig, nil); err != nil {
				t.Fatal(err)
			}
		}
		data := name
		if status == "invalid" {
			data = "another"
		}
		args = append(args, write(name, []byte(data)))
		write(name+ringSigSuffix, encoded(sig))
	}
	for _, most := range []int{2, 4, 6, 1 << 17} {
		old := maxRingBatch
		maxRingBatch = most
		var out, errs bytes.Buffer
		status := Main(args, strings.NewReader(""), &out, &errs)
		maxRingBatch = old
		var result ringVerifyResult
		if err := json.Unmarshal(out.Bytes(), &result); err != nil || status != ExitInvalid || len(result.Signatures) != len(want) {
			t.Fatalf("%d at a time: status %d, %v: %s%s", most, status, err, &out, &errs)
		}
		for i, v := range result.Signatures {
			if v.Status != want[i] || (v.Image == "") != (v.Status == "invalid") {
				t.Errorf("%d at a time: %s is %s, not %s", most, v.File, v.Status, want[i])
			}
		}
	}
}
