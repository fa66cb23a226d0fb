// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
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
	var keys []*ring.PublicKey
	var k *ring.PrivateKey
	for range 2 {
		var err error
		if k, err = ring.GenerateKey(ring.Ristretto255); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k.Public())
	}
	r, err := ring.NewRing(keys...)
	if err != nil {
		t.Fatal(err)
	}
	sig, err := k.Sign(r, []byte("message"), nil)
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
