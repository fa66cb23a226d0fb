// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/undersign/undersign/keyfile"
)

func TestGroup(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	res, err := Group(context.Background(), Options{Dir: dir, Records: 64, Out: &out})
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, w := range []string{
		"was signed by dave", "four members have a credential", "ballot 4: pseudonym",
		"refused: the same member as ballot 1", "64 signatures, and exactly the forged one, number 64, is bad",
	} {
		if !strings.Contains(out.String(), w) {
			t.Errorf("the output lacks %q:\n%s", w, &out)
		}
	}
	if n := strings.Count(out.String(), "refused: the same member"); n != 1 {
		t.Errorf("%d second votes", n)
	}
	if len(res.Steps) != 7 || len(res.Verified) == 0 {
		t.Errorf("%d steps, verified by %v", len(res.Steps), res.Verified)
	}
	data, err := os.ReadFile(filepath.Join(dir, "group.pub"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keyfile.ParseAs[*keyfile.GroupKey](data); err != nil {
		t.Error(err)
	}
	openings, err := filepath.Glob(filepath.Join(dir, "*.opening"))
	if err != nil || len(openings) != 1 {
		t.Errorf("openings %v, %v", openings, err)
	}
}

func TestGroupRefused(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out bytes.Buffer
	if _, err := Group(ctx, Options{Dir: t.TempDir(), Out: &out}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Group(context.Background(), Options{Dir: t.TempDir(), Records: 1, Out: &out}); err == nil {
		t.Error("a batch of one")
	}
	if _, err := Group(context.Background(), Options{Dir: filepath.Join(t.TempDir(), "none"), Out: &out}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}
