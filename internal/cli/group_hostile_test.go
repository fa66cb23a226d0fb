// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/pem"
	"fmt"
	mrand "math/rand/v2"
	"os"
	"strings"
	"testing"
)

// TestGroupHostileFiles changes a byte of each public file of a group, or cuts it. No
// command takes such a file, and none crashes.
func TestGroupHostileFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	try := func(args string) (int, string) {
		code, _, stderr := runTest(append([]string{"group"}, strings.Fields(args)...)...)
		return code, stderr
	}
	run := func(args string) {
		t.Helper()
		if code, stderr := try(args); code != 0 {
			t.Fatalf("%s: %s", args, stderr)
		}
	}
	for _, name := range []string{"issuer", "opener", "alice"} {
		if err := writeAgeKey(name); err != nil {
			t.Fatal(err)
		}
	}
	writeEdKey(t, "alice")
	if err := os.WriteFile("f", []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	run("create council --with scope,escrow,epoch,token --issuer-to issuer.txt --opener-to opener.txt -o .")
	gk, err := (&env{}).readGroup(t.Context(), "group.pub")
	if err != nil {
		t.Fatal(err)
	}
	run("announce --issuer issuer.age -i issuer.key")
	run("invite alice --issuer issuer.age -i issuer.key --member-key alice.pub.pem")
	run("join alice.challenge --group group.pub --id " + groupID(gk) + " --key alice.pem --to alice.txt --issuer-to issuer.txt")
	run("issue alice.application --issuer issuer.age -i issuer.key --opener-to opener.txt")
	run("join alice.credential --pending alice.pending -i alice.key --announced group.epochs --to alice.txt")
	run("update alice.record --opener opener.age -i opener.key --member-key alice.pub.pem")
	run("sign f --member alice.member -i alice.key --scope s")
	run("open f --opener opener.age -i opener.key")
	run("link f --member alice.member -i alice.key")
	run("claim f --member alice.member -i alice.key")
	run("revoke --opener opener.age -i opener.key -o list")

	verify := "verify f --scope s --group %s --announced %s --revoked %s --sig %s"
	for _, tt := range []struct{ file, bad string }{
		{"group.pub", fmt.Sprintf(verify, "bad", "group.epochs", "list", "f.gsig")},
		{"group.epochs", fmt.Sprintf(verify, "group.pub", "bad", "list", "f.gsig")},
		{"list", fmt.Sprintf(verify, "group.pub", "group.epochs", "bad", "f.gsig")},
		{"f.gsig", fmt.Sprintf(verify, "group.pub", "group.epochs", "list", "bad")},
		{"list", "update bad --state state --group group.pub"},
		{"group.epochs", "update bad --state state --group group.pub"},
		{"alice.credential", "join bad --pending alice.pending -i alice.key --announced group.epochs --to alice.txt -o out"},
		{"f.opening", "verify-opening f --opening bad --group group.pub --member-key alice.pub.pem"},
		{"f.link", "link f --check bad --group group.pub"},
		{"f.claim", "verify-claim f --claim bad --group group.pub"},
	} {
		block, _ := pem.Decode([]byte(readFile(t, tt.file)))
		if block == nil {
			t.Fatalf("%s isn't PEM", tt.file)
		}
		run(strings.Replace(tt.bad, "bad", tt.file, 1))
		os.Remove("state")
		os.Remove("out")
		body := block.Bytes
		// Scheme and group, then a number that means nothing to some commands.
		number := 2 + 4 + len("bbsgs") + 32
		for range 12 {
			b := append([]byte{}, body...)
			what := ""
			if mrand.N(4) == 0 {
				n := mrand.N(len(b))
				b, what = b[:n], fmt.Sprintf("cut to %d bytes", n)
			} else {
				at := mrand.N(len(b) - 8)
				if tt.file == "f.opening" {
					at %= 300 // what is behind is for openers, and no judge looks at it
				}
				if at >= number {
					at += 8
				}
				b[at] ^= byte(1 << mrand.N(8))
				what = fmt.Sprintf("changed at %d", at)
			}
			block.Bytes = b
			if err := os.WriteFile("bad", pem.EncodeToMemory(block), 0o600); err != nil {
				t.Fatal(err)
			}
			code, stderr := try(tt.bad)
			if code != ExitError && code != ExitInvalid && code != ExitRefused {
				t.Errorf("%s, %s: %s: status %d, %s", tt.file, what, tt.bad, code, stderr)
			}
			for _, out := range []string{"state", "out"} {
				if _, err := os.Stat(out); err == nil {
					t.Fatalf("%s, %s: %s is there", tt.file, what, out)
				}
			}
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
