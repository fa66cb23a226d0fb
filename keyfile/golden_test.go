// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// goldenFiles returns the files of testdata by name.
func goldenFiles(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("no testdata: %v", err)
	}
	files := make(map[string][]byte)
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = data
	}
	return files
}

// expectation is the line "expect: ..." among the comments.
func expectation(t testing.TB, name string, data []byte) string {
	s := bufio.NewScanner(bytes.NewReader(data))
	for s.Scan() {
		if want, ok := strings.CutPrefix(s.Text(), "expect: "); ok {
			return want
		}
	}
	t.Fatalf("%s: no expect: line", name)
	return ""
}
