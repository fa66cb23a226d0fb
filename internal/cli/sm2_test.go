// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdSameLines is the command
//
//	samelines A B    demand that two files of JSON lines name the same lines or
//	                 records, and some
func cmdSameLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: samelines A B")
	}
	type place struct{ Line, Record int64 }
	places := func(file string) (out []place) {
		for line := range strings.Lines(ts.ReadFile(file)) {
			var p place
			ts.Check(json.Unmarshal([]byte(line), &p))
			out = append(out, p)
		}
		return out
	}
	a, b := places(args[0]), places(args[1])
	if len(a) == 0 || len(a) != len(b) {
		ts.Fatalf("%s has %d lines and %s has %d", args[0], len(a), args[1], len(b))
	}
	for i := range a {
		if a[i] != b[i] || a[i] == (place{}) {
			ts.Fatalf("line %d: %+v and %+v", i+1, a[i], b[i])
		}
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "1": 1, "64MiB": 64 << 20, "1 GiB": 1 << 30, "3K": 3 << 10, "5kB": 5000, "2GB": 2e9, "7B": 7,
	} {
		if got, err := parseSize(in); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "MiB", "-1", "1.5GiB", "1TiB", "1 M iB", "9223372036854775807K", "99999999999999999999", "0x10", "1e3"} {
		if got, err := parseSize(in); err == nil {
			t.Errorf("%q: %d", in, got)
		}
	}
}

func TestParseShare(t *testing.T) {
	for in, want := range map[string]int64{"0": 0, "7": 7, "1000": 1000, "0.5": 500, "50%": 500, "1.0": 1000, "0.0001": 1, "0.0": 0, "0.05%": 1} {
		if got, err := parseShare(in, 1000); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "-1", "1001", "1.5", "101%", "NaN%", "x", "-0.5", "%", "inf%"} {
		if got, err := parseShare(in, 1000); err == nil {
			t.Errorf("%q: %d", in, got)
		}
	}
}
