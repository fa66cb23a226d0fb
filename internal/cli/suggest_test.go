// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"
)

func TestEditDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"to", "too", 1}, {"sgi", "sig", 2}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0},
	} {
		if got := editDistance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q and %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := editDistance(tt.b, tt.a); got != tt.want {
			t.Errorf("%q and %q: %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}

// A flag that is misspelled is named, and nothing is made up for one that is like none.
func TestFlagUsage(t *testing.T) {
	for _, tt := range []struct {
		args, text, hint string
	}{
		{"threshold keygen --too a.txt", "unknown flag: --too", "did you mean --to?"},
		{"threshold keygen --treshold 2", "unknown flag: --treshold", "did you mean --threshold?"},
		{"verify f --sgi s --key k", "unknown flag: --sgi", `run "undersign verify --help"`},
		{"verify f --chains s", "unknown flag: --chains", "did you mean --chain?"},
		{"sm2 sign f --ident i", "unknown flag: --ident", "did you mean --identity?"},
		{"group create g --zzzzzz", "unknown flag: --zzzzzz", `run "undersign group create --help"`},
		{"version --verbose", "unknown flag: --verbose", `run "undersign version --help"`},
		{"sm2 sign f -x", "unknown shorthand flag", `run "undersign sm2 sign --help"`},
		{"threshold keygen -k x --to a.txt -o d", `invalid argument "x" for "-k, --threshold" flag: invalid syntax`, `run "undersign threshold keygen --help"`},
		{"threshold keygen --bits 99999999999999999999", "flag: value out of range", `run "undersign threshold keygen --help"`},
	} {
		code, stdout, stderr := runTest(strings.Fields(tt.args)...)
		if code != ExitUsage || stdout != "" || !strings.Contains(stderr, tt.text) || !strings.Contains(stderr, "hint: "+tt.hint+"\n") || strings.Contains(stderr, "strconv") {
			t.Errorf("%s: status %d, %q", tt.args, code, stderr)
		}
	}
}
