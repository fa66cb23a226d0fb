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

func TestBatch(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	res, err := Batch(context.Background(), Options{Dir: dir, Records: 5000, Out: &out})
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, w := range []string{"forged: line ", "5000 signatures, and exactly the 3 forged ones are bad", "one by one: ", "with the same verdicts"} {
		if !strings.Contains(out.String(), w) {
			t.Errorf("the output lacks %q:\n%s", w, &out)
		}
	}
	if n := strings.Count(out.String(), ": refused\n"); n != 3 {
		t.Errorf("%d lines are refused by others", n)
	}
	if n := strings.Count(out.String(), ": accepted\n"); n != 3 {
		t.Errorf("%d lines are accepted by others", n)
	}
	_, err = exec.LookPath("openssl")
	if got := strings.Contains(res.Verified[0], "OpenSSL"); got != (err == nil) {
		t.Errorf("verified by %v", res.Verified)
	}
	for _, name := range []string{signaturesName, forgedName} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestBatchWithoutOpenSSL(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var out bytes.Buffer
	res, err := Batch(context.Background(), Options{Dir: t.TempDir(), Records: 300, Out: &out})
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if res.Verified[0] != "gmsm" || strings.Count(out.String(), ": refused\n") != 3 {
		t.Errorf("verified by %v:\n%s", res.Verified, &out)
	}
}

// A file that was changed behind the demo's back is noticed.
func TestBatchTampered(t *testing.T) {
	newDemo := func() *batch {
		d := &batch{stage: stage{Options{Dir: t.TempDir()}, &Result{}}, records: 400}
		if _, err := d.make(t.Context()); err != nil {
			t.Fatal(err)
		}
		return d
	}
	edit := func(d *batch, f func([]byte) []byte) {
		data, err := os.ReadFile(d.path(signaturesName))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.write(signaturesName, f(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, f := range map[string]func([]byte) []byte{
		"another bad line": func(b []byte) []byte { return bytes.Replace(b, []byte(`"message":"`), []byte(`"message":"00`), 1) },
		"a malformed line": func(b []byte) []byte { return append([]byte("x\n"), b[bytes.IndexByte(b, '\n')+1:]...) },
		"a line less":      func(b []byte) []byte { return b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1] },
	} {
		d := newDemo()
		edit(d, f)
		if _, err := d.verify(t.Context()); err == nil {
			t.Errorf("%s: not noticed", name)
		}
	}
	d := newDemo()
	if _, err := d.verify(t.Context()); err != nil {
		t.Error(err)
	}
	d.bad[0] = d.bad[0]%d.records + 1 // a good one
	if _, err := d.check(t.Context()); err == nil {
		t.Error("a wrong verdict isn't noticed")
	}
}

func TestBatchRefused(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out bytes.Buffer
	if _, err := Batch(ctx, Options{Dir: t.TempDir(), Out: &out}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Batch(context.Background(), Options{Dir: filepath.Join(t.TempDir(), "none"), Out: &out}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	if _, err := Batch(context.Background(), Options{Dir: t.TempDir(), Records: 2, Out: &out}); err == nil {
		t.Error("too few signatures for the forgeries")
	}
}
