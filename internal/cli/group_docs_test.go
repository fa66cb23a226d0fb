// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGroupDocs runs the commands of docs/group-signatures.md as they are written
// there, but for those of groups with a converter, which the page makes none of.
func TestGroupDocs(t *testing.T) {
	for _, name := range []string{"sh", "openssl"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	text, err := os.ReadFile("../../docs/group-signatures.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text2, ok := strings.Cut(string(text), "## By command\n")
	page, _, ok2 := strings.Cut(text2, "## By program\n")
	if !ok || !ok2 {
		t.Fatal("the page has no commands")
	}
	dir := t.TempDir()
	for _, name := range []string{"issuer", "opener", "alice", "carol", "mallory"} {
		if err := writeAgeKey(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"motion", "review", "spam"} {
		if err := os.WriteFile(filepath.Join(dir, name+".txt"), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(command string) string {
		t.Helper()
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		return string(out)
	}
	id, n := "", 0
	var joining []string // what alice did to join
	joined := false
	for line := range strings.Lines(strings.ReplaceAll(page, "\\\n", " ")) {
		command, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "    ")
		if !ok || strings.HasPrefix(command, "undersign group convert") {
			continue
		}
		if id != "" {
			command = strings.ReplaceAll(command, "$ID", id)
		}
		out := run(command)
		n++
		if _, rest, ok := strings.Cut(out, "\nID "); ok && id == "" {
			id, _, _ = strings.Cut(rest, "\n")
		}
		if !joined && strings.Contains(command, "alice") {
			joining = append(joining, command)
		}
		if strings.Contains(command, "alice.record") {
			// Mallory joins in the same way, and signs what is to be listed.
			for _, c := range joining {
				run(strings.ReplaceAll(c, "alice", "mallory"))
			}
			run("undersign group sign spam.txt --member mallory.member -i mallory.key --scope mail")
			joined = true
		}
	}
	if n < 30 {
		t.Errorf("only %d commands were run", n)
	}
}
