// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestThreshold(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(t.TempDir(), "a file.txt")
	if err := os.WriteFile(file, []byte("some text"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	res, err := Threshold(context.Background(), Options{Dir: dir, File: file, Out: &out})
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	want := []string{"quorum not reached: there are 2 of the 3 needed", "dave is named", "Verified OK", ": OK"}
	for _, w := range want {
		if !strings.Contains(out.String(), w) {
			t.Errorf("the output lacks %q:\n%s", w, &out)
		}
	}
	if len(res.Verified) == 0 {
		t.Error("nothing verified the results")
	}
	_, err = exec.LookPath("openssl")
	if got := strings.Contains(res.Verified[0], "OpenSSL"); got != (err == nil) {
		t.Errorf("verified by %v", res.Verified)
	}
	for _, name := range []string{"threshold.pub", "rsa.pub.pem", "ceremony.txt", "file.sig", "ca.pem", "server.pem", "erin.share"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// Without OpenSSL the standard library is the judge, and the result says so.
func TestThresholdWithoutOpenSSL(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var out bytes.Buffer
	res, err := Threshold(context.Background(), Options{Dir: t.TempDir(), Out: &out})
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if res.Verified[0] != "crypto/rsa" || !strings.Contains(out.String(), "server.pem: OK") {
		t.Errorf("verified by %v:\n%s", res.Verified, &out)
	}
}

func TestThresholdRefused(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out bytes.Buffer
	if _, err := Threshold(ctx, Options{Dir: t.TempDir(), Out: &out}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Threshold(context.Background(), Options{Dir: t.TempDir(), File: "no such file", Out: &out}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := Threshold(context.Background(), Options{Dir: filepath.Join(t.TempDir(), "none"), Out: &out}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}
