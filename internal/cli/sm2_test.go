// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
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

// Real certificates get the verdicts that are known of them: those whose issuer is
// there are valid, with the IDs that they were made with.
func TestRealChains(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "vectors", "sm2", "certs")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the certificates aren't here")
	}
	for _, tt := range []struct {
		args string
		code int
		want chainResult
	}{
		{"--chain DIR", ExitInvalid, chainResult{Certificates: 129, Valid: 123, Invalid: 3, NoIssuer: 3}},
		{"--chain DIR --id default --id empty --id none", ExitInvalid, chainResult{Certificates: 129, Valid: 126, NoIssuer: 3}},
		{"--chain DIR --id default --id empty --id none --partial", ExitOK, chainResult{Certificates: 129, Valid: 126, NoIssuer: 3}},
		{"--chain DIR/nrca", ExitOK, chainResult{Certificates: 89, Valid: 89}},
		{"--chain DIR/nrca --time 2026-01-01", ExitInvalid, chainResult{Certificates: 89, Valid: 88, Dates: 1}},
		{"--chain DIR/nrca --time 2100-01-01", ExitInvalid, chainResult{Certificates: 89, Dates: 89}},
	} {
		args := strings.Fields("verify --json " + strings.ReplaceAll(tt.args, "DIR", dir))
		code, stdout, stderr := runTest(args...)
		var got chainResult
		if err := json.Unmarshal([]byte(stdout), &got); err != nil {
			t.Fatalf("%v: %s %s", err, stdout, stderr)
		}
		got.Duplicates, got.Keys, got.List = 0, 0, nil
		if code != tt.code || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: status %d, %+v, want %d, %+v", tt.args, code, got, tt.code, tt.want)
		}
	}
}
