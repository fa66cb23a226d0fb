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

// TestQuickstart runs the commands of docs/quickstart.md as they are written
// there, but for those that need other programs, and with a smaller key.
func TestQuickstart(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	text, err := os.ReadFile("../../docs/quickstart.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"alice", "bob", "carol"} {
		if err := writeAgeKey(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "README.md"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	joined := strings.ReplaceAll(string(text), "\\\n", " ")
	ran := map[string]bool{}
	for line := range strings.Lines(joined) {
		command, ok := strings.CutPrefix(line, "    ")
		name, _, _ := strings.Cut(strings.TrimSpace(command), " ")
		if !ok || name == "go" || name == "age-keygen" {
			continue
		}
		if _, err := exec.LookPath(name); err != nil {
			t.Logf("skipped: %s", command)
			continue
		}
		cmd := exec.Command(sh, "-c", strings.Replace(command, "keygen ", "keygen --bits 2048 ", 1))
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		ran[name] = true
	}
	if !ran["undersign"] {
		t.Error("no command of undersign was run")
	}
}
