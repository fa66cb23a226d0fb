// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/undersign/undersign/internal/nodedir"
)

func TestReadIdentity(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "node")
	id, err := nodedir.Create(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	k, err := ReadIdentity(dir)
	if err != nil || !k.Key.Equal(id.SigningKey()) {
		t.Fatalf("%v, %v", k, err)
	}
	if runtime.GOOS != "windows" {
		for _, mode := range []os.FileMode{0o640, 0o604, 0o620} {
			if err := os.Chmod(filepath.Join(dir, "identity.pem"), mode); err != nil {
				t.Fatal(err)
			}
			if _, err := ReadIdentity(dir); err == nil {
				t.Errorf("a key of mode %04o", mode)
			}
		}
	}
	if _, err := ReadIdentity(t.TempDir()); err == nil {
		t.Error("no key")
	}
}

func TestParseURL(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "node")
	id, err := nodedir.Create(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	fp := id.Fingerprint()
	if a, f, err := ParseURL("undersign://host:1/" + fp); err != nil || a != "host:1" || f != fp {
		t.Errorf("%s, %s, %v", a, f, err)
	}
	for _, s := range []string{
		"", "undersign://", "https://host:1/" + fp, "undersign://host:1", "undersign://host:1/", "undersign://host/" + fp, "undersign://x@host:1/" + fp,
		"undersign://host:1/" + fp + "?x", "undersign://host:1/" + fp + "#x", "undersign://host:1/" + fp[1:], "undersign://host:1//" + fp,
	} {
		if _, _, err := ParseURL(s); err == nil {
			t.Errorf("%q is a node", s)
		}
	}
}
